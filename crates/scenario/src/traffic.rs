//! The traffic of a whole scenario: its tables, its transports, and the checks that need both.

use incast_host::Opener;
use incast_host::transport::TCP;
use incast_tcp::config::Handshake;
use incast_traffic::{Layout, Senders, WorkloadConfig};

use super::table::{Group, key};
use super::{Scenario, ScenarioError, Transport, remedies};

impl Scenario {
    /// The switches to which the hosts are connected.
    pub fn layout(&self) -> Layout {
        Layout {
            fabric: self.network.fabric(),
            clients: self.network.clients,
            clients_at: self.network.clients_at.clone(),
            packet: self.transport.packet(),
        }
    }

    /// All tables of traffic, in the order of their flows.
    pub fn groups(&self) -> Vec<Group<'_>> {
        self.traffic.groups(&self.transport, &self.layout())
    }

    /// `[transport]` and the transports of tables that have a transport of their own, each with its
    /// dotted key.
    pub fn transports(&self) -> Vec<(String, &Transport)> {
        let several = self.traffic.several;
        let own = self.traffic.tables().filter_map(|(scope, table)| {
            Some((format!("{}.transport", key(scope, several)), table.transport.as_ref()?))
        });
        std::iter::once(("transport".to_owned(), &self.transport)).chain(own).collect()
    }

    /// `tcp` if all transports are TCP; otherwise the first other family.
    pub fn family(&self) -> &'static str {
        let families = self.transports().into_iter().map(|(_, transport)| transport.family());
        families.into_iter().find(|family| *family != TCP).unwrap_or(TCP)
    }

    /// Refuses a scenario with a transport that is not TCP. `what` names the part of the program
    /// that supports only TCP.
    ///
    /// # Errors
    /// A message that names the first such transport and the accepted transports.
    pub fn check_tcp(&self, what: &str) -> Result<(), ScenarioError> {
        let others = self.transports().into_iter().find(|(_, it)| it.family() != TCP);
        let Some((key, transport)) = others else { return Ok(()) };
        let message = format!(
            "{:?} is of the family {:?}, and {what} is for TCP; write e.g. \"newreno\"",
            transport.name,
            transport.family(),
        );
        Err(ScenarioError::new(format!("{key}.name"), message))
    }

    /// Number of links between switches on the longest path of the first workload.
    pub fn trunks(&self) -> u32 {
        let group = &self.groups()[0];
        self.network.trunks_between(&group.at, &group.config.workload().clients())
    }
}

/// Refuses shared servers that do not exist, and remedies that do not work with a table's traffic.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    for group in scenario.groups() {
        if group.senders == Senders::Servers && group.count == 0 {
            let message =
                "the first workload has no servers to share; give this traffic its own servers";
            return Err(ScenarioError::new(group.key, message));
        }
        if let WorkloadConfig::BarrierRead(read) = group.config
            && read.share_servers
            && read.servers > group.count
        {
            let message = format!(
                "{} is out of range: the first workload has {} servers to share",
                read.servers, group.count
            );
            return Err(ScenarioError::new(format!("{}.servers", group.key), message));
        }
        let Some((load, transport)) = group.load() else { continue };
        let key = &group.transport_key;
        if !load.is_asked_for {
            remedies::check_unasked(transport.remedies(), group.config.name(), key)?;
        }
        if let Some(early) = group.config.workload().opens_early() {
            check_opening(transport, &format!("{}.{early}", group.key))?;
        }
        remedies::check_clients(transport.remedies(), &group.config.workload().clients(), key)?;
    }
    let mut workloads = scenario.traffic.workloads.iter();
    if !workloads.any(|table| table.config.workload().ends()) {
        let name = scenario.traffic.workloads[0].config.name();
        let message = format!(
            "{name:?} never ends by itself; put it under [[background]], or beside a workload that \
             ends"
        );
        return Err(ScenarioError::new("workload", message));
    }
    Ok(())
}

/// Refuses a handshake before the request if the client does not open connections, if connections
/// have no handshake, or if a remedy decides when they are opened.
fn check_opening(transport: &Transport, key: &str) -> Result<(), ScenarioError> {
    let Some(tcp) = transport.tcp() else {
        let message = format!("{:?} has no handshake; leave it out", transport.name);
        return Err(ScenarioError::new(key, message));
    };
    let message = if tcp.opener != Opener::Client {
        "needs a client that opens the connections, and transport.opener is \"server\"; leave it out"
            .to_owned()
    } else if tcp.config.handshake != Handshake::ThreeWay {
        "needs transport.handshake = \"three-way\"".to_owned()
    } else if let Some(name) = remedies::scheduling(&tcp.remedies) {
        format!("{name:?} decides when the connections are opened; leave out one of the two")
    } else {
        return Ok(());
    };
    Err(ScenarioError::new(key, message))
}
