//! Round-trip estimation and the retransmission timeout (RFC 6298).

use incast_engine::{Span, Stream, Time};
use serde::{Deserialize, Serialize};

use super::peaks::Peaks;
use super::ticks::Ticks;
use crate::wheel::Wheel;

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoPolicy {
    /// Lower bound (RFC 6298 (2.4): 1 s; Linux: 200 ms).
    pub min: Span,
    /// Upper bound of the timeout after backoff (RFC 6298 (2.5): at least 60 s).
    pub max: Span,
    /// Timeout before the first sample (RFC 6298 (2.1): 1 s).
    pub initial: Span,
    /// Clock granularity G (RFC 6298 §4); the tick of [`RttClock::Ticks`].
    pub granularity: Span,
    /// Maximum number of doublings (RFC 6298 (5.5)); 0 disables the backoff.
    pub max_doublings: u32,
    /// Random extension. Each timeout is multiplied by `1 + U(0, jitter)` (Vasudevan et al. 2009).
    pub jitter: f64,
    /// The part of the timeout that `min` limits.
    pub floor: RtoFloor,
    /// Resolution of round-trip samples.
    pub clock: RttClock,
    /// The event that ends the backoff.
    pub backoff_ends: BackoffEnd,
    /// State of the timer when nothing is outstanding.
    pub idle: IdleTimer,
    /// Whether a fast retransmit doubles the timeout, like an expiry (ns-2's Vegas:
    /// `reset_rtx_timer(1)`).
    pub backs_off_in_recovery: bool,
}

impl RtoPolicy {
    /// RFC 6298 with a clock of one microsecond and doublings up to `max`.
    pub const RFC_6298: Self = Self {
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_micros(1),
        max_doublings: 32,
        jitter: 0.0,
        floor: RtoFloor::Timeout,
        clock: RttClock::Exact,
        backoff_ends: BackoffEnd::Sample,
        idle: IdleTimer::Stops,
        backs_off_in_recovery: false,
    };
}

/// The part of a retransmission timeout that its lower bound limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// The whole timeout: `max(min, SRTT + max(G, 4·RTTVAR))` (RFC 6298 (2.3), (2.4)).
    Timeout,
    /// The variance term: `SRTT + max(min, G, 4·RTTVAR)` (Linux: `tcp_set_rto()`).
    Variance,
}

/// The resolution of round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttClock {
    /// Picoseconds.
    Exact,
    /// Whole ticks, with SRTT and RTTVAR in fixed-point arithmetic. A timeout has at least two
    /// ticks (Jacobson and Karels 1988, appendix A; ns-2: `rtt_update()`, `rtt_timeout()`).
    Ticks,
}

/// The event that ends the backoff of a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffEnd {
    /// A new sample. Retransmitted segments give no sample (RFC 6298 §5).
    Sample,
    /// Any ACK of new data (ns-3: `TcpSocketBase::NewAck()`).
    NewData,
}

/// The retransmission timer when nothing is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleTimer {
    /// The timer is off (RFC 6298 (5.2)).
    Stops,
    /// The timer is restarted. When the timer expires, it only sets `recover` (RFC 6582 §3.2, step
    /// 4), so the next segment cannot be fast retransmitted (ns-2: `newtimer()`, `timeout()`).
    Runs,
}

/// The value of the timestamp clock (RFC 7323 §4.1): a number of ticks, in 32 bits.
pub fn timestamp(now: Time, tick: Span) -> u32 {
    (now.as_picos() / tick.as_picos().max(1)) as u32
}

/// SRTT, RTTVAR and the backed-off RTO.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    policy: RtoPolicy,
    /// RTO before the first sample.
    initial: Span,
    smoothed: Option<Smoothed>,
    /// Linux's variance, if it is configured.
    peaks: Option<Peaks>,
    /// The estimator in ticks, if it is configured.
    ticks: Option<Box<Ticks>>,
    min_rtt: Option<Span>,
    doublings: u32,
    /// The current RTO, stored because every ACK reads it.
    rto: Span,
}

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: Span,
    rttvar: Span,
}

impl RttEstimator {
    /// An estimator without a sample. The minimum RTO is rounded up to ticks (Linux's
    /// `tcp_rto_min()`). A clock with ticks has a random phase.
    pub fn new(policy: &RtoPolicy, wheel: Wheel, random: &mut Stream) -> Self {
        let ticks = (policy.clock == RttClock::Ticks)
            .then(|| Box::new(Ticks::new(policy.granularity, random)));
        let mut estimator = Self {
            policy: RtoPolicy { min: wheel.rounded_up(policy.min), ..*policy },
            initial: policy.initial,
            smoothed: None,
            peaks: None,
            ticks,
            min_rtt: None,
            doublings: 0,
            rto: Span::ZERO,
        };
        estimator.update();
        estimator
    }

