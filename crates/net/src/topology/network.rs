//! The ports of a network, and the routes that cross them.

use incast_engine::{Stream, Time};

use super::routes::{PathChoice, Routes};
use super::{Fabric, Router, Spread, SwitchId};
use crate::buffer::{Pool, PoolConfig, PoolId};
use crate::express::{self, Express, Handoff, Shortcut};
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

/// Links between switches.
#[derive(Clone, Debug)]
pub struct Trunks<'a> {
    /// Their places.
    pub fabric: &'a Fabric,
    /// Either end of each.
    pub port: PortConfig,
    /// Buffers shared by the ports of a switch.
    pub pool: Option<PoolConfig>,
}

/// Ports and routes.
pub struct Network {
    ports: Vec<Port>,
    commons: Commons,
    routes: Routes,
    express: Express,
    /// The ports that each port is fed by, in order; see [`Network::connect`].
    upstream: Vec<Vec<PortId>>,
    /// The switch of each host.
    attached_to: Vec<SwitchId>,
    router: Router,
    spread: Spread,
    seed: u64,
}

/// The event to schedule for a port after a packet was taken from its link, with its order among
/// simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextEvent {
    /// The next arrival behind the port.
    Arrival(Time, u64),
    /// The next call of [`Network::settle`].
    Entry(Time, u64),
    /// Nothing.
    None,
}

