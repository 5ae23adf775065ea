//! Values that are false, true, or a table with parameters.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The parameters of a feature that can be switched on; `true` means the default parameters.
pub(super) trait Parameters: Copy + Default {
    /// An example of a table.
    const EXAMPLE: &'static str;
}

/// Off, on, or on with these parameters.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "SwitchOr{T}")]
pub(super) enum Switch<T> {
    /// Off or on.
    Plain(bool),
    /// On, with these parameters.
    Table(T),
}

impl<T: Parameters> Switch<T> {
    /// The parameters, if the feature is on.
    pub(super) fn table(&self) -> Option<T> {
        match *self {
            Self::Plain(on) => on.then(T::default),
            Self::Table(table) => Some(table),
        }
    }
}

impl<T> From<Option<T>> for Switch<T> {
    fn from(table: Option<T>) -> Self {
        table.map_or(Self::Plain(false), Self::Table)
    }
}

struct SwitchVisitor<T>(PhantomData<T>);

impl<'de, T: Parameters + Deserialize<'de>> Visitor<'de> for SwitchVisitor<T> {
    type Value = Switch<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "true, false, or a table such as {}", T::EXAMPLE)
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
        Ok(Switch::Plain(on))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(table)).map(Switch::Table)
    }
}

impl<'de, T: Parameters + Deserialize<'de>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SwitchVisitor(PhantomData))
    }
}
