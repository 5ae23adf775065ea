//! Values that are a quantity or a name of a quantity.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A name for a quantity.
pub trait Name: Copy + PartialEq + 'static {
    /// The names; each has a value, and a meaning in one line.
    const NAMES: &'static [(&'static str, Self, &'static str)];
}

/// A quantity or the name of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OrName<N, Q> {
    /// The name.
    Name(N),
    /// The quantity.
    Quantity(Q),
}

impl<N, Q> OrName<N, Q> {
    /// The given quantity, or the value of the name.
    pub fn quantity_or_else(self, meaning: impl FnOnce(N) -> Q) -> Q {
        match self {
            Self::Name(name) => meaning(name),
            Self::Quantity(quantity) => quantity,
        }
    }
}

impl<N: Default, Q> Default for OrName<N, Q> {
    fn default() -> Self {
        Self::Name(N::default())
    }
}

impl<N: Name, Q: Serialize> Serialize for OrName<N, Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Quantity(quantity) => quantity.serialize(serializer),
            Self::Name(name) => {
                let entry = N::NAMES.iter().find(|(_, value, _)| value == name);
                entry.map(|(text, ..)| text).serialize(serializer)
            }
        }
    }
}

impl<'de, N: Name, Q: DeserializeOwned> Deserialize<'de> for OrName<N, Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let named = N::NAMES.iter().find(|(text, ..)| value == *text);
        if let Some((_, name, _)) = named {
            return Ok(Self::Name(*name));
        }
        serde_json::from_value(value)
            .map(Self::Quantity)
            .map_err(|error| D::Error::custom(format_args!("{error}, or {}", Names(N::NAMES))))
    }
}

struct Names<N: 'static>(&'static [(&'static str, N, &'static str)]);

impl<N> fmt::Display for Names<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|(text, ..)| format!("{text:?}")).collect();
        f.write_str(&names.join(", "))
    }
}

impl<N: Name, Q: JsonSchema> JsonSchema for OrName<N, Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OrName".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let named = N::NAMES.iter().map(|(text, _, meaning)| {
            json_schema!({ "const": text, "description": meaning }).to_value()
        });
        let alternatives: Vec<_> =
            named.chain([generator.subschema_for::<Q>().to_value()]).collect();
        json_schema!({ "anyOf": alternatives })
    }
}
