//! TCP flows with random arrivals and sizes.

use std::collections::VecDeque;

use incast_engine::{Fault, Span, Stream, Time};
use incast_host::{BlueprintId, EndId, Event, Hosts};
use incast_net::packets::{Exhausted, MOST_PACKETS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Application, Report};
use crate::flow_size::FlowSize;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{From, Load, Pairing, Role, Senders, Setting, Workload};

/// Flows between random sources and clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Mean time between two flows of all sources together, in seconds; these times are
    /// exponentially distributed. No default.
    interval: Span,
    /// Size of a flow, in bytes, or the table of a distribution. No default.
    size: FlowSize,
    /// The hosts from which the source of each flow is drawn.
    #[serde(default = "servers")]
    from: From,
    /// The switch of the source, if the source is a host of its own: a number from 0. Default: the
    /// switch where the topology places the first server.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients from which the receiver of each flow is drawn: a number from 0, or a list.
    /// Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// Earliest time of the first flow, in seconds.
    #[serde(default)]
    start: Span,
}

/// The default sources of flows.
const fn servers() -> From {
    From::Servers
}

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, _: Role) -> Result<(), Fault> {
        if self.interval.is_zero() {
            return Err(Fault::new("interval", "must be longer than 0; write e.g. \"1ms\""));
        }
        self.size.check()?;
        self.from.settle(None, &mut self.at, layout)?;
        self.to = layout.settled_clients(self.to.as_ref(), "to")?;
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        self.from.senders(None, self.at.as_ref(), layout)
    }

    fn to(&self) -> Option<&Numbers> {
        self.to.as_ref()
    }

    fn pairing(&self) -> Pairing {
        Pairing::Every
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(load(self.size.most(), senders, self.count(senders)))
    }

    fn ends(&self) -> bool {
        false
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let arrivals = Arrivals { start: self.start, interval: self.interval, count: None };
        let size = self.size;
        let sizes = move |random: &mut Stream| size.draw(random);
        Box::new(RandomFlows::new(arrivals, sizes, self.clients().len() as u32, &setting))
    }
}

/// The load of flows of at most `most` bytes.
pub(crate) fn load(most: u64, senders: u32, flows: u32) -> Load {
    Load {
        most,
        least: 1,
        at_once: flows,
        fan_in: senders,
        is_asked_for: false,
        is_shared: false,
        endless: None,
    }
}

/// Arrivals of flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Earliest time of the first flow.
    pub start: Span,
    /// Mean time between two flows.
    pub interval: Span,
    /// Number of flows; `None` if there is no end.
    pub count: Option<u64>,
}

/// The flows of one table, which are Poisson arrivals. Each flow is between a random source and a
/// random client, and its size is drawn from `S`.
///
/// A source and a client have one connection at a time. A flow that arrives while its connection is
/// busy waits, and its completion time counts from its arrival.
pub(crate) struct RandomFlows<S> {
    arrivals: Arrivals,
    sizes: S,
    blueprint: BlueprintId,
    number: u16,
    first_flow: u32,
    sources: u32,
    clients: u32,
    random: Stream,
    /// The pairs, ordered by source, then by client.
    pairs: Vec<Pair>,
    /// Number of flows that have arrived.
    come: u64,
    /// Number of waiting flows of all pairs.
    waiting: usize,
    completions: Vec<Span>,
    bytes: u64,
}

/// A flow that has arrived: its arrival time and its bytes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    bytes: u64,
}

/// A source and a client.
#[derive(Clone, Debug, Default)]
struct Pair {
    /// The flow in progress.
    busy: Option<Arrival>,
    waiting: VecDeque<Arrival>,
    /// Number of connections of this pair so far.
    connections: u32,
}

