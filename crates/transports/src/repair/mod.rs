//! Repairs: how lost packets are found and sent again. Each repair has a file, and a line in the list
//! below.

use std::ops::Range;

use incast_host::Seat;

mod go_back_n;
mod selective_repeat;

/// The receiver's answer to a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// All bytes below this number have arrived.
    pub next: u64,
    /// Bytes that the receiver asks for.
    pub lacks: Option<Range<u64>>,
}

/// The two halves of a repair. Each end has both halves: one for the data that it sends, and one
/// for the data that it receives.
pub trait Repair: Send {
    /// At the receiver: a packet with these bytes has arrived.
    fn on_data(&mut self, bytes: Range<u64>) -> Answer;
    /// At the receiver: the header of a packet with these bytes has arrived, without the bytes.
    fn on_trimmed(&mut self, bytes: Range<u64>) -> Answer;
    /// At the sender: all bytes below `next` have arrived.
    fn on_ack(&mut self, next: u64);
    /// At the sender: the receiver asks for bytes. All bytes below `max` were sent.
    fn on_nack(&mut self, lacks: Range<u64>, max: u64);
    /// At the sender: the bytes from `una` to `max` were sent, and none was acknowledged in time.
    fn on_timeout(&mut self, una: u64, max: u64);
    /// At the sender: the next bytes to send again, at most `most`.
    fn resend(&mut self, most: u64) -> Option<Range<u64>>;
    /// At the sender: whether there are bytes to send again.
    fn has_work(&self) -> bool;
}

incast_engine::parts! {
    /// One of the list, with its parameters.
    Repairs of Repair at Seat:
    "go-back-n" => GoBackN(go_back_n): "The receiver keeps packets in order only, and the sender goes back to the first missing one.";
    "selective-repeat" => SelectiveRepeat(selective_repeat): "The receiver keeps all packets, and only missing ones are sent again.";
}

impl Default for Repairs {
    fn default() -> Self {
        Self::GoBackN(go_back_n::Params::default())
    }
}

/// Takes at most `most` bytes from the beginning of a range.
fn cut(range: &mut Range<u64>, most: u64) -> Option<Range<u64>> {
    if range.is_empty() {
        return None;
    }
    let end = range.end.min(range.start + most);
    let first = range.start..end;
    range.start = end;
    Some(first)
}

#[cfg(test)]
mod tests;
