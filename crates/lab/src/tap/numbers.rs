//! Identifications of IP packets: each end of a connection counts its packets, as Linux does. The
//! simulator's packets do not carry identifications, so this module stores those of packets in
//! flight.

use std::collections::VecDeque;

use incast_net::{Flags, Packet};

/// Maximum number of packets that are stored per direction. Packets of a reset connection are
/// neither dropped nor received, so without this limit they would be stored until the run ends.
const MOST: usize = 1 << 14;

/// Fields that distinguish the packets of one direction, and that no switch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Face {
    seq: u64,
    ack: u64,
    ts_value: u32,
    epoch: u8,
    is_again: bool,
    is_request: bool,
}

impl Face {
    fn of(packet: &Packet) -> Self {
        Self {
            seq: packet.seq,
            ack: packet.ack,
            ts_value: packet.ts_value,
            epoch: packet.epoch,
            is_again: packet.flags.contains(Flags::RETRANSMISSION),
            is_request: packet.flags.contains(Flags::REQUEST),
        }
    }
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    face: Face,
    number: u16,
    /// Whether the tap has seen the packet.
    is_seen: bool,
}

/// The identifications of one direction of a flow.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    sent: u16,
    under_way: VecDeque<UnderWay>,
}

impl Numbers {
    /// Notes that a packet is sent.
    pub fn on_sent(&mut self, packet: &Packet) {
        if self.under_way.len() == MOST {
            self.under_way.pop_front();
        }
        let (face, number) = (Face::of(packet), self.sent);
        self.under_way.push_back(UnderWay { face, number, is_seen: false });
        self.sent = self.sent.wrapping_add(1);
    }

    /// The identification of a packet that the tap sees. If several packets in flight have equal
    /// fields, the result is that of the first packet that the tap has not seen yet.
    pub fn of(&mut self, packet: &Packet) -> u16 {
        let face = Face::of(packet);
        let same = |one: &&mut UnderWay| !one.is_seen && one.face == face;
        let Some(found) = self.under_way.iter_mut().find(same) else { return self.sent };
        found.is_seen = true;
        found.number
    }

    /// Notes that a packet was received or dropped.
    pub fn on_gone(&mut self, packet: &Packet) {
        let face = Face::of(packet);
        if let Some(at) = self.under_way.iter().position(|one| one.face == face) {
            self.under_way.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(seq: u64) -> Packet {
        Packet { seq, payload: 1, ..Packet::default() }
    }

    #[test]
    fn a_lost_packet_leaves_a_gap() {
        let mut numbers = Numbers::default();
        (0..4).for_each(|seq| numbers.on_sent(&data(seq)));
        numbers.on_gone(&data(1));
        let seen = [0, 2, 3].map(|seq| {
            let number = numbers.of(&data(seq));
            numbers.on_gone(&data(seq));
            number
        });
        assert_eq!(seen, [0, 2, 3]);
        assert!(numbers.under_way.is_empty());
    }

    #[test]
    fn the_same_packet_twice_has_two_numbers() {
        let mut numbers = Numbers::default();
        (0..2).for_each(|_| numbers.on_sent(&data(7)));
        assert_eq!([numbers.of(&data(7)), numbers.of(&data(7))], [0, 1]);
    }

    #[test]
    fn few_packets_are_remembered() {
        let mut numbers = Numbers::default();
        (0..100_000).for_each(|seq| numbers.on_sent(&data(seq)));
        assert_eq!(numbers.under_way.len(), MOST);
    }
}
