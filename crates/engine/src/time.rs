//! Instants and spans of simulated time, in integer picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Picoseconds in a second.
pub const PICOS_PER_SEC: u64 = 1_000_000_000_000;

/// `value * by / divisor`, rounded down and capped at the maximum. The calculation uses 64 bits if
/// possible, because a 128-bit division is slow.
#[inline]
pub const fn mul_div(value: u64, by: u64, divisor: u64) -> u64 {
    if let Some(product) = value.checked_mul(by) {
        return product / divisor;
    }
    let quotient = value as u128 * by as u128 / divisor as u128;
    if quotient > u64::MAX as u128 { u64::MAX } else { quotient as u64 }
}

/// An instant of simulated time: picoseconds since the start of the run.
///
/// At 100 Gbps one byte takes 80 ps, so transmission times are exact. 64 bits suffice for 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A span between two instants, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A time after the end of any run.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `picos` picoseconds after the start of the run.
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// Picoseconds since the start of the run.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS_PER_SEC as f64
    }

    /// The span since `earlier`, zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span` without a check. The instant and the span must be finite.
    #[inline]
    #[must_use]
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `picos` picoseconds.
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos * 1_000)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000_000)
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * PICOS_PER_SEC)
    }

    /// Picoseconds.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Seconds, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS_PER_SEC as f64
    }

    /// Whether the span is empty.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self * 2^doublings`, capped at [`Span::MAX`].
    #[must_use]
    pub const fn saturating_doubled(self, doublings: u32) -> Self {
        if doublings >= 64 || self.0.leading_zeros() < doublings {
            if self.0 == 0 { Self(0) } else { Self::MAX }
        } else {
            Self(self.0 << doublings)
        }
    }

    /// The difference of two spans, zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum of two spans, capped at [`Span::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The distance between two spans.
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

/// Panics in debug builds if the right side is later: simulated time never runs backwards.
impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        debug_assert!(self >= earlier, "time ran backwards: {self} - {earlier}");
        Span(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_saturates_instead_of_wrapping() {
        assert_eq!(Span::from_millis(200).saturating_doubled(2), Span::from_millis(800));
        assert_eq!(Span::from_secs(60).saturating_doubled(40), Span::MAX);
        assert_eq!(Span::ZERO.saturating_doubled(63), Span::ZERO);
    }

    #[test]
    fn a_byte_at_100_gbps_is_exact() {
        assert_eq!(Span::from_secs(8) / 100_000_000_000, Span::from_picos(80));
    }
}
