//! Rounds of packets that end where the window does.

use super::{Answer, Seen};

pub const NAME: &str = "window_limited";

/// Rounds, or ACKs, that are needed, and the share of them before which the window was used up.
const ROUNDS: u64 = 5;
const ACKS: u64 = 10;
const SHARE: f64 = 0.5;
/// With more losses than this share of the packets, a congestion window looks the same.
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
}
