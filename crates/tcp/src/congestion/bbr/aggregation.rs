//! ACKs that arrive in bursts: measures the data acknowledged beyond the bandwidth (Linux's
//! `bbr_update_ack_aggregation()`).

use incast_engine::Time;

/// Rounds after which the older of the two maxima is forgotten.
const ROUNDS: u32 = 5;

/// The data acknowledged beyond the bandwidth, bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: Option<Time>,
    /// Data acknowledged since `since`.
    acked: u64,
    /// The maximum excess in the current five rounds, and in the five rounds before them.
    most: [u64; 2],
    rounds: u32,
}

impl Aggregation {
    /// Restarts the measurement when sending begins again after an idle time.
    pub fn restart(&mut self, now: Time) {
        self.since = Some(now);
        self.acked = 0;
    }

    /// Handles an ACK of `newly` bytes at a bandwidth in b/s. `begins` says whether the ACK begins
    /// a round. The excess is at most `window` bytes.
    pub fn on_ack(&mut self, now: Time, newly: u64, bandwidth: u64, begins: bool, window: u64) {
        if begins {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.most = [0, self.most[0]];
            }
        }
        let elapsed = now.saturating_since(self.since.unwrap_or(now)).as_secs_f64();
        let mut expected = (bandwidth as f64 / 8.0 * elapsed) as u64;
        if self.acked <= expected {
            self.restart(now);
            expected = 0;
        }
        self.acked += newly;
        let excess = (self.acked - expected).min(window);
        self.most[0] = self.most[0].max(excess);
    }

    /// The maximum excess of the last five to ten rounds, bytes.
    pub fn most(&self) -> u64 {
        self.most[0].max(self.most[1])
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Span;

    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn acks_at_the_bandwidth_leave_one_acks_worth() {
        let mut aggregation = Aggregation::default();
        (0..50).for_each(|i| aggregation.on_ack(at(1000 * i), 1000, 8_000_000, i % 5 == 0, 99_000));
        assert_eq!(aggregation.most(), 1000);
    }

    #[test]
    fn a_burst_of_acks_is_excess_for_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        let mut on_ack = |micros, begins| {
            aggregation.on_ack(at(micros), 1000, 8_000_000, begins, 99_000);
            aggregation.most()
        };
        on_ack(0, true);
        (0..4).for_each(|_| assert!(on_ack(10, false) > 0));
        // Six packets are acknowledged within 10 us. The bandwidth carries only 10 bytes in this
        // time.
        assert_eq!(on_ack(10, false), 6000 - 10);
        let later = |round: u64| 10_000 + 1000 * round;
        assert_eq!((0..8).map(|round| on_ack(later(round), true)).min(), Some(5990));
        assert_eq!((8..20).map(|round| on_ack(later(round), true)).last(), Some(1000));
    }

    #[test]
    fn the_excess_is_at_most_the_window() {
        let mut aggregation = Aggregation::default();
        (0..9).for_each(|_| aggregation.on_ack(at(0), 1000, 8_000_000, false, 2500));
        assert_eq!(aggregation.most(), 2500);
    }
}
