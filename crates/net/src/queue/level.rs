//! Thresholds on the length of a queue: bytes, packets, or a share of the port's buffer.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use incast_engine::{Fault, Limit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Site;

/// A threshold on the length of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// This many bytes or packets.
    Limit(Limit),
    /// This many millionths of the port's own buffer.
    Share(u32),
}

/// One percent, in millionths.
const PERCENT: u32 = 10_000;
const EXAMPLES: &str = r#"e.g. "20pkt", "30KB" (30000), 30000, or "70%" of the buffer"#;

impl Level {
    /// The threshold of the port at `site`.
    pub(super) fn at(self, site: &Site) -> Limit {
        self.of(site.buffer)
    }

    /// The threshold of a port with this buffer. Shares are rounded up. A share of a port without a
    /// buffer is infinite.
    pub fn of(self, buffer: Option<Limit>) -> Limit {
        let part = |whole: u64, millionths: u32| {
            (u128::from(whole) * u128::from(millionths)).div_ceil(1_000_000) as u64
        };
        match (self, buffer) {
            (Self::Limit(limit), _) => limit,
            (Self::Share(share), Some(Limit::Packets(all))) => Limit::Packets(part(all, share)),
            (Self::Share(share), Some(Limit::Bytes(all))) => Limit::Bytes(part(all, share)),
            (Self::Share(_), None) => Limit::Bytes(u64::MAX),
        }
    }

    /// Refuses a share if the port has no buffer of its own.
    ///
    /// # Errors
    /// The message says what to write instead.
    pub(super) fn check(self, key: &'static str, site: &Site) -> Result<(), Fault> {
        if matches!(self, Self::Share(_)) && site.buffer.is_none() {
            let message = format!(
                "{self} has no meaning, because the ports share a buffer without limits of their \
                 own; write bytes or packets, e.g. \"70KiB\""
            );
            return Err(Fault::new(key, message));
        }
        Ok(())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Share(share) => {
                let text = format!("{}.{:04}", share / PERCENT, share % PERCENT);
                write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(number) = text.trim().strip_suffix('%') else {
            let refuse = |_| format!("{text:?} is not a queue length; write {EXAMPLES}");
            return text.parse().map(Self::Limit).map_err(refuse);
        };
        let refuse = || {
            format!("{text:?} is not a share of a buffer; write 0% to 100%, in steps of 0.0001%")
        };
        let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 4 || whole.len() > 3 {
            return Err(refuse());
        }
        let share = format!("{whole}{fraction:0<4}").parse().unwrap_or(u32::MAX);
        if share > 100 * PERCENT { Err(refuse()) } else { Ok(Self::Share(share)) }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Limit(limit) => limit.serialize(serializer),
            Self::Share(_) => serializer.collect_str(self),
        }
    }
}

struct LevelVisitor;

impl Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a length of a queue, {EXAMPLES}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Level, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, bytes: u64) -> Result<Level, E> {
        Ok(Level::Limit(Limit::Bytes(bytes)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Level, E> {
        u64::try_from(value)
            .map(|bytes| Level::Limit(Limit::Bytes(bytes)))
            .map_err(|_| E::custom(format_args!("{value} is not a queue length; write {EXAMPLES}")))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Level, E> {
        let hint = "a share of the buffer is written \"70%\"";
        Err(E::custom(format_args!("{value} is not a queue length: {hint}; write {EXAMPLES}")))
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LevelVisitor)
    }
}

impl JsonSchema for Level {
    fn schema_name() -> Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let limit = generator.subschema_for::<Limit>();
        json_schema!({
            "description": "Bytes, or a size with its unit, or packets, or a share of the port's \
                buffer: \"30KB\", \"20pkt\", \"70%\".",
            "anyOf": [limit, { "type": "string", "pattern": r"^\s*[0-9]{1,3}(\.[0-9]{1,4})?\s*%\s*$" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::SITE;
    use super::*;

    fn parse(text: &str) -> Level {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_share_is_of_the_port_s_own_buffer() {
        let at = |buffer| parse("70%").at(&Site { buffer, ..SITE });
        assert_eq!(at(Some(Limit::Packets(40))), Limit::Packets(28));
        assert_eq!(at(Some(Limit::Bytes(262_144))), Limit::Bytes(183_501));
        assert_eq!(parse("20pkt").at(&SITE), Limit::Packets(20));
        assert!(parse("70%").check("threshold", &Site { buffer: None, ..SITE }).is_err());
        assert!(parse("7KB").check("threshold", &Site { buffer: None, ..SITE }).is_ok());
    }

    #[test]
    fn a_share_is_written_back_as_it_was_read() {
        for text in ["70%", "0%", "100%", "33.3333%", "0.5%"] {
            assert_eq!(parse(text).to_string(), text);
        }
        for text in ["101%", "-1%", "1.23456%", "%", ".5%", "1.%", "x%", "7 parsecs"] {
            assert!(text.parse::<Level>().is_err(), "{text}");
        }
        let share: Level = serde_json::from_value(serde_json::json!(" 12.50 % ")).unwrap();
        assert_eq!(serde_json::to_value(share).unwrap(), "12.5%");
        let bytes: Level = serde_json::from_value(serde_json::json!(3000)).unwrap();
        assert_eq!(serde_json::to_value(bytes).unwrap(), 3000);
        assert!(serde_json::from_value::<Level>(serde_json::json!(0.7)).is_err());
    }
}
