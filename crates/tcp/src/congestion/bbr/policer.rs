//! Long-term bandwidth: a path that loses a fifth of the data at a steady rate is taken for a
//! policer (Linux's `bbr_lt_bw_sampling()`).

use incast_engine::Time;

/// Minimum and maximum length of an interval, rounds.
const ROUNDS: (u32, u32) = (4, 16);
/// Minimum ratio of lost to delivered data in an interval, in 256ths.
const LOST: u64 = 50;
/// Maximum difference between the rates of two intervals: the rate divided by the first number, or
/// the second number in b/s.
const NEAR: (u64, u64) = (8, 4000);
/// Rounds for which the rate is used.
const USED: u32 = 48;

/// The information in an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub now: Time,
    /// Whether the ACK or timeout begins a round.
    pub begins: bool,
    /// Whether data were declared lost.
    pub has_lost: bool,
    /// Whether the application limited the rate.
    pub app_limited: bool,
    /// Bytes delivered, and bytes declared lost, since the start of the connection.
    pub delivered: u64,
    pub lost: u64,
    /// Whether BBR cycles through the gains of `ProbeBW`. Rounds in which the policer's rate is
    /// used are counted only during this cycle.
    pub cycles: bool,
}

/// The search for a policer.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    /// The rate of the last interval, b/s; 0 before the first interval ends.
    rate: u64,
    /// Whether `rate` is used as the bandwidth.
    is_found: bool,
    samples: bool,
    since: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

impl Policer {
    /// The rate of the policer that was found, b/s.
    pub fn rate(&self) -> Option<u64> {
        self.is_found.then_some(self.rate)
    }

    /// Whether an interval has begun.
    #[cfg(test)]
    pub fn searches(&self) -> bool {
        self.samples
    }

    /// Handles an ACK or a timeout. Returns whether the use of the rate begins or ends.
    pub fn on_progress(&mut self, it: Progress) -> bool {
        if self.is_found {
            self.rounds += u32::from(it.begins && it.cycles);
            let is_over = self.rounds >= USED;
            if is_over {
                self.reset(&it);
            }
            return is_over;
        }
        if !self.samples {
            if !it.has_lost {
                return false;
            }
            self.begin(&it);
            self.samples = true;
        }
        if it.app_limited {
            self.reset(&it);
            return false;
        }
        self.rounds += u32::from(it.begins);
        if self.rounds > ROUNDS.1 {
            self.reset(&it);
        } else if self.rounds >= ROUNDS.0 && it.has_lost {
            return self.end_interval(&it);
        }
        false
    }

    fn end_interval(&mut self, it: &Progress) -> bool {
        let (lost, delivered) = (it.lost - self.lost, it.delivered - self.delivered);
        let millis = it.now.saturating_since(self.since).as_picos() / 1_000_000_000;
        if delivered == 0 || lost * 256 < LOST * delivered || millis == 0 {
            return false;
        }
        let rate = delivered * 8000 / millis;
        let apart = rate.abs_diff(self.rate);
        if self.rate > 0 && (apart * NEAR.0 <= self.rate || apart <= NEAR.1) {
            self.rate = u64::midpoint(rate, self.rate);
            self.is_found = true;
            self.rounds = 0;
            return true;
        }
        self.rate = rate;
        self.begin(it);
        false
    }

    fn begin(&mut self, it: &Progress) {
        self.since = it.now;
        self.delivered = it.delivered;
        self.lost = it.lost;
        self.rounds = 0;
    }

    fn reset(&mut self, it: &Progress) {
        *self = Self::default();
        self.begin(it);
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Span;

    use super::*;

    /// A path with rounds of 10 ms.
    struct Path {
        policer: Policer,
        progress: Progress,
    }

    impl Path {
        fn new() -> Self {
            let progress = Progress {
                now: Time::ZERO,
                begins: true,
                has_lost: false,
                app_limited: false,
                delivered: 0,
                lost: 0,
                cycles: true,
            };
            Self { policer: Policer::default(), progress }
        }

        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.progress.now += Span::from_millis(10);
            self.progress.delivered += delivered;
            self.progress.lost += lost;
            self.progress.has_lost = lost > 0;
            self.policer.on_progress(self.progress)
        }
    }

    #[test]
    fn a_steady_rate_with_a_fifth_lost_is_used_for_48_rounds() {
        let mut path = Path::new();
        let begun: Vec<_> = (0..9).map(|_| path.round(10_000, 2_000)).collect();
        // The first loss begins an interval. Two intervals last four rounds each.
        assert_eq!(begun.iter().position(|begins| *begins), Some(7), "{begun:?}");
        assert_eq!(path.policer.rate(), Some(8_000_000));
        let used = (0..100).position(|_| path.round(10_000, 0));
        assert_eq!((used, path.policer.rate()), (Some(46), None));
    }

    #[test]
    fn fewer_losses_and_other_rates_are_no_policer() {
        let mut path = Path::new();
        assert!((0..60).all(|_| !path.round(10_000, 1_900)), "below 50/256");
        let mut path = Path::new();
        assert!((0..60).all(|i| !path.round(if i / 4 % 2 == 0 { 10_000 } else { 13_000 }, 4_000)));
        let mut path = Path::new();
        path.progress.app_limited = true;
        assert!((0..60).all(|_| !path.round(10_000, 4_000)), "the application had no more data");
    }
}
