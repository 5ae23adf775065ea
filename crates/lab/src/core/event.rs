//! The events of a run.

use incast_net::PortId;
use incast_net::flow_control::Signal;
use incast_net::topology::HostId;

use incast_host::EndId;

/// An event of the event queue. There is at most one event per link, and at most one valid deadline
/// per connection end. Ports with departure events and links with reordering have more events.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The first packet of a port's ring arrives at the end of the link.
    Arrival(PortId),
    /// Announced packets enter a port.
    Entry(PortId),
    /// The packet in service leaves a port with departure events.
    Departure(PortId),
    /// A switch's flow-control signal reaches the port that must stop or may continue.
    Signal(PortId, Signal),
    /// A packet leaves the host that keeps it.
    Leave,
    /// The deadline of a host's network card.
    Card(HostId),
    /// The deadline of a connection's end. The event has no effect if the deadline has moved.
    Wake(EndId),
    /// An application's timer.
    Timer {
        /// The application.
        application: u16,
        /// The application's number for the timer.
        index: u32,
    },
    /// The time limit ends the run.
    TimeLimit,
}
