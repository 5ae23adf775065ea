//! Bad links: losses that are spread over all packets and do not come from full queues.

use super::{Answer, Seen};
use crate::receiver::Receiver;

pub const NAME: &str = "bad_link";

/// Losses come together if the variance of the losses per group is at least this many times the
/// mean.
const TOGETHER: f64 = 3.0;
/// Losses are random if the variance of the losses per group is at most this many times the mean.
const RANDOM: f64 = 1.6;
/// If a larger share of the packets is lost, the losses come from full queues, because nobody would
/// use a link with so many losses.
const MANY: f64 = 0.03;
/// A link may lose this share of packets and still be in use.
const FEW: f64 = 0.02;
/// Minimum number of losses that counts as evidence.
const COUNT: u64 = 5;

pub fn judge(seen: &Seen) -> Answer {
    let losses = &seen.receiver.losses;
    let count = losses.count();
    if count == 0 {
        return seen.without_losses();
    }
    let place = format!("on the way to {}", seen.address);
    let told = format!("{count} losses, {:.2} % of packets", 100.0 * losses.ratio());
    let Some(dispersion) = losses.dispersion() else {
        let why = format!("{told}: too few to show whether they are random");
        return Answer::new(None, place, why);
    };
    if seen.at_server() {
        let why = format!("{told}: one server sees too few of the packets that share a queue");
        return Answer::new(None, place, why);
    }
    let told = format!("{told}; variance / mean per 64 packets {dispersion:.1}");
    let (found, why) = if dispersion <= RANDOM && losses.ratio() > MANY {
        (None, "the losses are random, but too many for a link that works")
    } else if dispersion <= RANDOM {
        (Some(true), "the losses are random, so no full queue causes them")
    } else if dispersion >= TOGETHER {
        (Some(false), "the losses come together")
    } else {
        (None, "the losses are neither clearly random nor clearly together")
    };
    Answer::new(found, place, format!("{told}: {why}"))
}

/// Whether the losses of a host may come from a bad link instead of a full queue. This is possible
/// if the losses are few, and the capture does not show that they come together.
pub fn may_be(receiver: &Receiver) -> bool {
    let losses = &receiver.losses;
    let few = losses.count() < COUNT || losses.ratio() < FEW;
    few && losses.dispersion().is_none_or(|dispersion| dispersion < TOGETHER)
}

