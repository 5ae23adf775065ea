//! Lost ACKs: data that have arrived are retransmitted.

use super::{Answer, Seen};
use crate::stall::{Cause, Ended, Stall};

pub const NAME: &str = "lost_acks";

/// Minimum number of needless retransmissions, and their minimum share of all repairs.
const COUNT: u64 = 2;
const SHARE: f64 = 0.5;

pub fn judge(seen: &Seen) -> Answer {
    let stalls = seen.point.stalls.iter();
    // After a probe, the ACK may have been delayed instead of lost.
    let by_timer = |stall: &&Stall| stall.ended == Ended::Timeout;
    let lost =
        stalls.filter(by_timer).filter(|stall| stall.cause == Ok(Cause::AckLoss)).count() as u64;
    let in_vain = seen.receiver.tallies.in_vain;
    if lost + in_vain == 0 {
        let why = "no acknowledged data was retransmitted";
        let found = if seen.at_server() { None } else { Some(false) };
        return Answer::new(found, "", why);
    }
    let place = format!("on the way from {}", seen.address);
    let why = format!(
        "{in_vain} timers retransmitted acknowledged data; {lost} waits were due to lost ACKs"
    );
    if seen.point.silences.all().iter().any(|one| one.is_outage() == Some(true)) {
        return Answer::new(None, place, format!("{why}; an outage has the same effect"));
    }
    let share = (in_vain + lost) as f64 / (in_vain + lost + seen.receiver.losses.count()) as f64;
    let certain = in_vain + lost >= COUNT && share >= SHARE;
    Answer::new(certain.then_some(true), place, why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told_of;
    use super::*;
    use crate::event::Resumed;
    use crate::point::Point;
    use crate::stall::tests::stall;
    use crate::time::tests::{MS, at};
    use crate::vantage::Vantage;
    use incast_capture::read::Address;

    /// A point with these numbers of waits for lost ACKs, packets sent in vain, and losses.
    fn point(waits: usize, in_vain: u64, lost: u32) -> Point {
        let mut point = Point::new(3);
        point.stalls = vec![stall(0, 200, Cause::AckLoss); waits];
        let place = point.hosts.place(Address::default());
        let receiver = point.hosts.receiving(place);
        receiver.tallies.in_vain = in_vain;
        receiver.losses.lost(lost);
        point
    }

    #[test]
    fn data_that_comes_again_although_it_was_acknowledged_shows_lost_acks() {
        let found = |point: &Point| told_of(judge, point, Vantage::Client);
        assert_eq!(found(&point(1, 1, 2)), Some(true));
        assert_eq!(found(&point(1, 1, 3)), None, "more data than ACKs");
        assert_eq!(found(&point(0, 1, 0)), None, "once");
        assert_eq!(found(&point(0, 0, 9)), Some(false));
        assert_eq!(told_of(judge, &point(0, 0, 0), Vantage::Server), None);
    }

    #[test]
    fn an_outage_does_the_same() {
        let mut out = point(2, 2, 0);
        out.silences.data(at(0));
        out.silences.data(at(0) + 200 * MS);
        (0..3).for_each(|_| out.silences.resumed(at(0), Resumed::Acknowledged, false));
        assert_eq!(told_of(judge, &out, Vantage::Client), None);
    }

    #[test]
    fn what_a_probe_repeats_may_have_met_an_ack_that_was_held() {
        let mut probed = point(2, 0, 0);
        assert_eq!(told_of(judge, &probed, Vantage::Client), Some(true));
        probed.stalls[0].ended = Ended::Probe;
        assert_eq!(told_of(judge, &probed, Vantage::Client), None, "one is left");
        probed.stalls[1].ended = Ended::Probe;
        assert_eq!(told_of(judge, &probed, Vantage::Client), Some(false));
        let mut other = point(2, 0, 0);
        other.stalls.iter_mut().for_each(|stall| stall.cause = Ok(Cause::Spurious));
        assert_eq!(told_of(judge, &other, Vantage::Client), Some(false));
    }

    #[test]
    fn half_of_all_repairs_must_be_needless() {
        let found =
            |waits, in_vain, lost| told_of(judge, &point(waits, in_vain, lost), Vantage::Client);
        assert_eq!([found(0, 4, 4), found(0, 4, 5)], [Some(true), None]);
        assert_eq!([found(4, 0, 4), found(4, 0, 5)], [Some(true), None]);
        assert_eq!(told_of(judge, &point(1, 1, 0), Vantage::Server), Some(true));
    }
}
