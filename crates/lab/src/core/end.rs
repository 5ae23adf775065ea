//! One end of a connection, and when it wants to be woken.

use incast_engine::Time;
use incast_tcp::Connection;

/// A connection and its place in the event queue.
#[repr(C, align(64))]
pub struct End {
    /// When the event queue will wake it; other wake-ups are stale.
    pub(super) armed: Time,
    /// A later wake-up that is pending as well. A pacer's deadlines come and go before that of the
    /// retransmission timer, which need not be scheduled anew after each of them.
    pub(super) backstop: Time,
    /// The connection.
    pub connection: Connection,
    /// Its host keeps segments until their departure times.
    pub(super) keeps: bool,
}

impl End {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, armed: Time::NEVER, backstop: Time::NEVER, keeps: false }
    }
}
