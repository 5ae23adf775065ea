//! Probes, which record a run on request. Without probes, a run needs no additional time.

mod bins;
mod cwnd;
mod events;
mod kind;
mod queue;
mod trace;

use std::ops::Range;

use incast_engine::{Span, Time};
use incast_host::milestone::EventRow;
use incast_host::{End, EndId};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};

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
    /// Number of flows with connections.
    pub flows: u32,
    /// The flows of each workload.
    pub workloads: Vec<Range<u32>>,
    /// Propagation round trip between the client and the most distant server.
    pub base_rtt: Span,
    /// The switch's port towards the workload's first client.
    pub own_port: PortId,
    /// The switch ports that may be on a path to a client, with their names. The first is
    /// `own_port`.
    pub ports: Vec<(PortId, String)>,
}

/// Listens to the events of a run. The default methods do nothing.
#[expect(unused_variables, reason = "by default, nothing is noted")]
pub trait Listener {
    /// Called before a packet is offered to a port.
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// Called after the port has admitted the packet. The port may have marked it.
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {}
    /// Called before the packet in service leaves a port with departure events.
    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// Called when a packet is dropped after it was admitted: at its departure, or because another
    /// packet pushed it out. By default, this is handled like any other drop.
    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.on_drop(now, port, packet);
    }
    /// Called after a departure. If another packet is waiting, the port has already begun to send
    /// it.
    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {}
    /// Called before a packet arrives at the end of a port's link.
    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {}
    /// Called when the port drops a packet instead of admitting it.
    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// Called when a packet has crossed a port's link.
    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {}
    /// Called when an end was served.
    fn on_served(&mut self, now: Time, id: EndId, end: &End) {}
    /// Called when a rare event happened.
    fn on_event(&mut self, row: EventRow) {}
}

/// The listener of a world.
pub trait Probe: Listener {
    /// Whether the probe listens. If it does not listen, the calls are compiled out.
    const ON: bool = true;

    /// Called at intervals during the run, so that the probe can pass on its records.
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
