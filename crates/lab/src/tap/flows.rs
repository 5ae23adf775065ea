//! Converts the simulator's packets to segments with addresses, ports and 32-bit sequence numbers.

use std::collections::BTreeMap;

use incast_capture::wire::{Endpoint, Options, Segment, flag};
use incast_net::topology::HostId;
use incast_net::{Ecn, Flags, Packet, PortId};
use incast_scenario::{Scenario, Transport};
use incast_tcp::Config;
use incast_tcp::config::Handshake;

use super::numbers::Numbers;
use super::stream::{Stream, is_outside};
use crate::wiring;

/// The first port of servers, the first port of clients, and the number of clients' ports. Clients
/// use dynamic ports (RFC 6335 §6). Wireshark assigns no other protocol to any of these ports.
const SERVER_PORT: u32 = 8500;
const CLIENT_PORT: u32 = 49_152;
const CLIENT_PORTS: u32 = 7848;
/// Number of incarnations of a connection before its ports are used again.
const INCARNATIONS: u32 = 64;
/// The port of datagrams: that of the discard protocol.
const DISCARD: u16 = 9;
/// Bytes of the timestamps option and its padding. The MSS option ignores other options (RFC 6691),
/// so it exceeds the payload of a full segment by these bytes.
const TIMESTAMPS: u32 = 12;

/// The TCP options of a group's connections.
#[derive(Clone, Copy, Debug)]
struct Style {
    mss: u16,
    sack: bool,
    timestamps: bool,
    scale: u8,
    ecn: bool,
    handshake: Handshake,
}

impl Style {
    fn of(tcp: &Config) -> Self {
        let timestamps = tcp.timestamps.is_some();
        let mss = tcp.mss + if timestamps { TIMESTAMPS } else { 0 };
        let fits = |scale: &u8| u16::try_from(tcp.receive_window >> scale).is_ok();
        Self {
            mss: u16::try_from(mss).unwrap_or(u16::MAX),
            sack: tcp.sack.is_some(),
            timestamps,
            // RFC 7323 §2.3: at most 14.
            scale: (0..14).find(fits).unwrap_or(14),
            ecn: tcp.ecn.is_some(),
            handshake: tcp.handshake,
        }
    }

    /// The value of the window field. It is at least 1 if the window is above 0.
    fn window(self, packet: &Packet) -> u16 {
        let scale = if packet.flags.contains(Flags::SYN) { 0 } else { self.scale };
        let window = (packet.window >> scale).max(u32::from(packet.window > 0));
        u16::try_from(window).unwrap_or(u16::MAX)
    }
}

/// A flow: its ends, and the last two incarnations of its connection.
#[derive(Clone, Debug)]
struct Flow {
    server: HostId,
    client: HostId,
    /// The number of the flow among the flows between the same two hosts.
    among: u32,
    /// The index of the flow's style; `None` for datagrams.
    style: Option<u16>,
    epoch: u8,
    streams: [Stream; 2],
    /// The IP identifications of the server's packets, and those of the client's packets.
    numbers: [Numbers; 2],
}

impl Flow {
    /// Notes the epoch of a packet. A later epoch begins another incarnation.
    fn advance(&mut self, epoch: u8) {
        if epoch.wrapping_sub(self.epoch).cast_signed() > 0 {
            let incarnation = self.stream(self.epoch).incarnation + 1;
            self.epoch = epoch;
            *self.stream(epoch) = Stream::new(epoch, incarnation);
        }
    }

    fn stream(&mut self, epoch: u8) -> &mut Stream {
        &mut self.streams[usize::from(epoch & 1)]
    }

    fn numbers(&mut self, packet: &Packet) -> &mut Numbers {
        &mut self.numbers[usize::from(!packet.route.is_forward())]
    }

    /// The addresses and ports of an incarnation's server and client. No two connections of a run
    /// have the same pair.
    fn ends(&self, incarnation: u32) -> (Endpoint, Endpoint) {
        let number = self.among * INCARNATIONS + incarnation % INCARNATIONS;
        let server = Endpoint {
            address: address(self.server),
            port: (SERVER_PORT + number / CLIENT_PORTS) as u16,
        };
        // The first client port differs between servers, so that flows can be distinguished by
        // their ports.
        let begin = self.server.0.wrapping_mul(37);
        let port = CLIENT_PORT + number.wrapping_add(begin) % CLIENT_PORTS;
        (server, Endpoint { address: address(self.client), port: port as u16 })
    }
}

const SYN_ACK: u8 = flag::SYN | flag::ACK;

