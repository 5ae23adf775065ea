//! Switches and the links between them, without hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SwitchId(pub u32);

/// The switches and trunks of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Number of switches.
    pub switches: u32,
    /// The links between switches.
    pub trunks: Vec<[SwitchId; 2]>,
    /// Switches of the clients: client i at entry i modulo the length.
    pub clients: Vec<SwitchId>,
    /// Switches of the servers: server i at entry i modulo the length.
    pub servers: Vec<SwitchId>,
    /// Which of several shortest paths a flow takes.
    pub spread: Spread,
}

/// Which of several shortest paths a flow takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// A path drawn at random for each flow and direction, as with a hash (RFC 2992).
    #[default]
    Drawn,
    /// Each flow takes the path after the previous flow's path, in both directions.
    InTurn,
}

impl Fabric {
    /// A fabric that assigns hosts to the racks in turn. The first client is in the first rack.
    /// Switches and trunks are added later.
    pub(super) fn of_racks(racks: u32) -> Self {
        let deal = |first| (0..racks).map(|rack| SwitchId((rack + first) % racks)).collect();
        let (clients, servers) = (deal(0), deal(1));
        Self { switches: 0, trunks: Vec::new(), clients, servers, spread: Spread::default() }
    }
}
