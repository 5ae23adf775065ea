//! The ports of a network, and the routes that cross them.

use incast_engine::{Stream, Time};

use super::{Fabric, Router, SwitchId};
use crate::buffer::{Pool, PoolConfig, PoolId};
use crate::packet::{Packet, RouteId};
use crate::packets::{PacketId, Packets, Parcel};
use crate::port::{Admission, Commons, Port, PortConfig, PortId};

/// Index of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// How one host is attached to its switch.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Which switch.
    pub switch: SwitchId,
    /// From the host to the switch.
    pub uplink: PortConfig,
    /// From the switch to the host.
    pub downlink: PortConfig,
}

/// What links between switches are like.
#[derive(Clone, Debug)]
pub struct Trunks<'a> {
    /// Where they are.
    pub fabric: &'a Fabric,
    /// Either end of each.
    pub port: PortConfig,
    /// What the ports of each switch share.
    pub pool: Option<PoolConfig>,
}

/// Fills up the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);
/// What a route has beside trunks: the sender's port, the receiver's, and the end.
const ENDS: u32 = 3;

/// Ports and routes.
pub struct Network {
    ports: Vec<Port>,
    commons: Commons,
    /// The ports that each route crosses, `1 << stride` entries per route, padded with [`NO_PORT`].
    hops: Vec<PortId>,
    /// As a power of two, so that a sender finds its route by a shift.
    stride: u32,
    /// Ports whose packets are handed on before they arrive; see [`Network::seal`].
    relays: Vec<bool>,
    /// Ports that are fed by a relay.
    relayed: Vec<PortId>,
    /// The switch of each host.
    berths: Vec<SwitchId>,
    router: Router,
    seed: u64,
}

