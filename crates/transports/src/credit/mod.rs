//! Credit schemes: how much a sender may send, as its receiver allows. Each scheme has a file, and a
//! line in the list below.

use incast_engine::{Entry, Foreign, Time};

use crate::part::parts;

mod none;

/// Decides how much the sender may send. Each end has its own: the receiver's grants, and the
/// sender's takes what was granted.
pub trait Credit: Send {
    /// At the receiver: the bytes that may now be sent in all, after a packet of `bytes` has arrived;
    /// `None` if the sender needs no credit.
    fn grant(&mut self, now: Time, bytes: u64) -> Option<u64> {
        let _ = (now, bytes);
        None
    }
    /// At the sender: notes that the receiver allows `bytes` in all.
    fn take(&mut self, bytes: u64) {
        let _ = bytes;
    }
    /// At the sender: the number of bytes that may be sent in all; `None` if it needs no credit.
    fn limit(&self) -> Option<u64> {
        None
    }
}

parts! {
    Credits, Credit:
    "none" => None(none): "The sender needs no credit.";
}
