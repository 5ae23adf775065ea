//! The ports of a network, and the routes that cross them.

use incast_engine::{Stream, Time};

use super::{Fabric, Router, Spread, SwitchId};
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
    /// What to do with the packets of each port; see [`Network::seal`].
    ways: Vec<Way>,
    /// Ports that are fed by a relay.
    relayed: Vec<PortId>,
    /// Ports to which packets are announced.
    inlets: Vec<PortId>,
    /// The switch of each host.
    berths: Vec<SwitchId>,
    router: Router,
    spread: Spread,
    seed: u64,
}

/// What to do with the packets that enter a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    /// Keep them on its link until they arrive.
    #[default]
    Keep,
    /// Let them enter the next port at once: nobody else feeds it.
    Relay,
    /// Announce them to the next port.
    Announce,
}

/// Where a packet is after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// About to enter the port.
    Enters,
    /// On the link behind the next port, whose next arrival is to be scheduled at this time, if
    /// that is said.
    Followed(Option<(PortId, Time)>),
    /// Announced to a port; [`Network::settle`] is due at this time, if that is said, with this
    /// place among events of the same instant.
    Announced(Option<(PortId, Time, u64)>),
}

/// What is to be scheduled after a packet was taken from a link, with its place among events of
/// the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The next arrival behind the port.
    Arrival(Time, u64),
    /// The next call of [`Network::settle`].
    Entry(Time, u64),
    /// Nothing.
    Nothing,
}

