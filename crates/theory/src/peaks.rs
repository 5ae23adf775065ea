//! The variance of round trips as in Linux (`tcp_rtt_estimator()`): the variance rises at once to
//! the largest deviation of a round. If the largest deviation of a later round is smaller, the
//! variance falls by a quarter of the difference per round.

/// Four times the mean deviation of round trips, and the variance term of the RTO, both in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peaks {
    /// `mdev_us`.
    deviation: i64,
    /// The largest deviation of the round, `mdev_max_us`.
    peak: i64,
    /// `rttvar_us`.
    variance: i64,
    /// The round ends with an ACK beyond this segment.
    round_end: u32,
}

impl Peaks {
    /// Adds a sample. `srtt` is the SRTT before this sample, and 0 for the first sample. A round
    /// ends when an ACK covers the segment that was the next to be sent when the round began.
    pub fn sample(&mut self, rtt: i64, srtt: i64, least: i64, (una, next): (u32, u32)) {
        if srtt == 0 {
            let variance = (2 * rtt).max(least);
            *self = Self { deviation: 2 * rtt, peak: variance, variance, round_end: next };
            return;
        }
        let (error, quarter) = ((rtt - srtt).abs(), self.deviation / 4);
        let excess = error - quarter;
        // A round trip shorter than SRTT counts less, so that it does not increase the RTO.
        self.deviation += if excess > 0 && rtt < srtt { excess / 8 } else { excess };
        if self.deviation > self.peak {
            self.peak = self.deviation;
            self.variance = self.variance.max(self.peak);
        }
        if una > self.round_end {
            self.variance -= (self.variance - self.peak).max(0) / 4;
            (self.round_end, self.peak) = (next, least);
        }
    }

    /// The part of the RTO beyond SRTT.
    pub fn variance(&self) -> i64 {
        self.variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(rtt: i64) -> Peaks {
        let mut peaks = Peaks::default();
        peaks.sample(rtt, 0, 10, (0, 0));
        peaks
    }

    #[test]
    fn linux_the_first_sample_gives_twice_itself_or_the_minimum() {
        assert_eq!([8, 1].map(|rtt| first(rtt).variance()), [16, 10]);
    }

    #[test]
    fn linux_a_longer_round_trip_counts_at_once_and_falls_by_a_quarter_per_round() {
        let mut peaks = first(4);
        peaks.sample(44, 4, 10, (0, 9));
        // 8 + (40 - 2).
        assert_eq!(peaks.variance(), 46);
        (0..100).for_each(|_| peaks.sample(4, 4, 10, (0, 9)));
        assert_eq!(peaks.variance(), 46, "within the round");
        peaks.sample(4, 4, 10, (1, 9));
        assert_eq!(peaks.variance(), 46, "at the end of the round of the peak");
        peaks.sample(4, 4, 10, (10, 19));
        assert_eq!(peaks.variance(), 37);
    }

    #[test]
    fn linux_a_shorter_round_trip_counts_an_eighth() {
        let mut peaks = first(400);
        peaks.sample(0, 400, 0, (0, 9));
        // 800 + (400 - 200) / 8.
        assert_eq!(peaks.deviation, 825);
    }
}
