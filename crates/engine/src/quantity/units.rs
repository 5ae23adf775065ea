//! The units of every kind of quantity, and exact arithmetic with decimal strings.

use super::{Limit, QuantityError, Rate, Size, Window};
use crate::time::Span;

/// A unit: its spellings, its size in base units, and the constructor of a value.
pub(super) struct Unit<T> {
    pub(super) spellings: &'static [&'static str],
    scale: u64,
    make: fn(u64) -> T,
}

/// A kind of quantity that can be written as a number and a unit.
pub(super) trait Quantity: Sized + 'static {
    /// Name of the quantity with its article, for messages.
    const NAME: &'static str;
    /// Examples, for messages and the schema.
    const EXAMPLES: &'static [&'static str];
    /// The smallest unit.
    const FINEST: &'static str;
    /// The largest value, in base units. Sums and products of a few maxima fit into 64 bits.
    const MOST: u64;
    /// The maximum as a string, for messages and the schema.
    const MOST_WRITTEN: &'static str;
    /// All units.
    const UNITS: &'static [&'static [Unit<Self>]];
    /// Converts an integer without a unit, if such integers are allowed.
    const BARE: Option<fn(u64) -> Self> = None;

    /// A hint for a unit that is not one of [`Self::UNITS`].
    fn hint(_unit: &str) -> Option<&'static str> {
        None
    }

    /// Every unit, in the order of the tables.
    fn units() -> impl Iterator<Item = &'static Unit<Self>> {
        Self::UNITS.iter().copied().flatten()
    }

    /// Reads `text`, a decimal number and a unit.
    fn from_text(text: &str) -> Result<Self, QuantityError> {
        let shown = format!("{text:?}");
        let Some((number, suffix)) = Decimal::split(text.trim()) else {
            return Err(Self::refuse(&shown, None));
        };
        if suffix.is_empty() {
            return match (Self::BARE, number.scaled(1)) {
                (Some(make), Ok(value)) => Self::within_bounds(value, &shown).map(make),
                (Some(_), Err(problem)) => Err(problem.describe::<Self>(&shown)),
                (None, _) => Err(Self::refuse(&shown, Some("the unit is missing"))),
            };
        }
        let unit = Self::units()
            .find(|unit| unit.spellings.contains(&suffix))
            .ok_or_else(|| Self::refuse(&shown, Self::hint(suffix)))?;
        match number.scaled(unit.scale) {
            Ok(value) => Self::within_bounds(value, &shown).map(unit.make),
            Err(problem) => Err(problem.describe::<Self>(&shown)),
        }
    }

    /// Reads an integer without a unit.
    fn from_integer(value: u64) -> Result<Self, QuantityError> {
        match Self::BARE {
            Some(make) => Self::within_bounds(value, &value.to_string()).map(make),
            None => Err(Self::refuse(&value.to_string(), Some("the unit is missing"))),
        }
    }

    /// Returns `value`, which is in base units, unless it is too large.
    fn within_bounds(value: u64, shown: &str) -> Result<u64, QuantityError> {
        if value > Self::MOST {
            return Err(Problem::TooLarge.describe::<Self>(shown));
        }
        Ok(value)
    }

    /// The error for `shown`, with the reason if one is known.
    fn refuse(shown: &str, reason: Option<&str>) -> QuantityError {
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        QuantityError(format!("{shown} is not {}{reason}; write {}", Self::NAME, Self::examples()))
    }

    /// The list of examples: `e.g. "100us", "1ms"`.
    fn examples() -> String {
        format!("e.g. {}", Self::EXAMPLES.join(", "))
    }
}

/// A non-negative decimal number: `digits / 10^places`.
struct Decimal {
    digits: u128,
    places: u32,
}

enum Problem {
    TooFine,
    TooLarge,
}

impl Problem {
    fn describe<Q: Quantity>(&self, shown: &str) -> QuantityError {
        QuantityError(match self {
            Self::TooFine => {
                let (finest, name, examples) = (Q::FINEST, Q::NAME, Q::examples());
                format!("{shown} is finer than {finest}; write {name}, {examples}")
            }
            Self::TooLarge => format!("{shown} is too large; write at most {:?}", Q::MOST_WRITTEN),
        })
    }
}

impl Decimal {
    /// Splits `text` into number and unit.
    fn split(text: &str) -> Option<(Self, &str)> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let fraction_digits = fraction.trim_end_matches('0');
        // A fraction without digits ("1.") or a second point is a typing error.
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        // With too many digits, the quantity is too large or too fine in any case.
        let digits = format!("{whole}{fraction_digits}").parse().unwrap_or(u128::MAX);
        Some((Self { digits, places: fraction_digits.len() as u32 }, unit.trim_start()))
    }

    /// The number times `scale`, if that is an integer within the range.
    fn scaled(&self, scale: u64) -> Result<u64, Problem> {
        let divisor = 10_u128.checked_pow(self.places).ok_or(Problem::TooFine)?;
        let product = self.digits.checked_mul(u128::from(scale)).ok_or(Problem::TooLarge)?;
        if product % divisor != 0 {
            return Err(Problem::TooFine);
        }
        u64::try_from(product / divisor).map_err(|_| Problem::TooLarge)
    }
}

const fn unit<T>(spellings: &'static [&'static str], scale: u64, make: fn(u64) -> T) -> Unit<T> {
    Unit { spellings, scale, make }
}

