//! The parameter α of dynamic thresholds, in the notation of switch vendors.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A positive ratio, exact: `1`, `0.5`, `"1/8"` or `"2^-3"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpha {
    numerator: u32,
    denominator: u32,
}

const EXAMPLES: &str = r#"e.g. 1, 0.5, "1/8" or "2^-3""#;
/// The largest exponent of a power of two. No switch offers a larger exponent, and with this limit,
/// products cannot overflow 128 bits.
const MOST_DOUBLINGS: u32 = 20;

impl Alpha {
    /// The ratio 1. A single busy port may then use half of the buffer.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// The ratio in lowest terms; `None` if one of the numbers is 0.
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        (numerator > 0 && denominator > 0)
            .then(|| Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Whether `length` is less than α times `free`.
    pub fn admits(self, length: u64, free: u64) -> bool {
        u128::from(length) * u128::from(self.denominator)
            < u128::from(free) * u128::from(self.numerator)
    }

    /// The longest queue of a port if no other port is busy: α / (1 + α) of a buffer of size
    /// `total`.
    pub fn share_of_one(self, total: u64) -> u64 {
        let [up, down] = [self.numerator, self.denominator].map(u128::from);
        (u128::from(total) * up / (up + down)) as u64
    }

    /// The ratio as a number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// The exponent, if the ratio is a power of two.
    fn exponent(self) -> Option<i32> {
        match (self.numerator, self.denominator) {
            (1, down) if down.is_power_of_two() => Some(-(down.trailing_zeros() as i32)),
            (up, 1) if up.is_power_of_two() => Some(up.trailing_zeros() as i32),
            _ => None,
        }
    }

    fn power_of_two(exponent: i32) -> Option<Self> {
        let size = exponent.unsigned_abs();
        if size > MOST_DOUBLINGS {
            None
        } else if exponent < 0 {
            Self::new(1, 1 << size)
        } else {
            Self::new(1 << size, 1)
        }
    }

    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(exponent) = text.strip_prefix("2^") {
            return Self::power_of_two(exponent.trim().parse().ok()?);
        }
        if let Some((numerator, denominator)) = text.split_once('/') {
            return Self::new(numerator.trim().parse().ok()?, denominator.trim().parse().ok()?);
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: u32 = format!("{whole}{fraction}").parse().ok()?;
        Self::new(digits, 10_u32.checked_pow(fraction.len() as u32)?)
    }
}

/// Prints a power of two in the form `2^-3`, and any other ratio as a fraction.
impl fmt::Display for Alpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exponent() {
            Some(exponent) => write!(f, "2^{exponent}"),
            None => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl FromStr for Alpha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!("{text:?} is not a ratio above 0 for a threshold; write {EXAMPLES}")
        })
    }
}

impl Serialize for Alpha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct AlphaVisitor;

impl Visitor<'_> for AlphaVisitor {
    type Value = Alpha;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a ratio, {EXAMPLES}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Alpha, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Alpha, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Alpha, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Alpha, E> {
        // The shortest decimal that has this value is the number in the input.
        self.visit_str(&value.to_string())
    }
}

impl<'de> Deserialize<'de> for Alpha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AlphaVisitor)
    }
}

impl JsonSchema for Alpha {
    fn schema_name() -> Cow<'static, str> {
        "Alpha".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A ratio above 0: a number, a fraction or a power of two: 0.5, \"1/8\", \
                \"2^-3\".",
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": u32::MAX },
                { "type": "string", "pattern": r"^\s*(2\^\s*-?[0-9]+|[0-9]+(\.[0-9]+)?|[0-9]+\s*/\s*[0-9]+)\s*$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn every_spelling_of_a_ratio() {
        for (value, expected) in [
            (json!(1), "2^0"),
            (json!(8), "2^3"),
            (json!(0.125), "2^-3"),
            (json!("2^-3"), "2^-3"),
            (json!("1/8"), "2^-3"),
            (json!(" 2 / 3 "), "2/3"),
            (json!(0.3), "3/10"),
            (json!("1.50"), "3/2"),
        ] {
            let alpha: Alpha = from_value(value.clone()).unwrap();
            assert_eq!(to_value(alpha).unwrap(), expected, "{value}");
            assert_eq!(from_value::<Alpha>(json!(expected)).unwrap(), alpha);
        }
    }

    #[test]
    fn what_is_no_ratio_is_refused() {
        for value in [json!(0), json!(-1), json!("2^99"), json!("3^2"), json!("1/0"), json!("x")] {
            let error = from_value::<Alpha>(value.clone()).unwrap_err().to_string();
            assert!(error.contains("is not a ratio above 0"), "{value}: {error}");
        }
        assert!(from_value::<Alpha>(json!(true)).is_err());
    }

    #[test]
    fn a_queue_as_long_as_its_share_of_the_free_space_takes_no_more() {
        let eighth = Alpha::new(1, 8).unwrap();
        assert!(eighth.admits(99, 800) && !eighth.admits(100, 800));
        assert!(Alpha::ONE.admits(0, 1) && !Alpha::ONE.admits(0, 0));
        let most = Alpha::power_of_two(20).unwrap();
        assert!(most.admits(u64::MAX - 1, u64::MAX));
    }
}
