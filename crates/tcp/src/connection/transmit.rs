//! The outputs of a connection: packets, which only `poll_transmit` emits, and its next deadline.

use std::ops::Range;

use incast_engine::Time;
use incast_net::{Ecn, Flags, Packet, RouteId, Trigger};

use super::ecn::EcnState;
use super::extras::Extras;
use super::gate::Gate;
use super::hold::Held;
use super::room::Room;
use super::{Connection, State, TimerKind};
use crate::config::{Config, RttSampling};
use crate::congestion::CongestionControl;
use crate::hooks::{Advice, SendEvent, TxPlan};
use crate::recovery::LossRecovery;
use crate::send::rtt::timestamp;

/// Extras with which the windows change only when an ACK arrives.
const USED_UP: Extras = Extras::RECOVERY
    .or(Extras::TIMED_RECOVERY)
    .or(Extras::PACKETS)
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PRR)
    .or(Extras::SENT)
    .or(Extras::PACER)
    .or(Extras::DEFERS)
    .or(Extras::UNDO)
    .or(Extras::JITTER)
    .or(Extras::ECN)
    .or(Extras::IDLE_TIMER)
    .or(Extras::RECEIVER_HOOKS)
    .or(Extras::HEAD)
    .or(Extras::DELIVERY)
    .or(Extras::DELAYED_ACKS)
    .or(Extras::TICKS);

/// The result of [`Connection::poll_transmit_into`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// A packet. More may follow.
    Packet,
    /// The last packet for now.
    LastPacket,
    /// A packet that leaves at [`Connection::departs_at`]. No other packet leaves before that time,
    /// and this call is the last one that returns a packet now
    /// ([`Connection::allow_departure_times`]).
    Timed,
    /// No packet.
    Nothing,
}

/// Fields common to a connection's packets.
#[derive(Clone, Copy)]
pub(super) struct Template {
    route: RouteId,
    header: u8,
    pub epoch: u8,
    /// The ACK flag, the ECN field, and the last trigger of the connection.
    pub flags: Flags,
}

impl Template {
    pub fn new(config: &Config, route: RouteId, epoch: u8, ecn: EcnState) -> Self {
        let ecn = if ecn.covers_everything() { Ecn::Capable } else { Ecn::NotCapable };
        Self { route, header: config.ack_size, epoch, flags: Flags::ACK.with_ecn(ecn) }
    }

    /// A packet without payload.
    #[inline]
    pub fn packet(self) -> Packet {
        let Self { route, header, epoch, flags } = self;
        Packet { route, header, epoch, flags, ..Packet::default() }
    }
}

impl Connection {
    /// The last trigger.
    pub fn trigger(&self) -> Trigger {
        self.template.flags.trigger()
    }

