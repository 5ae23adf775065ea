//! The ports and routes of a network.

use std::collections::BTreeSet;
use std::ops::Range;

use incast_engine::Time;

use super::{Router, Spread, SwitchId};
use crate::buffer::Pool;
use crate::express::{self, Express, Handoff};
use crate::flow_control::{Ingress, Signal};
use crate::packet::{Packet, RouteId};
use crate::packets::{PacketId, Packets, Parcel};
use crate::port::{Admission, Commons, Gone, NextEvent, Port, PortId, Shortcut};
use crate::switch::{Counted, Guard};

/// Index of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// Ports and routes.
pub struct Network {
    pub(super) ports: Vec<Port>,
    pub(super) commons: Commons,
    pub(super) routes: Routes,
    pub(super) express: Express,
    /// The flow control, if the switches have one.
    pub(super) guard: Option<Box<Guard>>,
    /// Ports that get departure events; see [`Network::step`].
    pub(super) stepped: BTreeSet<PortId>,
    /// The switch at the end of each port's link; `None` if a host is there.
    pub(super) ends: Vec<Option<SwitchId>>,
    /// The ports that send to each port, in order; see [`Network::connect`].
    pub(super) upstream: Vec<Vec<PortId>>,
    /// The switch of each host.
    pub(super) attached_to: Vec<SwitchId>,
    pub(super) router: Router,
    pub(super) spread: Spread,
    pub(super) seed: u64,
}

/// The lowest bit of the order of signals among simultaneous events.
const SIGNALS: u64 = 1 << 62;

impl Network {
    /// The switch's port towards a host.
    pub const fn switch_port(host: HostId) -> PortId {
        PortId(2 * host.0 + 1)
    }

    /// A host's port.
    pub const fn uplink(host: HostId) -> PortId {
        PortId(2 * host.0)
    }

    /// Gives a port departure events, so that the caller knows when the port's line is free. To be
    /// called before the first packet is sent.
    pub fn step(&mut self, port: PortId) {
        self.stepped.insert(port);
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.attached_to.len() as u32
    }

    /// The ports of a route. If the route has several paths, these are the ports of its first path.
    pub fn route(&self, route: RouteId) -> &[PortId] {
        self.routes.first(route)
    }

    /// The port of the host that sends on this route.
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

    /// The packets of the network. Senders add packets, and receivers release them.
    #[inline]
    pub fn packets(&mut self) -> &mut Packets {
        &mut self.commons.packets
    }

    /// Number of packets that were added and have not been released.
    pub fn packets_held(&self) -> usize {
        self.commons.packets.len()
    }

    /// A packet in the network.
    #[inline]
    pub fn packet(&self, id: PacketId) -> &Packet {
        &self.commons.packets[id]
    }

    /// Sends a packet, and returns the data that links need.
    #[inline]
    pub fn post(&mut self, id: PacketId) -> Parcel {
        let packet = &self.commons.packets[id];
        Parcel::new(id, packet.size(), self.routes.start(packet))
    }

    /// The next port of a packet that has not reached its host, and the port after it. If there is
    /// no port after it, the second number is that of no port.
    #[inline]
    pub fn legs(&self, parcel: Parcel) -> [PortId; 2] {
        self.routes.legs(parcel.hop())
    }

    /// The next port of a packet; `None` if it has reached its host.
    #[inline]
    pub fn next_hop(&self, parcel: Parcel) -> Option<PortId> {
        self.routes.port(parcel.hop())
    }

    /// Routes that share their first port with no other route, once all flows are known. All
    /// packets that are offered to the first port of such a route belong to this route.
    pub fn lone_routes(&self) -> Vec<RouteId> {
        let routes = || (0..self.routes.len()).map(RouteId);
        let mut users = vec![0_u32; self.ports.len()];
        for route in routes() {
            users[self.host_port(route).0 as usize] += 1;
        }
        routes().filter(|route| users[self.host_port(*route).0 as usize] == 1).collect()
    }

    /// Whether a port announces its packets to the next port. Packets of a lone route may be
    /// offered to such a port before their departure times.
    #[inline]
    pub fn announces(&self, port: PortId) -> bool {
        self.port(port).shortcut() == Shortcut::Announce
    }

    /// Packet-hops: the number of links crossed by `now`, summed over all packets, including ACKs.
    pub fn packet_hops(&self, now: Time) -> u64 {
        let delivered: u64 = self.ports.iter().map(|port| port.counters().delivered).sum();
        delivered - self.express.early(now, &self.ports)
    }

