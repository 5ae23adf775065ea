//! ACKs that the receiver delayed (RFC 1122 §4.2.3.2).

use super::{Answer, Seen};
use crate::stall::Reason;
use crate::time::Span;

pub const NAME: &str = "delayed_ack";

/// The shortest time for which a common stack delays an ACK on purpose (Linux: 40 ms, BSD: at least
/// 20 ms).
const LEAST: Span = Span::from_millis(20);

pub fn judge(seen: &Seen) -> Answer {
    let waits = seen.waits(&[Reason::DelayedAck]);
    Answer::of_waits(&waits, |longest| Some(longest >= LEAST))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told_of, waited};
    use super::*;
    use crate::time::tests::ns;
    use crate::vantage::Vantage;

    #[test]
    fn no_stack_holds_an_ack_for_a_shorter_time() {
        let found = |length| told_of(judge, &waited(Reason::DelayedAck, length), Vantage::Client);
        assert_eq!([LEAST, LEAST - ns(1)].map(found), [Some(true), Some(false)]);
    }
}
