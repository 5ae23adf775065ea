//! Requests of applications to the clock and the network.

use incast_engine::Time;

use crate::milestone::EventRow;

/// A request of an application to the clock or the network. Requests are executed before the next
/// event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Call the application at this time. The timer cannot be cancelled.
    Timer {
        /// The time.
        at: Time,
        /// The application.
        application: u16,
        /// The application's number for the timer.
        index: u32,
    },
    /// Send a datagram of `size` bytes on the forward route of `flow`.
    Datagram {
        /// The flow.
        flow: u32,
        /// The size of the datagram on the wire, bytes.
        size: u32,
    },
    /// Record an event row, if the run is traced.
    Milestone(EventRow),
    /// The application is complete.
    Finished {
        /// The application.
        application: u16,
    },
}
