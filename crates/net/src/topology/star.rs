//! The star: every host has its own link to one switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fabric, Shape, Spread, SwitchId};

/// A star has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "StarTopology")]
pub struct Params {}

impl Shape for Params {
    fn fabric(&self) -> Fabric {
        let only = vec![SwitchId(0)];
        let spread = Spread::default();
        Fabric { switches: 1, trunks: Vec::new(), clients: only.clone(), servers: only, spread }
    }
}
