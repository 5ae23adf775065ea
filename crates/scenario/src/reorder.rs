//! `network.reorder`: reordering of packets.

use incast_engine::Span;
use incast_net::port::Reordering;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;

/// Packets are delayed at random on these links, so that later packets overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability and additional delay.
    pub reordering: Reordering,
    /// The links on which packets are delayed.
    pub links: Links,
}

/// Links, both directions of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Links {
    /// Every link.
    #[default]
    All,
    /// The clients' links.
    Client,
    /// The servers' links.
    Servers,
    /// The links between switches.
    Core,
}

/// Reordering: each packet is delayed with a probability, and later packets overtake it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Reorder")]
pub(super) struct ReorderDocument {
    /// Probability, 0 to 1, that a packet is delayed on a link. No default.
    #[schemars(range(min = 0.0, max = 1.0))]
    p: f64,
    /// Additional delay, in seconds. No default.
    delay: Span,
    /// The links on which packets are delayed, in both directions.
    #[serde(default)]
    links: Links,
}

impl ReorderDocument {
    /// `has_core` says whether there are links between switches.
    pub(super) fn build(self, has_core: bool) -> Result<Reorder, ScenarioError> {
        let Self { p, delay, links } = self;
        if links == Links::Core && !has_core {
            let message = "there are no links between switches; write all, client or servers";
            return Err(ScenarioError::new("network.reorder.links", message));
        }
        Ok(Reorder { reordering: Reordering { p, delay }, links })
    }
}

impl From<&Reorder> for ReorderDocument {
    fn from(reorder: &Reorder) -> Self {
        let Reorder { reordering: Reordering { p, delay }, links } = *reorder;
        Self { p, delay, links }
    }
}
