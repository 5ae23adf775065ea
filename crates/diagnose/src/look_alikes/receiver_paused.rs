//! A window that lets no segment through: the receiver does not read.

use super::{Answer, Seen};
use crate::event::Reason;

pub const NAME: &str = "receiver_paused";

pub fn judge(seen: &Seen) -> Answer {
    let waits = seen.waits(&[Reason::Paused, Reason::StillPaused]);
    Answer::of_waits(&waits, |_| Some(true))
}
