//! The ports of a scenario's network.

use std::ops::Range;

use incast_engine::{Rate, Span, Time};
use incast_net::buffer::{Buffer, PoolId};
use incast_net::topology::{Attachment, HostId, Network, SwitchId, Trunks};
use incast_net::{PortConfig, PortId};

use incast_scenario::{self as scenario, Group, Links, Scenario};
use incast_traffic::{Scope, Senders};

/// The senders of each group. Hosts are numbered: first the clients, then the hosts of each group
/// of traffic.
pub fn senders(scenario: &Scenario, groups: &[Group<'_>]) -> Vec<Vec<HostId>> {
    let mut free = scenario.network.clients;
    let mut own = Vec::new();
    for group in groups {
        let added = if let Senders::Own(count, _) = group.senders { count } else { 0 };
        own.push((free..free + added).map(HostId).collect::<Vec<_>>());
        free += added;
    }
    let first = groups.iter().position(|group| group.scope == Scope::Workload(0));
    let servers = first.map_or_else(Vec::new, |first| own[first].clone());
    let of = |(group, own): (&Group<'_>, Vec<HostId>)| match group.senders {
        Senders::Own(..) => own,
        Senders::Servers => servers.clone(),
        Senders::Clients => group.config.workload().clients().into_iter().map(HostId).collect(),
    };
    groups.iter().zip(own).map(of).collect()
}

/// The flows of each workload.
pub fn workloads(groups: &[Group<'_>]) -> Vec<Range<u32>> {
    let mut first = 0;
    let flows = groups.iter().map(|group| {
        let flows = first..first + group.flows();
        first = flows.end;
        (group.scope, flows)
    });
    let mut own: Vec<_> = flows.filter(|(scope, _)| matches!(scope, Scope::Workload(_))).collect();
    own.sort_by_key(|(scope, _)| *scope);
    own.into_iter().map(|(_, flows)| flows).collect()
}

/// The switches of the hosts that groups of traffic add.
fn added(groups: &[Group<'_>]) -> impl Iterator<Item = SwitchId> {
    let own = groups.iter().filter_map(|group| match &group.senders {
        Senders::Own(count, at) => Some(at.iter().cycle().take(*count as usize)),
        Senders::Servers | Senders::Clients => None,
    });
    own.flatten().copied()
}

/// The network of a scenario.
pub fn build(scenario: &Scenario, groups: &[Group<'_>], seed: u64) -> Network {
    let network = &scenario.network;
    let attach = Attach { network };
    let clients = (0..network.clients).map(|client| attach.client(network.client_switch(client)));
    let others = added(groups).map(|switch| attach.server(switch));
    let hosts: Vec<Attachment> = clients.chain(others).collect();
    let fabric = network.fabric();
    let trunks = Trunks { fabric: &fabric, port: attach.trunk(), pool: network.pool };
    Network::new(&hosts, &trunks, seed)
}

/// The switch's port towards the workload's first client.
pub fn own_port(groups: &[Group<'_>]) -> PortId {
    Network::switch_port(HostId(first_client(groups)))
}

fn first_client(groups: &[Group<'_>]) -> u32 {
    groups[0].config.workload().clients()[0]
}

/// The switch ports that may be on a path to a client, with their names. The first is [`own_port`].
pub fn ports(scenario: &Scenario, groups: &[Group<'_>]) -> Vec<(PortId, String)> {
    let fabric = scenario.network.fabric();
    let clients = scenario.network.clients;
    let name = |client| match (clients, fabric.switches) {
        (1, 1) => "switch->client".to_owned(),
        (1, _) => format!("switch {}->client", scenario.network.client_switch(client).0),
        (_, 1) => format!("switch->client {client}"),
        _ => format!("switch {}->client {client}", scenario.network.client_switch(client).0),
    };
    let to_clients =
        (0..clients).map(|client| (Network::switch_port(HostId(client)), name(client)));
    let first_trunk = 2 * hosts(scenario, groups);
    let ends = fabric.trunks.iter().flat_map(|[one, other]| [(one, other), (other, one)]);
    let trunks = ends
        .zip(first_trunk..)
        .map(|((from, to), port)| (PortId(port), format!("switch {}->switch {}", from.0, to.0)));
    let mut ports: Vec<_> = to_clients.chain(trunks).collect();
    ports[..=first_client(groups) as usize].rotate_right(1);
    ports
}

/// Number of hosts.
pub fn hosts(scenario: &Scenario, groups: &[Group<'_>]) -> u32 {
    scenario.network.clients + added(groups).count() as u32
}

/// The switch at the end of each port's link; `None` if a host is at this end.
pub fn ends(scenario: &Scenario, groups: &[Group<'_>]) -> Vec<Option<SwitchId>> {
    let network = &scenario.network;
    let clients = (0..network.clients).map(|client| network.client_switch(client));
    let of_hosts = clients.chain(added(groups)).flat_map(|switch| [Some(switch), None]);
    let trunks = network.fabric().trunks;
    let of_trunks = trunks.iter().flat_map(|[one, other]| [Some(*other), Some(*one)]);
    of_hosts.chain(of_trunks).collect()
}

/// The parameters of the network's ports.
struct Attach<'a> {
    network: &'a scenario::Network,
}

impl Attach<'_> {
    fn client(&self, switch: SwitchId) -> Attachment {
        let network = self.network;
        self.host(switch, network.client_rate, network.client_delay, Links::Client)
    }

    fn server(&self, switch: SwitchId) -> Attachment {
        let network = self.network;
        self.host(switch, network.server_rate, network.server_delay, Links::Servers)
    }

    fn host(&self, switch: SwitchId, rate: Rate, delay: Span, links: Links) -> Attachment {
        let uplink = self.line(rate, delay, links);
        let downlink = self.switched(&uplink);
        Attachment { switch, uplink, downlink }
    }

    /// The port at each end of a link between switches. Without such links, the result is unused.
    fn trunk(&self) -> PortConfig {
        let Some(core) = &self.network.core else {
            return self.line(self.network.client_rate, self.network.client_delay, Links::Core);
        };
        let port = self.switched(&self.line(core.rate, core.delay, Links::Core));
        let buffer = port.buffer.map(|buffer| Buffer::new(core.buffer, buffer.counts_in_service));
        PortConfig { buffer, queue: core.queue.clone(), ..port }
    }

    /// A port that never drops.
    fn line(&self, rate: Rate, delay: Span, links: Links) -> PortConfig {
        let network = self.network;
        let reorder = network.reorder.filter(|it| [Links::All, links].contains(&it.links));
        PortConfig {
            layer2_overhead: network.layer2_overhead,
            clock_noise: network.clock_noise,
            ties: network.ties,
            reordering: reorder.map(|reorder| reorder.reordering),
            departure_events: network.departure_events,
            ..PortConfig::host(rate, delay)
        }
    }

    /// The port of a switch on this line: `line` with the switch's buffer and queue.
    fn switched(&self, line: &PortConfig) -> PortConfig {
        let network = self.network;
        let counts_in_service = network.buffer_counts_in_service;
        PortConfig {
            buffer: Some(Buffer::new(network.buffer, counts_in_service)),
            // The network sets the number of the pool.
            pool: network.pool.map(|_| PoolId(0)),
            accounting: network.accounting,
            queue: network.queue.clone(),
            ..line.clone()
        }
    }
}

/// Among the switch ports on paths to clients, the port with the largest time integral of its
/// queue. The result is `own` if no other port has a larger integral.
pub fn busiest(network: &Network, own: PortId, now: Time) -> PortId {
    let waited = |port: PortId| network.port(port).byte_time_until(now);
    network
        .switch_ports_forward()
        .into_iter()
        .fold(own, |busiest, port| if waited(port) > waited(busiest) { port } else { busiest })
}