    /// Sets the trigger of all packets that are sent until the next call.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        self.template.flags = self.template.flags.with_trigger(trigger);
    }

    /// The time at which to call `handle_timeout`, or [`Time::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        let mut earliest = self.timer.deadline;
        if let Gate::OpensAt(at) = self.host.gate {
            earliest = earliest.min(at);
        }
        if self.extras.has(Extras::DEADLINES) {
            if let Some(pacer) = &self.pacer {
                earliest = earliest.min(pacer.deadline());
            }
            if self.extras.has(Extras::RARE_DEADLINES) {
                earliest = earliest.min(self.rare_deadline());
            }
        }
        earliest
    }

    /// The earliest deadline of optional features.
    #[inline(never)]
    fn rare_deadline(&self) -> Time {
        let mut earliest = Time::NEVER;
        if self.extras.has(Extras::TIMED_RECOVERY) {
            earliest = self.recovery.deadline();
        }
        if self.extras.has(Extras::DELAYED_ACKS) {
            earliest = earliest.min(self.acks.policy.deadline());
        }
        if self.has_sender_hooks() {
            earliest = earliest.min(self.hook_deadline());
        }
        if self.has_receiver_hooks() {
            earliest = earliest.min(self.hooks.held().map_or(Time::NEVER, Held::deadline));
        }
        earliest
    }

    /// The next packet to send: handshake, then demands of recovery and hooks, then data, then a
    /// pure ACK. Call this method until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        (self.poll_transmit_into(now, &mut packet) != Polled::Nothing).then_some(packet)
    }

    /// Writes the packet of [`Connection::poll_transmit`] into an existing packet. The fields are
    /// written one by one. A copy of the packet directly after these writes would stall the
    /// processor.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, out: &mut Packet) -> Polled {
        if self.owed.is_urgent() && self.poll_urgent(now, out) {
            return Polled::Packet;
        }
        if self.extras.has(Extras::PACER) && self.is_held(now) {
            // The pacer's time has not come, and nothing else can have changed.
        } else if self.has_data() && self.state == State::Established {
            match self.poll_data(now, out) {
                Polled::Nothing => {}
                polled => return polled,
            }
        }
        if self.host.gate == Gate::Open {
            self.host.gate = Gate::Closed;
        }
        if self.poll_patient(now, out) { Polled::Packet } else { Polled::Nothing }
    }

    /// One past the end of the stream: data and FIN.
    #[inline]
    pub(super) fn stream_end(&self) -> u64 {
        self.written + u64::from(self.closing)
    }

    /// Whether there may be data to send: new data, data that a timeout returned to the send queue,
    /// or, with [`Extras::IN_PLACE`], outstanding data.
    #[inline]
    fn has_data(&self) -> bool {
        self.board.next() < self.stream_end()
            || (self.extras.has(Extras::IN_PLACE) && !self.is_drained())
    }

    #[inline]
    fn packet_sent(&self, room: Room) -> Polled {
        if self.is_used_up(room) { Polled::LastPacket } else { Polled::Packet }
    }

    /// Whether the packet just sent is certainly the last for now: the windows have no room for
    /// another full segment and do not change.
    #[inline]
    fn is_used_up(&self, room: Room) -> bool {
        self.extras.only(USED_UP)
            && self.owed.is_empty()
            && self.host.gate == Gate::Closed
            && self.recovery.dupacks() == 0
            && !self.recovery.in_recovery()
            && self.board.is_unmarked()
            && self.board.resend().is_none()
            && {
                // An empty pipe has room for any segment.
                let end = if room.end == u64::MAX { self.room_anew().end } else { room.end };
                let after = self.board.next() + u64::from(self.segment_size);
                let is_beyond = |end: u64| after > end.min(self.board.una() + self.peer_window);
                // After the FIN, which uses no window, nothing follows.
                let is_last = after <= self.written && is_beyond(end);
                debug_assert!(!is_last || is_beyond(self.room_anew().end), "no room is left");
                is_last
            }
    }

    /// Sends a packet without payload, to which the other end must answer.
    pub(super) fn send_empty_probe(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.label = std::mem::take(&mut self.hooks.parts_mut().probe_label);
        true
    }

    /// Sends one byte beyond the closed window: the next data byte, or the FIN if all data was
    /// sent.
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

    /// Sends the FIN again without the data before it. The scoreboard and the timer do not change.
    pub(super) fn send_fin_again(&mut self, now: Time, out: &mut Packet) -> bool {
        self.fill_control(now, out);
        out.seq = self.written;
        out.flags = out.flags.with(Flags::FIN).with(Flags::RETRANSMISSION);
        self.counters.data_packets += 1;
        self.counters.retransmitted_packets += 1;
        true
    }

    /// Sends the next data that the windows allow: a lost segment, else data of the send queue or
    /// new data, else a hole or a rescue (RFC 6675 §4, `NextSeg`).
    #[inline]
    fn poll_data(&mut self, now: Time, out: &mut Packet) -> Polled {
        if self.extras.has(Extras::IDLE_RESTART) && !self.board.is_due() {
            self.validate_window(now);
        }
        if self.extras.has(Extras::UNDO)
            && let Some(end) = self.forward_only()
        {
            return if self.board.next() < end.min(self.stream_end()) {
                self.poll_beside(now, out)
            } else {
                Polled::Nothing
            };
        }
        if let Some(lost) = self.board.due() {
            return self.poll_lost(now, &lost, out);
        }
        if self.board.next() < self.stream_end() {
            let room = self.room();
            if !self.is_blocked(&room) {
                let polled = self.poll_next::<false>(now, room, out);
                if polled != Polled::Nothing {
                    return polled;
                }
            }
        }
        if self.recovery.in_recovery() { self.poll_spare(now, out) } else { Polled::Nothing }
    }

    /// Sends new data regardless of cwnd.
    #[inline(never)]
    pub(super) fn poll_beside(&mut self, now: Time, out: &mut Packet) -> Polled {
        let room = Room { end: u64::MAX, ..self.room_anew() };
        self.poll_next::<true>(now, room, out)
    }

    /// Sends the next segment, new or returned to the send queue by a timeout. With `BESIDE`, cwnd,
    /// the pacer and the host's delay do not apply.
    #[inline]
    fn poll_next<const BESIDE: bool>(
        &mut self,
        now: Time,
        mut room: Room,
        out: &mut Packet,
    ) -> Polled {
        let (una, next) = (self.board.una(), self.board.next());
        let called_back = self.board.resend().is_some();
        let plan = TxPlan { seq: next, retransmission: called_back, requested: false };
        let shaped;
        let advice = if self.has_sender_hooks() {
            shaped = self.shape(now, &plan);
            let was_resized = self.resize(now, &shaped);
            if (room.by_pipe || was_resized) && !BESIDE {
                // The limit by the pipe depends on the segment size.
                room = self.room_anew();
            }
            &shaped
        } else {
            &Advice::NONE
        };
        let Some(end) = self.end_within(&room, advice.window_ceiling) else {
            if self.peer_window == 0 {
                self.wait_for_window(now);
            }
            return Polled::Nothing;
        };
        let limited = end > room.window_end;
        let mut departure = now;
        if !BESIDE {
            if room.by_pipe && self.burst == 0 {
                return Polled::Nothing;
            }
            if self.extras.has(Extras::PACER.or(Extras::DEFERS)) {
                let usable = una.saturating_add(self.peer_window.min(advice.window_ceiling));
                let free = room.free.max(end - next).min(usable - next);
                match self.unhurried_departure(now, next..end, free, called_back) {
                    Some(at) => departure = at,
                    None => return Polled::Nothing,
                }
            }
            if self.burst == 0 || !self.may_leave(departure, advice.hold_until, limited) {
                return Polled::Nothing;
            }
        }
        self.burst -= u32::from(self.burst != u32::MAX);
        if called_back {
            self.board.send_again(departure);
        } else {
            self.note_new(departure, next..end, limited);
        }
        self.send_data(departure, next..end, plan, advice, out);
        if !BESIDE {
            self.note_timer(departure);
        }
        if departure > now {
            Polled::Timed
        } else if BESIDE {
            // More than one segment may be allowed regardless of cwnd (RFC 5682 §2.1, step 2b).
            Polled::Packet
        } else {
            self.packet_sent(room)
        }
    }

    /// Records data sent for the first time. `limited` says whether limited transmit sent the data.
    #[inline]
    pub(super) fn note_new(&mut self, now: Time, numbers: Range<u64>, limited: bool) {
        let Range { start, end } = numbers;
        if self.config.rtt_sampling == RttSampling::PerWindow && self.timed.is_none() {
            self.timed = Some((end, now));
        }
        self.board.send_new((end - start) as u32, now);
        if limited {
            self.limited_bytes += self.room_of(end - start, 1);
        }
    }

    /// Builds the data segment of these sequence numbers, FIN included, and updates the counters.
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
        if self.idle.is_some() {
            let in_flight = self.in_flight();
            if let Some(idle) = &mut self.idle {
                idle.on_send(now, in_flight);
            }
        }
        if self.prr.is_some() {
            self.note_reduced(end - seq);
        }
        if self.needs.sent {
            let path = self.path(now, self.in_flight());
            self.congestion.on_sent(&path);
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

    #[inline]
    pub(super) fn fill_data(&mut self, now: Time, seq: u64, out: &mut Packet) {
        self.fill_control(now, out);
        out.seq = seq;
        out.header = self.config.header;
    }

    /// Fills `out` with the fields common to all packets, without payload.
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

    /// Adds optional fields. Returns the largest window to advertise, if a receiver hook sets one.
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
        if let Some(idle) = &mut self.idle
            && let Some(limit) = idle.before_send(self.board.is_empty(), &view)
        {
            self.limit(now, limit);
        }
    }
}
