//! An ACK that the receiver held (RFC 1122 §4.2.3.2).

use super::{Answer, Seen};
use crate::event::Reason;

pub const NAME: &str = "delayed_ack";

/// No common stack holds an ACK for a shorter time on purpose (Linux: 40 ms, BSD: 20 ms and more).
const LEAST: i64 = 20_000_000;

pub fn judge(seen: &Seen) -> Answer {
    let waits = seen.waits(&[Reason::DelayedAck]);
    Answer::of_waits(&waits, |longest| Some(longest >= LEAST))
}
