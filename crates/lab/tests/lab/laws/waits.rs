//! The times without arrivals at the clients, derived from the arrivals alone.

use incast_engine::{Span, Time};
use incast_host::milestone::EventRow;
use incast_host::stalls::ROUND_TRIPS;
use incast_scenario::Scenario;
use incast_traffic::{Senders, WorkloadConfig};

/// The flows that wait together, and the beginning and the end of their waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The flows of a read wait together, from the beginning of a block to its end.
    Read,
    /// A flow waits alone, from the first packet of its client to its last byte.
    Flow,
    /// A flow waits alone, from its start to the end of the run.
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
    /// For each flow, the index of its wait.
    of_flow: Vec<usize>,
    /// Waits that exceeded their limit and have not been reported yet, each with its flow.
    untold: Vec<(u32, Span)>,
    pub told: u64,
}

impl Waits {
    /// The waits of a scenario's flows.
    pub fn new(scenario: &Scenario) -> Self {
        let mut waits = Self::default();
        for group in scenario.groups() {
            let Some((load, transport)) = group.load() else { continue };
            let network = &scenario.network;
            let trunks = network.trunks_between(&group.at, &group.config.workload().clients());
            let base_rtt = match group.senders {
                Senders::Clients => network.base_rtt_among_clients(transport, trunks),
                _ => network.base_rtt(transport, trunks),
            };
            let (rule, start) = match group.config {
                WorkloadConfig::LongFlows(_) => (Rule::Endless, Some(Span::ZERO)),
                WorkloadConfig::LongFlow(flow) => (Rule::Endless, Some(flow.start)),
                _ if load.is_shared => (Rule::Read, None),
                _ => (Rule::Flow, None),
            };
            waits.add(rule, group.flows(), base_rtt * ROUND_TRIPS, start);
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

    /// Notes the arrival of a packet at a client. Earlier stalls must have been reported.
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

    /// Checks that a reported stall has the measured flow and duration.
    pub fn check(&mut self, row: &EventRow) {
        let flow = row.flow.expect("a stall has a flow");
        let measured = self.untold.pop();
        assert_eq!(measured, row.wait.map(|wait| (flow, wait)), "{row:?}");
        self.told += 1;
    }

    /// Checks that every measured stall has been reported.
    pub fn is_told(&self) {
        assert_eq!(self.untold, [], "nobody tells of these");
    }
}
