//! A known connection: its state, or its SYN if this is its only packet so far.
//!
//! The state of a connection takes kilobytes. A flood of SYNs, or a scan, may open hundreds of
//! thousands of connections without an answer. Only the SYN of such a connection is kept, because
//! the SYN is enough to rebuild the state.

use incast_capture::read::{Packet, flags};

use crate::connection::{Around, Connection};
use crate::intake::Trail;
use crate::numbering::Ids;
use crate::time::Time;

/// A SYN without an answer so far, and the state of the point when the SYN was seen.
#[derive(Debug)]
pub struct Lone {
    serial: u64,
    hosts: [usize; 2],
    syn: Packet,
    ids: Ids,
    around: Around,
}

/// A connection.
#[derive(Debug)]
pub enum Known {
    Lone(Box<Lone>),
    Whole(Box<Connection>),
}

impl Known {
    /// Makes a known connection from its state.
    pub fn new(connection: Connection) -> Self {
        Self::Whole(Box::new(connection))
    }

    /// Time of the last packet.
    pub fn last(&self) -> Time {
        match self {
            Self::Lone(lone) => Time::of(&lone.syn),
            Self::Whole(connection) => connection.last(),
        }
    }

    /// Whether the connection is open, and `is_near` holds for the time of its last data.
    pub fn is_sending(&self, is_near: impl Fn(Time) -> bool) -> bool {
        match self {
            Self::Lone(_) => false,
            Self::Whole(connection) => {
                let flow = |side| connection.flow(side);
                let open = !connection.over() && (0..2).all(|side| !flow(side).bytes.is_closed());
                open && is_near(flow(connection.sender()).last_data())
            }
        }
    }

    /// The state of the connection.
    pub fn whole(&mut self) -> &mut Connection {
        if let Self::Lone(lone) = self {
            *self = Self::new(lone.connection());
        }
        match self {
            Self::Whole(connection) => connection,
            Self::Lone(_) => unreachable!("it has just been made whole"),
        }
    }

    /// Called after the first packet has been handled. If this packet is a SYN, only the packet is
    /// kept.
    pub fn rest(&mut self, first: &Packet, around: Around) {
        let all = flags::SYN | flags::ACK | flags::RST | flags::FIN;
        if first.flags & all != flags::SYN || first.payload > 0 {
            return;
        }
        if let Self::Whole(connection) = self {
            let Connection { serial, hosts, .. } = **connection;
            let ids = connection.flow(side_of(first)).ids;
            *self = Self::Lone(Box::new(Lone { serial, hosts, syn: *first, ids, around }));
        }
    }
}

impl Lone {
    /// The state after the SYN.
    fn connection(&self) -> Connection {
        let (syn, side) = (&self.syn, side_of(&self.syn));
        let now = Time::of(syn);
        let mut connection = Connection::new(self.serial, syn.ends(), self.hosts, now);
        connection.speak(side);
        let flow = connection.flow_mut(side);
        flow.trail = Trail::begun_by(syn, now);
        flow.ids = self.ids;
        connection.handle(syn, self.around, &mut Vec::new());
        connection
    }
}

/// The end that sends a packet.
fn side_of(packet: &Packet) -> usize {
    usize::from(packet.source != packet.ends()[0])
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;
    use crate::intake::Intake;
    use crate::load::Mark;
    use crate::numbering::Numbering;
    use crate::time::Span;
    use incast_capture::read::{Address, Endpoint};

    /// The first packet of a connection, sent by the end with the higher address.
    fn first(flags: u8) -> Packet {
        let end = |host, port| Endpoint { address: Address::v4([10, 0, 0, host]), port };
        let (source, target) = (end(7, 5000), end(1, 80));
        let (seq, id, frame) = (123, Some(9), 4);
        let mut packet = Packet { source, target, seq, id, frame, flags, ..Packet::default() };
        packet.time = 5_000;
        packet.options.mss = Some(1460);
        packet.options.scale = Some(7);
        packet
    }

    /// A connection that has taken this packet, with the state of the point.
    fn taken(packet: &Packet) -> (Known, Around) {
        let now = Time::of(packet);
        let mut connection = Connection::new(3, packet.ends(), [0, 1], now);
        let (mut intake, mut numbering) = (Intake::default(), Numbering::default());
        packet.ends().iter().for_each(|end| assert!(numbering.place(end.address) < 2));
        connection.speak(1);
        assert!(intake.take(packet, now, &mut connection.flow_mut(1).trail, None));
        let missing = connection.missing_before(packet, 1, &mut numbering);
        let mark = |idle| Mark { idle: Span::from_millis(idle) };
        let (mark, own) = (mark(1), mark(2));
        let round_trip = Span::from_millis(3);
        let around = Around { mark, own, round_trip, missing, counted: false, timer: None };
        let mut events = Vec::new();
        connection.handle(packet, around, &mut events);
        assert!(events.is_empty());
        connection.votes(1);
        (Known::new(connection), around)
    }

    #[test]
    fn the_state_follows_from_a_lone_syn() {
        let syn = first(flags::SYN);
        let (mut known, around) = taken(&syn);
        let state = format!("{:?}", known.whole());
        known.rest(&syn, around);
        assert!(matches!(known, Known::Lone(_)));
        assert_eq!(known.last(), Time::of(&syn));
        assert_eq!(format!("{:?}", known.whole()), state);
    }

    #[test]
    fn any_other_first_packet_keeps_its_state() {
        for flags in [flags::ACK, flags::SYN | flags::ACK, flags::SYN | flags::RST] {
            let packet = first(flags);
            let (mut known, around) = taken(&packet);
            known.rest(&packet, around);
            assert!(matches!(known, Known::Whole(_)), "{flags}");
        }
    }

    #[test]
    fn a_lone_syn_is_small() {
        assert!(5 * size_of::<Lone>() < size_of::<Connection>());
    }
}
