//! Switches and what joins them, without hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SwitchId(pub u32);

/// What a topology is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Number of switches.
    pub switches: u32,
    /// The links between switches.
    pub trunks: Vec<[SwitchId; 2]>,
    /// Where the clients are put: client i at entry i, from the start again after the last.
    pub clients: Vec<SwitchId>,
    /// Where the servers are put, in the same way.
    pub servers: Vec<SwitchId>,
    /// Which of several shortest ways a flow takes.
    pub spread: Spread,
}

/// Which of several shortest ways a flow takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// One drawn for each flow and direction, as by a hash (RFC 2992).
    #[default]
    Drawn,
    /// The next one for each flow, and the same back.
    InTurn,
}

impl Fabric {
    /// Hosts on racks in turn, the first client on the first: no switch, no trunk so far.
    pub(super) fn of_racks(racks: u32) -> Self {
        let deal = |first| (0..racks).map(|rack| SwitchId((rack + first) % racks)).collect();
        let (clients, servers) = (deal(0), deal(1));
        Self { switches: 0, trunks: Vec::new(), clients, servers, spread: Spread::default() }
    }
}
