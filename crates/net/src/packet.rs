//! The packet header: plain data without payload, at most one cache line.

use crate::sack::SackBlocks;

/// One direction of a flow: flow `f` uses route `2f` from the server, which sends the flow's data,
/// and route `2f + 1` back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId(pub u32);

impl RouteId {
    /// The route of `flow`: with `forward` from the server to the client, otherwise from the client
    /// to the server.
    pub const fn new(flow: u32, forward: bool) -> Self {
        Self(flow << 1 | !forward as u32)
    }

    /// The flow that this route belongs to.
    pub const fn flow(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the route leads from the server to the client.
    pub const fn is_forward(self) -> bool {
        self.0 & 1 == 0
    }

    /// The route in the opposite direction.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// Control bits, the ECN field and the trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

/// Bit positions of the ECN field and the trigger. The lower bits are control bits.
const ECN: u32 = 11;
const TRIGGER: u32 = 13;
const CONTROL: u16 = (1 << ECN) - 1;

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// Synchronise (RFC 9293 §3.1).
    pub const SYN: Self = Self(1);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(1 << 1);
    /// The sender has no more data.
    pub const FIN: Self = Self(1 << 2);
    /// The packet carries an application's request. The packet is either the last ACK of the
    /// handshake or a separate packet. Its `seq` is the ordinal number of the request.
    pub const REQUEST: Self = Self(1 << 3);
    /// A packet of background traffic that does not use TCP. Such a packet is not answered.
    pub const DATAGRAM: Self = Self(1 << 4);
    /// A retransmission. Probes and queue disciplines that protect retransmissions read this bit.
    pub const RETRANSMISSION: Self = Self(1 << 5);
    /// ECN-Echo: the other end received a mark (RFC 3168 §6.1).
    pub const ECE: Self = Self(1 << 6);
    /// Congestion window reduced: the sender has reacted to the echo (RFC 3168 §6.1).
    pub const CWR: Self = Self(1 << 7);
    /// A switch has removed the payload.
    pub const TRIMMED: Self = Self(1 << 8);
    /// The sender chose the packet's path ([`Packet::path`]).
    pub const PATH: Self = Self(1 << 9);
    /// The receiver asks for missing bytes ([`Packet::lacks`]).
    pub const NACK: Self = Self(1 << 10);

    /// The bits that are set in `self` or in `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether at least one bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The control bits without the other fields.
    #[must_use]
    pub const fn control(self) -> Self {
        Self(self.0 & CONTROL)
    }

    /// The same ECN field and trigger, with the control bits of `control`.
    #[must_use]
    pub const fn with_control(self, control: Self) -> Self {
        Self(self.0 & !CONTROL | control.0 & CONTROL)
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(self) -> Ecn {
        match self.0 >> ECN & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable,
            _ => Ecn::CongestionExperienced,
        }
    }

    /// The same bits with another ECN field.
    #[inline]
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self(self.0 & !(3 << ECN) | (ecn as u16) << ECN)
    }

    /// The reason why the packet was sent, for statistics. A real header has no such field.
    #[inline]
    pub const fn trigger(self) -> Trigger {
        match self.0 >> TRIGGER {
            0 => Trigger::Arrival,
            1 => Trigger::Timeout,
            2 => Trigger::TailProbe,
            3 => Trigger::Handshake,
            4 => Trigger::Pacer,
            5 => Trigger::Persist,
            6 => Trigger::DelayedAck,
            _ => Trigger::Application,
        }
    }

    /// The same bits with another trigger.
    #[inline]
    #[must_use]
    pub const fn with_trigger(self, trigger: Trigger) -> Self {
        Self(self.0 & !(7 << TRIGGER) | (trigger as u16) << TRIGGER)
    }
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECN-capable transport.
    Capable,
    /// Congestion experienced.
    CongestionExperienced,
}

/// The reason why a host sent a packet: the event that made the host send it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// The arrival of a packet. If a server's packet answers another packet, it has the trigger of
    /// that packet instead.
    #[default]
    Arrival,
    /// The retransmission timer of data.
    Timeout,
    /// The timer of a tail loss probe, another timer of loss recovery, or a remedy's timer.
    TailProbe,
    /// The timer of a SYN, SYN-ACK or request.
    Handshake,
    /// The sender's host delayed the packet: pacing, jitter, or a remedy.
    Pacer,
    /// The timer of a closed window (RFC 9293 §3.8.6.1).
    Persist,
    /// The receiver's host delayed the packet: delayed ACKs, or a remedy.
    DelayedAck,
    /// An application's timer.
    Application,
}

