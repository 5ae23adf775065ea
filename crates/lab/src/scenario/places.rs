//! `client_at`, `servers_at`, `at`: the switches that hosts are put on.

use std::borrow::Cow;
use std::fmt;

use incast_net::topology::{Fabric, SwitchId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::ScenarioError;

/// Switches, from 0; hosts are put on them in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Places(Vec<u32>);

impl Places {
    /// The switches of `fabric` that `places` names, or those that the topology has for such hosts.
    pub(super) fn build(
        places: Option<Self>,
        fabric: &Fabric,
        usual: &[SwitchId],
        key: &str,
    ) -> Result<Vec<SwitchId>, ScenarioError> {
        let Some(Self(places)) = places else { return Ok(usual.to_vec()) };
        if places.is_empty() {
            return Err(ScenarioError::new(key, "an empty list names no switch; write e.g. [0]"));
        }
        if let Some(switch) = places.iter().find(|switch| **switch >= fabric.switches) {
            let message = match fabric.switches {
                1 => format!("there is no switch {switch}; there is one only, 0"),
                switches => format!("there is no switch {switch}; write 0 to {}", switches - 1),
            };
            return Err(ScenarioError::new(key, message));
        }
        Ok(places.into_iter().map(SwitchId).collect())
    }

    /// How a document names these switches; not at all where there is only one.
    pub(super) fn document(places: &[SwitchId], fabric: &Fabric) -> Option<Self> {
        (fabric.switches > 1).then(|| Self(places.iter().map(|switch| switch.0).collect()))
    }
}

struct PlacesVisitor;

impl<'de> Visitor<'de> for PlacesVisitor {
    type Value = Places;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of a switch, or a list of such")
    }

    fn visit_u64<E: Error>(self, switch: u64) -> Result<Places, E> {
        Ok(Places(vec![u32::try_from(switch).unwrap_or(u32::MAX)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Places, A::Error> {
        let mut places = Vec::new();
        while let Some(switch) = list.next_element()? {
            places.push(switch);
        }
        Ok(Places(places))
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlacesVisitor)
    }
}

impl JsonSchema for Places {
    fn schema_name() -> Cow<'static, str> {
        "Places".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
            ],
        })
    }
}
