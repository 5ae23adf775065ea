//! Quantities in documents: serde and JSON Schema.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::units::Quantity;
use super::{Limit, Rate, Size, Window, exact_seconds};
use crate::time::Span;

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&exact_seconds(*self))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(_) => serializer.collect_str(self),
            Self::Bytes(bytes) => serializer.serialize_u64(*bytes),
        }
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Segments(segments) => serializer.serialize_u64(*segments),
            Self::Bytes(_) => serializer.collect_str(self),
        }
    }
}

/// Reads a quantity from a string, or from an integer without a unit.
struct QuantityVisitor<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", Q::NAME, Q::examples())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        Q::from_text(text).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Q, E> {
        Q::from_integer(value).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Q, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::custom(Q::refuse(&value.to_string(), None))),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Q, E> {
        Err(E::custom(Q::refuse(&value.to_string(), None)))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Q, E> {
        Err(E::custom(Q::refuse(&value.to_string(), None)))
    }
}

/// A schema that accepts exactly the spellings of the unit tables.
fn schema_of<Q: Quantity>(description: &str) -> Schema {
    let units: Vec<_> = Q::units().flat_map(|unit| unit.spellings).copied().collect();
    let pattern = format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", units.join("|"));
    let description = format!("{description} At most {:?}.", Q::MOST_WRITTEN);
    let bare = json!({ "type": "integer", "minimum": 0, "maximum": Q::MOST });
    if Q::BARE.is_some() {
        json_schema!({
            "description": description,
            "anyOf": [bare, { "type": "string", "pattern": pattern }],
        })
    } else {
        json_schema!({ "description": description, "type": "string", "pattern": pattern })
    }
}

macro_rules! document_quantity {
    ($($quantity:ty as $name:literal: $description:literal;)+) => {$(
        impl<'de> Deserialize<'de> for $quantity {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(QuantityVisitor(PhantomData))
            }
        }

        impl JsonSchema for $quantity {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schema_of::<Self>($description)
            }
        }
    )+};
}

document_quantity! {
    Rate as "Rate": "A data rate with its unit, in bits: \"1Gbps\", \"10Gb/s\", \"10gbit\".";
    Span as "Time": "A time with its unit: \"100us\", \"1ms\", \"0.2s\", \"5ns\", \"10ps\".";
    Size as "Size": "Bytes, or a size with its unit: \"64KiB\" (65536), \"64KB\" (64000), \"1500B\".";
    Limit as "Limit": "Bytes, or a size with its unit, or packets: \"100KiB\", \"40pkt\".";
    Window as "Window": "Segments, or a size with its unit: 2, \"100seg\", \"64KiB\".";
}
