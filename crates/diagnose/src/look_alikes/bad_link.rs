//! Losses that are spread over all packets instead of over full queues.

use super::{Answer, Seen};
use crate::receiver::Receiver;

pub const NAME: &str = "bad_link";

/// Losses come together if their variance per group is this many times their mean.
const TOGETHER: f64 = 3.0;
/// And they are random up to this.
const RANDOM: f64 = 1.6;
/// A larger share than this is lost by full queues; a link that lost as much would not be in use.
const MANY: f64 = 0.03;
/// A link may lose this share and still be in use.
const FEW: f64 = 0.02;
/// Losses that are too few to show anything.
const COUNT: u64 = 5;

pub fn judge(seen: &Seen) -> Answer {
    let losses = &seen.receiver.losses;
    let count = losses.count();
    if count == 0 {
        return Answer::new(Some(false), "", "no packet loss is seen");
    }
    let place = format!("on the way to {}", seen.address);
    let told = format!("{count} losses, {:.2} % of packets", 100.0 * losses.ratio());
    let Some(dispersion) = losses.dispersion() else {
        let why = format!("{told}: too few to show whether they are random");
        return Answer::new(None, place, why);
    };
    if seen.at_server() {
        let why = format!("{told}: one server sees too few of the packets in a queue");
        return Answer::new(None, place, why);
    }
    let told = format!("{told}; variance / mean per 64 packets {dispersion:.1}");
    let (found, why) = if dispersion <= RANDOM && losses.ratio() > MANY {
        (None, "at random, but too many for a link that works")
    } else if dispersion <= RANDOM {
        (Some(true), "at random, not when a queue is full")
    } else if dispersion >= TOGETHER {
        (Some(false), "they come together")
    } else {
        (None, "neither clearly random nor clearly together")
    };
    Answer::new(found, place, format!("{told}: {why}"))
}

/// Whether a full queue need not have dropped what a host has missed: the losses are few, and do
/// not demonstrably come together.
pub fn may_be(receiver: &Receiver) -> bool {
    let losses = &receiver.losses;
    let few = losses.count() < COUNT || losses.ratio() < FEW;
    few && losses.dispersion().is_none_or(|dispersion| dispersion < TOGETHER)
}

/// Whether losses are as many as a bad link has, and demonstrably do not come together. Where flows are
/// many and long, several of one burst then wait, as in incast.
pub fn is_likely(receiver: &Receiver) -> bool {
    let losses = &receiver.losses;
    losses.ratio() < MANY && losses.dispersion().is_some_and(|dispersion| dispersion < TOGETHER)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::vantage::Vantage;

    /// A receiver of these packets, of which each `every`th group of `many` is lost.
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
        assert!(!is_likely(&receiver(640, 200, 1)), "too few to see how they come");
    }
}
