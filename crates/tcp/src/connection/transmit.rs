//! `poll_transmit`: the only place that emits packets.

use std::ops::Range;

use incast_engine::Time;
use incast_net::{Flags, Packet};

use super::extras::Extras;
use super::gate::Gate;
use super::{Connection, State, TimerKind};
use crate::config::RttSampling;
use crate::congestion::CongestionControl;
use crate::hooks::{Advice, SendEvent, TxPlan};
use crate::recovery::LossRecovery;
use crate::send::Sent;
use crate::send::rtt::timestamp;

/// What cannot move the windows between one segment and the next.
const USED_UP: Extras = Extras::TIMESTAMPS
    .or(Extras::PACKETS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PACER)
    .or(Extras::OFFLOAD)
    .or(Extras::UNDO)
    .or(Extras::JITTER)
    .or(Extras::ECN)
    .or(Extras::IDLE_TIMER)
    .or(Extras::RECEIVER_HOOKS);

/// How far data may be sent.
struct Room {
    /// What limited transmit adds to the window, bytes.
    limited: u64,
    /// One past the last byte that loss recovery allows.
    quota_end: u64,
    /// One past the last byte that all windows allow.
    end: u64,
}

/// What [`Connection::poll_transmit_into`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// A packet, and perhaps more.
    Packet,
    /// A packet, and nothing after it.
    LastPacket,
    /// A packet that leaves at [`Connection::departs_at`], and nothing before or after it
    /// ([`Connection::allow_departure_times`]).
    Timed,
    /// Nothing.
    Nothing,
}

