//! The variance of round trips as in Linux (`tcp_rtt_estimator()`): the variance rises at once to
//! the largest deviation of a round. If the largest deviation of a later round is smaller, the
//! variance falls by a quarter of the difference per round.

use incast_engine::Span;

/// Four times the mean deviation, and the variance in the RTO, which is derived from this
/// deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peaks {
    /// `mdev_us`.
    deviation: Span,
    /// The largest deviation of the round, `mdev_max_us`.
    peak: Span,
    /// `rttvar_us`.
    variance: Span,
    /// The round ends with an ACK beyond this number.
    round_end: u64,
}

impl Peaks {
    /// The state after the first sample. `next` is the next sequence number to be sent. The round
    /// ends when an ACK covers this number.
    pub fn new(rtt: Span, least: Span, next: u64) -> Self {
        let variance = (rtt * 2).max(least);
        Self { deviation: rtt * 2, peak: variance, variance, round_end: next }
    }

    /// Adds a sample, given the SRTT before it.
    pub fn sample(&mut self, rtt: Span, srtt: Span, least: Span, (una, next): (u64, u64)) {
        let (error, quarter) = (rtt.abs_diff(srtt), self.deviation / 4);
        if error >= quarter {
            // A round trip shorter than SRTT counts less, so that it does not increase the RTO.
            let part = if rtt < srtt { 8 } else { 1 };
            self.deviation += error.saturating_sub(quarter) / part;
        } else {
            self.deviation = self.deviation.saturating_sub(quarter.saturating_sub(error));
        }
        if self.deviation > self.peak {
            self.peak = self.deviation;
            self.variance = self.variance.max(self.peak);
        }
        if una > self.round_end {
            let excess = self.variance.saturating_sub(self.peak);
            self.variance = self.variance.saturating_sub(excess / 4);
            self.round_end = next;
            self.peak = least;
        }
    }

    /// The part of the RTO beyond SRTT.
    pub fn variance(&self) -> Span {
        self.variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Span = Span::from_millis(10);

    fn ms(value: u64) -> Span {
        Span::from_millis(value)
    }

    #[test]
    fn linux_the_first_sample_gives_twice_itself_or_the_minimum() {
        assert_eq!(Peaks::new(ms(8), LEAST, 0).variance(), ms(16));
        assert_eq!(Peaks::new(ms(1), LEAST, 0).variance(), LEAST);
    }

    #[test]
    fn linux_a_longer_round_trip_counts_at_once_and_falls_by_a_quarter_per_round() {
        let mut peaks = Peaks::new(ms(4), LEAST, 0);
        peaks.sample(ms(44), ms(4), LEAST, (0, 9));
        // 8 + (40 - 2).
        assert_eq!(peaks.variance(), ms(46));
        for _ in 0..100 {
            peaks.sample(ms(4), ms(4), LEAST, (0, 9));
        }
        assert_eq!(peaks.variance(), ms(46), "within the round");
        peaks.sample(ms(4), ms(4), LEAST, (1, 9));
        assert_eq!(peaks.variance(), ms(46), "at the end of the round of the peak");
        peaks.sample(ms(4), ms(4), LEAST, (10, 19));
        assert_eq!(peaks.variance(), ms(37));
    }

    #[test]
    fn linux_a_shorter_round_trip_counts_an_eighth() {
        let mut peaks = Peaks::new(ms(40), ms(0), 0);
        peaks.sample(ms(0), ms(40), ms(0), (0, 9));
        // 80 + (40 - 20) / 8.
        assert_eq!(peaks.deviation, Span::from_micros(82_500));
    }
}
