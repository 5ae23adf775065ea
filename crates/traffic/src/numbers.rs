//! Switches and clients by number: `client_at`, `servers_at`, `at`, `to`.

use std::borrow::Cow;
use std::fmt;

use incast_net::topology::{Fabric, SwitchId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

/// Numbers from 0, used in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Numbers(Vec<u32>);

impl Numbers {
    /// The switches of `fabric` that are named, or else the switches on which the topology places
    /// these hosts.
    ///
    /// # Errors
    /// The list is empty, or names a switch that does not exist.
    pub fn switches(
        named: Option<&Self>,
        fabric: &Fabric,
        usual: &[SwitchId],
    ) -> Result<Vec<SwitchId>, String> {
        let Some(Self(named)) = named else { return Ok(usual.to_vec()) };
        if named.is_empty() {
            return Err("an empty list names no switch; write e.g. [0]".to_owned());
        }
        if let Some(switch) = named.iter().find(|switch| **switch >= fabric.switches) {
            return Err(match fabric.switches {
                1 => format!("there is no switch {switch}; there is only switch 0"),
                switches => format!("there is no switch {switch}; write 0 to {}", switches - 1),
            });
        }
        Ok(named.iter().map(|switch| SwitchId(*switch)).collect())
    }

    /// The named clients; the first client if none is named.
    ///
    /// # Errors
    /// The list is empty, or names a client that does not exist.
    pub fn clients(named: Option<&Self>, clients: u32) -> Result<Vec<u32>, String> {
        let Some(Self(named)) = named else { return Ok(vec![0]) };
        if named.is_empty() {
            return Err("an empty list names no client; write e.g. [0]".to_owned());
        }
        if let Some(client) = named.iter().find(|client| **client >= clients) {
            return Err(match clients {
                1 => format!("there is no client {client}; raise network.clients"),
                _ => format!("there is no client {client}; write 0 to {}", clients - 1),
            });
        }
        Ok(named.clone())
    }

    /// Clients for a resolved document; `None` if there is only one client.
    pub fn of_clients(named: &[u32], clients: u32) -> Option<Self> {
        (clients > 1).then(|| Self(named.to_vec()))
    }

    /// Switches for a resolved document; `None` if there is only one switch.
    pub fn of_switches(named: &[SwitchId], fabric: &Fabric) -> Option<Self> {
        (fabric.switches > 1).then(|| Self(named.iter().map(|switch| switch.0).collect()))
    }

    /// These numbers.
    pub fn of(numbers: Vec<u32>) -> Self {
        Self(numbers)
    }

    /// The clients with the resolved numbers `settled`.
    pub fn or_first(settled: Option<&Self>) -> Vec<u32> {
        settled.map_or_else(|| vec![0], |Self(clients)| clients.clone())
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a list of numbers")
    }

    fn visit_u64<E: Error>(self, switch: u64) -> Result<Numbers, E> {
        Ok(Numbers(vec![u32::try_from(switch).unwrap_or(u32::MAX)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut places = Vec::new();
        while let Some(switch) = list.next_element()? {
            places.push(switch);
        }
        Ok(Numbers(places))
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

impl JsonSchema for Numbers {
    fn schema_name() -> Cow<'static, str> {
        "Numbers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let number = json!({ "type": "integer", "format": "uint32", "minimum": 0 });
        json_schema!({
            "anyOf": [
                number,
                { "type": "array", "items": number, "minItems": 1 },
            ],
        })
    }
}
