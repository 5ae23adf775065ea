//! `transport.pacing`.

use std::fmt;

use incast_tcp::config::Pacing;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::ScenarioError;

/// Pacing by the window: off, on, or on with these gains.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Pacing")]
pub(super) enum PacingDocument {
    /// Off or on.
    Switch(bool),
    /// On, with these gains.
    Table(PacingTable),
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PacingTable {
    /// Data leave at this times cwnd / SRTT while cwnd is below half of ssthresh, a ratio above 0.
    /// Default: 2.0 (Linux's `tcp_pacing_ss_ratio`).
    #[schemars(range(min = 0.001))]
    slow_start_gain: f64,
    /// And at this times cwnd / SRTT otherwise, a ratio above 0. Default: 1.2 (Linux's
    /// `tcp_pacing_ca_ratio`).
    #[schemars(range(min = 0.001))]
    gain: f64,
}

impl Default for PacingTable {
    fn default() -> Self {
        Pacing::default().into()
    }
}

impl From<Pacing> for PacingTable {
    fn from(pacing: Pacing) -> Self {
        Self {
            slow_start_gain: pacing.slow_start_permille as f64 / 1000.0,
            gain: pacing.permille as f64 / 1000.0,
        }
    }
}

impl From<Option<Pacing>> for PacingDocument {
    fn from(pacing: Option<Pacing>) -> Self {
        pacing.map_or(Self::Switch(false), |pacing| Self::Table(pacing.into()))
    }
}

impl PacingDocument {
    fn table(&self) -> Option<PacingTable> {
        match *self {
            Self::Switch(on) => on.then(PacingTable::default),
            Self::Table(table) => Some(table),
        }
    }

    /// Refuses gains that are no gains.
    pub(super) fn check(&self, table: &str) -> Result<(), ScenarioError> {
        let Some(gains) = self.table() else { return Ok(()) };
        for (key, gain) in [("slow_start_gain", gains.slow_start_gain), ("gain", gains.gain)] {
            if !(0.001..=1e6).contains(&gain) {
                let message = format!("{gain} is no gain; write 0.001 to 1000000, e.g. 1.2");
                return Err(ScenarioError::new(format!("{table}.pacing.{key}"), message));
            }
        }
        Ok(())
    }

    pub(super) fn pacing(&self) -> Option<Pacing> {
        self.table().map(|table| Pacing {
            slow_start_permille: (table.slow_start_gain * 1000.0).round() as u64,
            permille: (table.gain * 1000.0).round() as u64,
        })
    }
}

struct PacingVisitor;

impl<'de> Visitor<'de> for PacingVisitor {
    type Value = PacingDocument;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a table such as { gain = 1.2 }")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<PacingDocument, E> {
        Ok(PacingDocument::Switch(on))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<PacingDocument, A::Error> {
        PacingTable::deserialize(MapAccessDeserializer::new(table)).map(PacingDocument::Table)
    }
}

impl<'de> Deserialize<'de> for PacingDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PacingVisitor)
    }
}