    /// Sends a packet by the shortcut of the first of its next two ports ([`Self::legs`]). If the
    /// port has no shortcut, the packet must be offered to the port.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller on the hot path, and its result would go through memory"
    )]
    #[inline(always)]
    pub fn shorten(
        &mut self,
        now: Time,
        legs: [PortId; 2],
        parcel: Parcel,
        sequence: u64,
    ) -> Handoff {
        express::send(&mut self.ports, now, legs, parcel, sequence)
    }

    /// Whether packets are announced to a port.
    #[inline]
    pub fn awaits(&self, port: PortId) -> bool {
        self.port(port).fifo().is_some_and(|port| port.announced().is_some())
    }

    /// Whether the switches have flow control.
    #[inline]
    pub fn has_flow_control(&self) -> bool {
        self.guard.is_some()
    }

    /// Lets announced packets enter a port up to `until`, which is a time and an order among
    /// simultaneous events.
    pub fn settle(&mut self, until: (Time, u64), id: PortId) -> NextEvent {
        let port = self.ports[id.0 as usize].fifo_mut();
        let Some(port) = port else { return NextEvent::None };
        let (next_arrival, announced) = (port.next_arrival(), port.announced());
        port.settle(until, &mut self.commons.packets);
        if next_arrival.is_some() || port.announced() == announced {
            return NextEvent::None;
        }
        port.next_event()
    }

    /// Settles all ports, so that their state can be read between events.
    pub fn settle_all(&mut self, until: (Time, u64)) {
        for PortId(inlet) in &self.express.inlets {
            if let Some(port) = self.ports[*inlet as usize].fifo_mut() {
                debug_assert!(
                    port.next_arrival().is_some() || port.announced().is_none_or(|it| it > until),
                    "an empty port is settled by an event of its own"
                );
                port.settle(until, &mut self.commons.packets);
            }
        }
    }

    /// Tells the order of the current event among simultaneous events.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u64) {
        self.commons.sequence = sequence;
    }

    /// Offers a packet to a port; see [`Port::offer`].
    #[expect(clippy::inline_always, reason = "it has one caller on the hot path")]
    #[inline(always)]
    pub fn offer(&mut self, now: Time, port: PortId, parcel: Parcel, sequence: u64) -> Admission {
        let parcel = parcel.onward();
        let admission = self.ports[port.0 as usize].offer(now, parcel, sequence, &mut self.commons);
        if self.guard.is_none() {
            return admission;
        }
        self.count_entry(port, parcel, admission)
    }

    /// Counts an admitted packet at its input. Returns the admission, with effects if the switch
    /// must now send a signal.
    #[inline(never)]
    fn count_entry(&mut self, port: PortId, parcel: Parcel, admission: Admission) -> Admission {
        if matches!(admission, Admission::Dropped(_)) {
            return admission;
        }
        let packet = &self.commons.packets[parcel.packet];
        let class = self.ports[port.0 as usize].class(packet);
        let parcel = parcel.resized(packet.size());
        self.count(Gone { parcel, class }, Guard::enter);
        let signals = self.guard.as_ref().is_some_and(|guard| guard.has_signals());
        if signals && admission == Admission::Queued {
            Admission::QueuedWithEffects
        } else {
            admission
        }
    }

    /// Counts a packet at the input through which it reached its switch.
    #[inline]
    fn count(&mut self, packet: Gone, how: fn(&mut Guard, Counted, &[Pool])) {
        let Self { guard: Some(guard), routes, commons, .. } = self else { return };
        // The parcel's hop is the index of the port after this one, so the port before this one is
        // two entries earlier.
        let feeder = packet.parcel.hop().checked_sub(2).and_then(|hop| routes.port(hop));
        if let Some(feeder) = feeder {
            let Gone { parcel, class } = packet;
            how(guard, Counted { feeder, class, size: parcel.size() }, &commons.pools);
        }
    }

    /// Lets the packet in service of a port leave; see [`Port::depart`].
    #[inline]
    pub fn depart(&mut self, now: Time, port: PortId) {
        if let Some(gone) = self.ports[port.0 as usize].depart(now, &mut self.commons) {
            self.count(gone, Guard::leave);
        }
    }

    /// The next packet that a port dropped after its admission; see [`Port::pop_late`].
    pub fn pop_late(&mut self, port: PortId) -> Option<PacketId> {
        let gone = self.ports[port.0 as usize].pop_late()?;
        self.count(gone, Guard::leave);
        Some(gone.parcel.packet)
    }

    /// The next signal of a switch to a neighbour: the neighbour's port, the time at which the
    /// signal reaches it, the signal's order among simultaneous events, and the signal. The signal
    /// is a control frame, and waits only for the frame that the switch is already sending to this
    /// neighbour.
    pub fn pop_signal(&mut self, now: Time) -> Option<(PortId, Time, u64, Signal)> {
        let (feeder, signal) = self.guard.as_mut()?.pop_signal()?;
        // The two ports of a link have adjacent numbers.
        let back = PortId(feeder.0 ^ 1);
        let at = self.port(back).frame_arrives_at(now);
        Some((feeder, at, SIGNALS | u64::from(feeder.0), signal))
    }

    /// The packets from `feeder` that the switch at the end of its link holds; `None` without flow
    /// control.
    pub fn input(&self, feeder: PortId) -> Option<&Ingress> {
        Some(self.guard.as_ref()?.input(feeder))
    }

    /// Called when a signal reaches the port that must stop or continue; see [`Port::pause`].
    pub fn heed(&mut self, now: Time, port: PortId, signal: Signal) -> bool {
        let Signal { classes, stops } = signal;
        self.ports[port.0 as usize].pause(now, classes, stops, &mut self.commons)
    }

    /// Removes the packet that arrives at the end of a port's link; see [`Port::deliver`].
    /// `sequence` is the arrival's order among simultaneous events.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller on the hot path, and its result would go through memory"
    )]
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, sequence: u64, id: PortId) -> (Parcel, NextEvent) {
        let port = &mut self.ports[id.0 as usize];
        if let Port::Fifo(port) = port {
            debug_assert!(port.next_arrival().is_some(), "the link is not empty");
            port.settle((now, sequence), &mut self.commons.packets);
        }
        port.deliver(now)
    }

    /// A port.
    pub fn port(&self, port: PortId) -> &Port {
        &self.ports[port.0 as usize]
    }

    /// A port, mutably, so that it can be drained.
    pub fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port.0 as usize]
    }

    /// Shared buffers.
    pub fn pools(&self) -> &[Pool] {
        &self.commons.pools
    }

    /// All ports, in the order of their numbers.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The packets in a port, on its link, and announced to it.
    fn at(&self, port: PortId) -> impl Iterator<Item = Parcel> {
        self.port(port).parcels().chain(self.port(port).awaited())
    }

    /// Number of packets in the network.
    pub fn packets_in_flight(&self) -> u64 {
        let ports = (0..self.ports.len() as u32).map(PortId);
        ports.map(|port| self.at(port).count() as u64).sum()
    }

    /// The packets of one route in the network.
    pub fn in_flight(&self, route: RouteId) -> impl Iterator<Item = &Packet> {
        self.commons.packets.of_route(route)
    }
}