/// The flows of a run.
pub struct Flows {
    all: Vec<Flow>,
    styles: Vec<Style>,
    hosts: u32,
}

impl Flows {
    pub fn new(scenario: &Scenario) -> Self {
        let groups = scenario.groups();
        let senders = wiring::senders(scenario, &groups);
        let mut among = BTreeMap::new();
        let (mut flows, mut styles) = (Vec::new(), Vec::new());
        for (group, senders) in groups.iter().zip(&senders) {
            let style = group.transport.and_then(Transport::tcp).map(|tcp| {
                styles.push(Style::of(&tcp.config));
                (styles.len() - 1) as u16
            });
            for (server, client) in group.config.workload().flows(senders) {
                let count = among.entry((server, client)).or_insert(0);
                flows.push(Flow {
                    server,
                    client,
                    among: *count,
                    style,
                    epoch: 0,
                    streams: [Stream::default(); 2],
                    numbers: Default::default(),
                });
                *count += 1;
            }
        }
        Self { all: flows, styles, hosts: wiring::hosts(scenario, &groups) }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Whether a port belongs to a host.
    pub fn is_uplink(&self, port: PortId) -> bool {
        port.0 < 2 * self.hosts && port.0.is_multiple_of(2)
    }

    /// Whether a port belongs to a switch and leads to a host.
    pub fn is_downlink(&self, port: PortId) -> bool {
        port.0 < 2 * self.hosts && !port.0.is_multiple_of(2)
    }

    /// Notes that a host sends a packet.
    pub fn on_sent(&mut self, packet: &Packet) {
        let flow = &mut self.all[packet.route.flow() as usize];
        flow.advance(packet.epoch);
        flow.stream(packet.epoch).on_sent(packet);
        flow.numbers(packet).on_sent(packet);
    }

    /// Notes that a host receives a packet.
    pub fn on_received(&mut self, packet: &Packet) {
        let flow = &mut self.all[packet.route.flow() as usize];
        flow.stream(packet.epoch).on_received(packet);
    }

    /// Notes that a packet is no longer in flight.
    pub fn on_gone(&mut self, packet: &Packet) {
        self.all[packet.route.flow() as usize].numbers(packet).on_gone(packet);
    }

    /// The segment of a packet at the tap, and whether the packet is a datagram. `None` if the
    /// packet belongs to a connection that ended long ago.
    pub fn frame(&mut self, packet: &Packet) -> Option<(Segment, bool)> {
        let number = packet.route.flow();
        let flow = &mut self.all[number as usize];
        let forward = packet.route.is_forward();
        let id = flow.numbers(packet).of(packet);
        let Some(style) = flow.style else {
            let payload = packet.size().saturating_sub(28);
            return Some((Segment { id, ..datagram(flow, packet, payload) }, true));
        };
        let style = self.styles[usize::from(style)];
        let stream = flow.stream(packet.epoch);
        if stream.epoch != packet.epoch {
            return None;
        }
        let incarnation = stream.incarnation;
        if is_outside(packet) {
            let (_, size) = stream.of_client(packet);
            return Some((Segment { id, ..datagram(flow, packet, size as u32) }, true));
        }
        let mut flags = flags_of(packet, style);
        let (mut seq, ack, mut payload) = if forward {
            (packet.seq, stream.acknowledged(packet), u64::from(packet.payload))
        } else {
            let (seq, payload) = stream.of_client(packet);
            (seq, packet.ack, payload)
        };
        let mut is_syn = packet.flags.contains(Flags::SYN);
        if style.handshake == Handshake::SynOnly && stream.is_answer_to_syn(packet) {
            (seq, payload, is_syn) = (0, 0, true);
            flags |= flag::SYN | if style.ecn { flag::ECE } else { 0 };
        }
        let numbers = [first(number, incarnation, true), first(number, incarnation, false)];
        let (own, other) = if forward { (0, 1) } else { (1, 0) };
        let on_wire = |from: usize, number: u64| numbers[from].wrapping_add(number as u32);
        let mut options = Options::default();
        if is_syn {
            options.mss = Some(style.mss);
            options.sack_permitted = style.sack;
            options.window_scale = Some(style.scale);
        }
        options.timestamps = style.timestamps.then_some((packet.ts_value, packet.ts_echo));
        for (place, (start, end)) in options.sack.iter_mut().zip(packet.sack.ranges(packet.ack)) {
            *place = (on_wire(other, start), on_wire(other, end));
        }
        let (server, client) = flow.ends(incarnation);
        let (from, to) = if forward { (server, client) } else { (client, server) };
        let segment = Segment {
            from,
            to,
            tos: tos(packet),
            // Linux sends SYN-ACKs with an identification of 0.
            id: if flags & SYN_ACK == SYN_ACK { 0 } else { id.wrapping_add(numbers[own] as u16) },
            flags,
            seq: on_wire(own, seq),
            ack: if flags & flag::ACK == 0 { 0 } else { on_wire(other, ack) },
            window: style.window(packet),
            options,
            payload: payload as u32,
        };
        Some((segment, false))
    }
}

/// The address of a host; the first host has 10.0.0.1.
fn address(host: HostId) -> [u8; 4] {
    (0x0a00_0001 + host.0).to_be_bytes()
}

fn tos(packet: &Packet) -> u8 {
    let ecn = match packet.ecn() {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::CongestionExperienced => 3,
    };
    // The DSCP field contains the label.
    (packet.label << 2) as u8 | ecn
}

fn datagram(flow: &Flow, packet: &Packet, payload: u32) -> Segment {
    let end = |host| Endpoint { address: address(host), port: DISCARD };
    let (server, client) = (end(flow.server), end(flow.client));
    let (from, to) = if packet.route.is_forward() { (server, client) } else { (client, server) };
    Segment { from, to, tos: tos(packet), payload, ..Segment::default() }
}

/// The flag bits of the TCP header.
fn flags_of(packet: &Packet, style: Style) -> u8 {
    let has = |flags| packet.flags.contains(flags);
    let bits = [
        (Flags::SYN, flag::SYN),
        (Flags::ACK, flag::ACK),
        (Flags::FIN, flag::FIN),
        (Flags::REQUEST, flag::PSH),
        (Flags::ECE, flag::ECE),
        (Flags::CWR, flag::CWR),
    ];
    let set = bits.into_iter().filter(|(flags, _)| has(*flags)).fold(0, |all, (_, bit)| all | bit);
    if !has(Flags::SYN) {
        return set;
    }
    // RFC 3168 §6.1.1: a SYN requests ECN with two bits, and a SYN-ACK agrees with one bit.
    match (style.ecn, has(Flags::ACK)) {
        (false, _) => set,
        (true, false) => set | flag::ECE | flag::CWR,
        (true, true) => (set | flag::ECE) & !flag::CWR,
    }
}

/// The sequence number of the SYN. It is the same in every run, and differs between connections and
/// directions.
fn first(flow: u32, incarnation: u32, forward: bool) -> u32 {
    let mixed = (u64::from(flow) << 33 | u64::from(incarnation) << 1 | u64::from(forward))
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(32) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn flow(server: u32, among: u32) -> Flow {
        let (style, streams, numbers) = (None, [Stream::default(); 2], Default::default());
        let (server, client) = (HostId(server), HostId(0));
        Flow { server, client, among, style, epoch: 0, streams, numbers }
    }

    /// The ports of server and client.
    fn ports(server: u32, among: u32, incarnation: u32) -> (u16, u16) {
        let (server, client) = flow(server, among).ends(incarnation);
        (server.port, client.port)
    }

    #[test]
    fn connections_begin_at_the_first_ports_and_count_from_there() {
        assert_eq!(ports(0, 0, 0), (8500, 49_152));
        assert_eq!(ports(0, 0, 1), (8500, 49_153));
        assert_eq!(ports(0, 1, 0), (8500, 49_152 + 64));
        assert_eq!(ports(0, 0, 64), ports(0, 0, 0), "they are used again");
        assert_eq!(ports(2, 0, 0), (8500, 49_152 + 74));
        // 122 · 64 + 40 is 7848, the number of clients' ports. Incarnation 39 therefore uses the
        // last of them, and incarnation 40 is the first with the next server port.
        assert_eq!(ports(0, 122, 39), (8500, 56_999));
        assert_eq!(ports(0, 122, 40), (8501, 49_152));
        assert_eq!(ports(1, 122, 10), (8500, 56_999 + 8 - 7848));
    }

    #[test]
    fn no_two_connections_of_two_hosts_have_the_same_ports() {
        let number = |among| (0..INCARNATIONS).map(move |one| ports(3, among, one));
        let all: BTreeSet<_> = (0..300).flat_map(number).collect();
        assert_eq!(all.len(), 300 * 64);
        let clients = 49_152..49_152 + 7848;
        assert!(all.iter().all(|(server, client)| *server < 8504 && clients.contains(client)));
    }

    #[test]
    fn hosts_have_addresses_from_10_0_0_1_on() {
        let (server, client) = flow(300, 0).ends(0);
        assert_eq!((server.address, client.address), ([10, 0, 1, 45], [10, 0, 0, 1]));
    }
}
