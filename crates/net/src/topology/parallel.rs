//! Parallel switches, each of which is a separate path between the servers' switch and the clients'
//! switch.
//!
//! An interpretation of figures 2 to 4 of Khalid, Abdullah & Ahmad (2021), which add switches "in
//! terms of alternate paths" and of load balancing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, MOST_SWITCHES, Shape, Spread, SwitchId};

/// The servers are at switch 0, and the clients are at switch 1. The parallel switches have the
/// next numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ParallelTopology")]
pub struct Params {
    /// Number of parallel switches, 1 to 1000.
    #[schemars(range(min = 1, max = MOST_SWITCHES))]
    pub paths: u32,
    /// Which of the parallel switches a flow uses. Default: `drawn`.
    pub spread: Spread,
}

impl Default for Params {
    fn default() -> Self {
        Self { paths: 2, spread: Spread::default() }
    }
}

impl Shape for Params {
    fn fabric(&self) -> Fabric {
        let (servers, clients) = (SwitchId(0), SwitchId(1));
        let between = (2..2 + self.paths).map(SwitchId);
        Fabric {
            switches: 2 + self.paths,
            trunks: between.flat_map(|path| [[servers, path], [path, clients]]).collect(),
            clients: vec![clients],
            servers: vec![servers],
            spread: self.spread,
        }
    }
}