/// Padding in the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);
/// Entries of a path besides trunks: the sending host's port, the port towards the receiving host,
/// and the end mark.
const ENDS: u32 = 3;

/// A table of paths; the paths of a route are adjacent.
pub(super) struct Routes {
    /// The ports of each path, `1 << stride` entries per path, padded with [`NO_PORT`].
    hops: Vec<PortId>,
    /// The binary logarithm of the entries per path, so that the index of a path is computed with a
    /// shift.
    stride: u32,
    /// The number of each route's first path. `None` if each route has exactly one path, whose
    /// number is that of the route.
    first: Option<Vec<u32>>,
}

impl Routes {
    /// An empty table for paths of at most this many trunks.
    pub(super) fn new(most_trunks: u32) -> Self {
        let stride = (most_trunks + ENDS).next_power_of_two().trailing_zeros();
        Self { hops: Vec::new(), stride, first: None }
    }

    /// Number of routes.
    pub(super) fn len(&self) -> u32 {
        self.first.as_ref().map_or_else(|| self.paths_in_all(), |first| first.len() as u32)
    }

    fn paths_in_all(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// Adds a route with one path.
    pub(super) fn add(&mut self, path: impl IntoIterator<Item = PortId>) {
        let number = self.paths_in_all();
        if let Some(first) = &mut self.first {
            first.push(number);
        }
        self.add_path(path);
    }

    /// Adds a route with several paths, among which senders choose. Packets without a choice take
    /// the first path.
    pub(super) fn add_all<P: IntoIterator<Item = PortId>>(
        &mut self,
        paths: impl IntoIterator<Item = P>,
    ) {
        let number = self.paths_in_all();
        self.first.get_or_insert_with(|| (0..number).collect()).push(number);
        paths.into_iter().for_each(|path| self.add_path(path));
    }

    fn add_path(&mut self, ports: impl IntoIterator<Item = PortId>) {
        self.hops.extend(ports);
        // A path ends with at least one entry without a port.
        self.hops.push(NO_PORT);
        self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
    }

    /// The numbers of a route's paths.
    fn paths(&self, route: RouteId) -> Range<u32> {
        let Some(first) = &self.first else { return route.0..route.0 + 1 };
        let route = route.0 as usize;
        let end = first.get(route + 1).copied();
        first[route]..end.unwrap_or_else(|| self.paths_in_all())
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

    /// The port of the host that sends on this route. All paths of the route begin at this port.
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

    /// Index of the first port of the path of `packet` in the table.
    #[inline]
    pub(super) fn start(&self, packet: &Packet) -> u32 {
        let path = if self.first.is_none() { packet.route.0 } else { self.chosen(packet) };
        path << self.stride
    }

    /// The path that the sender of `packet` has chosen.
    #[inline(never)]
    fn chosen(&self, packet: &Packet) -> u32 {
        let paths = self.paths(packet.route);
        paths.start + packet.path().map_or(0, |path| path % paths.len() as u32)
    }

    /// The port at `hop`, and the port after it. After the last port of a path, there is a number
    /// that no port has.
    #[inline]
    pub(super) fn legs(&self, hop: u32) -> [PortId; 2] {
        let hop = hop as usize;
        let legs = self.hops[hop..].first_chunk();
        *legs.expect("a path ends with an entry without a port")
    }

    /// The port at `hop`; `None` at the end of a path.
    #[inline]
    pub(super) fn port(&self, hop: u32) -> Option<PortId> {
        let port = self.hops[hop as usize];
        (port != NO_PORT).then_some(port)
    }
}

#[cfg(test)]
mod tests;
