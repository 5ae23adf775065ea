//! The ticks of a host's timers, as in Linux's timer wheel (`kernel/time/timer.c`).

use crate::packet::Ticks;

/// Length of the first level of the wheel, ticks. Each further level is eight times as long and
/// eight times as coarse as the previous level.
const LEVEL: u64 = 63;
const COARSER: u64 = 8;
/// The length of a tick of the coarsest level, and the range of a host's phase, both in ticks.
pub const CYCLE: u64 = 4096;
/// Maximum rounding error of a time that was computed in packet times.
const SLACK: Ticks = 1 << 10;

/// The time at which a timer expires if it is set at `now` for `wait`. `tick` is the length of a
/// tick, 0 for exact timers. `phase` is the time from the start of the host's clock to time 0.
///
/// The wait is rounded up to ticks and counted from the last tick. One tick of the wheel's level is
/// added, so that no timer expires early (`calc_index()`).
#[inline]
pub fn after(now: Ticks, wait: Ticks, tick: Ticks, phase: Ticks) -> Ticks {
    if tick == 0 { now.saturating_add(wait) } else { tick_after(now, wait, tick, phase) }
}

#[inline(never)]
fn tick_after(now: Ticks, wait: Ticks, tick: Ticks, phase: Ticks) -> Ticks {
    let ticks = rounded_up(wait, tick) / tick;
    let expiry = (now + phase) / tick + ticks;
    let (mut range, mut coarse) = (LEVEL, 1);
    while ticks >= range && coarse < CYCLE {
        range *= COARSER;
        coarse *= COARSER;
    }
    ((expiry / coarse + 1) * coarse).saturating_mul(tick).saturating_sub(phase)
}

/// A span rounded up to whole ticks.
pub fn rounded_up(span: Ticks, tick: Ticks) -> Ticks {
    if tick == 0 { span } else { span.saturating_sub(SLACK).div_ceil(tick).saturating_mul(tick) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Ticks = 4000 << 20;

    fn at(now: u64, wait: u64, phase: u64) -> u64 {
        after(now << 20, wait << 20, TICK, phase << 20) >> 20
    }

    /// Times are in microseconds, with ticks of 4 ms.
    #[test]
    fn linux_a_timer_ends_at_a_tick_after_its_time() {
        assert_eq!(after(7, 5, 0, 3), 12, "exact timers");
        assert_eq!(
            [at(0, 2_000, 0), at(3_999, 2_000, 0), at(4_000, 2_000, 0)],
            [8, 8, 12].map(|ms| ms * 1000)
        );
        assert_eq!(at(0, 200_000, 0), 204_000, "a whole number of ticks, plus one");
        assert_eq!(at(4_000, 400_000, 0), 13 * 8 * 4_000, "from 63 ticks on, units of 8");
        assert_eq!(at(0, 2_000, 1_000), 7_000, "a clock of its own");
    }

    #[test]
    fn a_rounding_error_is_not_a_tick() {
        assert_eq!(rounded_up(50 * TICK + 99, TICK), 50 * TICK);
        assert_eq!(rounded_up(50 * TICK + 2 * SLACK, TICK), 51 * TICK);
    }
}
