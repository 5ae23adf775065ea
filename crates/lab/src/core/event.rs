//! What is going to happen.

use incast_net::PortId;

use incast_host::EndId;

/// What the event queue holds: at most one entry per link, and one live entry per connection end.
/// Ports with departure events and links that change the order have more.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The head of a port's ring arrives at the far end of the link.
    Arrival(PortId),
    /// Packets enter a port to which they were announced.
    Entry(PortId),
    /// The packet in service leaves a port whose departures are events.
    Departure(PortId),
    /// A port that was paused may send again.
    Resume(PortId),
    /// The packet leaves that a host keeps for now.
    Leave,
    /// A connection's deadline, unless it has moved since.
    Wake(EndId),
    /// An application's timer.
    Timer {
        /// Which application.
        application: u16,
        /// The application's own number for it.
        index: u32,
    },
    /// The run is given up.
    TimeLimit,
}
