//! Probes: what a run records on request. Without probes a run has no cost for them.

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
pub use kind::{Field, Kind, Names, Read, Recorder, Table, TraceKind, Values};
pub use queue::{QueueSummary, QueueTrace, QueueTraces};
pub use trace::{Sink, TraceRequest};

trace::kinds! {
    queue: QueueTraces,
    cwnd: FlowTrace,
    events: EventTrace,
}

/// The properties of a run that probes need.
pub struct Setting {
    /// Flows with connections.
    pub flows: u32,
    /// The flows of each workload.
    pub workloads: Vec<Range<u32>>,
    /// Propagation round trip between the client and the most distant server.
    pub base_rtt: Span,
    /// The switch's port towards the workload's first client.
    pub own_port: PortId,
    /// The switches' ports that may be on a path to a client, and their names, `own_port` first.
    pub ports: Vec<(PortId, String)>,
}

/// Is called on the events of a run. The default methods do nothing.
#[expect(unused_variables, reason = "by default, nothing is noted")]
pub trait Listener {
    /// A packet is about to be offered to a port.
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// The packet was admitted, and perhaps marked.
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {}
    /// The packet in service is about to leave a port with departure events.
    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// A waiting packet was dropped, at its departure or because it was pushed out. By default
    /// handled like any other drop.
    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.on_drop(now, port, packet);
    }
    /// The next packet, if any, is being sent.
    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {}
    /// A packet is about to arrive at the end of a port's link.
    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// The packet was dropped.
    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// A packet has crossed a port's link.
    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// A connection was served.
    fn on_connection(&mut self, now: Time, end: EndId, connection: &Connection) {}
    /// A rare event happened.
    fn on_event(&mut self, row: EventRow) {}
}

/// The listener of a world.
pub trait Probe: Listener {
    /// Whether it listens. If not, the calls are compiled out.
    const ON: bool = true;

    /// Is called from time to time: it may pass on what it has.
    fn spill(&mut self, network: &Network) {
        let _ = network;
    }
}

/// A listener that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {}

impl Probe for Silent {
    const ON: bool = false;
}
