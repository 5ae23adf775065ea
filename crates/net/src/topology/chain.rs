//! A chain: switches in a row, each connected to the next.
//!
//! Figure 10 of TCP-EFR (Sreekumari, Jung & Lee 2016) has three switches. The senders are at the
//! first and second switches, and the receivers are at the third.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, MOST_IN_ROW, Shape, Spread, SwitchId};

/// Switches in a row, numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ChainTopology")]
pub struct Params {
    /// Number of switches, 1 to 100.
    #[schemars(range(min = 1, max = MOST_IN_ROW))]
    pub switches: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { switches: 3 }
    }
}

impl Shape for Params {
    fn fabric(&self) -> Fabric {
        let last = self.switches - 1;
        Fabric {
            switches: self.switches,
            trunks: (0..last).map(|switch| [SwitchId(switch), SwitchId(switch + 1)]).collect(),
            clients: vec![SwitchId(last)],
            servers: vec![SwitchId(0)],
            spread: Spread::default(),
        }
    }
}
