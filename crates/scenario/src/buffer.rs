//! `network.buffer`: a size, or a table that defines how ports share memory.

mod auto;

use std::borrow::Cow;

use incast_engine::{Limit, OrName, Size};
use incast_net::buffer::{Accounting, Alpha, PoolConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Group, ScenarioError};
use auto::{Auto, AutoDocument};

/// The buffer of each port, or a buffer that the ports share.
pub(super) enum BufferDocument {
    /// This size for each port.
    Size(Limit),
    Table(SharingDocument),
}

/// How ports share the switch's memory.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", expecting = "a table")]
#[schemars(rename = "Buffer")]
pub(super) enum SharingDocument {
    /// Each port has its own buffer, as when `buffer` is a size.
    Static(StaticDocument),
    /// Each port has room for every packet that the flows of the scenario may have in the network:
    /// N E[W] packets (Khalid et al. 2021, equation 5).
    Auto(AutoDocument),
    /// All ports of the switch share a buffer, each up to its own limit.
    Shared(SharedDocument),
    /// All ports share a buffer with dynamic thresholds (Choudhury & Hahne 1998): a queue may grow
    /// while it is shorter than alpha times the free space.
    Dynamic(DynamicDocument),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct StaticDocument {
    /// Buffer of each port, in bytes or packets. No default.
    limit: Limit,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct SharedDocument {
    /// Buffer of all ports together, in bytes or packets. No default.
    total: Limit,
    /// Limit of each port, in bytes or packets; the sum may exceed `total`. No default.
    limit: Limit,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct DynamicDocument {
    /// Buffer of all ports together, in bytes or packets. No default.
    total: Limit,
    /// Multiple of the free space up to which a queue may grow: a number, a fraction or a power of
    /// two.
    #[serde(default = "one")]
    alpha: Alpha,
}

fn one() -> Alpha {
    Alpha::ONE
}

/// The keys that define how buffer space is counted.
pub(super) struct AccountingDocument {
    pub(super) cell: Size,
    pub(super) packet_overhead: Size,
}

impl BufferDocument {
    /// Replaces a size that depends on the flows with its value. `key` is the dotted key of the
    /// buffer, for errors.
    pub(super) fn resolve(&mut self, key: &str, groups: &[Group<'_>]) -> Result<(), ScenarioError> {
        if let Self::Table(SharingDocument::Auto(rule)) = self {
            let packets = rule.packets(key, groups)?;
            *self = Self::Size(Limit::Packets(packets));
        }
        Ok(())
    }

    /// The limit of each port, if it has its own buffer.
    pub(super) fn own(&self) -> Option<Limit> {
        match *self {
            Self::Size(limit) | Self::Table(SharingDocument::Static(StaticDocument { limit })) => {
                Some(limit)
            }
            Self::Table(_) => None,
        }
    }

    /// The limit of each port, and the shared buffer.
    pub(super) fn build(&self) -> Result<(Limit, Option<PoolConfig>), ScenarioError> {
        let refuse = |key: &str, message: String| {
            Err(ScenarioError::new(format!("network.buffer.{key}"), message))
        };
        match *self {
            Self::Size(limit) | Self::Table(SharingDocument::Static(StaticDocument { limit })) => {
                Ok((limit, None))
            }
            Self::Table(SharingDocument::Auto(_)) => {
                unreachable!("the flows are known before the network is built")
            }
            Self::Table(SharingDocument::Shared(SharedDocument { total, limit })) => {
                match (limit, total) {
                    (Limit::Bytes(own), Limit::Bytes(all))
                    | (Limit::Packets(own), Limit::Packets(all))
                        if own > all =>
                    {
                        refuse("limit", format!("{limit} exceeds total, {total}; write less"))
                    }
                    _ => Ok((limit, Some(PoolConfig { total, alpha: None }))),
                }
            }
            Self::Table(SharingDocument::Dynamic(DynamicDocument { total, alpha })) => {
                Ok((total, Some(PoolConfig { total, alpha: Some(alpha) })))
            }
        }
    }
}

impl AccountingDocument {
    /// The accounting of space in a buffer with these limits.
    pub(super) fn build(self, limits: &[Limit]) -> Result<Accounting, ScenarioError> {
        let [cell, packet_overhead] =
            [("buffer_cell", self.cell, 1), ("buffer_packet_overhead", self.packet_overhead, 0)]
                .map(|(key, Size(size), least)| {
                    let key = format!("network.{key}");
                    if !(least..=65_535).contains(&size) {
                        let message =
                            format!("{size} is out of range; must be {least} to 65535 bytes");
                        return Err(ScenarioError::new(key, message));
                    }
                    if size != least && !limits.iter().any(|limit| matches!(limit, Limit::Bytes(_)))
                    {
                        let message = "a buffer in packets has no bytes to count; \
                               write network.buffer in bytes, e.g. \"100KiB\"";
                        return Err(ScenarioError::new(key, message));
                    }
                    Ok(size as u32)
                });
        Ok(Accounting { cell: cell?, packet_overhead: packet_overhead? })
    }
}

/// The document of a port's limit and of the shared buffer.
pub(super) fn document(limit: Limit, pool: Option<PoolConfig>) -> BufferDocument {
    match pool {
        None => BufferDocument::Size(limit),
        Some(PoolConfig { total, alpha: None }) => {
            BufferDocument::Table(SharingDocument::Shared(SharedDocument { total, limit }))
        }
        Some(PoolConfig { total, alpha: Some(alpha) }) => {
            BufferDocument::Table(SharingDocument::Dynamic(DynamicDocument { total, alpha }))
        }
    }
}

impl Serialize for BufferDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Size(limit) => limit.serialize(serializer),
            Self::Table(table) => table.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BufferDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = if value.is_object() {
            serde_json::from_value(value).map(Self::Table)
        } else {
            serde_json::from_value(value).map(|size| match size {
                OrName::Name(Auto) => Self::Table(SharingDocument::Auto(AutoDocument::default())),
                OrName::Quantity(limit) => Self::Size(limit),
            })
        };
        read.map_err(D::Error::custom)
    }
}

impl JsonSchema for BufferDocument {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "BufferDocument".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<OrName<Auto, Limit>>();
        let table = generator.subschema_for::<SharingDocument>();
        json_schema!({ "anyOf": [size, table] })
    }
}
