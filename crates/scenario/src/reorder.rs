//! `network.reorder`: packets that others overtake.

use incast_engine::Span;
use incast_net::port::Detour;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;

/// Packets take longer on these links, at random, so that others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// How often, and how much longer.
    pub detour: Detour,
    /// On which links.
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

/// Packets that others overtake: each packet is delayed with a probability, and those behind it are
/// not.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Reorder")]
pub(super) struct ReorderDocument {
    /// Probability, 0 to 1, that a packet is delayed on a link. No default.
    #[schemars(range(min = 0.0, max = 1.0))]
    p: f64,
    /// How much longer it is on the link, seconds. No default.
    delay: Span,
    /// On which links, both directions.
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
        Ok(Reorder { detour: Detour { p, delay }, links })
    }
}

impl From<&Reorder> for ReorderDocument {
    fn from(reorder: &Reorder) -> Self {
        let Reorder { detour: Detour { p, delay }, links } = *reorder;
        Self { p, delay, links }
    }
}
