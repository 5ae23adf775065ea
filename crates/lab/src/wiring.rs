//! From a scenario's tables to the ports of its network.

use incast_engine::{Rate, Span, Time};
use incast_net::buffer::{Buffer, PoolId};
use incast_net::topology::{Attachment, HostId, Network, SwitchId, Trunks};
use incast_net::{PortConfig, PortId};

use incast_scenario::{self as scenario, Background, Links, Scenario};

/// Which host is who: the clients first, then the servers, then the sources of background traffic.
#[derive(Clone, Copy, Debug)]
pub struct Hosts {
    clients: u32,
    servers: u32,
}

impl Hosts {
    /// The hosts of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        Self { clients: scenario.network.clients, servers: scenario.workload.servers() }
    }

    /// A server.
    pub const fn server(self, server: u32) -> HostId {
        HostId(self.clients + server)
    }

    /// All of them.
    fn count(self, background: &[Background]) -> u32 {
        let others = background.iter().map(|background| background.added_hosts().0);
        self.clients + self.servers + others.sum::<u32>()
    }

    /// A host that background traffic adds.
    pub const fn other(self, other: u32) -> HostId {
        HostId(self.clients + self.servers + other)
    }
}

/// The network of a scenario.
pub fn build(scenario: &Scenario, seed: u64) -> Network {
    let Scenario { network, workload, background, .. } = scenario;
    let attach = Attach { network };
    let clients = (0..network.clients).map(|client| attach.client(network.client_switch(client)));
    let servers = workload.servers_at().iter().cycle().take(workload.servers() as usize);
    let others = in_order(background).flat_map(|(_, background)| {
        let (count, at) = background.added_hosts();
        at.iter().cycle().take(count as usize)
    });
    let hosts: Vec<Attachment> =
        clients.chain(servers.chain(others).map(|switch| attach.server(*switch))).collect();
    let fabric = network.fabric();
    let trunks = Trunks { fabric: &fabric, port: attach.trunk(), pool: network.pool };
    Network::new(&hosts, &trunks, seed)
}

/// The background tables with their numbers: those with connections first, because ends are
/// numbered like routes.
pub fn in_order(background: &[Background]) -> impl Iterator<Item = (usize, &Background)> {
    let with = |connections: bool| {
        let tables = background.iter().enumerate();
        tables.filter(move |(_, table)| table.transport().is_some() == connections)
    };
    with(true).chain(with(false))
}

/// The switches' ports that may be on the way to a client, and their names; first that of the
/// workload's first client.
pub fn ports(scenario: &Scenario) -> Vec<(PortId, String)> {
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
    let first_trunk = 2 * Hosts::new(scenario).count(&scenario.background);
    let ends = fabric.trunks.iter().flat_map(|[one, other]| [(one, other), (other, one)]);
    let trunks = ends
        .zip(first_trunk..)
        .map(|((from, to), port)| (PortId(port), format!("switch {}->switch {}", from.0, to.0)));
    let mut ports: Vec<_> = to_clients.chain(trunks).collect();
    let first = scenario.workload.to()[0] as usize;
    ports[..=first].rotate_right(1);
    ports
}

/// What ports are like.
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

    /// Either end of a link between switches; where there are none, nobody asks.
    fn trunk(&self) -> PortConfig {
        let Some(core) = &self.network.core else {
            return self.line(self.network.client_rate, self.network.client_delay, Links::Core);
        };
        let port = self.switched(&self.line(core.rate, core.delay, Links::Core));
        let buffer = port.buffer.map(|buffer| Buffer { limit: core.buffer, ..buffer });
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
            detour: reorder.map(|reorder| reorder.detour),
            departure_events: network.departure_events,
            ..PortConfig::host(rate, delay)
        }
    }

    /// The same at a switch.
    fn switched(&self, line: &PortConfig) -> PortConfig {
        let network = self.network;
        let counts_in_service = network.buffer_counts_in_service;
        PortConfig {
            buffer: Some(Buffer { limit: network.buffer, counts_in_service }),
            // Which one it is, the network knows.
            pool: network.pool.map(|_| PoolId(0)),
            accounting: network.accounting,
            queue: network.queue.clone(),
            ..line.clone()
        }
    }
}

/// The switch's port, on the way to a client, at which most waited; `own` if none did elsewhere.
pub fn busiest(network: &Network, own: PortId, now: Time) -> PortId {
    let waited = |port: PortId| network.port(port).byte_time_until(now);
    network
        .switch_ports_forward()
        .into_iter()
        .fold(own, |busiest, port| if waited(port) > waited(busiest) { port } else { busiest })
}
