//! Explicit congestion notification (RFC 3168), at both ends.
//!
//! ECN is not negotiated: both ends share one configuration.

use incast_engine::Time;
use incast_net::{Ecn, Flags, Packet};

use super::Connection;
use super::demand::Demand;
use crate::config::{Config, EcnPackets};
use crate::congestion::{CeChange, Congestion, CongestionControl, EcnUse, Needs};

/// The ECN state of a connection.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct EcnState {
    /// The ECN-capable packets; `None` if ECN is off.
    packets: Option<EcnPackets>,
    /// The congestion control's use of marks.
    usage: EcnUse,
    /// Receiver: whether sent packets carry ECN-Echo.
    pub echo: bool,
    /// Sender: whether the next new data announces a reduction (CWR).
    announce: bool,
    /// Sender: highest sequence number sent at the last reduction.
    reduced_until: u64,
    /// Receiver: the ACK to send before the current one, and its echo.
    flush: Option<(u64, bool)>,
}

impl EcnState {
    pub fn new(config: &Config, needs: Needs) -> Self {
        Self { packets: config.ecn, usage: needs.ecn, ..Self::default() }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.packets.is_some()
    }

    /// Whether an ACK with this flag may grow the window. RFC 3168 §6.1.2 forbids growth if the ACK
    /// echoes a mark; a congestion control that counts marks decides about growth itself.
    #[inline]
    pub fn lets_grow(&self, ece: bool) -> bool {
        !ece || self.usage != EcnUse::Classic || !self.is_on()
    }

    /// Whether the congestion control counts marks ACK by ACK.
    #[inline]
    pub fn counts_marks(&self) -> bool {
        matches!(self.usage, EcnUse::PerAck(_))
    }

    /// Whether packets without new data are also ECN-capable.
    #[inline]
    pub fn covers_everything(&self) -> bool {
        self.packets == Some(EcnPackets::All)
    }

    /// Records a reduction of the window while the data below `max` were outstanding.
    #[inline]
    pub fn on_reduction(&mut self, max: u64) {
        if self.is_on() {
            self.reduced_until = max;
            self.announce = true;
        }
    }

    /// Sets the ECN fields of a departing data packet.
    #[inline]
    pub fn mark_data(&mut self, packet: &mut Packet, retransmission: bool) {
        let Some(packets) = self.packets else { return };
        // RFC 3168 §6.1.5: a retransmission is not ECN-capable, and has no CWR.
        if !retransmission || packets != EcnPackets::NewData {
            packet.flags = packet.flags.with_ecn(Ecn::Capable);
        }
        if !retransmission && std::mem::take(&mut self.announce) {
            packet.flags = packet.flags.with(Flags::CWR);
        }
    }
}

impl Connection {
    /// Handles the mark of an arrived data packet; `before` was the next byte expected. Returns
    /// whether the packet must be acknowledged at once.
    pub(super) fn note_mark(&mut self, packet: &Packet, before: u64) -> bool {
        let marked = packet.ecn() == Ecn::CongestionExperienced;
        let EcnUse::PerAck(ce_change) = self.ecn.usage else {
            // RFC 3168 §6.1.3 and erratum 3639: CWR is handled first, so a marked packet with CWR
            // is echoed.
            self.ecn.echo = marked || (self.ecn.echo && !packet.flags.contains(Flags::CWR));
            return false;
        };
        // RFC 8257 §3.2: ECN-Echo shows whether the last packet was marked.
        if marked == self.ecn.echo {
            return false;
        }
        if ce_change != CeChange::OneAck && self.acks.policy.is_holding() {
            self.ecn.flush = Some((before, self.ecn.echo));
            self.owe(Demand::FlushAck);
            self.acks.policy.on_ack_sent();
        }
        self.ecn.echo = marked;
        ce_change != CeChange::Flush
    }

    /// Sends the ACK that precedes a change of the echo.
    pub(super) fn send_flush(&mut self, now: Time, out: &mut Packet) -> bool {
        let Some((ack, echo)) = self.ecn.flush.take() else {
            return false;
        };
        self.fill_control(now, out);
        out.window += (out.ack - ack) as u32;
        out.ack = ack;
        let control = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        out.flags = out.flags.with_control(control);
        !self.holds_back(now, out)
    }

    /// Handles the echo of a mark in an acceptable ACK; `flight` bytes were outstanding before it.
    /// The window is reduced at most once per window of data, for any reason (RFC 3168 §6.1.2).
    pub(super) fn handle_echo(&mut self, now: Time, ack: u64, flight: u64) {
        if self.ecn.usage == EcnUse::Classic && ack > self.ecn.reduced_until {
            let path = self.path(now, flight);
            self.congestion.on_congestion(Congestion::Ecn, &path);
            self.ecn.on_reduction(self.board.max());
        }
    }
}
