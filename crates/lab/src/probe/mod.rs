//! Probes: what a run records on request. A silent run pays nothing for them.

mod bins;
mod cwnd;
mod events;
mod kind;
mod queue;
mod trace;

use std::ops::Range;

use incast_engine::{Span, Time};
use incast_host::EndId;
use incast_host::milestone::EventRow;
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use incast_tcp::Connection;

pub use bins::Detail;
pub use cwnd::FlowTrace;
pub use events::EventTrace;
pub use kind::{Field, Kind, Read, Recorder, Table, TraceKind, Values};
pub use queue::{QueueSummary, QueueTrace, QueueTraces};
pub use trace::TraceRequest;

trace::kinds! {
    queue: QueueTraces,
    cwnd: FlowTrace,
    events: EventTrace,
}

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

/// Listens to a run, as far as it wants to.
#[expect(unused_variables, reason = "by default, nothing is noted")]
pub trait Listener {
    /// A packet is about to be offered to a port.
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// It was admitted, perhaps marked.
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {}
    /// The packet in service is about to leave a port whose departures are events.
    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// A packet that waited was dropped, when its turn came or when another pushed it out: a drop
    /// like any other, by default.
    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.on_drop(now, port, packet);
    }
    /// The next packet is being sent, if there is one.
    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {}
    /// A packet is about to leave a port's link at its far end.
    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// It was dropped.
    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// A packet has crossed a port's link.
    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// A connection was served.
    fn on_connection(&mut self, now: Time, end: EndId, connection: &Connection) {}
    /// Something worth a row happened.
    fn on_event(&mut self, row: EventRow) {}
}

/// The listener of a world.
pub trait Probe: Listener {
    /// Whether it listens at all; if not, the calls are compiled out.
    const ON: bool = true;
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {}

impl Probe for Silent {
    const ON: bool = false;
}