    /// Adds a sample (RFC 6298 §2) and ends the backoff (RFC 6298 §5).
    ///
    /// `window` is the first unacknowledged sequence number and the next sequence number to be
    /// sent. These two numbers delimit the rounds of Linux's variance.
    pub fn sample(&mut self, now: Time, rtt: Span, window: (u64, u64)) {
        if self.policy.floor == RtoFloor::Variance {
            let min = self.policy.min;
            match (&mut self.peaks, self.smoothed) {
                (Some(peaks), Some(Smoothed { srtt, .. })) => peaks.sample(rtt, srtt, min, window),
                (peaks, _) => *peaks = Some(Peaks::new(rtt, min, window.1)),
            }
        }
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        self.smoothed = Some(match (&mut self.ticks, self.smoothed) {
            (Some(ticks), _) => {
                let srtt = ticks.sample(now, rtt);
                Smoothed { srtt, rttvar: Span::ZERO }
            }
            (None, None) => Smoothed { srtt: rtt, rttvar: rtt / 2 },
            // (2.3): RTTVAR is updated first, with the old SRTT.
            (None, Some(Smoothed { srtt, rttvar })) => Smoothed {
                rttvar: (rttvar * 3 + srtt.abs_diff(rtt)) / 4,
                srtt: (srtt * 7 + rtt) / 8,
            },
        });
        self.doublings = 0;
        self.update();
    }

