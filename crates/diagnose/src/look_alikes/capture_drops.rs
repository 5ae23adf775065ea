//! Packets that the capture dropped: their bytes were acknowledged, but are not in the file.

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
    use crate::point::Point;
    use crate::receiver::Receiver;
    use crate::vantage::Vantage;
    use incast_capture::read::Address;

    #[test]
    fn a_byte_that_was_acknowledged_was_sent() {
        let mut receiver = Receiver::default();
        assert_eq!(told(judge, &receiver, Vantage::Client), Some(false));
        receiver.tallies.unseen = (1, 1);
        assert_eq!(told(judge, &receiver, Vantage::Client), Some(true));
    }

    #[test]
    fn the_file_itself_may_say_that_packets_are_missing() {
        let answer = |times, drops| {
            let mut receiver = Receiver::default();
            receiver.tallies.unseen = (1460 * times as i64, times);
            let (point, address) = (Point::new(3), Address::default());
            let vantage = Some(Vantage::Client);
            let seen = Seen { point: &point, receiver: &receiver, address, vantage, drops };
            let Answer { found, why, .. } = judge(&seen);
            (found, why)
        };
        let told = |found, why: &str| (Some(found), why.to_owned());
        assert_eq!(answer(0, 0), told(false, "every acknowledged byte is in the capture"));
        let why = "the file reports that the capture dropped 7 packets";
        assert_eq!(answer(0, 7), told(true, why));
        let why = "2920 bytes in 2 places were acknowledged but never seen";
        assert_eq!(answer(2, 0), told(true, why));
        assert_eq!(answer(2, 7), told(true, why));
    }
}
