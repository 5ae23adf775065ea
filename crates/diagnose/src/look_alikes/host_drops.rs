//! Packets that were lost at the receiving host itself: its ring was full.

use super::{Answer, Seen};

pub const NAME: &str = "host_drops";

pub fn judge(seen: &Seen) -> Answer {
    if seen.receiver.losses.count() == 0 {
        let open = seen.point.stalls.iter().any(|stall| stall.cause.is_err());
        let repeated = seen.point.silences.all().iter().any(|silence| silence.repeated() > 0);
        if open || repeated {
            let why = "no packet loss is seen, but flows wait as long as for a timer";
            return Answer::new(None, seen.address.to_string(), why);
        }
        return Answer::new(Some(false), "", "no packet loss is seen");
    }
    let why = "a full receive ring drops packets just as a full queue of the switch; `ethtool -S` \
               at the host and the drop counters of the switch distinguish them";
    Answer::new(None, seen.address.to_string(), why)
}
