//! All to all: in every round each client fetches a message from every other client. The next round
//! begins when the last message has arrived, as in the shuffle of a map-reduce job.

use incast_engine::{Fault, Size, Span, Stream, Time};
use incast_host::milestone::EventKind;
use incast_host::{BlueprintId, EndId, Event, Hosts};
use incast_net::topology::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Application, Report};
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Role, Senders, Setting, Workload};

/// Rounds of messages among clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// The clients that take part, at least 2: a list of numbers from 0. Default: all of
    /// `network.clients`.
    #[serde(skip_serializing_if = "Option::is_none")]
    among: Option<Numbers>,
    /// The size of each message, in bytes. No default.
    message: Size,
    /// Number of rounds. Background traffic without this key never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 1))]
    rounds: Option<u32>,
    /// x: every request of a round is delayed by U(0, x) seconds, independently of the others.
    #[serde(default)]
    start_spread: Span,
}

/// The largest message, bytes. A round of a thousand clients has a million messages of this size.
const LARGEST_MESSAGE: u64 = 1_000_000_000;
/// The largest number of clients. A thousand clients form a million pairs, and each open connection
/// needs some kilobytes.
const MOST_CLIENTS: usize = 1000;

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        let Size(message) = self.message;
        if !(1..=LARGEST_MESSAGE).contains(&message) {
            let message =
                format!("{message} is out of range; must be 1 to {LARGEST_MESSAGE} bytes");
            return Err(Fault::new("message", message));
        }
        let named = self.among.as_ref();
        let among = match named {
            Some(_) => Numbers::clients(named, layout.clients)
                .map_err(|message| Fault::new("among", message))?,
            None => (0..layout.clients).collect(),
        };
        let mut sorted = among.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < among.len() {
            return Err(Fault::new("among", "must name each client once"));
        }
        if !(2..=MOST_CLIENTS).contains(&among.len()) {
            let message = format!(
                "must be 2 to {MOST_CLIENTS} clients, not {}; change network.clients, or name some of \
                 them",
                among.len()
            );
            return Err(Fault::new("among", message));
        }
        if role == Role::Workload {
            self.rounds.get_or_insert(1);
        }
        self.among = Some(Numbers::of(among));
        Ok(())
    }

    fn senders(&self, _: &Layout) -> Senders {
        Senders::Clients
    }

    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.among.as_ref())
    }

    /// The two hosts of each flow; the flows of each receiver are adjacent.
    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        let others = |to: HostId| senders.iter().filter(move |from| **from != to);
        senders.iter().flat_map(|to| others(*to).map(|from| (*from, *to))).collect()
    }

    fn count(&self, senders: u32) -> u32 {
        senders * (senders - 1)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(Load {
            most: self.message.0,
            least: self.message.0,
            at_once: senders - 1,
            fan_in: senders - 1,
            is_asked_for: false,
            is_shared: true,
            endless: Some("all-to-all keeps its connections"),
        })
    }

    fn ends(&self) -> bool {
        self.rounds.is_some()
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let flows = self.count(setting.senders);
        Box::new(AllToAll {
            message: self.message.0,
            rounds: self.rounds,
            spread: self.start_spread,
            number: setting.number,
            blueprint: setting.blueprint.expect("flows have connections"),
            first_flow: setting.first_flow,
            mark: setting.draws.mark(setting.first_flow),
            flows,
            random: setting.draws.stream("requests"),
            requests: Vec::with_capacity(flows as usize),
            asked: 0,
            missing: 0,
            round: 0,
            began: Time::ZERO,
            completions: Vec::new(),
        })
    }
}

/// The application of one table's clients.
struct AllToAll {
    message: u64,
    rounds: Option<u32>,
    spread: Span,
    number: u16,
    blueprint: BlueprintId,
    first_flow: u32,
    /// Identifies the group in events of its rounds.
    mark: Option<u32>,
    flows: u32,
    random: Stream,
    /// Request times of each flow's message in this round, earliest first.
    requests: Vec<(Time, u32)>,
    asked: usize,
    /// Number of messages that have not arrived.
    missing: u32,
    round: u32,
    began: Time,
    completions: Vec<Span>,
}

impl AllToAll {
    fn begin(&mut self, hosts: &mut Hosts) {
        let now = hosts.now();
        (self.began, self.missing, self.asked) = (now, self.flows, 0);
        hosts.begin_wait(self.first_flow);
        hosts.record(EventKind::BlockStart, self.round, self.mark);
        self.requests.clear();
        let flows = self.first_flow..self.first_flow + self.flows;
        let (random, spread) = (&mut self.random, self.spread);
        self.requests.extend(flows.map(|flow| (now + random.uniform(spread), flow)));
        self.requests.sort_unstable();
        self.ask(hosts);
    }

    /// Sends the requests that are due and sets a timer for the next one.
    fn ask(&mut self, hosts: &mut Hosts) {
        while let Some(&(at, flow)) = self.requests.get(self.asked) {
            if at > hosts.now() {
                hosts.set_timer(at, self.number, 0);
                return;
            }
            self.asked += 1;
            let client = hosts.act_on(EndId::client(flow));
            client.notify_at((u64::from(self.round) + 1) * self.message);
            client.request(0);
            hosts.record(EventKind::Request, self.round, Some(flow));
        }
    }

    fn complete(&mut self, hosts: &mut Hosts, flow: u32) {
        hosts.record_flow(EventKind::FlowDone, flow);
        if self.rounds.is_some_and(|rounds| self.round + 1 >= rounds) {
            hosts.leave(flow);
        }
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        hosts.end_wait(self.first_flow);
        hosts.record(EventKind::BlockDone, self.round, self.mark);
        self.completions.push(hosts.now() - self.began);
        self.round += 1;
        if self.is_done() {
            hosts.finish(self.number);
        } else {
            self.begin(hosts);
        }
    }

    fn is_done(&self) -> bool {
        self.rounds.is_some_and(|rounds| self.round >= rounds)
    }
}

impl Application for AllToAll {
    fn start(&mut self, hosts: &mut Hosts) {
        self.begin(hosts);
    }

    fn on_timer(&mut self, hosts: &mut Hosts, _: u32) {
        self.ask(hosts);
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        match event {
            Event::Request if end.is_server() => {
                let server = hosts.act_on(end);
                server.open();
                server.write(self.message);
            }
            Event::Received if !end.is_server() => self.complete(hosts, end.flow()),
            _ => {}
        }
    }

    fn progress(&self, _: Time) -> Option<f64> {
        let of_round = 1.0 - f64::from(self.missing) / f64::from(self.flows);
        Some(((f64::from(self.round) + of_round) / f64::from(self.rounds?)).min(1.0))
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let elapsed = self.completions.iter().fold(Span::ZERO, |sum, round| sum + *round);
        Report {
            bytes: self.message * u64::from(self.flows) * u64::from(self.round),
            elapsed,
            completions: self.completions.clone(),
            // All messages have the same size, and a round waits for all of them.
            fairness: None,
            finished: self.is_done() || (self.rounds.is_none() && self.round > 0),
            counters: hosts.counters(self.blueprint),
        }
    }
}
