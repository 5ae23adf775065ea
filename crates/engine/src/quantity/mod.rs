//! Quantities with units, which a scenario writes as `"1Gbps"`, `"100us"`, `"64KiB"`, `"40pkt"`.
//!
//! Strings are converted to integers in the base unit exactly, without floating point. A value that
//! is not a whole number of base units is an error. A quantity is printed in base units, and the
//! printed string parses to the same value.

mod named;
mod serial;
mod units;

use std::fmt;
use std::str::FromStr;

use crate::time::{PICOS_PER_SEC, Span};
pub use named::{Name, OrName};
pub use units::MOST_BYTES;
use units::Quantity;

/// A data rate, bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// An amount of data, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// The capacity or a threshold of a queue, counted in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// A number of packets of any size.
    Packets(u64),
    /// This many bytes.
    Bytes(u64),
}

/// A TCP window, counted in full segments or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// A number of segments of the connection's maximum size.
    Segments(u64),
    /// This many bytes.
    Bytes(u64),
}

/// The reason why a string is not a quantity: one line with the given string and the accepted
/// forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError(String);

impl Rate {
    /// Transmission time of `bytes` at this rate, rounded up to a picosecond.
    ///
    /// [`Span::MAX`] if the rate is zero.
    pub const fn transmission_time(self, bytes: u64) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // The division has 64 bits if possible, because a 128-bit division is slow.
        if let Some(bit_picos) = bytes.checked_mul(8 * PICOS_PER_SEC) {
            return Span::from_picos(bit_picos.div_ceil(self.0));
        }
        let bit_picos = bytes as u128 * 8 * PICOS_PER_SEC as u128;
        let picos = bit_picos.div_ceil(self.0 as u128);
        Span::from_picos(if picos > u64::MAX as u128 { u64::MAX } else { picos as u64 })
    }
}

impl Window {
    /// The window in bytes, for segments of `mss` bytes.
    pub const fn bytes(self, mss: u32) -> u64 {
        match self {
            Self::Segments(segments) => segments.saturating_mul(mss as u64),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

/// Prints base units: `1000000000bps`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}bps", self.0)
    }
}

/// Prints base units: `65536B`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

/// Prints base units: `40pkt` or `102400B`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}pkt"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
        }
    }
}

/// Prints base units: `2seg` or `146000B`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments(segments) => write!(f, "{segments}seg"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
        }
    }
}

/// `span` as an exact decimal of seconds, `0.0001s`.
fn exact_seconds(span: Span) -> String {
    let (whole, picos) = (span.as_picos() / PICOS_PER_SEC, span.as_picos() % PICOS_PER_SEC);
    let decimal = format!("{whole}.{picos:012}");
    format!("{}s", decimal.trim_end_matches('0').trim_end_matches('.'))
}

macro_rules! parse_from_text {
    ($($quantity:ty),+) => {$(
        impl FromStr for $quantity {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                Self::from_text(text)
            }
        }
    )+};
}
parse_from_text!(Rate, Size, Span, Limit, Window);

#[cfg(test)]
mod tests;
