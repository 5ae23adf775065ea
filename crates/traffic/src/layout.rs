//! The switches to which hosts are connected.

use incast_engine::Fault;
use incast_net::topology::{Fabric, SwitchId};

use crate::numbers::Numbers;

/// The properties of a network that traffic needs before it is built.
pub struct Layout {
    /// The switches and the links between them.
    pub fabric: Fabric,
    /// Number of clients.
    pub clients: u32,
    /// The switches to which the clients are connected, in turn.
    pub clients_at: Vec<SwitchId>,
    /// A full packet of the scenario's transport, bytes.
    pub packet: u32,
}

impl Layout {
    /// The switches that `given` names for sending hosts, or else the switches where the topology
    /// places sending hosts, in the form of a resolved scenario: `None` if there is only one
    /// switch. `key` is the key of `given`, for errors.
    ///
    /// # Errors
    /// The list is empty, or names a switch that does not exist.
    pub fn settled_switches(
        &self,
        given: Option<&Numbers>,
        key: &'static str,
    ) -> Result<Option<Numbers>, Fault> {
        let switches = Numbers::switches(given, &self.fabric, &self.fabric.servers)
            .map_err(|message| Fault::new(key, message))?;
        Ok(Numbers::of_switches(&switches, &self.fabric))
    }

    /// The clients that `given` names; without `given`, the first client. Returns `None` if the
    /// network has only one client, as a resolved scenario does. `key` is the key of `given`, for
    /// errors.
    ///
    /// # Errors
    /// The list is empty, or names a client that does not exist.
    pub fn settled_clients(
        &self,
        given: Option<&Numbers>,
        key: &'static str,
    ) -> Result<Option<Numbers>, Fault> {
        let clients =
            Numbers::clients(given, self.clients).map_err(|message| Fault::new(key, message))?;
        Ok(Numbers::of_clients(&clients, self.clients))
    }

    /// The switch of a client.
    pub fn client_switch(&self, client: u32) -> SwitchId {
        self.clients_at[client as usize % self.clients_at.len()]
    }

    /// The switches with the resolved numbers `settled`.
    pub fn switches_of(&self, settled: Option<&Numbers>) -> Vec<SwitchId> {
        settled.map_or_else(
            || self.fabric.servers.clone(),
            |numbers| numbers.as_slice().iter().map(|switch| SwitchId(*switch)).collect(),
        )
    }
}
