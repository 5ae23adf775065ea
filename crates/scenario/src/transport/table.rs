//! The `[transport]` table of any family.

use std::borrow::Cow;
use std::sync::Arc;

use incast_host::{Family, Kind, Transport};
use incast_remedies::RemedyConfig;
use incast_transports::TransportConfig;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::TransportDocument;
use crate::ScenarioError;
use crate::document::lay;

/// A transport's table, by its family.
#[derive(Clone)]
pub(crate) enum TransportTable {
    /// TCP.
    Tcp(Box<TransportDocument>),
    /// Another family.
    Other(Arc<dyn Kind>),
}

/// The table of the transport called `name` with its defaults, if the transport belongs to another
/// family than TCP. `given` is laid over the defaults, and `parameters` belong to the name.
pub(crate) fn complete_other(
    name: &str,
    given: &Value,
    parameters: Option<&Map<String, Value>>,
) -> Option<Value> {
    let mut table = TransportConfig::named(name)?.kind().table();
    for given in [parameters.map(|it| json!(it)), Some(given.clone())].into_iter().flatten() {
        lay(&mut table, &given);
    }
    Some(table)
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
            Self::Other(kind) => {
                kind.check().map_err(|fault| {
                    ScenarioError::new(format!("{table}.{}", fault.key), fault.message)
                })?;
                let name = kind.table()["name"].as_str().unwrap_or_default().to_owned();
                Ok(Transport { name, family: Family::Other(kind) })
            }
        }
    }
}

impl From<&Transport> for TransportTable {
    fn from(transport: &Transport) -> Self {
        match &transport.family {
            Family::Tcp(tcp) => Self::Tcp(Box::new(TransportDocument::of(&transport.name, tcp))),
            Family::Other(kind) => Self::Other(Arc::clone(kind)),
        }
    }
}

impl Serialize for TransportTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tcp(tcp) => tcp.serialize(serializer),
            Self::Other(kind) => kind.table().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TransportTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Value::deserialize(deserializer)?;
        let name = table["name"].as_str().unwrap_or_default();
        if incast_transports::ENTRIES.iter().any(|entry| entry.name == name) {
            let config: TransportConfig =
                serde_json::from_value(table).map_err(D::Error::custom)?;
            return Ok(Self::Other(config.kind()));
        }
        serde_json::from_value(table).map(|tcp| Self::Tcp(Box::new(tcp))).map_err(D::Error::custom)
    }
}

impl JsonSchema for TransportTable {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyTransport".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let tcp = generator.subschema_for::<TransportDocument>();
        let other = generator.subschema_for::<TransportConfig>();
        json_schema!({ "anyOf": [tcp, other] })
    }
}