impl NextEvent {
    fn entry(announced: Option<(Time, u64)>) -> Self {
        announced.map_or(Self::None, |(time, sequence)| Self::Entry(time, sequence))
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
            routes: Routes::new(router.diameter()),
            express: Express::none(ports.len()),
            upstream: Vec::new(),
            attached_to: hosts.iter().map(|host| host.switch).collect(),
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
    /// the shortest, drawn by its number or the next in turn, unless that is
    /// [chosen per packet](Network::choose_paths).
    ///
    /// Returns the flow's number.
    pub fn add_flow(&mut self, server: HostId, client: HostId) -> u32 {
        for (from, to) in [(server, client), (client, server)] {
            self.add_route(from, to);
        }
        self.routes.len() / 2 - 1
    }

    fn add_route(&mut self, from: HostId, to: HostId) {
        let first_trunk = 2 * self.hosts();
        let [begin, end] = [from, to].map(|host| self.attached_to[host.0 as usize]);
        let paths = if self.routes.are_chosen() {
            self.router.paths(begin, end)
        } else {
            let mut random = Stream::named(self.seed, "route", self.routes.len().into());
            let flow = u64::from(self.routes.len() / 2);
            let spread = self.spread;
            vec![self.router.path(begin, end, |paths| match spread {
                Spread::Drawn => random.below(paths),
                Spread::InTurn => flow % paths,
            })]
        };
        self.routes.begin();
        for path in paths {
            let trunks = path.iter().map(|crossing| {
                PortId(first_trunk + 2 * crossing.trunk + u32::from(!crossing.onward))
            });
            let ends = [PortId(2 * from.0), Self::switch_port(to)];
            self.routes
                .add(ends[..1].iter().copied().chain(trunks).chain(ends[1..].iter().copied()));
        }
    }

    /// Lets `policy` choose among the shortest paths for every packet, of all flows; before the
    /// first of them is sent.
    pub fn choose_paths(&mut self, policy: Box<dyn PathChoice + Send>) {
        let chosen = self.routes.chosen_by(policy);
        let fixed = std::mem::replace(&mut self.routes, chosen);
        for route in (0..fixed.len()).map(RouteId) {
            let ports = fixed.first(route);
            // By the numbers of hosts' ports.
            let ends = [ports[0].0 / 2, ports[ports.len() - 1].0 / 2];
            self.add_route(HostId(ends[0]), HostId(ends[1]));
        }
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.attached_to.len() as u32
    }

    /// The ports that a route crosses; those of its first path, if it has several.
    pub fn route(&self, route: RouteId) -> &[PortId] {
        self.routes.first(route)
    }

    /// The port of the host that sends on a route.
    #[inline]
    pub fn host_port(&self, route: RouteId) -> PortId {
        self.routes.host_port(route)
    }

    /// The switch ports on the flows' forward paths, in order.
    pub fn switch_ports_forward(&self) -> Vec<PortId> {
        let paths = self.routes.all().filter(|(route, _)| route.is_forward());
        let mut ports: Vec<PortId> = paths.flat_map(|(_, path)| &path[1..]).copied().collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// The packets in the network: senders add them, receivers release them.
    #[inline]
    pub fn packets(&mut self) -> &mut Packets {
        &mut self.commons.packets
    }

    /// Number of packets that were added and not released.
    pub fn packets_held(&self) -> usize {
        self.commons.packets.len()
    }

    /// A packet in the network.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.commons.packets[id]
    }

    /// Sends a packet on its way: what links need to know of it.
    #[inline]
    pub fn post(&mut self, id: PacketId) -> Parcel {
        let packet = &self.commons.packets[id];
        Parcel::new(id, packet.size(), self.routes.start(packet))
    }

    /// The port that a packet has to enter next, or none if it has reached its host.
    #[inline]
    pub fn next_hop(&self, parcel: Parcel) -> Option<PortId> {
        self.routes.port(parcel.hop())
    }

    /// Tells ports their neighbours upstream, once all flows are known. A port that may ask for a
    /// pause, and whoever may be asked, gets departure events.
    pub fn connect(&mut self) {
        self.upstream = feeders(self.ports.len(), self.routes.all().map(|(_, path)| path));
        let mut needs_events: Vec<bool> = self.ports.iter().map(Port::may_ask_for_pause).collect();
        for (port, feeders) in self.ports.iter().zip(&self.upstream) {
            for feeder in feeders.iter().filter(|_| port.may_ask_for_pause()) {
                needs_events[feeder.0 as usize] = true;
            }
        }
        if needs_events.contains(&true) {
            let ports = std::mem::take(&mut self.ports).into_iter().zip(needs_events).zip(0..);
            self.ports = ports
                .map(|((port, needs), index)| if needs { port.make_stepped(index) } else { port })
                .collect();
        }
    }

    /// Connects the ports and plans the shortcuts; see [`Express`].
    pub fn seal(&mut self) {
        self.connect();
        self.express = express::plan(&mut self.ports, &self.upstream, self.routes.all());
    }

    /// Routes that begin at a port for themselves alone: nothing comes between what is offered
    /// there. Known once all flows are.
    pub fn lone_routes(&self) -> Vec<RouteId> {
        let routes = || (0..self.routes.len()).map(RouteId);
        let mut users = vec![0_u32; self.ports.len()];
        for route in routes() {
            users[self.host_port(route).0 as usize] += 1;
        }
        routes().filter(|route| users[self.host_port(*route).0 as usize] == 1).collect()
    }

    /// Whether a port announces its packets to the next one: then what a lone route offers may be
    /// passed on before its time.
    #[inline]
    pub fn announces(&self, port: PortId) -> bool {
        self.express.shortcut(port) == Shortcut::Announce
    }

    /// Packets, data and ACKs, times the links that they have crossed by `now`.
    pub fn packet_hops(&self, now: Time) -> u64 {
        let delivered: u64 = self.ports.iter().map(|port| port.counters().delivered).sum();
        delivered - self.express.early(now, &self.ports)
    }

    /// Sends a packet that is about to enter a port by that port's shortcut, if it has one; any
    /// other port it is to be offered to.
    #[inline]
    pub fn shorten(&mut self, now: Time, port: PortId, parcel: Parcel, sequence: u64) -> Handoff {
        if self.express.shortcut(port) == Shortcut::None {
            return Handoff::Declined;
        }
        let parcel = parcel.onward();
        let Some(next) = self.next_hop(parcel) else { return Handoff::Declined };
        self.express.send(&mut self.ports, now, [port, next], parcel, sequence)
    }

    /// Lets the packets enter a port that were announced to it up to `until`, a time and a place
    /// among events of the same instant.
    pub fn settle(&mut self, until: (Time, u64), id: PortId) -> NextEvent {
        let port = &mut self.ports[id.0 as usize];
        let before = self.express.announced(id);
        if let Some((time, sequence)) = self.express.settle(until, id, port, &mut self.commons) {
            return NextEvent::Arrival(time, sequence);
        }
        match self.express.announced(id) {
            // What entered was dropped.
            next if next != before && port.is_link_empty() => NextEvent::entry(next),
            _ => NextEvent::None,
        }
    }

    /// The same for all ports, for somebody who wants to look at them in between.
    pub fn settle_all(&mut self, until: (Time, u64)) {
        for index in 0..self.express.inlets().len() {
            let id = self.express.inlets()[index];
            let port = &mut self.ports[id.0 as usize];
            let arrival = self.express.settle(until, id, port, &mut self.commons);
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

    /// Passes on to the neighbours upstream of a port for how long they are to stop, if it asks for
    /// that; each hears of it when its link has been crossed. `schedule` is told when
    /// [`Network::resume`] is due for whom, with its place among events of the same instant.
    pub fn pause_upstream(
        &mut self,
        now: Time,
        port: PortId,
        mut schedule: impl FnMut(PortId, Time, u64),
    ) {
        let Some(pause) = self.ports[port.0 as usize].take_asked() else { return };
        for &feeder in self.upstream.get(port.0 as usize).into_iter().flatten() {
            let port = &mut self.ports[feeder.0 as usize];
            let from = now + port.delay();
            if let Some((at, sequence)) = port.pause(from, from + pause) {
                schedule(feeder, at, sequence);
            }
        }
    }

    /// A pause of a port may be over; see [`Port::resume`].
    pub fn resume(&mut self, now: Time, port: PortId) -> bool {
        self.ports[port.0 as usize].resume(now, &mut self.commons)
    }

    /// Takes the packet that arrives behind a port; see [`Port::deliver`]. `sequence` is the
    /// arrival's place among events of the same instant.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller on the hot path, and its answer would go through memory"
    )]
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, sequence: u64, id: PortId) -> (Parcel, NextEvent) {
        let port = &mut self.ports[id.0 as usize];
        let arrival = self.express.settle((now, sequence), id, port, &mut self.commons);
        debug_assert!(arrival.is_none(), "the link is not empty");
        let (parcel, next) = port.deliver(now);
        let due = match next {
            Some((time, sequence)) => NextEvent::Arrival(time, sequence),
            None => NextEvent::entry(self.express.announced(id)),
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

    /// The packets at a port: in it, on its link, and announced to it.
    fn at(&self, port: PortId) -> impl Iterator<Item = Parcel> {
        self.port(port).parcels().chain(self.express.awaited(port))
    }

    /// Number of packets in the network.
    pub fn packets_in_flight(&self) -> u64 {
        let ports = (0..self.ports.len() as u32).map(PortId);
        ports.map(|port| self.at(port).count() as u64).sum()
    }

    /// The packets of one route that are still in the network. They are told by their parcels, which
    /// lie side by side, and the search ends with the last that is known to be on its way.
    pub fn in_flight(&self, route: RouteId) -> impl Iterator<Item = &Packet> {
        let held = self.commons.packets.on_route(route);
        let ports = (held > 0).then(|| self.routes.ports(route)).into_iter().flatten();
        ports
            .flat_map(|port| self.at(port))
            .filter(move |parcel| self.routes.crosses(route, parcel.hop()))
            .take(held as usize)
            .map(|parcel| self.packet(parcel.packet))
    }
}

/// The ports that each port is fed by, in order.
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

#[cfg(test)]
mod tests;
