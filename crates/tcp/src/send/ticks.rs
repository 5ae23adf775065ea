//! ns-2's round-trip estimator, which counts whole ticks in fixed-point integers.

use incast_engine::{Span, Stream, Time};

/// Fraction bits of SRTT and RTTVAR.
const SRTT_BITS: u32 = 3;
const RTTVAR_BITS: u32 = 2;

/// SRTT and RTTVAR as ns-2's `rtt_update()` computes them.
///
/// A mean deviation below a tick does not decay, because a quarter of it is rounded to 0. With a
/// constant round trip, up to three ticks remain between SRTT and the RTO.
#[derive(Clone, Debug)]
pub struct Ticks {
    tick: u64,
    /// Phase of the clock at the start of the simulation (`boot_time_`), less than a tick.
    phase: u64,
    /// SRTT in eighths of ticks; 0 before the first sample and after `back_off` cleared it.
    srtt: i64,
    /// RTTVAR in quarters of ticks.
    rttvar: i64,
    /// `SRTT + 4·RTTVAR` at the last sample, ticks.
    rto: i64,
}

impl Ticks {
    /// An estimator without a sample. The period of the estimator's clock is `tick`.
    pub fn new(tick: Span, random: &mut Stream) -> Self {
        let tick = tick.max(Span::from_picos(1));
        Self {
            tick: tick.as_picos(),
            phase: random.uniform(tick).as_picos(),
            srtt: 0,
            rttvar: 0,
            rto: 0,
        }
    }

    /// Adds a round trip that ended at `now`. Returns SRTT.
    pub fn sample(&mut self, now: Time, rtt: Span) -> Span {
        let rtt = self.ticks_in(now, rtt);
        if self.srtt == 0 {
            self.srtt = rtt << SRTT_BITS;
            self.rttvar = rtt << (RTTVAR_BITS - 1);
        } else {
            let delta = rtt - (self.srtt >> SRTT_BITS);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> RTTVAR_BITS)).max(1);
        }
        let variance = self.rttvar << (2 + SRTT_BITS - RTTVAR_BITS);
        self.rto = (variance + self.srtt) >> SRTT_BITS;
        Span::from_picos((self.srtt as u64 * self.tick) >> SRTT_BITS)
    }

    /// Handles an expiry of the timer, after which the RTO is doubled `doublings` times. After more
    /// than three doublings, SRTT is cleared (`rtt_backoff()`). The RTO without backoff does not
    /// change until the next sample, which is then treated as the first sample.
    pub fn back_off(&mut self, doublings: u32) {
        if doublings > 3 {
            self.srtt = 0;
        }
    }

    /// The RTO without bounds and backoff.
    pub fn rto(&self) -> Span {
        Span::from_picos(self.rto as u64 * self.tick)
    }

    /// Number of ticks during `rtt`, at least one.
    fn ticks_in(&self, now: Time, rtt: Span) -> i64 {
        let ended = now.as_picos() + self.phase;
        let began = ended.saturating_sub(rtt.as_picos());
        (ended / self.tick - began / self.tick).max(1) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks() -> Ticks {
        let mut ticks = Ticks::new(Span::from_micros(10), &mut Stream::named(1, "phase", 0));
        ticks.phase = 0;
        ticks
    }

    fn at(micros: u64) -> Time {
        Time::ZERO.plus(Span::from_micros(micros))
    }

    #[test]
    fn ns2_counts_how_often_the_clock_ticks_and_at_least_once() {
        for (ended, rtt, counted) in [(100, 14, 2), (109, 14, 1), (104, 14, 1), (109, 3, 1)] {
            assert_eq!(ticks().ticks_in(at(ended), Span::from_micros(rtt)), counted, "{ended}");
        }
    }

    #[test]
    fn ns2_keeps_three_ticks_between_steady_round_trips_and_the_rto() {
        let mut ticks = ticks();
        for _ in 0..100 {
            ticks.sample(at(1000), Span::from_micros(200));
        }
        assert_eq!(ticks.sample(at(1000), Span::from_micros(200)), Span::from_micros(200));
        assert_eq!(ticks.rto(), Span::from_micros(230));
    }

    #[test]
    fn ns2_forgets_srtt_and_keeps_the_rto() {
        let mut ticks = ticks();
        ticks.sample(at(1000), Span::from_micros(200));
        assert_eq!(ticks.rto(), Span::from_micros(600));
        (1..=4).for_each(|doublings| ticks.back_off(doublings));
        assert_eq!(ticks.rto(), Span::from_micros(600));
        assert_eq!(ticks.sample(at(1000), Span::from_micros(100)), Span::from_micros(100));
        assert_eq!(ticks.rto(), Span::from_micros(300));
    }
}
