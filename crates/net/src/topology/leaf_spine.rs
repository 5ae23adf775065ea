//! Leaf and spine: every leaf switch is connected to every spine switch.
//!
//! §5.3 of Khalid, Abdullah & Ahmad (2021) proposes this topology for clusters. A spine is drawn
//! for each flow and direction, as equal-cost multipath routing chooses it with a hash (RFC 2992).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, MOST_IN_ROW, MOST_SWITCHES, Shape, SwitchId};

/// Leaves, numbered from 0; the spines have the next numbers. Hosts are assigned to the leaves in
/// turn, clients first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "LeafSpineTopology")]
pub struct Params {
    /// Number of leaf switches, 1 to 1000.
    #[schemars(range(min = 1, max = MOST_SWITCHES))]
    pub leaves: u32,
    /// Number of spine switches, 1 to 100.
    #[schemars(range(min = 1, max = MOST_IN_ROW))]
    pub spines: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { leaves: 4, spines: 2 }
    }
}

impl Shape for Params {
    fn fabric(&self) -> Fabric {
        let Self { leaves, spines } = *self;
        let to_spines =
            |leaf| (leaves..leaves + spines).map(move |spine| [SwitchId(leaf), SwitchId(spine)]);
        Fabric {
            switches: leaves + spines,
            trunks: (0..leaves).flat_map(to_spines).collect(),
            ..Fabric::of_racks(leaves)
        }
    }
}
