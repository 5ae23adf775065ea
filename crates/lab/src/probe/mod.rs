//! Probes: what a run records on request. A silent run pays nothing for them.

mod bins;
mod columns;
mod events;
mod flows;
mod queue;

use std::ops::Range;

use incast_engine::{Span, Time};
use incast_host::EndId;
use incast_host::milestone::{EventKind, EventRow};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use incast_tcp::Connection;

pub use columns::{EVENT_COLUMNS, FLOW_COLUMNS, QUEUE_COLUMNS};
pub use events::EventTrace;
pub use flows::FlowTrace;
pub use queue::{QueueSummary, QueueTrace, QueueTraces};

/// What a probe may want to know of the world that it will listen to.
pub struct Setting {
    /// Flows with connections.
    pub flows: u32,
    /// The flows of each workload.
    pub workloads: Vec<Range<u32>>,
    /// Propagation round trip between the client and the furthest server.
    pub base_rtt: Span,
    /// The switches' ports that may be on the way to a client, and their names; the first client's
    /// first.
    pub ports: Vec<(PortId, String)>,
}

/// Listens to a run.
pub trait Probe {
    /// Whether it listens at all; if not, the calls are compiled out.
    const ON: bool;
    /// A packet is about to be offered to a port.
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network);
    /// It was admitted, perhaps marked.
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network);
    /// The packet in service is about to leave a port whose departures are events.
    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {
        let _ = (now, port, network);
    }
    /// A packet that waited was dropped, when its turn came or when another pushed it out: a drop
    /// like any other, by default.
    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.on_drop(now, port, packet);
    }
    /// The next packet is being sent, if there is one.
    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {
        let _ = (now, port, network);
    }
    /// A packet is about to leave a port's link at its far end.
    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {
        let _ = (now, port, network);
    }
    /// It was dropped.
    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet);
    /// A packet has crossed a port's link.
    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet);
    /// A connection was served.
    fn on_connection(&mut self, now: Time, end: EndId, connection: &Connection);
    /// Something worth a row happened.
    fn on_event(&mut self, row: EventRow);
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {
    const ON: bool = false;
    fn before_offer(&mut self, _: Time, _: PortId, _: &mut Network) {}
    fn after_offer(&mut self, _: Time, _: PortId, _: &Packet, _: &Network) {}
    fn on_drop(&mut self, _: Time, _: PortId, _: &Packet) {}
    fn on_arrival(&mut self, _: Time, _: PortId, _: &Packet) {}
    fn on_connection(&mut self, _: Time, _: EndId, _: &Connection) {}
    fn on_event(&mut self, _: EventRow) {}
}

/// How much of a series is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Bins with minimum, maximum and last value: no peak is lost.
    Binned,
    /// A bin of one microsecond, and as many as it takes.
    Full,
}

/// Which traces a run should record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// The queues at the switches' ports towards the clients.
    pub queue: Option<Detail>,
    /// cwnd, ssthresh, RTO and flight of the servers' connections.
    pub cwnd: Option<Detail>,
    /// Timeouts, recoveries, drops and the milestones of blocks.
    pub events: bool,
}

impl TraceRequest {
    /// Reads names such as `queue`, `cwnd:full`, `events`.
    ///
    /// # Errors
    /// One line that names what was given and what would be accepted.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut request = Self::default();
        for name in names {
            let (kind, detail) = match name.split_once(':') {
                None => (name, Detail::Binned),
                Some((kind, "full")) => (kind, Detail::Full),
                Some(_) => ("", Detail::Binned),
            };
            match kind {
                "queue" => request.queue = Some(detail),
                "cwnd" => request.cwnd = Some(detail),
                "events" => request.events = true,
                _ => {
                    return Err(format!(
                        "trace {name:?} is unknown; write queue, cwnd, events, queue:full or cwnd:full"
                    ));
                }
            }
        }
        Ok(request)
    }

    /// Whether anything is to be recorded.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a run recorded.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// See [`TraceRequest::queue`].
    pub queue: Option<QueueTraces>,
    /// See [`TraceRequest::cwnd`].
    pub flows: Option<FlowTrace>,
    /// See [`TraceRequest::events`].
    pub events: Option<EventTrace>,
}

impl Trace {
    /// An empty trace of a run in this setting.
    pub fn new(request: &TraceRequest, setting: &Setting) -> Self {
        let Setting { flows, workloads, base_rtt, ports } = setting;
        Self {
            queue: request.queue.map(|detail| QueueTraces::new(detail, ports)),
            flows: request.cwnd.map(|detail| FlowTrace::new(detail, *flows)),
            events: request
                .events
                .then(|| EventTrace::new(ports[0].0, *base_rtt, workloads.clone())),
        }
    }

    /// Closes the last bins at the end of the run.
    pub fn finish(&mut self, now: Time, network: &mut Network) {
        let ports = network.switch_ports_forward();
        if let Some(queues) = &mut self.queue {
            queues.finish(now, network, &ports);
        }
    }
}

impl Probe for Trace {
    const ON: bool = true;

    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.advance(now, network);
        }
        if let Some(events) = self.events.as_mut().filter(|events| events.port() == port) {
            events.before_offer(network.port(port).last_departure());
        }
    }

    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.advance(now, network);
        }
    }

    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.note_packet(now, packet, network);
        }
        if let Some(flows) = self.flows.as_mut().filter(|_| packet.label != 0)
            && network.route(packet.route).first() == Some(&port)
        {
            flows.note_label(packet);
        }
        if let Some(events) = self.events.as_mut().filter(|events| events.port() == port) {
            events.after_offer(now);
        }
    }

    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.advance_before(now, network);
        }
    }

    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.note(now, network);
        }
    }

    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        if let Some(queue) = self.queue.as_mut().and_then(|queues| queues.at(port)) {
            queue.note_drop();
        }
        if let Some(events) = &mut self.events {
            events.push(EventRow {
                seq: packet.seq,
                ..EventRow::new(now, EventKind::Drop, Some(packet.route.flow()))
            });
        }
    }

    fn on_arrival(&mut self, _: Time, _: PortId, _: &Packet) {}

    fn on_connection(&mut self, now: Time, end: EndId, connection: &Connection) {
        if let Some(flows) = self.flows.as_mut().filter(|_| end.is_server()) {
            flows.note(now, end.flow(), connection);
        }
    }

    fn on_event(&mut self, row: EventRow) {
        if let Some(events) = &mut self.events {
            events.push(row);
        }
    }
}
