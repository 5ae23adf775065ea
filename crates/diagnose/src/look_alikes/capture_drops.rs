//! Bytes that were acknowledged and are not in the capture.

use super::{Answer, Seen};

pub const NAME: &str = "capture_drops";

pub fn judge(seen: &Seen) -> Answer {
    let (bytes, times) = seen.receiver.tallies.unseen;
    let why = match (times, seen.drops) {
        (0, 0) => "every acknowledged byte is in the capture".to_owned(),
        (0, drops) => format!("the capture says that it has dropped {drops} packets"),
        _ => format!("{bytes} bytes in {times} places were acknowledged and never seen"),
    };
    Answer::new(Some(times > 0 || seen.drops > 0), "the capture itself", why)
}