impl Connection {
    /// The next packet to put on the wire: handshake, then what recovery and hooks demand, then
    /// data, then a bare ACK. Call it until it returns none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        (self.poll_transmit_into(now, &mut packet) != Polled::Nothing).then_some(packet)
    }

    /// [`Connection::poll_transmit`] into a place that exists: a packet is written field by field,
    /// and copying it right afterwards is slow.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, out: &mut Packet) -> Polled {
        if self.owed.is_urgent() && self.poll_urgent(now, out) {
            return Polled::Packet;
        }
        if self.extras.has(Extras::PACER) && self.is_held(now) {
            // Nothing has changed what the pacer said last.
        } else if self.is_selective() {
            if !self.is_drained()
                && self.state == State::Established
                && self.poll_selective(now, out)
            {
                return if self.is_pipe_full() { Polled::LastPacket } else { Polled::Packet };
            }
        } else if self.board.next() < self.stream_end() && self.state == State::Established {
            if self.extras.has(Extras::IDLE_RESTART) && self.board.resend().is_none() {
                self.validate_window(now);
            }
            let room = self.room();
            if !self.is_blocked(&room) {
                match self.poll_data(now, &room, out) {
                    Polled::Packet if self.is_used_up(&room) => return Polled::LastPacket,
                    Polled::Nothing => {}
                    polled => return polled,
                }
            }
        }
        if self.host.gate == Gate::Open {
            self.host.gate = Gate::Closed;
        }
        if self.poll_patient(now, out) { Polled::Packet } else { Polled::Nothing }
    }

    /// Whether what has just been sent is certain to be the last for now: nothing moves the windows
    /// that were found before it, and they hold no more.
    #[inline]
    fn is_used_up(&self, room: &Room) -> bool {
        self.extras.only(USED_UP)
            && self.owed.is_empty()
            && self.host.gate == Gate::Closed
            && self.recovery.dupacks() == 0
            && self.board.resend().is_none()
            && self.board.next() < self.written
            && self.end_within(room.end, None).is_none()
    }

    /// The retransmission that recovery, a timeout or the congestion control owes.
    pub(super) fn send_head(&mut self, now: Time, out: &mut Packet) -> bool {
        if self.is_selective() {
            self.send_owed_segment(now, out)
        } else {
            self.send_copy(now, false, false, out)
        }
    }

    /// A copy of the first outstanding segment that a hook asked for.
    pub(super) fn copy_head(&mut self, now: Time, out: &mut Packet) -> bool {
        self.send_copy(now, false, true, out)
    }

    /// A copy of the last one.
    pub(super) fn copy_highest(&mut self, now: Time, out: &mut Packet) -> bool {
        self.send_copy(now, true, true, out)
    }

    /// A packet without payload that brings an answer about.
    pub(super) fn send_empty_probe(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.label = std::mem::take(&mut self.hooks.probe_label);
        true
    }

    /// One number beyond the closed window: the next byte, or FIN if that is what waits.
    pub(super) fn send_window_probe(&mut self, now: Time, out: &mut Packet) -> bool {
        self.board.note_probe();
        self.counters.data_packets += 1;
        let seq = self.board.next();
        self.note_copy();
        self.fill_data(now, seq, out);
        if seq < self.written {
            out.payload = 1;
        } else {
            out.flags = out.flags.with(Flags::FIN);
        }
        true
    }

    /// The FIN that was sent before, without the data before it. It moves neither the scoreboard nor
    /// the timer.
    pub(super) fn send_fin_again(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.seq = self.written;
        out.flags = out.flags.with(Flags::FIN).with(Flags::RETRANSMISSION);
        self.counters.data_packets += 1;
        self.counters.retransmitted_packets += 1;
        true
    }

    /// How far the windows reach.
    #[inline]
    fn room(&self) -> Room {
        let una = self.board.una();
        let limited = self.limited_transmit();
        let quota = match self.reduced_allowance() {
            None => self.recovery.quota(self.send_window()),
            Some(allowance) => self.in_flight() + allowance,
        };
        let quota_end = self.window_end(quota);
        let window_end = if limited == 0 { quota_end } else { self.window_end(quota + limited) };
        let mut end = window_end.min(una + self.peer_window);
        if let Some(forward) = self.undo.as_ref().and_then(|undo| undo.forward_end()) {
            end = end.max(forward.min(una + self.peer_window));
        }
        Room { limited, quota_end, end }
    }

    /// Whether the windows are used up; a closed one is to be probed.
    #[inline]
    fn is_blocked(&self, room: &Room) -> bool {
        let next = self.board.next();
        next >= room.end && next > self.board.una() && self.peer_window > 0
    }

    /// New data, or data that a timeout has called back, as far as the window allows.
    fn poll_data(&mut self, now: Time, room: &Room, out: &mut Packet) -> Polled {
        let una = self.board.una();
        let next = self.board.next();
        let resend = self.board.resend().map(Sent::end);
        let plan = TxPlan { seq: next, retransmission: resend.is_some(), requested: false };
        let shaped;
        let advice = if self.has_sender_hooks() {
            shaped = self.shape(now, &plan);
            &shaped
        } else {
            &Advice::NONE
        };
        self.segment_size = advice.segment_size.min(self.config.mss).max(1);
        let usable = room.end.min(una.saturating_add(advice.window_ceiling));
        let Some(end) = self.end_within(usable, resend) else {
            if self.peer_window == 0 {
                self.wait_for_window(now);
            }
            return Polled::Nothing;
        };
        let beyond_window = room.limited > 0 && end > room.quota_end;
        let (mut now, mut polled) = (now, Polled::Packet);
        if self.pacer.is_some()
            && !(resend.is_some() && next == una)
            && self.is_paced_out(now, next, room.end.saturating_sub(next), resend.is_none())
        {
            let Some(departure) = self.settled_departure(end) else { return Polled::Nothing };
            self.note_hold(departure - now);
            (now, polled) = (departure, Polled::Timed);
        }
        if self.burst == 0 || !self.may_leave(now, advice.hold_until, beyond_window) {
            return Polled::Nothing;
        }
        self.burst -= u32::from(self.burst != u32::MAX);
        let len = (end - next) as u32;
        if resend.is_some() {
            self.board.send_again(now);
        } else {
            if self.config.rtt_sampling == RttSampling::PerWindow && self.timed.is_none() {
                self.timed = Some((end, now));
            }
            self.board.send_new(len, now);
            if beyond_window {
                self.limited_bytes += self.room_of(len.into(), 1);
            }
        }
        self.send_data(now, next..end, plan, advice, out);
        polled
    }

    /// One past the segment that leaves next, `resend` if a timeout has called it back, if it fits
    /// before `usable`.
    #[inline]
    fn end_within(&self, usable: u64, resend: Option<u64>) -> Option<u64> {
        let (una, next) = (self.board.una(), self.board.next());
        let end = if let Some(end) = resend {
            end
        } else {
            // A FIN rides on the last segment.
            let data = (next + u64::from(self.segment_size)).min(self.written);
            if data == self.written { self.stream_end() } else { data }
        };
        if end <= usable || (resend.is_some() && next == una) {
            // After a timeout the earliest segment leaves in any case (RFC 6298 (5.4)).
            Some(end)
        } else if resend.is_none() && usable > next && (next == una || usable == self.written) {
            // Neither a window smaller than a segment nor a FIN that does not fit must hold back
            // data (RFC 9293 §3.8.6.2.1).
            Some(usable)
        } else {
            None
        }
    }

    /// Whether all windows let the data leave that are next in line.
    pub(super) fn may_send(&self) -> bool {
        let next = self.board.next();
        if next >= self.stream_end() || self.state != State::Established {
            return false;
        }
        if self.is_selective() {
            let len = u64::from(self.segment_size).min(self.stream_end() - next);
            return self.pipe_has_room(len) && next + len <= self.board.una() + self.peer_window;
        }
        let resend = self.board.resend().map(Sent::end);
        self.end_within(self.room().end, resend).is_some()
    }

    /// RFC 3042: the first two duplicate ACKs release a new segment each beyond cwnd; in ns-2
    /// also one that a timeout has called back.
    #[inline]
    fn limited_transmit(&self) -> u64 {
        let dupacks = self.recovery.dupacks();
        let applies = dupacks > 0
            && dupacks < self.config.dupack_threshold
            && !self.recovery.in_recovery()
            && (self.config.limited_transmit_resends || self.board.resend().is_none());
        if !applies {
            return 0;
        }
        let usual = if self.config.limited_transmit { dupacks.min(2) } else { 0 };
        u64::from(self.recovery.released(usual)) * u64::from(self.segment_size)
    }

    /// A copy of the first or the highest outstanding segment.
    fn send_copy(&mut self, now: Time, highest: bool, requested: bool, out: &mut Packet) -> bool {
        let segment = if highest { self.board.last() } else { self.board.head() };
        let Some(segment) = segment.copied() else {
            return false;
        };
        let plan = TxPlan { seq: segment.seq, retransmission: true, requested };
        let advice = self.shape(now, &plan);
        self.timed.take_if(|timed| timed.0 == segment.end());
        if self.is_selective() {
            self.board.resend_at(segment.seq, now);
        } else {
            self.board.send_copy(highest, now);
        }
        self.send_data(now, segment.seq..segment.end(), plan, &advice, out);
        true
    }

    /// Builds the data segment of these sequence numbers, FIN included, and does the accounts.
    pub(super) fn send_data(
        &mut self,
        now: Time,
        numbers: Range<u64>,
        plan: TxPlan,
        advice: &Advice,
        out: &mut Packet,
    ) {
        let Range { start: seq, end } = numbers;
        let payload = end.min(self.written) - seq;
        self.fill_data(now, seq, out);
        out.payload = payload as u16;
        out.label = advice.label;
        out.header = out.header.min(advice.header_bytes);
        if end > self.written {
            out.flags = out.flags.with(Flags::FIN);
        }
        if self.ecn.is_on() {
            self.ecn.mark_data(out, plan.retransmission);
        }
        self.counters.data_packets += 1;
        if plan.retransmission {
            out.flags = out.flags.with(Flags::RETRANSMISSION);
            self.counters.retransmitted_packets += 1;
            self.note_copy();
        }
        let first_outstanding = !plan.retransmission && seq == self.board.una();
        if self.timer.kind != TimerKind::Data || first_outstanding {
            self.arm(now, TimerKind::Data);
        }
        if self.extras.has(Extras::IDLE_RESTART) {
            let in_flight = self.in_flight();
            self.idle.on_send(now, in_flight);
        }
        if self.prr.is_some() {
            self.note_reduced(end - seq);
        }
        if self.needs.sent {
            let path = self.path(now, self.in_flight());
            self.congestion.on_sent(end, &path);
        }
        if self.pacer.is_some() {
            self.note_pace(now, payload);
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.on_sent(now, seq, end);
        }
        self.on_ack_left();
        if self.has_receiver_hooks() {
            self.void_held();
        }
        if self.has_sender_hooks() {
            self.consult(now, SendEvent::Sent(out));
        }
    }

    fn fill_data(&mut self, now: Time, seq: u64, out: &mut Packet) {
        self.fill_control(now, out);
        out.seq = seq;
        out.header = self.config.header;
    }

    /// Makes `out` a packet without payload, with everything that all packets carry.
    #[inline]
    pub(super) fn fill_control(&mut self, now: Time, out: &mut Packet) {
        let next = self.inbound.data.next();
        *out = self.template.packet();
        out.seq = self.board.next();
        out.ack = next;
        if self.state == State::Idle {
            out.flags = out.flags.with_control(Flags::NONE);
        } else if self.ecn.echo {
            out.flags = out.flags.with(Flags::ECE);
        }
        let mut cap = None;
        if self.extras.has(Extras::OPTIONS) {
            cap = self.add_options(now, out);
        }
        out.window = self.inbound.window.advertise(next, cap);
    }

    /// Adds what few connections send, and returns the largest window to advertise, if the
    /// receiver's hooks set one.
    #[inline(never)]
    fn add_options(&mut self, now: Time, packet: &mut Packet) -> Option<u64> {
        self.acks.last_sent = packet.ack;
        if let Some(tick) = self.config.timestamps {
            packet.ts_value = timestamp(now, tick);
            packet.ts_echo = self.acks.ts_recent.unwrap_or_default();
        }
        if (self.inbound.owes_duplicate || self.inbound.data.has_gap())
            && let Some(report) = &mut self.inbound.report
        {
            packet.sack = report.blocks(&self.inbound.data);
            self.inbound.owes_duplicate = false;
            if report.takes_room() && !packet.sack.is_empty() {
                // RFC 2018 §3: kind, length and the blocks; two bytes of padding.
                packet.header = packet.header.saturating_add(4 + 8 * packet.sack.len() as u8);
            }
        }
        if !self.has_receiver_hooks() {
            return None;
        }
        let (cap, header_bytes) = self.receiver_limits(now);
        packet.header = packet.header.min(header_bytes);
        cap
    }

    pub(super) fn validate_window(&mut self, now: Time) {
        let view = self.idle_view(now);
        if let Some(limit) = self.idle.before_send(self.board.is_empty(), &view) {
            self.limit(now, limit);
        }
    }
}
