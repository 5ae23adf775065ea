//! TCP connections that always have data to send, or bursts of them.

use incast_engine::{Fault, Span, Stream, Time};
use incast_host::{EndId, Hosts};
use incast_net::topology::HostId;
use incast_tcp::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Application, Report, counters};
use crate::bursts::{Bursts, OnOff, Phase};
use crate::fairness::Jain;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Role, Senders, Setting, Workload, in_turn};

/// TCP connections from hosts of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Number of hosts, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Connections of each host, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flows: u32,
    /// The switches that the hosts are put on, in turn: a number from 0, or a list. Default:
    /// what the topology has for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Numbers>,
    /// The clients that the hosts send to, in turn: a number from 0, or a list. Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Numbers>,
    /// When they open, seconds.
    #[serde(default)]
    pub start: Span,
    /// Data come in bursts, a full segment at a time: a table. Default: there are always data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
}

/// The default of a count.
pub(crate) const fn one() -> u32 {
    1
}

/// Why such a connection never ends.
pub(crate) const ENDLESS_FLOW: &str = "a long flow never ends";

/// What long flows load, where `servers` hosts send in all.
pub(crate) fn load(servers: u32, flows: u32) -> Load {
    Load {
        most: u64::MAX,
        least: u64::MAX,
        at_once: flows,
        fan_in: servers,
        is_asked_for: false,
        is_shared: false,
        endless: Some(ENDLESS_FLOW),
    }
}

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, _: Role) -> Result<(), Fault> {
        self.bursts.map_or(Ok(()), Bursts::check)?;
        self.at = layout.settled_switches(self.at.as_ref(), "at")?;
        self.to = layout.settled_clients(self.to.as_ref(), "to")?;
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        Senders::Own(self.count, layout.switches_of(self.at.as_ref()))
    }

    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.to.as_ref())
    }

    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        in_turn(senders, self.flows, &self.clients())
    }

    fn count(&self, _: u32) -> u32 {
        self.count.saturating_mul(self.flows)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(load(self.count, self.count(senders)))
    }

    fn ends(&self) -> bool {
        false
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let count = self.count(setting.senders);
        Box::new(LongFlows::new(self.start, count, self.bursts, &setting))
    }
}

/// The connections of one table.
pub(crate) struct LongFlows {
    start: Span,
    /// How long they send, if that ends the run.
    duration: Option<Span>,
    number: u16,
    first_flow: u32,
    count: u32,
    bursts: Option<Source>,
    /// Of each flow that writes in bursts.
    phases: Vec<Phase>,
    done: bool,
}

/// What an application writes that does not always have data.
struct Source {
    /// Mean lengths of bursts and pauses.
    on_off: OnOff,
    /// Time between two writes of a burst.
    interval: Span,
    /// Bytes of one.
    bytes: u64,
    /// Draws lengths.
    random: Stream,
}

/// More than any run can send.
const ENDLESS: u64 = 1 << 60;
/// The timer that opens the connections.
const OPEN: u32 = 0;
/// The timer that ends the run.
const END: u32 = 1;
/// The timer of the first flow's next write; those of the others follow.
const WRITE: u32 = 2;

impl LongFlows {
    /// `count` connections which open at `start`; their applications write what `bursts` says, or
    /// always have data.
    pub(crate) fn new(start: Span, count: u32, bursts: Option<Bursts>, setting: &Setting) -> Self {
        let phases = vec![Phase::default(); if bursts.is_some() { count as usize } else { 0 }];
        let random = setting.draws.only("bursts");
        let bursts = bursts.map(|Bursts { rate, burst, idle }| Source {
            on_off: OnOff { burst, idle },
            interval: rate.transmission_time(setting.mss.into()),
            bytes: setting.mss.into(),
            random,
        });
        let Setting { number, first_flow, .. } = *setting;
        Self { start, duration: None, number, first_flow, count, bursts, phases, done: false }
    }

    /// The same, with the run ending after `duration`.
    #[must_use]
    pub(crate) fn until(self, duration: Span) -> Self {
        Self { duration: Some(duration), ..self }
    }

    /// Sets the timer of a flow's next write, if there are bursts.
    fn wait(&mut self, hosts: &mut Hosts, flow: u32) {
        let Some(Source { on_off, interval, random, .. }) = &mut self.bursts else { return };
        let place = flow - self.first_flow;
        let wait = self.phases[place as usize].next(*on_off, *interval, random);
        hosts.set_timer(hosts.now() + wait, self.number, WRITE + place);
    }

    fn flows(&self) -> std::ops::Range<u32> {
        self.first_flow..self.first_flow + self.count
    }
}

impl Application for LongFlows {
    fn start(&mut self, hosts: &mut Hosts) {
        hosts.set_timer(hosts.now() + self.start, self.number, OPEN);
        if let Some(duration) = self.duration {
            hosts.set_timer(hosts.now() + self.start + duration, self.number, END);
        }
    }

    fn on_timer(&mut self, hosts: &mut Hosts, index: u32) {
        match index {
            OPEN => {
                for flow in self.flows() {
                    hosts.begin_wait(flow);
                    hosts.act_on(EndId::client(flow)).request(0);
                }
            }
            END => {
                self.done = true;
                hosts.finish(self.number);
            }
            write => {
                let flow = self.first_flow + (write - WRITE);
                if let Some(bursts) = &self.bursts {
                    hosts.act_on(EndId::server(flow)).write(bursts.bytes);
                }
                self.wait(hosts, flow);
            }
        }
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        if event == Event::Request && end.is_server() {
            let server = hosts.act_on(end);
            server.open();
            if self.bursts.is_none() {
                server.write(ENDLESS);
            }
            self.wait(hosts, end.flow());
        }
    }

    fn progress(&self, now: Time) -> Option<f64> {
        let until = (self.start + self.duration?).as_secs_f64();
        Some((now.as_secs_f64() / until).min(1.0))
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let received = |flow| hosts.end(EndId::client(flow)).delivered();
        Report {
            bytes: self.flows().map(received).sum(),
            fairness: self.flows().map(|flow| received(flow) as f64).collect::<Jain>().index(),
            elapsed: hosts.now().saturating_since(Time::ZERO + self.start),
            finished: self.done || self.duration.is_none(),
            counters: counters(hosts, self.flows()),
            ..Report::default()
        }
    }
}
