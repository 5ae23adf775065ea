//! The ports of a network, and the routes that cross them.

use incast_engine::Time;

use crate::buffer::{Pool, PoolConfig};
use crate::packet::{Packet, RouteId};
use crate::packets::{PacketId, Packets, Parcel};
use crate::port::{Admission, Commons, Port, PortConfig, PortId};

/// Index of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// How one host is attached to the switch.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// From the host to the switch.
    pub uplink: PortConfig,
    /// From the switch to the host.
    pub downlink: PortConfig,
}

/// A route over one switch, and the end of it, as a power of two.
const STAR_STRIDE: u32 = 2;
/// Fills up the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);

/// Ports and routes.
#[derive(Default)]
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
}

impl Network {
    /// A star: host `i` sends through port `2i` and receives from the switch's port `2i + 1`. The
    /// switch's ports may share `pools`.
    pub fn star(hosts: &[Attachment], pools: &[PoolConfig], seed: u64) -> Self {
        let ports = hosts
            .iter()
            .flat_map(|host| [&host.uplink, &host.downlink])
            .zip(0..)
            .map(|(config, index)| Port::new(config, index, seed))
            .collect();
        let relays = vec![false; 2 * hosts.len()];
        let pools = pools.iter().copied().map(Pool::new).collect();
        let commons = Commons { packets: Packets::default(), pools };
        Self { ports, commons, hops: Vec::new(), stride: STAR_STRIDE, relays, relayed: Vec::new() }
    }

    /// The switch's port towards a host.
    pub const fn switch_port(host: HostId) -> PortId {
        PortId(2 * host.0 + 1)
    }

    /// Adds the two routes of the next flow, from `server` to `client` and back.
    ///
    /// Returns the flow's number.
    pub fn add_flow(&mut self, server: HostId, client: HostId) -> u32 {
        for (from, to) in [(server, client), (client, server)] {
            self.hops.extend([PortId(2 * from.0), Self::switch_port(to)]);
            self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
        }
        self.routes() / 2 - 1
    }

    fn routes(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// The ports that a route crosses.
    pub fn route(&self, route: RouteId) -> &[PortId] {
        let first = (route.0 as usize) << self.stride;
        let hops = &self.hops[first..first + (1 << self.stride)];
        &hops[..hops.iter().position(|hop| *hop == NO_PORT).unwrap_or(hops.len())]
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

    /// Looks for ports behind which nothing is left to decide, once all flows are known.
    ///
    /// A packet that leaves such a port next enters one that nobody else feeds, so its fate there
    /// is known when it is sent, and both links are crossed by one event. On a star these are the
    /// ACKs' links, from the client through the switch to a server. Nothing enters `watched` before
    /// its time: what that port counts is looked at whenever a run ends.
    pub fn seal(&mut self, watched: PortId) {
        let mut feeders: Vec<Vec<PortId>> = vec![Vec::new(); self.ports.len()];
        let mut relays = vec![true; self.ports.len()];
        for route in (0..self.routes()).map(RouteId) {
            let hops = self.route(route);
            for pair in hops.windows(2) {
                feeders[pair[1].0 as usize].push(pair[0]);
            }
            if let [.., last] = hops {
                relays[last.0 as usize] = false;
            }
        }
        for ((port, feeders), id) in self.ports.iter().zip(&mut feeders).zip(0..) {
            feeders.sort_unstable();
            feeders.dedup();
            for feeder in &*feeders {
                let alone = feeders.len() == 1 && PortId(id) != watched;
                relays[feeder.0 as usize] &= alone && port.follows(&self.ports[feeder.0 as usize]);
            }
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
mod tests {
    use incast_engine::{Rate, Span};

    use super::*;

    fn star(hosts: usize) -> Network {
        let port = PortConfig::host(Rate(1_000_000_000), Span::from_micros(25));
        let host = Attachment { uplink: port.clone(), downlink: port };
        Network::star(&vec![host; hosts], &[], 1)
    }

    #[test]
    fn a_packet_crosses_its_servers_uplink_and_the_switch_port_of_the_client() {
        let mut network = star(3);
        let (client, server) = (HostId(0), HostId(2));
        assert_eq!(network.add_flow(HostId(1), client), 0);
        let flow = network.add_flow(server, client);
        assert_eq!(flow, 1);
        let route = RouteId::new(flow, true);
        let packet = Packet { route, payload: 1460, header: 40, ..Packet::default() };
        let id = network.packets().insert(packet);
        let mut parcel = network.post(id);
        let mut now = Time::ZERO;
        for expected in [PortId(4), Network::switch_port(client)] {
            let hop = network.next_hop(parcel).expect("not there yet");
            assert_eq!(hop, expected);
            let Admission::Scheduled(arrival) = network.offer(now, hop, parcel, 0) else {
                panic!("an empty port schedules");
            };
            assert_eq!(network.in_flight(route).count(), 1);
            now = arrival;
            (parcel, _) = network.deliver(now, hop);
        }
        assert_eq!(network.next_hop(parcel), None);
        assert_eq!(now, Time::ZERO + Span::from_micros(74));
    }

    /// The switch's port towards the client.
    const CLIENTS: PortId = Network::switch_port(HostId(0));

    #[test]
    fn nothing_is_handed_on_to_the_port_that_is_watched() {
        let mut network = star(2);
        network.add_flow(HostId(1), HostId(0));
        network.seal(CLIENTS);
        assert_eq!(network.relays, [true, false, false, false], "a single server waits its turn");
    }

    #[test]
    fn a_sealed_star_hands_acks_on_and_crosses_both_links_in_the_same_time() {
        let ack = Packet { route: RouteId::new(0, false), header: 40, ..Packet::default() };
        let cross = |network: &mut Network| {
            let id = network.packets().insert(ack);
            let (mut parcel, mut now) = (network.post(id), Time::ZERO);
            let mut events = 0;
            while let Some(hop) = network.next_hop(parcel) {
                let (port, enters) = network.relay(now, hop, &mut parcel);
                let admission = network.offer(enters, port, parcel, 0);
                let Admission::Scheduled(arrival) = admission else { panic!("an idle port") };
                now = arrival;
                (parcel, _) = network.deliver(now, port);
                events += 1;
            }
            (now, events, network.ports().iter().all(Port::is_conserving))
        };
        let mut network = star(3);
        network.add_flow(HostId(1), HostId(0));
        network.add_flow(HostId(2), HostId(0));
        let (arrival, events, _) = cross(&mut network);
        assert_eq!(events, 2);
        network.seal(CLIENTS);
        let relays: Vec<bool> = network.relays.clone();
        assert_eq!(relays, [true, false, false, false, false, false], "the client's uplink only");
        let start = arrival;
        let (now, events, conserving) = {
            let mut fresh = star(3);
            fresh.add_flow(HostId(1), HostId(0));
            fresh.add_flow(HostId(2), HostId(0));
            fresh.seal(CLIENTS);
            cross(&mut fresh)
        };
        assert_eq!((now, events, conserving), (start, 1, true));
    }
}