impl Network {
    /// Hosts on the switches of a fabric. Host `i` sends through port `2i` and receives from its
    /// switch's port `2i + 1`, whatever the topology; behind these come two ports for each trunk,
    /// from its first end and from its second.
    pub fn new(hosts: &[Attachment], trunks: &Trunks<'_>, seed: u64) -> Self {
        let Trunks { fabric, port, pool } = trunks;
        let on = |config: &PortConfig, switch: SwitchId| PortConfig {
            pool: pool.map(|_| PoolId(switch.0 as u8)),
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
        Self {
            commons: Commons { packets: Packets::default(), pools },
            hops: Vec::new(),
            stride: (router.diameter() + ENDS).next_power_of_two().trailing_zeros(),
            relays: vec![false; ports.len()],
            relayed: Vec::new(),
            berths: hosts.iter().map(|host| host.switch).collect(),
            router,
            seed,
            ports,
        }
    }

    /// The switch's port towards a host.
    pub const fn switch_port(host: HostId) -> PortId {
        PortId(2 * host.0 + 1)
    }

    /// Adds the two routes of the next flow, from `server` to `client` and back. Each is one of
    /// the shortest, drawn by its number.
    ///
    /// Returns the flow's number.
    pub fn add_flow(&mut self, server: HostId, client: HostId) -> u32 {
        let first_trunk = 2 * self.hosts();
        for (from, to) in [(server, client), (client, server)] {
            let mut random = Stream::named(self.seed, "route", self.routes().into());
            let [begin, end] = [from, to].map(|host| self.berths[host.0 as usize]);
            let way = self.router.way(begin, end, &mut random);
            self.hops.push(PortId(2 * from.0));
            self.hops.extend(way.iter().map(|crossing| {
                PortId(first_trunk + 2 * crossing.trunk + u32::from(!crossing.onward))
            }));
            self.hops.push(Self::switch_port(to));
            // Its end at least.
            self.hops.push(NO_PORT);
            self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
        }
        self.routes() / 2 - 1
    }

    fn routes(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.berths.len() as u32
    }

    /// The ports that a route crosses.
    pub fn route(&self, route: RouteId) -> &[PortId] {
        let first = (route.0 as usize) << self.stride;
        let hops = &self.hops[first..first + (1 << self.stride)];
        &hops[..hops.iter().position(|hop| *hop == NO_PORT).unwrap_or(hops.len())]
    }

    /// The ports of switches on the flows' ways forward, in order.
    pub fn switch_ports_forward(&self) -> Vec<PortId> {
        let routes = (0..self.routes()).map(RouteId).filter(|route| route.is_forward());
        let mut ports: Vec<PortId> =
            routes.flat_map(|route| &self.route(route)[1..]).copied().collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// The packets that travel, for a sender to put one there and a receiver to release it.
    #[inline]
    pub fn packets(&mut self) -> &mut Packets {
        &mut self.commons.packets
    }

    /// Number of packets that somebody has written and nobody released.
    pub fn packets_held(&self) -> usize {
        self.commons.packets.len()
    }

    /// A packet that travels.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.commons.packets[id]
    }

    /// Sends a packet on its way: what links need to know of it.
    #[inline]
    pub fn post(&self, id: PacketId) -> Parcel {
        let packet = self.packet(id);
        Parcel::new(id, packet.size(), packet.route.0 << self.stride)
    }

    /// The port that a packet has to enter next, or none if it has reached its host.
    #[inline]
    pub fn next_hop(&self, parcel: Parcel) -> Option<PortId> {
        let hop = self.hops[parcel.hop() as usize];
        (hop != NO_PORT).then_some(hop)
    }

    /// Looks for a port behind which nothing is left to decide, once all flows are known.
    ///
    /// A packet that leaves such a port next enters one that nobody else feeds and that leads to
    /// its host, so its fate there is known when it is sent, and both links are crossed by one
    /// event. On a star these are the ACKs' links, from the client through the switch to a server.
    /// No port on a flow's way forward is entered before its time: what such a port counts is
    /// looked at whenever a run ends. There is at most one relay, because several could disagree
    /// with the long way about who comes first in a tie.
    pub fn seal(&mut self) {
        let mut feeders: Vec<Vec<PortId>> = vec![Vec::new(); self.ports.len()];
        let mut relays = vec![false; self.ports.len()];
        let routes = || (0..self.routes()).map(RouteId);
        for route in routes().filter(|route| !route.is_forward()) {
            relays[self.route(route)[0].0 as usize] = true;
        }
        for route in routes() {
            let hops = self.route(route);
            for pair in hops.windows(2) {
                feeders[pair[1].0 as usize].push(pair[0]);
            }
            for (hop, to_go) in hops.iter().rev().zip(0..) {
                relays[hop.0 as usize] &= to_go == 1 && !route.is_forward();
            }
        }
        for (port, feeders) in self.ports.iter().zip(&mut feeders) {
            feeders.sort_unstable();
            feeders.dedup();
            for feeder in &*feeders {
                relays[feeder.0 as usize] &=
                    feeders.len() == 1 && port.follows(&self.ports[feeder.0 as usize]);
            }
        }
        if relays.iter().filter(|relay| **relay).count() > 1 {
            return;
        }
        self.relayed = (0..)
            .map(PortId)
            .zip(&feeders)
            .filter(|(_, feeders)| feeders.iter().any(|feeder| relays[feeder.0 as usize]))
            .map(|(port, _)| port)
            .collect();
        for port in &self.relayed {
            self.ports[port.0 as usize].forget_buffer();
        }
        self.relays = relays;
    }

    /// Packets, data and ACKs, times the links that they have crossed by `now`.
    pub fn packet_hops(&self, now: Time) -> u64 {
        let delivered: u64 = self.ports.iter().map(|port| port.counters().delivered).sum();
        let relayed = self.relayed.iter().map(|port| self.port(*port));
        delivered - relayed.map(|port| port.admitted_after(now)).sum::<u64>()
    }

    /// Hands a packet on that would enter a relay: returns the port that it enters instead, and
    /// when. Any other port it enters now.
    #[inline]
    pub fn relay(&mut self, now: Time, port: PortId, parcel: &mut Parcel) -> (PortId, Time) {
        if !self.relays[port.0 as usize] {
            return (port, now);
        }
        *parcel = parcel.onward();
        let next = self.hops[parcel.hop() as usize];
        (next, self.ports[port.0 as usize].relay(now, parcel.size()))
    }

    /// Offers a packet to a port; see [`Port::offer`].
    #[inline]
    pub fn offer(&mut self, now: Time, port: PortId, parcel: Parcel, sequence: u64) -> Admission {
        self.ports[port.0 as usize].offer(now, parcel.onward(), sequence, &mut self.commons)
    }

    /// The packet in service of a port leaves; see [`Port::depart`].
    pub fn depart(&mut self, now: Time, port: PortId) {
        self.ports[port.0 as usize].depart(now, &mut self.commons);
    }

    /// Takes the packet that arrives behind a port; see [`Port::deliver`].
    #[inline]
    pub fn deliver(&mut self, now: Time, port: PortId) -> (Parcel, Option<(Time, u64)>) {
        self.ports[port.0 as usize].deliver(now)
    }

    /// A port.
    pub fn port(&self, port: PortId) -> &Port {
        &self.ports[port.0 as usize]
    }

    /// A port, to drain it for a probe.
    pub fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port.0 as usize]
    }

    /// Buffers that ports share.
    pub fn pools(&self) -> &[Pool] {
        &self.commons.pools
    }

    /// All ports, in the order of their numbers.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The packets of one route that are still in the network.
    pub fn in_flight(&self, route: RouteId) -> impl Iterator<Item = &Packet> {
        self.route(route)
            .iter()
            .flat_map(|port| self.port(*port).in_flight())
            .map(|id| self.packet(id))
            .filter(move |packet| packet.route == route)
    }
}

#[cfg(test)]
mod tests;