/// Whether the share of losses is possible on a bad link, and the capture shows that the losses do
/// not come together. If flows are many and long, a bad link may stop several flows of one burst,
/// as incast does.
pub fn is_likely(receiver: &Receiver) -> bool {
    let losses = &receiver.losses;
    losses.ratio() < MANY && losses.dispersion().is_some_and(|dispersion| dispersion < TOGETHER)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told, told_of};
    use super::*;
    use crate::point::Point;
    use crate::stall::tests::stall;
    use crate::stall::{Cause, Stall};
    use crate::vantage::Vantage;

    /// A receiver of `packets` packets. In each group of `every` packets, `many` packets are lost.
    fn receiver(packets: u32, every: u32, many: u32) -> Receiver {
        let mut receiver = Receiver::default();
        for number in 0..packets {
            receiver.losses.packet();
            if number % every == every / 2 {
                receiver.losses.lost(many);
            }
        }
        receiver
    }

    #[test]
    fn few_losses_at_regular_times_are_a_bad_link_and_many_are_not() {
        let found = |receiver: Receiver| told(judge, &receiver, Vantage::Client);
        assert_eq!(found(receiver(6400, 100, 1)), Some(true));
        assert_eq!(found(receiver(6400, 8, 1)), None, "12 %: no link that works");
        assert_eq!(found(receiver(6400, 1280, 20)), Some(false), "together");
        assert_eq!(found(receiver(6400, 3200, 1)), None, "two");
        assert_eq!(told(judge, &receiver(6400, 100, 1), Vantage::Server), None);
    }

    #[test]
    fn more_losses_at_random_than_a_link_may_have_leave_it_open() {
        let found = |every| told(judge, &receiver(6400, every, 1), Vantage::Client);
        assert_eq!(found(34), Some(true), "2.9 %");
        assert_eq!(found(32), None, "3.03 %");
    }

    #[test]
    fn a_share_that_a_link_may_lose_proves_no_queue() {
        assert!(may_be(&receiver(6400, 100, 1)));
        assert!(!may_be(&receiver(6400, 25, 1)), "4 %");
        assert!(!may_be(&receiver(6400, 1280, 20)));
        assert!(is_likely(&receiver(6400, 40, 1)), "2.4 %");
        assert!(!is_likely(&receiver(6400, 32, 1)), "3.03 %");
        assert!(!is_likely(&receiver(6400, 1280, 20)));
        assert!(!is_likely(&receiver(640, 200, 1)), "too few to show whether they come together");
    }

    /// A receiver of groups of packets, each with its number of losses.
    fn groups(losses: &[u32]) -> Receiver {
        let mut receiver = Receiver::default();
        for &lost in losses {
            receiver.losses.lost(lost);
            (0..64).for_each(|_| receiver.losses.packet());
        }
        receiver
    }

    /// Four of sixteen groups have four losses, so the ratio is 3.0.
    const THREE: [u32; 16] = [4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0];
    /// Five of sixteen groups have four losses, so the ratio is 2.75.
    const LESS: [u32; 16] = [4, 4, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0];

    #[test]
    fn losses_come_together_from_three_times_the_mean_on() {
        assert_eq!(groups(&THREE).losses.dispersion(), Some(3.0));
        assert_eq!(groups(&LESS).losses.dispersion(), Some(2.75));
        assert!(may_be(&groups(&LESS)) && !may_be(&groups(&THREE)));
        assert!(is_likely(&groups(&LESS)) && !is_likely(&groups(&THREE)));
        let found = |losses: &[u32]| told(judge, &groups(losses), Vantage::Client);
        assert_eq!((found(&LESS), found(&THREE)), (None, Some(false)));
    }

    #[test]
    fn losses_are_random_up_to_a_limit() {
        // If 4 of 20 groups have 2 losses, the ratio is 1.6; with 3 of 16 groups, it is 1.625.
        let found = |groups: u32, every: u32| {
            let losses: Vec<u32> =
                (0..groups).map(|group| 2 * u32::from(group % every == 0)).collect();
            told(judge, &super::tests::groups(&losses), Vantage::Client)
        };
        assert_eq!(found(20, 5), Some(true));
        assert_eq!(found(16, 6), None);
    }

    #[test]
    fn the_shares_of_a_link_in_use_have_limits() {
        // 10 of 500 are 2 %, 15 of 500 are 3 %.
        assert!(!may_be(&receiver(490, 49, 1)) && may_be(&receiver(491, 49, 1)));
        assert!(!is_likely(&receiver(485, 33, 1)) && is_likely(&receiver(486, 33, 1)));
        let found = |packets| told(judge, &receiver(packets, 33, 1), Vantage::Client);
        assert_eq!((found(485), found(484)), (Some(true), None));
        assert!(may_be(&receiver(40, 10, 1)), "four may be anything");
        assert!(!may_be(&receiver(50, 10, 1)), "five are 9 %");
    }

    #[test]
    fn a_receiver_without_losses_has_no_bad_link() {
        for vantage in [Vantage::Client, Vantage::Server] {
            assert_eq!(told(judge, &receiver(1000, 2000, 0), vantage), Some(false));
        }
    }

    #[test]
    fn a_wait_of_a_flow_to_another_host_leaves_it_open() {
        let found = |cause| {
            let mut point = Point::new(3);
            point.stalls = vec![Stall { cause, ..stall(0, 200, Cause::Tail) }];
            told_of(judge, &point, Vantage::Client)
        };
        assert_eq!([Ok(Cause::FullWindow), Err("unknown")].map(found), [None, None]);
        assert_eq!(found(Ok(Cause::Spurious)), Some(false));
        assert_eq!(told_of(judge, &Point::new(3), Vantage::Client), Some(false));
    }
}
