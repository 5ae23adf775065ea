//! What applications want of clock and network.

use incast_engine::Time;

use crate::milestone::EventRow;

/// What an application wants of clock and network, done before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// To be woken; that cannot be taken back.
    Timer {
        /// When.
        at: Time,
        /// Which application.
        application: u16,
        /// The application's own number for it.
        index: u32,
    },
    /// A datagram of `size` bytes on the forward route of `flow`.
    Datagram {
        /// The flow.
        flow: u32,
        /// Its size on the wire, bytes.
        size: u32,
    },
    /// A row for whoever watches the run.
    Milestone(EventRow),
    /// The application has done what it was asked for.
    Finished {
        /// Which application.
        application: u16,
    },
}
