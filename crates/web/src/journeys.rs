//! The path of every packet. There is one row for each port that the packet reached, with its
//! transmission on the port's link, or its drop.

use std::collections::{BTreeMap, VecDeque};

use incast_engine::{Span, Time};
use incast_lab::probe::{Detail, Field, Listener, Read, Setting, TraceKind};
use incast_net::packet::Ecn;
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PortId};

/// Number of rows after which nothing more is recorded. A picture of moving packets shows far fewer
/// rows than this limit.
const MOST: usize = 1 << 18;

/// A packet at a port, and on the link behind it.
#[derive(Clone, Debug)]
pub struct Hop {
    packet: Packet,
    /// Position of the port on the packet's route, from 0.
    place: u32,
    offered: Time,
    /// The time at which the packet's last bit left the port; never if the packet was dropped.
    left: Time,
    arrived: Time,
    dropped: Time,
}

impl Hop {
    fn new(packet: &Packet, place: u32, offered: Time) -> Self {
        let never = Time::NEVER;
        Self { packet: *packet, place, offered, left: never, arrived: never, dropped: never }
    }
}

/// A port that has admitted packets.
#[derive(Clone, Debug)]
struct Station {
    place: u32,
    delay: Span,
    /// The packets in the port and on its link, as indices of hops.
    packets: VecDeque<usize>,
}

/// The hops of all packets, in the order in which they were offered to ports.
#[derive(Clone, Debug, Default)]
pub struct Journeys {
    hops: Vec<Hop>,
    stations: BTreeMap<PortId, Station>,
}

impl Journeys {
    /// Takes a packet from its port, and returns the delay of the link and the hop. Without
    /// reordering, the packet is the first in the port.
    fn take(&mut self, port: PortId, packet: &Packet) -> Option<(Span, &mut Hop)> {
        let station = self.stations.get_mut(&port)?;
        let is_it = |hop: &usize| is_same(&self.hops[*hop].packet, packet);
        let place = station.packets.iter().position(is_it)?;
        let hop = station.packets.remove(place)?;
        Some((station.delay, &mut self.hops[hop]))
    }
}

/// Whether `one` and `other` are the same packet, which a switch may have marked or trimmed
/// meanwhile.
fn is_same(one: &Packet, other: &Packet) -> bool {
    let of = |packet: &Packet| {
        (packet.route, packet.seq, packet.ack, packet.flags.contains(Flags::RETRANSMISSION))
    };
    of(one) == of(other)
}

fn kind(packet: &Packet) -> &'static str {
    let has = |flag| packet.flags.contains(flag);
    match packet {
        _ if has(Flags::DATAGRAM) => "datagram",
        _ if packet.payload > 0 || has(Flags::TRIMMED) => "data",
        _ if has(Flags::SYN) => "syn",
        _ if has(Flags::REQUEST) => "request",
        _ if has(Flags::FIN) => "fin",
        _ => "ack",
    }
}

/// The time in seconds; NaN if the event never happened.
fn seconds(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.as_secs_f64() }
}

impl TraceKind for Journeys {
    const NAME: &'static str = "journeys";
    const TABLE: &'static str = "journeys";
    const SUMMARY: &'static str = "The path of every packet, link by link.";
    type Row = Hop;
    const FIELDS: &'static [Field<Hop>] = &[
        Field::new("flow", "1", "Its flow.", Read::U32(|hop| hop.packet.route.flow())),
        Field::new(
            "forward",
            "1",
            "1 from the server to the client, 0 back.",
            Read::U32(|hop| u32::from(hop.packet.route.is_forward())),
        ),
        Field::new("place", "1", "Position of the port on the route.", Read::U32(|hop| hop.place)),
        Field::new("seq", "byte", "First sequence number.", Read::U64(|hop| hop.packet.seq)),
        Field::new("ack", "byte", "Next one expected.", Read::U64(|hop| hop.packet.ack)),
        Field::new("bytes", "byte", "Size, headers included.", Read::U32(|hop| hop.packet.size())),
        Field::new(
            "kind",
            "",
            "data, ack, syn, request, fin or datagram.",
            Read::Text(|hop| kind(&hop.packet)),
        ),
        Field::new(
            "again",
            "1",
            "1 for a retransmission.",
            Read::U32(|hop| u32::from(hop.packet.flags.contains(Flags::RETRANSMISSION))),
        ),
        Field::new(
            "marked",
            "1",
            "1 with a congestion mark.",
            Read::U32(|hop| u32::from(hop.packet.flags.ecn() == Ecn::CongestionExperienced)),
        ),
        Field::new(
            "labelled",
            "1",
            "1 with a label.",
            Read::U32(|hop| u32::from(hop.packet.label != 0)),
        ),
        Field::new(
            "offered_s",
            "s",
            "Time at which the packet reached the port.",
            Read::F64(|hop| seconds(hop.offered)),
        ),
        Field::new(
            "left_s",
            "s",
            "Time at which the packet had left the port.",
            Read::F64(|hop| seconds(hop.left)),
        ),
        Field::new(
            "arrived_s",
            "s",
            "Time at which the packet had crossed the link.",
            Read::F64(|hop| seconds(hop.arrived)),
        ),
        Field::new(
            "dropped_s",
            "s",
            "Time at which the packet was dropped.",
            Read::F64(|hop| seconds(hop.dropped)),
        ),
    ];

    fn new(_: Detail, _: &Setting) -> Self {
        Self::default()
    }

    fn for_each_row(&self, emit: impl FnMut(&Hop)) {
        self.hops.iter().for_each(emit);
    }
}

impl Listener for Journeys {
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {
        if self.hops.len() == MOST {
            return;
        }
        let station = self.stations.entry(port).or_insert_with(|| {
            let place = network.route(packet.route).iter().position(|it| *it == port);
            Station {
                place: place.unwrap_or_default() as u32,
                delay: network.port(port).delay(),
                packets: VecDeque::new(),
            }
        });
        station.packets.push_back(self.hops.len());
        self.hops.push(Hop::new(packet, station.place, now));
    }

    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        if self.hops.len() < MOST {
            // Hosts drop no packets, so a port that has not admitted a packet yet belongs to the
            // switch, which has the second port on the route.
            let place = self.stations.get(&port).map_or(1, |station| station.place);
            self.hops.push(Hop { dropped: now, ..Hop::new(packet, place, now) });
        }
    }

    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        if let Some((_, hop)) = self.take(port, packet) {
            hop.dropped = now;
        }
    }

    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {
        if let Some((delay, hop)) = self.take(port, packet) {
            hop.left = Time::from_picos(now.as_picos() - delay.as_picos());
            hop.arrived = now;
        }
    }
}

#[cfg(test)]
mod tests;
