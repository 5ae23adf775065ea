//! Two tiers: racks with a switch each, connected by one aggregation switch.
//!
//! §5.4 of TCP-EFR (Sreekumari, Jung & Lee 2016) has ten racks of ten servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, MOST_SWITCHES, Shape, SwitchId};

/// Racks, numbered from 0; the aggregation switch has the next number. Hosts are assigned to the
/// racks in turn, clients first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "TwoTierTopology")]
pub struct Params {
    /// Number of racks, 1 to 1000.
    #[schemars(range(min = 1, max = MOST_SWITCHES))]
    pub racks: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { racks: 10 }
    }
}

impl Shape for Params {
    fn fabric(&self) -> Fabric {
        let aggregation = SwitchId(self.racks);
        Fabric {
            switches: self.racks + 1,
            trunks: (0..self.racks).map(|rack| [SwitchId(rack), aggregation]).collect(),
            ..Fabric::of_racks(self.racks)
        }
    }
}
