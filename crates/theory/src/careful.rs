//! Ends slow start when round trips grow, after a conservative phase (`HyStart++`, RFC 9406 §4.2,
//! with the constants of the RFC).

use crate::packet::Ticks;
use crate::parts::{Parts, SEGMENT};

/// Samples that a round needs (`N_RTT_SAMPLE`).
const SAMPLES: u32 = 8;
/// The conservative phase begins when the round trip has grown by the previous round's smallest
/// round trip divided by this number (`MIN_RTT_DIVISOR`).
const DIVISOR: Ticks = 8;
/// Divisor of the growth in the conservative phase, and the number of rounds of this phase
/// (`CSS_GROWTH_DIVISOR`, `CSS_ROUNDS`).
const SLOWER: Parts = 4;
const ROUNDS: u32 = 5;
/// Maximum growth per ACK (`L`, without pacing).
const MOST: Parts = 8 * SEGMENT;

/// The current round, and the conservative phase.
#[derive(Clone, Debug, Default)]
pub struct Careful {
    has_begun: bool,
    end: u32,
    smallest: Option<Ticks>,
    samples: u32,
    /// The smallest round trip of the previous round.
    last: Option<Ticks>,
    /// The round trip at the start of the conservative phase; `None` outside this phase.
    baseline: Option<Ticks>,
    rounds: u32,
}

impl Careful {
    /// Handles an ACK of all segments before `una`, when all segments before `max` were sent.
    /// Returns the growth of the window for `acked` acknowledged data, or `None` if slow start
    /// ends. The conservative phase begins if the round trip has grown by a threshold. The
    /// threshold lies between the two `bounds`.
    pub fn on_ack(
        &mut self,
        (una, max): (u32, u32),
        acked: Parts,
        rtt: Option<Ticks>,
        bounds: (Ticks, Ticks),
    ) -> Option<Parts> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.end = max;
        }
        if una > self.end && self.end_round(max) {
            return None;
        }
        let growth = acked.min(MOST);
        let growth = if self.baseline.is_some() { growth / SLOWER } else { growth };
        if let Some(rtt) = rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |it| it.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= SAMPLES
            && let Some(smallest) = self.smallest
        {
            match (self.baseline, self.last) {
                (Some(baseline), _) if smallest < baseline => self.baseline = None,
                (None, Some(last))
                    if smallest >= last + (last / DIVISOR).clamp(bounds.0, bounds.1) =>
                {
                    (self.baseline, self.rounds) = (Some(smallest), 0);
                }
                _ => {}
            }
        }
        Some(growth)
    }

    /// Ends the round. Returns whether it was the last round of the conservative phase. The number
    /// of rounds includes the round in which the phase began.
    fn end_round(&mut self, max: u32) -> bool {
        (self.last, self.smallest, self.samples, self.end) = (self.smallest, None, 0, max);
        self.rounds += u32::from(self.baseline.is_some());
        self.baseline.is_some() && self.rounds >= ROUNDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The growth of the window for the last ACK of each round. Each round has ten segments and one
    /// of these round trips.
    fn growths(rtts: &[Ticks]) -> Vec<Option<Parts>> {
        let mut it = Careful::default();
        let mut grown = Vec::new();
        for (round, &rtt) in rtts.iter().enumerate() {
            let first = 10 * round as u32 + 1;
            grown.push(None);
            for ack in 1..=10 {
                let growth = it.on_ack((first + ack, first + 10), SEGMENT, Some(rtt), (40, 160));
                *grown.last_mut().expect("a round") = growth;
                if growth.is_none() {
                    return grown;
                }
            }
        }
        grown
    }

    #[test]
    fn rfc9406_4_2_a_round_trip_that_has_grown_slows_growth_and_then_ends_it() {
        let slow = Some(SEGMENT / 4);
        assert_eq!(growths(&[100, 100, 139]), [Some(SEGMENT); 3]);
        let grown = growths(&[100, 140, 140, 140, 140, 140, 140, 140]);
        assert_eq!(grown[..2], [Some(SEGMENT), slow]);
        assert_eq!((grown.len(), grown.last()), (7, Some(&None)), "after five rounds");
        assert_eq!(growths(&[100, 140, 120])[2], Some(SEGMENT), "not due to a queue");
    }
}
