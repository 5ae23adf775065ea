//! Builds a network: the ports of hosts and trunks, the routes of flows, and the shortcuts.

use std::collections::BTreeSet;

use incast_engine::Stream;

use super::network::{HostId, Network, Routes};
use super::routing::Crossing;
use super::{Fabric, Router, Spread, SwitchId};
use crate::buffer::{Pool, PoolConfig, PoolId};
use crate::express::{self, Express};
use crate::flow_control::Controls;
use crate::packets::Packets;
use crate::port::{Commons, Port, PortConfig, PortId};
use crate::switch::Guard;

/// The connection of a host to its switch.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The switch.
    pub switch: SwitchId,
    /// The port from the host to the switch.
    pub uplink: PortConfig,
    /// The port from the switch to the host.
    pub downlink: PortConfig,
}

/// The links between switches.
#[derive(Clone, Debug)]
pub struct Trunks<'a> {
    /// Switches and their links.
    pub fabric: &'a Fabric,
    /// The parameters of the port at each end of a trunk.
    pub port: PortConfig,
    /// Buffers shared by the ports of a switch.
    pub pool: Option<PoolConfig>,
}

impl Network {
    /// A network with hosts at the switches of a fabric. In every topology, host `i` sends through
    /// port `2i` and receives through its switch's port `2i + 1`. The next numbers belong to the
    /// ports of trunks: two ports per trunk, one per direction.
    pub fn new(hosts: &[Attachment], trunks: &Trunks<'_>, seed: u64) -> Self {
        let Trunks { fabric, port, pool } = trunks;
        let on = |config: &PortConfig, switch: SwitchId| PortConfig {
            pool: pool.map(|_| PoolId(switch.0 as u16)),
            ..config.clone()
        };
        let hosts_ports =
            hosts.iter().flat_map(|host| [host.uplink.clone(), on(&host.downlink, host.switch)]);
        let trunks_ports = fabric.trunks.iter().flatten().map(|end| on(port, *end));
        let ports: Vec<Port> = hosts_ports
            .chain(trunks_ports)
            .zip(0..)
            .map(|(config, index)| Port::new(&config, index, seed))
            .collect();
        let switches = 0..fabric.switches;
        let pools = switches.filter_map(|_| pool.map(Pool::new)).collect();
        let router = Router::new(fabric);
        let of_hosts = hosts.iter().flat_map(|host| [Some(host.switch), None]);
        let of_trunks = fabric.trunks.iter().flat_map(|[one, other]| [Some(*other), Some(*one)]);
        Self {
            guard: None,
            stepped: BTreeSet::new(),
            ends: of_hosts.chain(of_trunks).collect(),
            commons: Commons { packets: Packets::default(), pools, sequence: 0 },
            routes: Routes::new(router.diameter()),
            express: Express::default(),
            upstream: Vec::new(),
            attached_to: hosts.iter().map(|host| host.switch).collect(),
            router,
            spread: fabric.spread,
            seed,
            ports,
        }
    }

    /// Adds the two routes of the next flow, from `server` to `client` and back. Each route takes
    /// one of the shortest paths; [`Spread`] selects it.
    ///
    /// Returns the flow's number.
    pub fn add_flow(&mut self, server: HostId, client: HostId) -> u32 {
        for (from, to) in [(server, client), (client, server)] {
            let path = self.selected(from, to);
            let ports = self.ports_of(from, &path, to);
            self.routes.add(ports);
        }
        self.routes.len() / 2 - 1
    }

    /// Like [`Self::add_flow`], but each route has all shortest paths. The sender of a packet
    /// chooses the number of its path ([`Packet::path`](crate::Packet::path)), which is taken
    /// modulo the number of paths. Path 0 is the path that [`Spread`] selects.
    pub fn add_flow_with_paths(&mut self, server: HostId, client: HostId) -> u32 {
        for (from, to) in [(server, client), (client, server)] {
            let first = self.selected(from, to);
            let [begin, end] = self.switches_of(from, to);
            let mut paths = self.router.paths(begin, end);
            paths.retain(|path| *path != first);
            let all: Vec<_> = std::iter::once(&first)
                .chain(&paths)
                .map(|path| self.ports_of(from, path, to))
                .collect();
            self.routes.add_all(all);
        }
        self.routes.len() / 2 - 1
    }

