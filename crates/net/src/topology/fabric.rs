//! Switches and what joins them, without hosts.

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
}

impl Fabric {
    /// Hosts on racks in turn, the first client on the first: no switch, no trunk so far.
    pub(super) fn of_racks(racks: u32) -> Self {
        let deal = |first| (0..racks).map(|rack| SwitchId((rack + first) % racks)).collect();
        Self { switches: 0, trunks: Vec::new(), clients: deal(0), servers: deal(1) }
    }
}
