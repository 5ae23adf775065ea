//! Packets that were lost at the receiving host itself, because its ring was full.

use super::{Answer, Seen, WAITS_ONLY};

pub const NAME: &str = "host_drops";

pub fn judge(seen: &Seen) -> Answer {
    if seen.receiver.losses.count() == 0 {
        let open = seen.point.stalls.iter().any(|stall| stall.cause.is_err());
        if open || seen.repeats_after_silence() {
            return Answer::new(None, seen.address.to_string(), WAITS_ONLY);
        }
        return Answer::new(Some(false), "", "no packet loss is seen");
    }
    let why = "a full receive ring drops packets just as a full queue of the switch does; `ethtool \
               -S` at the host and the drop counters of the switch distinguish them";
    Answer::new(None, seen.address.to_string(), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told, told_of};
    use super::*;
    use crate::event::Resumed;
    use crate::point::Point;
    use crate::receiver::Receiver;
    use crate::stall::tests::stall;
    use crate::stall::{Cause, Stall};
    use crate::time::tests::{MS, at};
    use crate::vantage::Vantage;

    #[test]
    fn a_loss_may_be_the_hosts() {
        let found = |losses| {
            let mut receiver = Receiver::default();
            receiver.losses.lost(losses);
            told(judge, &receiver, Vantage::Client)
        };
        assert_eq!([found(0), found(1)], [Some(false), None]);
    }

    #[test]
    fn waits_without_a_cause_may_be_for_packets_that_it_lost() {
        let found = |point: &Point| told_of(judge, point, Vantage::Client);
        let mut point = Point::new(3);
        point.stalls = vec![stall(0, 200, Cause::FullWindow)];
        assert_eq!(found(&point), Some(false));
        point.stalls.push(Stall { cause: Err("unknown"), ..stall(0, 200, Cause::FullWindow) });
        assert_eq!(found(&point), None);
    }

    #[test]
    fn a_silence_that_ends_with_repeats_may_be_one_of_them() {
        let found = |how| {
            let mut point = Point::new(3);
            point.silences.data(at(0));
            point.silences.data(at(0) + 200 * MS);
            point.silences.resumed(at(0), how, false);
            told_of(judge, &point, Vantage::Client)
        };
        assert_eq!([Resumed::New, Resumed::Again].map(found), [Some(false), None]);
    }
}
