//! Bytes that were acknowledged and are not in the capture.

use super::{Answer, Seen};

pub const NAME: &str = "capture_drops";

pub fn judge(seen: &Seen) -> Answer {
    let (bytes, times) = seen.receiver.tallies.unseen;
    let why = match (times, seen.drops) {
        (0, 0) => "every acknowledged byte is in the capture".to_owned(),
        (0, drops) => format!("the file reports that the capture dropped {drops} packets"),
        _ => format!("{bytes} bytes in {times} places were acknowledged but never seen"),
    };
    Answer::new(Some(times > 0 || seen.drops > 0), "the capture itself", why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::Receiver;
    use crate::vantage::Vantage;

    #[test]
    fn a_byte_that_was_acknowledged_was_sent() {
        let mut receiver = Receiver::default();
        assert_eq!(told(judge, &receiver, Vantage::Client), Some(false));
        receiver.tallies.unseen = (1, 1);
        assert_eq!(told(judge, &receiver, Vantage::Client), Some(true));
    }
}
