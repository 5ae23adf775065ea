//! Receivers that do not read, so that no segment fits into their window.

use super::{Answer, Seen};
use crate::stall::Reason;

pub const NAME: &str = "receiver_paused";

pub fn judge(seen: &Seen) -> Answer {
    let waits = seen.waits(&[Reason::Paused, Reason::StillPaused]);
    Answer::of_waits(&waits, |_| Some(true))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told_of, waited};
    use super::*;
    use crate::time::tests::ns;
    use crate::vantage::Vantage;

    #[test]
    fn any_window_that_was_shut_is_one() {
        let found = |reason| told_of(judge, &waited(reason, ns(1)), Vantage::Client);
        assert_eq!([Reason::Paused, Reason::StillPaused].map(found), [Some(true); 2]);
        assert_eq!(found(Reason::DelayedAck), Some(false));
    }
}