/// Decimal and binary multiples of the byte.
const fn bytes<T>(make: fn(u64) -> T) -> [Unit<T>; 9] {
    [
        unit(&["B", "byte", "bytes"], 1, make),
        unit(&["KB", "kB"], 1_000, make),
        unit(&["MB"], 1_000_000, make),
        unit(&["GB"], 1_000_000_000, make),
        unit(&["TB"], 1_000_000_000_000, make),
        unit(&["KiB"], 1 << 10, make),
        unit(&["MiB"], 1 << 20, make),
        unit(&["GiB"], 1 << 30, make),
        unit(&["TiB"], 1 << 40, make),
    ]
}

/// The maximum of a size. A number of packets or segments has the same maximum, so that their size
/// in bytes fits into 64 bits.
pub const MOST_BYTES: u64 = 100_000_000_000_000;

const PACKETS: &[&str] = &["pkt", "pkts", "p", "packet", "packets"];
const SEGMENTS: &[&str] = &["seg", "segs", "segment", "segments"];

/// A hint for a size whose unit is spelled like bits.
fn bits_for_bytes(unit: &str) -> Option<&'static str> {
    (unit.ends_with('b') || unit.contains("bit")).then_some("b is for bits, sizes are in bytes (B)")
}

impl Quantity for Rate {
    const NAME: &'static str = "a rate";
    const EXAMPLES: &'static [&'static str] =
        &[r#""1Gbps""#, r#""10Gb/s""#, r#""100Mbit/s""#, r#""10gbit""#];
    const FINEST: &'static str = "1 bit/s";
    const MOST: u64 = 100_000_000_000_000;
    const MOST_WRITTEN: &'static str = "100Tbps";
    const UNITS: &'static [&'static [Unit<Self>]] = &[&[
        unit(&["bps", "b/s", "bit/s", "bit"], 1, Rate),
        unit(&["kbps", "Kbps", "kb/s", "Kb/s", "kbit/s", "Kbit/s", "kbit", "Kbit"], 1_000, Rate),
        unit(
            &["Mbps", "mbps", "Mb/s", "mb/s", "Mbit/s", "mbit/s", "Mbit", "mbit"],
            1_000_000,
            Rate,
        ),
        unit(
            &["Gbps", "gbps", "Gb/s", "gb/s", "Gbit/s", "gbit/s", "Gbit", "gbit"],
            1_000_000_000,
            Rate,
        ),
        unit(
            &["Tbps", "tbps", "Tb/s", "tb/s", "Tbit/s", "tbit/s", "Tbit", "tbit"],
            1_000_000_000_000,
            Rate,
        ),
    ]];

    fn hint(unit: &str) -> Option<&'static str> {
        unit.contains('B').then_some("B is for bytes, rates are in bits (b) per second")
    }
}

impl Quantity for Span {
    const NAME: &'static str = "a time";
    const EXAMPLES: &'static [&'static str] = &[r#""100us""#, r#""1ms""#, r#""0.2s""#];
    const FINEST: &'static str = "1 ps";
    const MOST: u64 = 1_000_000_000_000_000_000;
    const MOST_WRITTEN: &'static str = "1000000s";
    const UNITS: &'static [&'static [Unit<Self>]] = &[&[
        unit(&["s"], 1_000_000_000_000, Span::from_picos),
        unit(&["ms"], 1_000_000_000, Span::from_picos),
        // The micro sign, and the Greek letter of some keyboards.
        unit(&["us", "\u{b5}s", "\u{3bc}s"], 1_000_000, Span::from_picos),
        unit(&["ns"], 1_000, Span::from_picos),
        unit(&["ps"], 1, Span::from_picos),
    ]];
}

impl Quantity for Size {
    const NAME: &'static str = "a size";
    const EXAMPLES: &'static [&'static str] =
        &[r#""64KiB" (65536)"#, r#""64KB" (64000)"#, r#""1500B""#, "1500"];
    const FINEST: &'static str = "1 byte";
    const MOST: u64 = MOST_BYTES;
    const MOST_WRITTEN: &'static str = "100TB";
    const UNITS: &'static [&'static [Unit<Self>]] = &[&bytes(Size)];
    const BARE: Option<fn(u64) -> Self> = Some(Size);

    fn hint(unit: &str) -> Option<&'static str> {
        bits_for_bytes(unit)
    }
}

impl Quantity for Limit {
    const NAME: &'static str = "a size of a queue";
    const EXAMPLES: &'static [&'static str] =
        &[r#""40pkt""#, r#""100KiB" (102400)"#, r#""100KB" (100000)"#, "102400"];
    const FINEST: &'static str = "1 packet or byte";
    const MOST: u64 = MOST_BYTES;
    const MOST_WRITTEN: &'static str = "100TB";
    const UNITS: &'static [&'static [Unit<Self>]] =
        &[&[unit(PACKETS, 1, Limit::Packets)], &bytes(Limit::Bytes)];
    const BARE: Option<fn(u64) -> Self> = Some(Limit::Bytes);

    fn hint(unit: &str) -> Option<&'static str> {
        bits_for_bytes(unit)
    }
}

impl Quantity for Window {
    const NAME: &'static str = "a window";
    const EXAMPLES: &'static [&'static str] = &["2", r#""100seg""#, r#""64KiB" (65536 bytes)"#];
    const FINEST: &'static str = "1 segment or byte";
    const MOST: u64 = MOST_BYTES;
    const MOST_WRITTEN: &'static str = "100TB";
    const UNITS: &'static [&'static [Unit<Self>]] = &[
        &[unit(SEGMENTS, 1, Window::Segments), unit(PACKETS, 1, Window::Segments)],
        &bytes(Window::Bytes),
    ];
    const BARE: Option<fn(u64) -> Self> = Some(Window::Segments);

    fn hint(unit: &str) -> Option<&'static str> {
        bits_for_bytes(unit)
    }
}
