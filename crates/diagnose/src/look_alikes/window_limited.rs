//! Flows that the receiver's window limits: their rounds of packets end at the edge of the window.

use super::{Answer, Seen};

pub const NAME: &str = "window_limited";

/// The window limits the flows if more than the share `SHARE` of at least `ROUNDS` rounds end at
/// the edge of the window, or if the window was used up before more than this share of at least
/// `ACKS` ACKs.
const ROUNDS: u64 = 5;
const ACKS: u64 = 10;
const SHARE: f64 = 0.5;
/// If more than this share of the packets is lost, a congestion window may have the same effect.
const LOSSES: f64 = 0.02;

pub fn judge(seen: &Seen) -> Answer {
    let tallies = &seen.receiver.tallies;
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let by_round = tallies.rounds >= ROUNDS && share(tallies.full, tallies.rounds) > SHARE;
    let by_ack = tallies.acks >= ACKS && share(tallies.full_acks, tallies.acks) > SHARE;
    let why = format!(
        "{} of {} rounds of packets end at the edge of the window; before {} of {} ACKs the window \
         was used up",
        tallies.full, tallies.rounds, tallies.full_acks, tallies.acks
    );
    let found = match (by_round || by_ack, seen.receiver.losses.ratio() <= LOSSES) {
        (false, _) => Some(false),
        (true, true) => Some(true),
        (true, false) => None,
    };
    Answer::new(found, format!("flows to {}", seen.address), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::{Receiver, Tallies};
    use crate::vantage::Vantage;

    #[test]
    fn a_window_that_is_used_up_limits_also_where_a_few_packets_are_lost() {
        let used_up = |losses: u32| {
            let tallies = Tallies { acks: 1000, full_acks: 990, ..Tallies::default() };
            let mut receiver = Receiver::default();
            receiver.tallies = tallies;
            (0..1000).for_each(|_| receiver.losses.packet());
            receiver.losses.lost(losses);
            told(judge, &receiver, Vantage::Client)
        };
        assert_eq!([used_up(0), used_up(5), used_up(80)], [Some(true), Some(true), None]);
        assert_eq!(told(judge, &Receiver::default(), Vantage::Client), Some(false));
    }

    fn of(tallies: Tallies, losses: u32) -> Option<bool> {
        let mut receiver = Receiver::default();
        receiver.tallies = tallies;
        (0..980).for_each(|_| receiver.losses.packet());
        receiver.losses.lost(losses);
        told(judge, &receiver, Vantage::Client)
    }

    #[test]
    fn more_than_half_of_five_rounds_or_ten_acks_meet_the_window() {
        let rounds = |rounds, full| of(Tallies { rounds, full, ..Tallies::default() }, 0);
        assert_eq!(rounds(5, 3), Some(true));
        assert_eq!(rounds(6, 3), Some(false), "half");
        assert_eq!(rounds(4, 4), Some(false), "too few");
        let acks = |acks, full_acks| of(Tallies { acks, full_acks, ..Tallies::default() }, 0);
        assert_eq!(acks(10, 6), Some(true));
        assert_eq!(acks(10, 5), Some(false), "half");
        assert_eq!(acks(9, 9), Some(false), "too few");
        let both = Tallies { rounds: 5, full: 0, acks: 10, full_acks: 10, ..Tallies::default() };
        assert_eq!(of(both, 0), Some(true), "one is enough");
    }

    #[test]
    fn a_congestion_window_loses_more_than_a_fiftieth() {
        let tallies = || Tallies { rounds: 5, full: 5, ..Tallies::default() };
        assert_eq!(of(tallies(), 20), Some(true), "20 of 1000");
        assert_eq!(of(tallies(), 21), None);
        assert_eq!(of(Tallies::default(), 21), Some(false));
    }
}
