//! The `[transport]` table of any family.

use std::borrow::Cow;

use incast_host::{Family, Transport};
use incast_remedies::RemedyConfig;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::TransportDocument;
use crate::ScenarioError;

/// A transport's table, by its family.
#[derive(Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum TransportTable {
    /// TCP.
    Tcp(Box<TransportDocument>),
    /// Another family: the table that its kind returns.
    Other(Value),
}

impl TransportTable {
    /// Whether the transport requires marks.
    pub(crate) fn counts_marks(&self) -> bool {
        match self {
            Self::Tcp(tcp) => tcp.counts_marks(),
            Self::Other(_) => false,
        }
    }

    /// The remedies of the transport.
    pub(crate) fn remedies(&self) -> &[RemedyConfig] {
        match self {
            Self::Tcp(tcp) => tcp.remedies(),
            Self::Other(_) => &[],
        }
    }

    /// Sets the parameters that a remedy requires, unless they are `given`.
    pub(crate) fn settle(&mut self, remedy: &RemedyConfig, given: &Value) {
        if let Self::Tcp(tcp) = self {
            tcp.settle(remedy, given);
        }
    }

    /// The transport of the table called `table`.
    pub(crate) fn build(self, table: &str) -> Result<Transport, ScenarioError> {
        match self {
            Self::Tcp(tcp) => tcp.build(table),
            Self::Other(other) => Err(ScenarioError::new(
                format!("{table}.name"),
                format!("{} cannot be read from a document", other["name"]),
            )),
        }
    }
}

impl From<&Transport> for TransportTable {
    fn from(transport: &Transport) -> Self {
        match &transport.family {
            Family::Tcp(tcp) => Self::Tcp(Box::new(TransportDocument::of(&transport.name, tcp))),
            Family::Other(kind) => Self::Other(kind.table()),
        }
    }
}

impl<'de> Deserialize<'de> for TransportTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TransportDocument::deserialize(deserializer).map(|tcp| Self::Tcp(Box::new(tcp)))
    }
}

impl JsonSchema for TransportTable {
    fn schema_name() -> Cow<'static, str> {
        TransportDocument::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TransportDocument::json_schema(generator)
    }
}