    fn switches_of(&self, from: HostId, to: HostId) -> [SwitchId; 2] {
        [from, to].map(|host| self.attached_to[host.0 as usize])
    }

    /// The path that [`Spread`] selects for the next route.
    fn selected(&self, from: HostId, to: HostId) -> Vec<Crossing> {
        let [begin, end] = self.switches_of(from, to);
        let mut random = Stream::named(self.seed, "route", self.routes.len().into());
        let flow = u64::from(self.routes.len() / 2);
        let spread = self.spread;
        self.router.path(begin, end, |paths| match spread {
            Spread::Drawn => random.below(paths),
            Spread::InTurn => flow % paths,
        })
    }

    /// The ports on a path between two hosts.
    fn ports_of(&self, from: HostId, path: &[Crossing], to: HostId) -> Vec<PortId> {
        let first_trunk = 2 * self.hosts();
        let trunks = path
            .iter()
            .map(|crossing| PortId(first_trunk + 2 * crossing.trunk + u32::from(!crossing.onward)));
        let ends = [PortId(2 * from.0), Self::switch_port(to)];
        ends[..1].iter().copied().chain(trunks).chain(ends[1..].iter().copied()).collect()
    }

    /// Lets the switches stop their neighbours. `control` returns the scheme of each switch. To be
    /// called before the first packet is sent.
    pub fn set_flow_control(&mut self, control: impl FnMut(SwitchId) -> Controls) {
        let switches = self.ends.iter().flatten().map(|switch| switch.0 + 1).max().unwrap_or(0);
        let controls = (0..switches).map(SwitchId).map(control).collect();
        self.guard = Some(Box::new(Guard::new(controls, &self.ends)));
    }

    /// Computes which ports send to each port, once all flows are known. Ports that trim get
    /// departure events. With flow control, all ports get departure events, because any port may be
    /// stopped, and switches count the packets that leave.
    pub fn connect(&mut self) {
        self.upstream = feeders(self.ports.len(), self.routes.all().map(|(_, path)| path));
        let all = self.guard.is_some();
        if all || !self.stepped.is_empty() || self.ports.iter().any(Port::trims) {
            let ports = std::mem::take(&mut self.ports).into_iter().zip(0..);
            let step = |port: Port, index| {
                let needs = all || self.stepped.contains(&PortId(index)) || port.trims();
                if needs { port.make_stepped(index) } else { port }
            };
            self.ports = ports.map(|(port, index)| step(port, index)).collect();
        }
    }

    /// Connects the ports and plans the [shortcuts](crate::express). Departures that only their
    /// port needs to know of get no event. With flow control, switches count all departures, and a
    /// host with a card waits for them.
    pub fn seal(&mut self) {
        self.connect();
        if self.guard.is_none() {
            let ports = self.ports.iter_mut().zip((0..).map(PortId));
            ports
                .filter(|(_, id)| !self.stepped.contains(id))
                .for_each(|(port, _)| port.spare_events());
        }
        self.express = express::plan(&mut self.ports, &self.upstream, self.routes.all());
    }
}

/// The ports that send to each port, in order.
fn feeders<'a>(ports: usize, routes: impl Iterator<Item = &'a [PortId]>) -> Vec<Vec<PortId>> {
    let mut feeders = vec![Vec::new(); ports];
    for pair in routes.flat_map(|hops| hops.windows(2)) {
        feeders[pair[1].0 as usize].push(pair[0]);
    }
    for feeders in &mut feeders {
        feeders.sort_unstable();
        feeders.dedup();
    }
    feeders
}
