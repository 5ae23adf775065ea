//! A silence before or in an answer, with nothing outstanding, on an idle link.

use super::{Answer, Seen};
use crate::event::Reason;

pub const NAME: &str = "slow_server";

/// A wait of so many round trips is one for the server, not the network.
const TRIPS: i64 = 20;
/// And none that is shorter than this: hosts wake up late.
const LEAST: i64 = 3_000_000;
/// A wait of this length is told, however rare; shorter ones if they are a part of the time.
const LONG: i64 = 50_000_000;
const SHARE: f64 = 0.02;

pub fn judge(seen: &Seen) -> Answer {
    let trip = seen.point.parameters.round_trip.unwrap_or(1_000_000);
    let waits = seen.waits(&[Reason::FirstByte, Reason::Middle]);
    let time = (seen.point.last - seen.point.first).max(1);
    let often = waits.total as f64 >= SHARE * time as f64;
    let slow = |longest: i64| longest > least(trip) && (longest >= LONG || often);
    Answer::of_waits(&waits, |longest| Some(slow(longest)))
}

fn least(trip: i64) -> i64 {
    (TRIPS * trip).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::event::Wait;
    use crate::receiver::Receiver;
    use crate::vantage::Vantage;

    fn after(length: i64, reason: Reason) -> Option<bool> {
        let mut receiver = Receiver::default();
        let place = Default::default();
        let (start, idle) = (0, 1.0);
        let wait = Wait { reason, start, end: length, before: place, after: place, idle };
        let waits = receiver.waits.entry(reason).or_default();
        waits.count = 1;
        waits.total = length;
        waits.longest = Some((wait, Default::default()));
        told(judge, receiver, Vantage::Client)
    }

    #[test]
    fn a_wait_of_many_round_trips_is_for_the_server() {
        // Without one that was seen, a round trip is taken for a millisecond.
        assert_eq!(after(21_000_000, Reason::FirstByte), Some(true));
        assert_eq!(after(19_000_000, Reason::Middle), Some(false));
        assert_eq!(after(500_000_000, Reason::Paused), Some(false), "not the server's");
        assert_eq!((least(100_000), least(1_000_000)), (3_000_000, 20_000_000));
    }
}
