//! The ticks of a host's coarse timers (Linux's timer wheel, `kernel/time/timer.c`).

use incast_engine::{Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Length of the first level of the wheel, ticks. Each further level is eight times as long and
/// eight times as coarse as the previous level (`LVL_SIZE`, `LVL_CLK_SHIFT`).
const LEVEL: u64 = 63;
const COARSER: u64 = 8;
/// A random phase is less than this many ticks, which is the length of a tick of the fifth level.
const CYCLE: u64 = 4096;

/// The phase of a host's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TickPhase {
    /// Each host has a phase of its own, like separate machines.
    #[default]
    Own,
    /// All hosts have the same phase, like namespaces of one kernel.
    Shared,
}

/// The timers of a host, except for those of pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerTicks {
    /// Length of a tick (Linux: 1/HZ); 0 for timers that expire exactly.
    pub tick: Span,
    /// Phase of the ticks.
    pub phase: TickPhase,
}

impl TimerTicks {
    /// A span minus one tick, but at least one tick.
    pub fn below(&self, span: Span) -> Span {
        if self.tick.is_zero() {
            return span;
        }
        self.tick * (span.as_picos().div_ceil(self.tick.as_picos()).max(2) - 1)
    }
}

/// The timer wheel of one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wheel {
    tick: Span,
    /// Time from the start of the host's clock to time 0.
    phase: Span,
}

impl Wheel {
    /// A wheel, whose phase is random with [`TickPhase::Own`].
    pub fn new(ticks: TimerTicks, random: &mut Stream) -> Self {
        let TimerTicks { tick, phase } = ticks;
        let is_random = phase == TickPhase::Own && !tick.is_zero();
        let phase = if is_random { random.uniform(tick * CYCLE) } else { Span::ZERO };
        Self { tick, phase }
    }

    /// The time at which a timer that is set now expires.
    #[inline]
    pub fn after(&self, now: Time, wait: Span) -> Time {
        if self.tick.is_zero() { now + wait } else { self.tick_after(now, wait) }
    }

    /// The wait is rounded up to ticks and counted from the last tick. One tick of the wheel's
    /// level is added, so that no timer expires early (`calc_index()`).
    #[cold]
    fn tick_after(&self, now: Time, wait: Span) -> Time {
        let tick = self.tick.as_picos();
        let ticks = wait.as_picos().div_ceil(tick);
        let expiry = (now.as_picos() + self.phase.as_picos()) / tick + ticks;
        let (mut range, mut coarse) = (LEVEL, 1);
        while ticks >= range && coarse < CYCLE {
            range *= COARSER;
            coarse *= COARSER;
        }
        let at = (expiry / coarse + 1) * coarse;
        Time::from_picos(at.saturating_mul(tick).saturating_sub(self.phase.as_picos()))
    }

    /// A span rounded up to ticks, as the kernel stores it.
    pub fn rounded_up(&self, span: Span) -> Span {
        let tick = self.tick.as_picos().max(1);
        Span::from_picos(span.as_picos().div_ceil(tick).saturating_mul(tick))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Span = Span::from_millis(4);

    fn shared() -> Wheel {
        let ticks = TimerTicks { tick: TICK, phase: TickPhase::Shared };
        Wheel::new(ticks, &mut Stream::named(1, "phase", 0))
    }

    #[test]
    fn linux_delack_max_is_a_tick_below_the_minimum_of_the_timeout() {
        let ticks = TimerTicks { tick: TICK, phase: TickPhase::Shared };
        let below = |millis| ticks.below(Span::from_millis(millis));
        assert_eq!([200, 40, 10, 8, 1].map(below), [196, 36, 8, 4, 4].map(Span::from_millis));
        assert_eq!(TimerTicks::default().below(TICK), TICK);
    }

    fn micros(now: u64, wait: u64) -> u64 {
        let at = shared().after(Time::ZERO + Span::from_micros(now), Span::from_micros(wait));
        (at - Time::ZERO).as_picos() / 1_000_000
    }

    #[test]
    fn without_ticks_timers_are_exact() {
        let now = Time::ZERO + Span::from_micros(7);
        let wheel = Wheel::new(TimerTicks::default(), &mut Stream::named(1, "phase", 0));
        assert_eq!(wheel.after(now, TICK), now + TICK);
        assert_eq!(wheel.rounded_up(Span::from_micros(7)), Span::from_micros(7));
    }

    #[test]
    fn linux_a_short_wait_ends_one_to_two_ticks_later() {
        assert_eq!([0, 1, 3_999].map(|now| micros(now, 2_000)), [8_000; 3]);
        assert_eq!(micros(4_000, 2_000), 12_000);
    }

    #[test]
    fn linux_rto_min_of_200_ms_is_51_ticks() {
        assert_eq!([0, 3_999].map(|now| micros(now, 200_000)), [204_000; 2]);
    }

    #[test]
    fn linux_from_63_ticks_on_the_wheel_has_ticks_of_8() {
        // 100 ticks after tick 1 is tick 101, which lies in the 13th group of 8 ticks.
        assert_eq!(micros(4_000, 400_000), 13 * 8 * 4_000);
    }

    #[test]
    fn a_phase_of_its_own_moves_the_ticks() {
        let ticks = TimerTicks { tick: TICK, phase: TickPhase::Own };
        let first = |ordinal| {
            let wheel = Wheel::new(ticks, &mut Stream::named(1, "phase", ordinal));
            wheel.after(Time::ZERO, Span::from_micros(1))
        };
        assert_ne!(first(0), first(1));
        for at in [first(0), first(1)] {
            assert!(at > Time::ZERO + TICK && at <= Time::ZERO + TICK * 2, "{at:?}");
        }
    }
}
