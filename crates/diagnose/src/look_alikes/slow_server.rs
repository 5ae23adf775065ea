//! Slow servers: silences before or within an answer, with nothing outstanding, on an idle link.

use super::{Answer, Seen};
use crate::stall::Reason;
use crate::time::Span;

pub const NAME: &str = "slow_server";

/// A wait of more than this many round trips is a wait for the server, not for the network.
const TRIPS: i64 = 20;
/// A shorter wait than this does not show a slow server, because hosts wake up late.
const LEAST: Span = Span::from_millis(3);
/// On a long path, a wait of two round trips plus this time is enough.
const ENOUGH: Span = Span::from_millis(30);
/// A wait of this length or more is reported even if it is rare. Shorter waits are reported only if
/// all waits together take at least the share `SHARE` of the capture's time.
const LONG: Span = Span::from_millis(50);
const SHARE: f64 = 0.02;

pub fn judge(seen: &Seen) -> Answer {
    let trip = seen.point.parameters.round_trip.unwrap_or(Span::from_millis(1));
    let waits = seen.waits(&[Reason::FirstByte, Reason::Middle]);
    let time = seen.point.last - seen.point.first;
    Answer::of_waits(&waits, |longest| Some(is_slow(longest, waits.total, trip, time)))
}

/// Whether the longest wait, or the sum of all waits in `time`, shows a slow server.
fn is_slow(longest: Span, total: Span, trip: Span, time: Span) -> bool {
    longest > least(trip)
        && (longest >= LONG || total.as_nanos() as f64 >= SHARE * time.as_nanos() as f64)
}

fn least(trip: Span) -> Span {
    (TRIPS * trip).min(2 * trip + ENOUGH).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told_of, waited};
    use super::*;
    use crate::time::tests::MS;
    use crate::vantage::Vantage;

    #[test]
    fn a_wait_of_many_round_trips_is_for_the_server() {
        let slow = |longest, trip| is_slow(longest, longest, trip, 100 * MS);
        assert!(slow(4 * MS, MS / 10) && !slow(2 * MS, MS / 10), "hosts wake up late");
        assert!(slow(21 * MS, MS) && !slow(19 * MS, MS), "twenty round trips");
        assert!(slow(131 * MS, 50 * MS) && !slow(129 * MS, 50 * MS), "over a long way");
    }

    #[test]
    fn a_wait_before_or_in_an_answer_is_for_the_server() {
        let found = |reason, length| {
            let mut point = waited(reason, length);
            point.parameters.round_trip = Some(MS / 10);
            point.last = point.first + 100 * MS;
            told_of(judge, &point, Vantage::Client)
        };
        assert_eq!(found(Reason::FirstByte, 4 * MS), Some(true));
        assert_eq!(found(Reason::Middle, 4 * MS), Some(true));
        assert_eq!(found(Reason::Middle, 3 * MS), Some(false));
        assert_eq!(found(Reason::DelayedAck, 90 * MS), Some(false));
    }

    #[test]
    fn a_short_wait_counts_if_many_of_its_kind_are_a_part_of_the_time() {
        let slow = |longest, total| is_slow(longest, total, MS / 10, 1000 * MS);
        assert!(!slow(9 * MS, 18 * MS) && slow(9 * MS, 20 * MS));
        assert!(slow(50 * MS, Span::ZERO), "a long one always");
    }
}