impl<S: FnMut(&mut Stream) -> u64> RandomFlows<S> {
    /// Flows to `clients` clients. The connections are numbered by source, and for each source by
    /// client.
    pub(crate) fn new(arrivals: Arrivals, sizes: S, clients: u32, setting: &Setting) -> Self {
        let pairs = setting.senders as usize * clients as usize;
        Self {
            arrivals,
            sizes,
            blueprint: setting.blueprint.expect("flows have connections"),
            number: setting.number,
            first_flow: setting.first_flow,
            sources: setting.senders,
            clients,
            random: setting.draws.only("flows"),
            pairs: vec![Pair::default(); pairs],
            come: 0,
            waiting: 0,
            completions: Vec::new(),
            bytes: 0,
        }
    }

    /// Schedules the next flow, if there is one.
    fn wait(&mut self, hosts: &mut Hosts, start: Span) {
        if self.arrivals.count.is_none_or(|count| self.come < count) {
            let wait = start + self.random.exponential(self.arrivals.interval);
            hosts.set_timer(hosts.now() + wait, self.number, 0);
        }
    }

    fn is_done(&self) -> bool {
        self.arrivals.count.is_some_and(|count| self.completions.len() as u64 >= count)
    }

    /// Begins the flow that has waited longest in this pair, if the connection is free.
    fn begin(&mut self, hosts: &mut Hosts, place: u32) {
        let pair = &mut self.pairs[place as usize];
        if pair.busy.is_some() {
            return;
        }
        let Some(arrival) = pair.waiting.pop_front() else { return };
        pair.busy = Some(arrival);
        self.waiting -= 1;
        let flow = self.first_flow + place;
        if pair.connections > 0 {
            hosts.renew_connection(flow, pair.connections);
        }
        pair.connections += 1;
        hosts.begin_wait(flow);
        let client = hosts.act_on(EndId::client(flow));
        client.notify_at(arrival.bytes);
        client.request(0);
    }

    fn complete(&mut self, hosts: &mut Hosts, place: u32) {
        let Some(Arrival { at, bytes }) = self.pairs[place as usize].busy.take() else { return };
        self.completions.push(hosts.now() - at);
        self.bytes += bytes;
        hosts.end_wait(self.first_flow + place);
        hosts.leave(self.first_flow + place);
        if self.is_done() {
            hosts.finish(self.number);
        }
        self.begin(hosts, place);
    }
}

impl<S: FnMut(&mut Stream) -> u64 + Send> Application for RandomFlows<S> {
    fn start(&mut self, hosts: &mut Hosts) {
        self.wait(hosts, self.arrivals.start);
    }

    fn on_timer(&mut self, hosts: &mut Hosts, _: u32) {
        let source = self.random.below(self.sources.into()) as u32;
        let client = self.random.below(self.clients.into()) as u32;
        let bytes = (self.sizes)(&mut self.random);
        let place = source * self.clients + client;
        self.come += 1;
        self.waiting += 1;
        if self.waiting > MOST_PACKETS {
            Exhausted { what: "flows wait for their turn" }.stop();
        }
        self.pairs[place as usize].waiting.push_back(Arrival { at: hosts.now(), bytes });
        self.begin(hosts, place);
        self.wait(hosts, Span::ZERO);
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        let place = end.flow() - self.first_flow;
        match event {
            Event::Request if end.is_server() => {
                let busy = self.pairs[place as usize].busy;
                let server = hosts.act_on(end);
                server.open();
                server.write(busy.map_or(0, |arrival| arrival.bytes));
                server.close();
            }
            Event::Received if !end.is_server() => self.complete(hosts, place),
            _ => {}
        }
    }

    fn progress(&self, _: Time) -> Option<f64> {
        Some(self.completions.len() as f64 / self.arrivals.count? as f64)
    }

    fn report(&self, hosts: &Hosts) -> Report {
        Report {
            bytes: self.bytes,
            elapsed: hosts.now().saturating_since(Time::ZERO + self.arrivals.start),
            completions: self.completions.clone(),
            // Fairness is not computed, because flows have different sizes and durations.
            fairness: None,
            finished: self.arrivals.count.is_none() || self.is_done(),
            counters: hosts.counters(self.blueprint),
        }
    }
}
