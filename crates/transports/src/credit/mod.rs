//! Credit schemes: how many bytes a receiver allows a sender to send. Each scheme has a file, and a
//! line in the list below.

use incast_engine::Time;
use incast_host::Seat;

mod none;

/// Decides how much the sender may send. Each end has its own scheme: the receiver's scheme grants
/// credit, and the sender's scheme receives it.
pub trait Credit: Send {
    /// At the receiver: the total number of bytes that the sender may send, after a packet of
    /// `bytes` bytes has arrived; `None` if the sender needs no credit.
    fn grant(&mut self, now: Time, bytes: u64) -> Option<u64> {
        let _ = (now, bytes);
        None
    }
    /// At the sender: notes that the receiver allows `bytes` bytes in total.
    fn take(&mut self, bytes: u64) {
        let _ = bytes;
    }
    /// At the sender: the total number of bytes that it may send; `None` if it needs no credit.
    fn limit(&self) -> Option<u64> {
        None
    }
}

incast_engine::parts! {
    /// One of the list, with its parameters.
    Credits of Credit at Seat:
    "none" => None(none): "The sender needs no credit.";
}

impl Default for Credits {
    fn default() -> Self {
        Self::None(none::Params::default())
    }
}
