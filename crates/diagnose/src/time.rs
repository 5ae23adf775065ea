//! Times of a capture, and the spans between them, in nanoseconds.
//!
//! `incast_engine` has such types for simulated time: unsigned picoseconds from the start of a run,
//! with a range of 213 days. The times of captures count from 1970, their clocks may jump by years,
//! and spans may be negative. Therefore, these types are signed, and no sum or product leaves their
//! range. The readers return no time before 1970, and the clock of a vantage point never goes back,
//! so differences of times stay in the range, too.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use incast_capture::read::Packet;

/// A time, counted from 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i64);

/// A span between two times; negative if the second time is earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(i64);

impl Time {
    /// The time of a packet.
    pub const fn of(packet: &Packet) -> Self {
        Self(packet.time)
    }

    /// A time before all others, which may be compared, but not subtracted.
    pub const EVER: Self = Self(i64::MIN);

    /// The time `nanos` nanoseconds after the beginning of 1970.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since 1970.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Seconds since 1970, for output.
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }

    /// The number of the bin of this width that contains the time.
    pub fn bin(self, width: Span) -> i64 {
        self.0.div_euclid(width.0)
    }
}

impl Span {
    pub const ZERO: Self = Self(0);
    /// A span that is longer than all others.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Seconds, for output.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds, for output.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span as a share of `whole`. If `whole` is shorter than a nanosecond, it counts as a
    /// nanosecond.
    pub fn share_of(self, whole: Self) -> f64 {
        self.0 as f64 / whole.0.max(1) as f64
    }
}

/// The result if it is in the range, and otherwise the nearest value in the range. Results outside
/// the range are rare, so a branch costs less than computing both values.
#[inline]
fn within(result: Option<i64>, nearest: impl FnOnce() -> i64) -> i64 {
    #[cold]
    fn outside(nearest: impl FnOnce() -> i64) -> i64 {
        nearest()
    }
    result.unwrap_or_else(|| outside(nearest))
}

impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(within(self.0.checked_add(span.0), || self.0.saturating_add(span.0)))
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(within(self.0.checked_sub(span.0), || self.0.saturating_sub(span.0)))
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(within(self.0.checked_add(other.0), || self.0.saturating_add(other.0)))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(within(self.0.checked_sub(other.0), || self.0.saturating_sub(other.0)))
    }
}

impl Mul<i64> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, times: i64) -> Self {
        Self(within(self.0.checked_mul(times), || self.0.saturating_mul(times)))
    }
}

impl Mul<Span> for i64 {
    type Output = Span;
    #[inline]
    fn mul(self, span: Span) -> Span {
        span * self
    }
}

impl Div<i64> for Span {
    type Output = Self;
    #[inline]
    fn div(self, parts: i64) -> Self {
        Self(self.0 / parts)
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Self::add)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A millisecond.
    pub const MS: Span = Span::from_millis(1);

    /// A time, in nanoseconds.
    pub const fn at(nanos: i64) -> Time {
        Time::from_nanos(nanos)
    }

    /// A span, in nanoseconds.
    pub const fn ns(nanos: i64) -> Span {
        Span::from_nanos(nanos)
    }

    #[test]
    fn nothing_leaves_its_range() {
        assert_eq!(at(i64::MAX) - at(0), Span::MAX);
        assert_eq!(at(0) - at(i64::MAX), ns(-i64::MAX));
        assert_eq!(at(i64::MAX) + MS, at(i64::MAX));
        assert_eq!(Span::MAX * 2 + MS, Span::MAX);
        assert_eq!([Span::MAX, MS].into_iter().sum::<Span>(), Span::MAX);
    }

    #[test]
    fn spans_may_be_negative() {
        assert_eq!(at(5) - at(8), ns(-3));
        assert_eq!(at(5) + ns(-3), at(2));
        assert_eq!(at(-1).bin(MS), -1);
    }

    #[test]
    fn units_agree() {
        assert_eq!(Span::from_secs(1), 1000 * MS);
        assert_eq!(MS / 1000, Span::from_micros(1));
        assert!(
            (MS.as_secs_f64() - 0.001).abs() < 1e-12 && (MS.as_millis_f64() - 1.0).abs() < 1e-9
        );
    }
}
