//! How long nothing reached the clients, measured by what did.

use incast_engine::{Span, Time};
use incast_host::milestone::EventRow;
use incast_host::stalls::ROUND_TRIPS;
use incast_scenario::Scenario;
use incast_scenario::{Background, Transport, Workload};

/// What waits together, and from when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The flows of a read, from the beginning of a block to its end.
    Read,
    /// A flow, from when its client first says something to its last byte.
    Flow,
    /// A flow that never ends.
    Endless,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    rule: Rule,
    limit: Span,
    since: Option<Time>,
}

/// The waits of a run.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    blocks: Vec<Wait>,
    /// The wait of each flow.
    of_flow: Vec<usize>,
    /// Waits that were too long and have not been told yet, by flow.
    untold: Vec<(u32, Span)>,
    pub told: u64,
}

impl Waits {
    /// The waits of a scenario's flows.
    pub fn new(scenario: &Scenario) -> Self {
        let Scenario { network, workload, background, transport, .. } = scenario;
        let mut waits = Self::default();
        let limit = |transport: &Transport, places: &[_], to: &[u32]| {
            let trunks = network.trunks_between(places, to);
            network.base_rtt(&transport.tcp, trunks) * ROUND_TRIPS
        };
        let (rule, start) = match workload {
            Workload::BarrierRead(_) => (Rule::Read, None),
            Workload::LongFlows(_) => (Rule::Endless, Some(Span::ZERO)),
        };
        let own = limit(transport, workload.servers_at(), workload.to());
        waits.add(rule, workload.flows(), own, start);
        for table in background {
            let Some(transport) = table.transport() else { continue };
            let (added, at) = table.added_hosts();
            let places = if added == 0 { workload.servers_at() } else { at };
            let limit = limit(transport, places, table.to());
            let count = table.connections(workload.servers());
            match table {
                Background::LongFlow(flow) => {
                    waits.add(Rule::Endless, count, limit, Some(flow.start));
                }
                _ => waits.add(Rule::Flow, count, limit, None),
            }
        }
        waits
    }

    fn add(&mut self, rule: Rule, flows: u32, limit: Span, start: Option<Span>) {
        for flow in 0..flows {
            if flow == 0 || rule != Rule::Read {
                let since = start.map(|start| Time::ZERO + start);
                self.blocks.push(Wait { rule, limit, since });
            }
            self.of_flow.push(self.blocks.len() - 1);
        }
    }

    fn of(&mut self, rule: Rule, flow: u32) -> Option<&mut Wait> {
        let wait = *self.of_flow.get(flow as usize)?;
        Some(&mut self.blocks[wait]).filter(|wait| wait.rule == rule)
    }

    pub fn begin(&mut self, rule: Rule, flow: u32, now: Time) {
        if let Some(wait) = self.of(rule, flow) {
            wait.since = Some(now);
        }
    }

    pub fn end(&mut self, rule: Rule, flow: u32) {
        if let Some(wait) = self.of(rule, flow) {
            wait.since = None;
        }
    }

    /// A packet reaches a client. What was too long before has been told by now.
    pub fn note(&mut self, now: Time, flow: u32) {
        self.is_told();
        let wait = &mut self.blocks[self.of_flow[flow as usize]];
        if let Some(since) = &mut wait.since {
            let waited = now.saturating_since(std::mem::replace(since, now));
            if waited > wait.limit {
                self.untold.push((flow, waited));
            }
        }
    }

    /// A stall is told: it is the one that was measured.
    pub fn check(&mut self, row: &EventRow) {
        let flow = row.flow.expect("a stall has a flow");
        let measured = self.untold.pop();
        assert_eq!(measured, row.wait.map(|wait| (flow, wait)), "{row:?}");
        self.told += 1;
    }

    /// Nothing that was measured is left untold.
    pub fn is_told(&self) {
        assert_eq!(self.untold, [], "nobody tells of these");
    }
}