impl Due {
    fn entry(announced: Option<(Time, u64)>) -> Self {
        announced.map_or(Self::Nothing, |(time, sequence)| Self::Entry(time, sequence))
    }
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
            ways: vec![Way::Keep; ports.len()],
            relayed: Vec::new(),
            inlets: Vec::new(),
            berths: hosts.iter().map(|host| host.switch).collect(),
            router,
            spread: fabric.spread,
            seed,
            ports,
        }
    }

    /// The switch's port towards a host.
    pub const fn switch_port(host: HostId) -> PortId {
        PortId(2 * host.0 + 1)
    }

    /// Adds the two routes of the next flow, from `server` to `client` and back. Each is one of
    /// the shortest, drawn by its number or the next in turn.
    ///
    /// Returns the flow's number.
    pub fn add_flow(&mut self, server: HostId, client: HostId) -> u32 {
        let first_trunk = 2 * self.hosts();
        for (from, to) in [(server, client), (client, server)] {
            let mut random = Stream::named(self.seed, "route", self.routes().into());
            let flow = u64::from(self.routes() / 2);
            let [begin, end] = [from, to].map(|host| self.berths[host.0 as usize]);
            let spread = self.spread;
            let way = self.router.way(begin, end, |ways| match spread {
                Spread::Drawn => random.below(ways),
                Spread::InTurn => flow % ways,
            });
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
    ///
    /// A packet that leaves a host for a port that others feed, too, arrives when its link says,
    /// whatever else happens: it is announced there, and no event is needed while that port is busy.
    pub fn seal(&mut self) {
        let mut feeders: Vec<Vec<PortId>> = vec![Vec::new(); self.ports.len()];
        let mut relays = vec![false; self.ports.len()];
        let mut announces: Vec<bool> = self.ports.iter().map(Port::can_announce).collect();
        let routes = || (0..self.routes()).map(RouteId);
        for route in routes().filter(|route| !route.is_forward()) {
            relays[self.route(route)[0].0 as usize] = true;
        }
        for route in routes() {
            let hops = self.route(route);
            for pair in hops.windows(2) {
                feeders[pair[1].0 as usize].push(pair[0]);
            }
            if let [.., last] = hops {
                announces[last.0 as usize] = false;
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
                announces[feeder.0 as usize] &= port.can_wait_for();
            }
        }
        if relays.iter().filter(|relay| **relay).count() > 1 {
            relays.fill(false);
        }
        let way = |relays, announces| match (relays, announces) {
            (true, _) => Way::Relay,
            (false, true) => Way::Announce,
            (false, false) => Way::Keep,
        };
        self.ways = relays.into_iter().zip(announces).map(|(r, a)| way(r, a)).collect();
        let fed_by = |way| {
            let is_fed = |feeders: &[PortId]| {
                feeders.iter().any(|feeder| self.ways[feeder.0 as usize] == way)
            };
            let fed = (0..).map(PortId).zip(&feeders).filter(|(_, feeders)| is_fed(feeders));
            fed.map(|(port, _)| port).collect()
        };
        (self.relayed, self.inlets) = (fed_by(Way::Relay), fed_by(Way::Announce));
        for port in &self.relayed {
            self.ports[port.0 as usize].forget_buffer();
        }
    }

    /// Routes that begin at a port for themselves alone: nothing comes between what is offered
    /// there. Known once all flows are.
    pub fn lone_routes(&self) -> Vec<RouteId> {
        let routes = || (0..self.routes()).map(RouteId);
        let mut users = vec![0_u32; self.ports.len()];
        for route in routes() {
            users[self.route(route)[0].0 as usize] += 1;
        }
        routes().filter(|route| users[self.route(*route)[0].0 as usize] == 1).collect()
    }

    /// Whether a port announces its packets to the next one: then what a lone route offers may be
    /// passed on before its time.
    #[inline]
    pub fn announces(&self, port: PortId) -> bool {
        self.ways[port.0 as usize] == Way::Announce
    }

    /// Packets, data and ACKs, times the links that they have crossed by `now`.
    pub fn packet_hops(&self, now: Time) -> u64 {
        let delivered: u64 = self.ports.iter().map(|port| port.counters().delivered).sum();
        let relayed = self.relayed.iter().map(|port| self.port(*port));
        let early = relayed.map(|port| port.admitted_after(now)).sum::<u64>();
        let inlets = self.inlets.iter().map(|port| self.port(*port));
        delivered - early - inlets.map(|port| port.awaited().count() as u64).sum::<u64>()
    }

    /// Hands a packet on that would enter a port that hands on; any other port it is to be offered
    /// to.
    #[inline]
    pub fn pass(&mut self, now: Time, port: PortId, parcel: Parcel, sequence: u64) -> Passage {
        let way = self.ways[port.0 as usize];
        if way == Way::Keep {
            return Passage::Enters;
        }
        let parcel = parcel.onward();
        let next = self.hops[parcel.hop() as usize];
        let port = &mut self.ports[port.0 as usize];
        if way == Way::Relay {
            let enters = port.relay(now, parcel.size());
            let next_port = &mut self.ports[next.0 as usize];
            return Passage::Followed(match next_port.follow(enters, parcel.onward(), sequence) {
                Admission::Scheduled(at) => Some((next, at)),
                _ => None,
            });
        }
        let (time, sequence) = port.hand_on(now, parcel.size(), sequence);
        let is_next = self.ports[next.0 as usize].announce(time, sequence, parcel);
        Passage::Announced(is_next.then_some((next, time, sequence)))
    }

    /// Lets the packets enter a port that were announced to it up to `until`, a time and a place
    /// among events of the same instant.
    pub fn settle(&mut self, until: (Time, u64), port: PortId) -> Due {
        let port = &mut self.ports[port.0 as usize];
        let before = port.announced();
        if let Some((time, sequence)) = port.settle(until, &mut self.commons) {
            return Due::Arrival(time, sequence);
        }
        match port.announced() {
            // What entered was dropped.
            next if next != before && port.in_flight().next().is_none() => Due::entry(next),
            _ => Due::Nothing,
        }
    }

    /// The same for all ports, for somebody who wants to look at them in between.
    pub fn settle_all(&mut self, until: (Time, u64)) {
        for port in &self.inlets {
            let arrival = self.ports[port.0 as usize].settle(until, &mut self.commons);
            debug_assert!(arrival.is_none(), "an empty port is settled by an event of its own");
        }
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

    /// Takes the packet that arrives behind a port; see [`Port::deliver`]. `sequence` is the
    /// arrival's place among events of the same instant.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller on the hot path, and its answer would go through memory"
    )]
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, sequence: u64, port: PortId) -> (Parcel, Due) {
        let port = &mut self.ports[port.0 as usize];
        let arrival = port.settle((now, sequence), &mut self.commons);
        debug_assert!(arrival.is_none(), "the link is not empty");
        let (parcel, next) = port.deliver(now);
        let due = match next {
            Some((time, sequence)) => Due::Arrival(time, sequence),
            None => Due::entry(port.announced()),
        };
        (parcel, due)
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
            .map(|port| self.port(*port))
            .flat_map(|port| port.in_flight().chain(port.awaited()))
            .map(|id| self.packet(id))
            .filter(move |packet| packet.route == route)
    }
}

#[cfg(test)]
mod tests;
