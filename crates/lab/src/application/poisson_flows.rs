//! TCP flows that come at random, with something to send.

use std::collections::VecDeque;

use incast_engine::{Span, Stream, Time};
use incast_net::packets::{Exhausted, MOST_PACKETS};
use incast_tcp::Event;
use incast_tcp::connection::Counters;

use super::{Application, Report, add};
use incast_host::{BlueprintId, EndId, Hosts};
use incast_scenario as scenario;

/// The flows of one `[[background]]` table: Poisson arrivals, each between a random source and a
/// random client.
///
/// A source and a client have one connection at a time. A flow that comes while theirs is busy
/// waits for it, and its completion time counts from when it came.
pub struct PoissonFlows {
    flows: scenario::PoissonFlows,
    blueprint: BlueprintId,
    number: u16,
    first_flow: u32,
    sources: u32,
    random: Stream,
    /// By source, then by client.
    pairs: Vec<Pair>,
    /// Flows that wait, of all pairs.
    waiting: usize,
    completions: Vec<Span>,
    bytes: u64,
    /// Counters of connections that have been replaced.
    retired: Counters,
}

/// A flow that has come: when, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    bytes: u64,
}

/// A source and a client.
#[derive(Clone, Debug, Default)]
struct Pair {
    /// The flow that is under way.
    busy: Option<Arrival>,
    waiting: VecDeque<Arrival>,
    /// Connections that they have had.
    connections: u32,
}

impl PoissonFlows {
    /// Flows from `sources` sources, whose connections begin at `first_flow`, those to all clients
    /// in turn for each source.
    pub fn new(
        flows: &scenario::PoissonFlows,
        blueprint: BlueprintId,
        number: u16,
        first_flow: u32,
        sources: u32,
        random: Stream,
    ) -> Self {
        let pairs = sources as usize * flows.to.len();
        Self {
            flows: flows.clone(),
            blueprint,
            number,
            first_flow,
            sources,
            random,
            pairs: vec![Pair::default(); pairs],
            waiting: 0,
            completions: Vec::new(),
            bytes: 0,
            retired: Counters::default(),
        }
    }

    fn wait(&mut self, hosts: &mut Hosts) {
        let wait = self.random.exponential(self.flows.interval);
        hosts.set_timer(hosts.now() + wait, self.number, 0);
    }

    /// Begins the flow that has waited longest, if the pair has one and its connection is free.
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
            let old = hosts.renew_connection(self.blueprint, flow, pair.connections);
            self.retired = add(self.retired, &old);
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
        self.begin(hosts, place);
    }
}

impl Application for PoissonFlows {
    fn start(&mut self, hosts: &mut Hosts) {
        let wait = self.random.exponential(self.flows.interval);
        hosts.set_timer(hosts.now() + self.flows.start + wait, self.number, 0);
    }

    fn on_timer(&mut self, hosts: &mut Hosts, _: u32) {
        let source = self.random.below(self.sources.into()) as u32;
        let clients = self.flows.to.len() as u32;
        let client = self.random.below(clients.into()) as u32;
        let bytes = self.flows.size.draw(&mut self.random);
        let place = source * clients + client;
        self.waiting += 1;
        if self.waiting > MOST_PACKETS {
            Exhausted { what: "flows of background traffic wait for their turn" }.stop();
        }
        self.pairs[place as usize].waiting.push_back(Arrival { at: hosts.now(), bytes });
        self.begin(hosts, place);
        self.wait(hosts);
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
        None
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let live = (0..self.pairs.len() as u32).map(|place| self.first_flow + place);
        Report {
            bytes: self.bytes,
            elapsed: hosts.now().saturating_since(Time::ZERO + self.flows.start),
            completions: self.completions.clone(),
            // Each flow has its own size and its own time.
            fairness: None,
            finished: true,
            counters: live.fold(self.retired, |sum, flow| {
                add(sum, &hosts.end(EndId::server(flow)).counters())
            }),
        }
    }
}
