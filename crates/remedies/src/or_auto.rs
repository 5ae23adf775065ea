//! Parameters that the remedy can work out by itself.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value, or `"auto"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrAuto<T> {
    /// The remedy works it out from what it knows.
    #[default]
    Auto,
    /// It is given.
    Given(T),
}

const AUTO: &str = "auto";

impl<T> OrAuto<T> {
    /// The value given, or what `auto` says.
    pub fn or_else(self, auto: impl FnOnce() -> T) -> T {
        match self {
            Self::Auto => auto(),
            Self::Given(value) => value,
        }
    }
}

impl<T: Serialize> Serialize for OrAuto<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => AUTO.serialize(serializer),
            Self::Given(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for OrAuto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value == AUTO {
            return Ok(Self::Auto);
        }
        serde_json::from_value(value)
            .map(Self::Given)
            .map_err(|error| D::Error::custom(format_args!("{error}, or {AUTO:?}")))
    }
}

impl<T: JsonSchema> JsonSchema for OrAuto<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OrAuto".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let auto = json_schema!({ "const": AUTO, "description": "Worked out by the remedy." });
        json_schema!({ "anyOf": [auto, generator.subschema_for::<T>()] })
    }
}
