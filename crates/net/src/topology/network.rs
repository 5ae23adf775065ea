//! The ports of a network, and the routes that cross them.

use std::ops::Range;

use incast_engine::Time;

use super::{Router, Spread, SwitchId};
use crate::buffer::Pool;
use crate::express::{Express, Handoff, Shortcut};
use crate::packet::{Packet, RouteId};
use crate::packets::{PacketId, Packets, Parcel};
use crate::port::{Admission, Commons, Port, PortId};

/// Index of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// Ports and routes.
pub struct Network {
    pub(super) ports: Vec<Port>,
    pub(super) commons: Commons,
    pub(super) routes: Routes,
    pub(super) express: Express,
    /// The ports that each port is fed by, in order; see [`Network::connect`].
    pub(super) upstream: Vec<Vec<PortId>>,
    /// The switch of each host.
    pub(super) attached_to: Vec<SwitchId>,
    pub(super) router: Router,
    pub(super) spread: Spread,
    pub(super) seed: u64,
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
    /// The switch's port towards a host.
    pub const fn switch_port(host: HostId) -> PortId {
        PortId(2 * host.0 + 1)
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

/// Chooses a path for every packet, where several are equally short.
///
/// It is called once per packet, when its host sends it, in the order of sending on each route.
pub trait PathChoice {
    /// Which of `paths` paths, from 0, `packet` takes.
    fn choose(&mut self, packet: &Packet, paths: u32) -> u32;
}

/// Fills up the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);
/// Entries of a path beside trunks: the sender's port, the receiver's, and the end.
const ENDS: u32 = 3;

/// Paths in one table; those of a route are adjacent.
pub(super) struct Routes {
    /// The ports that each path crosses, `1 << stride` entries per path, padded with [`NO_PORT`].
    hops: Vec<PortId>,
    /// As a power of two, so that a sender finds its path by a shift.
    stride: u32,
    /// Chooses among the paths of a route; without it each route has one path, with its number.
    choice: Option<Choice>,
}

struct Choice {
    policy: Box<dyn PathChoice + Send>,
    /// The number of each route's first path.
    first: Vec<u32>,
}

impl Routes {
    /// No routes yet; they will cross at most this many trunks.
    pub(super) fn new(most_trunks: u32) -> Self {
        let stride = (most_trunks + ENDS).next_power_of_two().trailing_zeros();
        Self { hops: Vec::new(), stride, choice: None }
    }

    /// No routes yet; `policy` will choose among their paths.
    pub(super) fn chosen_by(&self, policy: Box<dyn PathChoice + Send>) -> Self {
        let choice = Some(Choice { policy, first: Vec::new() });
        Self { hops: Vec::new(), stride: self.stride, choice }
    }

    /// Whether a path is chosen per packet.
    pub(super) fn are_chosen(&self) -> bool {
        self.choice.is_some()
    }

    /// Number of routes.
    pub(super) fn len(&self) -> u32 {
        match &self.choice {
            None => self.paths_in_all(),
            Some(choice) => choice.first.len() as u32,
        }
    }

    fn paths_in_all(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// Begins the next route, to which the paths belong that are added from now on.
    pub(super) fn begin(&mut self) {
        let first = self.paths_in_all();
        if let Some(choice) = &mut self.choice {
            choice.first.push(first);
        }
    }

    /// Adds a path.
    pub(super) fn add(&mut self, ports: impl IntoIterator<Item = PortId>) {
        self.hops.extend(ports);
        // Its end at least.
        self.hops.push(NO_PORT);
        self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
    }

    /// The numbers of a route's paths.
    fn paths(&self, route: RouteId) -> Range<u32> {
        let Some(choice) = &self.choice else { return route.0..route.0 + 1 };
        let route = route.0 as usize;
        let end = choice.first.get(route + 1).copied();
        choice.first[route]..end.unwrap_or_else(|| self.paths_in_all())
    }

    fn path(&self, path: u32) -> &[PortId] {
        let first = (path as usize) << self.stride;
        let hops = &self.hops[first..first + (1 << self.stride)];
        &hops[..hops.iter().position(|hop| *hop == NO_PORT).unwrap_or(hops.len())]
    }

    /// The ports of a route's first path.
    pub(super) fn first(&self, route: RouteId) -> &[PortId] {
        self.path(self.paths(route).start)
    }

    /// The port of the host that sends on a route: all its paths begin there.
    #[inline]
    pub(super) fn host_port(&self, route: RouteId) -> PortId {
        self.hops[(self.paths(route).start as usize) << self.stride]
    }

    /// The paths of all routes.
    pub(super) fn all(&self) -> impl Iterator<Item = (RouteId, &[PortId])> + Clone {
        (0..self.len())
            .map(RouteId)
            .flat_map(move |route| self.paths(route).map(move |path| (route, self.path(path))))
    }

    /// The ports of all paths of a route, each once.
    pub(super) fn ports(&self, route: RouteId) -> impl Iterator<Item = PortId> {
        let paths = self.paths(route);
        let first = paths.start;
        paths.flat_map(move |path| {
            let is_new = move |port: &&PortId| {
                !(first..path).any(|earlier| self.path(earlier).contains(port))
            };
            self.path(path).iter().filter(is_new).copied()
        })
    }

    /// Whether a packet at `hop` is on one of the route's paths.
    pub(super) fn crosses(&self, route: RouteId, hop: u32) -> bool {
        self.paths(route).contains(&(hop >> self.stride))
    }

    /// Where the table names the first port of the path that `packet` takes.
    #[inline]
    pub(super) fn start(&mut self, packet: &Packet) -> u32 {
        let path = if self.choice.is_none() { packet.route.0 } else { self.choose(packet) };
        path << self.stride
    }

    #[inline(never)]
    fn choose(&mut self, packet: &Packet) -> u32 {
        let paths = self.paths(packet.route);
        let chosen = match &mut self.choice {
            Some(choice) if paths.len() > 1 => choice.policy.choose(packet, paths.len() as u32),
            _ => 0,
        };
        paths.start + chosen.min(paths.len() as u32 - 1)
    }

    /// The port that the table names at `hop`, or none if that is the end of a path.
    #[inline]
    pub(super) fn port(&self, hop: u32) -> Option<PortId> {
        let port = self.hops[hop as usize];
        (port != NO_PORT).then_some(port)
    }
}

#[cfg(test)]
mod tests;