    /// Doubles the RTO after an expiry of the timer (RFC 6298 (5.5)).
    pub fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(self.policy.max_doublings);
        if let Some(ticks) = &mut self.ticks {
            ticks.back_off(self.doublings);
        }
        self.update();
    }

    /// Handles an ACK of new data, even if the data were retransmitted.
    #[inline]
    pub fn on_progress(&mut self) {
        if self.doublings > 0 && self.policy.backoff_ends == BackoffEnd::NewData {
            self.doublings = 0;
            self.update();
        }
    }

    /// Replaces the RTO that applies before the first sample (RFC 6298 (5.7)).
    pub fn set_initial(&mut self, initial: Span) {
        self.initial = initial;
        self.update();
    }

    /// The current RTO without random extension.
    #[inline]
    pub fn rto(&self) -> Span {
        self.rto
    }

    fn update(&mut self) {
        let RtoPolicy { min, max, granularity, .. } = self.policy;
        let base = match (self.smoothed, &self.ticks) {
            (None, _) => self.initial,
            (Some(_), Some(ticks)) => ticks.rto().max(min),
            (Some(Smoothed { srtt, rttvar }), None) => {
                let variance = (rttvar * 4).max(granularity);
                match self.policy.floor {
                    RtoFloor::Timeout => (srtt + variance).max(min),
                    RtoFloor::Variance => {
                        let peaks = self.peaks.map_or(variance, |peaks| peaks.variance());
                        srtt + peaks.max(min).max(granularity)
                    }
                }
            }
        };
        let backed_off = base.saturating_doubled(self.doublings).min(max);
        self.rto = match self.policy.clock {
            RttClock::Exact => backed_off,
            RttClock::Ticks => backed_off.max(granularity * 2),
        };
    }

    /// The current RTO, at least `floor`, with the random extension of the policy.
    #[inline]
    pub fn timeout(&self, floor: Span, random: &mut Stream) -> Span {
        let rto = self.rto.max(floor.min(self.policy.max));
        if self.policy.jitter > 0.0 {
            let limit = Span::from_picos((rto.as_picos() as f64 * self.policy.jitter) as u64);
            rto.saturating_add(random.uniform(limit))
        } else {
            rto
        }
    }

    /// Smoothed round-trip time, if there was a sample.
    pub fn srtt(&self) -> Option<Span> {
        self.smoothed.map(|smoothed| smoothed.srtt)
    }

    /// Smallest sample.
    pub fn min_rtt(&self) -> Option<Span> {
        self.min_rtt
    }

    /// Doublings since the last sample.
    pub fn doublings(&self) -> u32 {
        self.doublings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_picos(1_000_000_000_000);

    const RFC: RtoPolicy = RtoPolicy {
        min: Span::from_millis(1),
        granularity: Span::from_micros(10),
        max_doublings: 16,
        ..RtoPolicy::RFC_6298
    };
    const LINUX: RtoPolicy = RtoPolicy { floor: RtoFloor::Variance, ..RFC };
    const TICKS: RtoPolicy = RtoPolicy { clock: RttClock::Ticks, ..RFC };

    fn estimator(policy: &RtoPolicy) -> RttEstimator {
        RttEstimator::new(policy, Wheel::default(), &mut Stream::named(1, "phase", 0))
    }

    fn after(policy: &RtoPolicy, samples: &[u64]) -> RttEstimator {
        let mut rtt = estimator(policy);
        for micros in samples {
            rtt.sample(NOW, Span::from_micros(*micros), (0, 0));
        }
        rtt
    }

    #[test]
    fn rfc6298_2_1_the_initial_rto_holds_until_a_sample() {
        assert_eq!(after(&RFC, &[]).rto(), Span::from_secs(1));
    }

    #[test]
    fn rfc6298_2_2_the_first_sample_gives_three_times_itself() {
        assert_eq!(after(&RFC, &[1000]).rto(), Span::from_micros(3000));
    }

    #[test]
    fn rfc6298_2_3_rttvar_is_updated_with_the_old_srtt() {
        let rtt = after(&RFC, &[1000, 2000]);
        // RTTVAR = 3/4·500 + 1/4·|1000 − 2000| = 625; SRTT = 7/8·1000 + 1/8·2000 = 1125.
        assert_eq!(rtt.srtt(), Some(Span::from_micros(1125)));
        assert_eq!(rtt.rto(), Span::from_micros(1125 + 4 * 625));
        assert_eq!(rtt.min_rtt(), Some(Span::from_micros(1000)));
    }

    #[test]
    fn rfc6298_2_4_the_minimum_is_a_floor_and_granularity_a_least_variance() {
        assert_eq!(after(&RFC, &[100; 200]).rto(), Span::from_millis(1));
        let mut rtt = estimator(&RtoPolicy { min: Span::ZERO, ..RFC });
        (0..200).for_each(|_| rtt.sample(NOW, Span::from_micros(100), (0, 0)));
        assert_eq!(rtt.rto(), Span::from_micros(110));
    }

    #[test]
    fn linux_puts_the_floor_under_the_variance() {
        assert_eq!(after(&LINUX, &[100; 200]).rto(), Span::from_micros(1100));
    }

    /// A coarse timestamp clock can measure a round trip of 0.
    #[test]
    fn a_timeout_is_never_shorter_than_the_granularity() {
        for policy in [RFC, LINUX, TICKS] {
            let fine = RtoPolicy { min: Span::ZERO, ..policy };
            let mut rtt = estimator(&fine);
            (0..200).for_each(|_| rtt.sample(NOW, Span::ZERO, (0, 0)));
            assert!(rtt.rto() >= fine.granularity, "{policy:?}");
        }
    }

    #[test]
    fn ns2_waits_for_two_ticks_at_least() {
        let max = Span::from_micros(5);
        let mut rtt = estimator(&RtoPolicy { min: Span::ZERO, max, ..TICKS });
        rtt.sample(NOW, Span::from_micros(3), (0, 0));
        assert_eq!(rtt.rto(), Span::from_micros(20));
    }

    #[test]
    fn ns2_begins_afresh_after_the_fourth_doubling() {
        for (doublings, srtt) in [(3, 2000 - 1000 / 8), (4, 1000)] {
            let mut rtt = after(&TICKS, &[2000]);
            (0..doublings).for_each(|_| rtt.back_off());
            assert_eq!(rtt.rto(), Span::from_micros(6000 << doublings), "the doubled RTO");
            rtt.sample(NOW, Span::from_micros(1000), (0, 0));
            assert_eq!(rtt.srtt(), Some(Span::from_micros(srtt)));
        }
    }

    #[test]
    fn rfc6298_5_5_backoff_doubles_up_to_the_maximum_and_ends_with_a_sample() {
        let mut rtt = after(&RFC, &[100]);
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(4));
        (0..40).for_each(|_| rtt.back_off());
        assert_eq!((rtt.rto(), rtt.doublings()), (Span::from_secs(60), 16));
        rtt.sample(NOW, Span::from_micros(100), (0, 0));
        assert_eq!(rtt.rto(), Span::from_millis(1));
    }

    #[test]
    fn a_floor_lifts_the_timeout_up_to_the_maximum() {
        let mut random = Stream::named(1, "rto jitter", 0);
        let mut rtt = after(&RFC, &[100]);
        let mut at_least = |rtt: &RttEstimator, floor| rtt.timeout(floor, &mut random);
        assert_eq!(at_least(&rtt, Span::from_micros(900)), Span::from_millis(1));
        assert_eq!(at_least(&rtt, Span::from_millis(3)), Span::from_millis(3));
        (0..2).for_each(|_| rtt.back_off());
        assert_eq!(at_least(&rtt, Span::from_millis(3)), Span::from_millis(4));
        assert_eq!(at_least(&rtt, Span::from_secs(90)), Span::from_secs(60));
    }

    #[test]
    fn jitter_extends_the_timeout_at_random_within_its_share() {
        let mut rtt = estimator(&RtoPolicy { jitter: 0.5, ..RFC });
        rtt.sample(NOW, Span::from_micros(100), (0, 0));
        let mut random = Stream::named(1, "rto jitter", 0);
        let draws: Vec<_> = (0..100).map(|_| rtt.timeout(Span::ZERO, &mut random)).collect();
        assert!(
            draws.iter().all(|draw| (Span::from_millis(1)..Span::from_micros(1500)).contains(draw))
        );
        assert!(draws.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