/// A packet. Sequence numbers have 64 bits and do not wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Packet {
    /// Sequence number of the first payload byte.
    pub seq: u64,
    /// Next sequence number expected from the other end.
    pub ack: u64,
    /// The packet's route.
    pub route: RouteId,
    /// Advertised window, bytes.
    pub window: u32,
    /// Timestamp value (RFC 7323), in ticks of the sender's timestamp clock.
    pub ts_value: u32,
    /// Timestamp echo reply.
    pub ts_echo: u32,
    /// Payload bytes.
    pub payload: u16,
    /// TCP/IP header bytes on the wire.
    pub header: u8,
    /// Incarnation of the connection; packets of an earlier incarnation are ignored.
    pub epoch: u8,
    /// Control bits, ECN field and trigger.
    pub flags: Flags,
    /// Labels that a remedy sets and a queue discipline may read, one bit each.
    pub label: u16,
    /// Selective acknowledgements (RFC 2018).
    pub sack: SackBlocks,
}

impl Packet {
    /// Maximum size, bytes.
    pub const MAX_SIZE: u32 = u16::MAX as u32 + u8::MAX as u32;

    /// Bytes of the IP packet: header and payload, without layer 2.
    pub const fn size(&self) -> u32 {
        self.header as u32 + self.payload as u32
    }

    /// The ECN field.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        self.flags.ecn()
    }

    /// The same packet with this ECN field.
    #[must_use]
    pub const fn with_ecn(mut self, ecn: Ecn) -> Self {
        self.flags = self.flags.with_ecn(ecn);
        self
    }

    /// Sets the congestion-experienced mark.
    #[inline]
    pub const fn mark(&mut self) {
        self.flags = self.flags.with_ecn(Ecn::CongestionExperienced);
    }

    /// Removes the payload. A switch does this if only the header fits into its buffer (Cheng et
    /// al., NSDI 2014). Returns the number of bytes removed.
    pub const fn trim(&mut self) -> u16 {
        let cut = self.payload;
        if cut > 0 {
            self.payload = 0;
            self.flags = self.flags.with(Flags::TRIMMED);
        }
        cut
    }

    /// One past the last sequence number of the payload, SYN and FIN.
    pub const fn seq_end(&self) -> u64 {
        self.seq
            + self.payload as u64
            + self.flags.contains(Flags::SYN) as u64
            + self.flags.contains(Flags::FIN) as u64
    }
}

const _: () = assert!(size_of::<Packet>() <= 64, "a packet must fit in one cache line");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_knows_its_flow_direction_and_way_back() {
        let forward = RouteId::new(7, true);
        assert_eq!((forward.flow(), forward.is_forward()), (7, true));
        assert_eq!(forward.reverse(), RouteId::new(7, false));
        assert_eq!(forward.reverse().reverse(), forward);
    }

    #[test]
    fn flags_ecn_field_and_trigger_do_not_touch_each_other() {
        use Trigger::*;
        let triggers =
            [Arrival, Timeout, TailProbe, Handshake, Pacer, Persist, DelayedAck, Application];
        let ecns = [Ecn::NotCapable, Ecn::Capable, Ecn::CongestionExperienced];
        for control in (0..=CONTROL).map(Flags) {
            for (ecn, trigger) in ecns.into_iter().flat_map(|ecn| triggers.map(|it| (ecn, it))) {
                let flags = control.with_trigger(Application).with_ecn(ecn).with_trigger(trigger);
                assert_eq!(
                    (flags.control(), flags.ecn(), flags.trigger()),
                    (control, ecn, trigger)
                );
                let others = Flags(!control.0).control();
                let replaced = flags.with_control(others);
                assert_eq!((replaced.control(), replaced.ecn()), (others, ecn));
                assert_eq!(replaced.trigger(), trigger);
            }
        }
        let mut packet = Packet::default().with_ecn(Ecn::Capable);
        packet.mark();
        assert_eq!(packet.flags, Flags::NONE.with_ecn(Ecn::CongestionExperienced));
    }

    #[test]
    fn syn_and_fin_occupy_sequence_space() {
        let mut packet = Packet { seq: 10, payload: 5, header: 40, ..Packet::default() };
        assert_eq!((packet.size(), packet.seq_end()), (45, 15));
        packet.flags = Flags::SYN.with(Flags::FIN);
        assert_eq!(packet.seq_end(), 17);
    }
}
