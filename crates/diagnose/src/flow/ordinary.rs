//! The part of a flow in the short path of ordinary packets (`connection/ordinary.rs`).
//!
//! This file uses the fields of the flow's parts, so that an ordinary packet passes through few
//! files. What it leaves out is known: nothing is missing, nothing is repaired, and no wait is open.

use incast_capture::read::{Packet, flags};

use super::segments::ETHERNET;
use super::{Flow, LONGEST_QUEUE};
use crate::event::Acked;
use crate::numbering::Numbering;
use crate::stall::Place;
use crate::time::{Span, Time};

impl Flow {
    /// Whether packets of this flow, and their ACKs, may take the short path: the flow has begun
    /// and not ended, its SYN was answered, no byte is missing, and no wait is open.
    pub fn is_ordinary(&self) -> bool {
        self.bytes.base.is_some()
            && !self.bytes.closed
            && self.bytes.holes.0.is_empty()
            && self.waiting.pending.is_none()
            && (self.opening.greeted || self.opening.syn.is_none())
    }

    /// Takes the identification of a packet if it is the next one, so that no packet is missing. `who`
    /// holds the index of the host and the number of the flow.
    pub fn has_next_number(
        &mut self,
        packet: &Packet,
        numbering: &mut Numbering,
        who: (usize, u32),
    ) -> bool {
        let Some(id) = packet.id.filter(|_| !packet.has(flags::SYN)) else { return false };
        let (payload, mss) = (packet.payload, self.segments.mss);
        let segments = if payload <= mss { 1 } else { payload.div_ceil(mss.max(1)) };
        (payload == 0 || mss > 0 && !self.ids.keeps())
            && numbering.take_next(who, &mut self.ids, id, segments)
    }

    /// Whether a packet begins at the next byte of this flow.
    pub fn is_next(&self, packet: &Packet) -> bool {
        self.bytes.base.is_some_and(|base| packet.seq == base.wrapping_add(self.bytes.top as u32))
    }

    /// Whether a packet may carry the next bytes of the current message. If not, the packet may
    /// change the length of a full segment, or a packet is hidden.
    pub fn continues_with(&self, packet: &Packet) -> bool {
        let (payload, mss) = (packet.payload, self.segments.mss);
        // A probe of a closed window has at most one byte.
        let is_usual = payload > 1 && mss > 0 && (payload <= mss || payload > ETHERNET);
        is_usual && self.waiting.message.is_some() && self.hidden.early == 0
    }

    /// The time since the last data.
    pub fn pause(&self, now: Time) -> Span {
        now - self.last_data
    }

    /// Takes the next bytes. If all bytes before them were acknowledged, their ACK has released
    /// these bytes, which have waited for the rest of the round trip `trip` in a queue.
    pub fn send_next(&mut self, packet: &Packet, now: Time, trip: Option<Span>, timer: Span) {
        let payload = packet.payload;
        let (segments, pause) = (payload.div_ceil(self.segments.mss), now - self.last_data);
        if let Some(trip) = trip
            && self.bytes.una == self.bytes.top
            && pause < timer.min(2 * LONGEST_QUEUE) / 2
        {
            self.queued.longest = self.queued.longest.max(pause - trip);
        }
        self.segments.packets += 1;
        if payload <= self.segments.mss {
            self.segments.most = self.segments.most.max(payload);
        }
        self.tries.sent = self.tries.sent.max(payload);
        self.bytes.top += i64::from(payload);
        self.last_data = now;
        self.last_place = Place { file: packet.file, frame: packet.frame };
        self.timing.segment.get_or_insert((self.bytes.top, now));
        if let Some(message) = &mut self.waiting.message {
            message.last = now;
            message.bytes = self.bytes.top - message.first_byte;
            message.packets += segments;
        }
    }

    /// Number of bytes that a packet of the other end newly acknowledges. `None` if the packet
    /// acknowledges bytes that were not seen, or earlier bytes.
    pub fn step(&self, packet: &Packet) -> Option<i64> {
        let una = self.bytes.base?.wrapping_add(self.bytes.una as u32);
        let step = i64::from(packet.ack.wrapping_sub(una) as i32);
        (step >= 0 && self.bytes.una + step <= self.bytes.top).then_some(step)
    }

    /// Whether no loss has been reported, so that an ACK of `step` bytes only moves the window.
    pub fn is_undisturbed(&self, step: i64) -> bool {
        let repair = &self.repair;
        // A duplicate ACK has also counted a segment that is held.
        let told = repair.sacked || repair.held > 0;
        !told && self.bytes.una + step >= repair.held_top && self.segments.mss > 0
    }

    /// Whether the window was open, and is not smaller than a segment after this packet.
    pub fn stays_open(&self, packet: &Packet) -> bool {
        let size = i64::from(packet.window) << self.window.scale.unwrap_or(0);
        let fits = self.window.scale.is_none() || size >= self.segments.mss.max(ETHERNET).into();
        packet.window > 0 && fits && self.window.shut.is_none()
    }

    /// Takes the window of a packet that acknowledges all bytes before `una`.
    pub fn offer_open(&mut self, packet: &Packet) {
        let window = &mut self.window;
        window.size = i64::from(packet.window) << window.scale.unwrap_or(0);
        window.most = window.most.max(window.size);
        window.edge = window.edge.max(self.bytes.una + window.size);
    }

    /// Removes and returns the time of the segment that is timed, if `step` more bytes acknowledge
    /// this segment, and whether they end with it.
    pub fn answered(&mut self, step: i64) -> Option<(Time, bool)> {
        let ack = self.bytes.una + step;
        let (end, sent) = self.timing.segment.filter(|&(end, _)| ack >= end)?;
        self.timing.segment = None;
        Some((sent, ack == end))
    }

    /// Takes the time from a segment sent at `sent` to its ACK. The part beyond the shortest time
    /// `least` is a wait in a queue, unless a loss or a pause has disturbed the flow.
    pub fn queue_behind(&mut self, sent: Time, wait: Span, least: Span) {
        if sent > self.queued.resumed && !self.is_disturbed() {
            self.queued.longest = self.queued.longest.max(wait - least);
        }
    }

    /// Whether the receiver reports a loss, or a loss is being repaired. The time to an ACK then
    /// tells nothing about queues.
    pub fn is_disturbed(&self) -> bool {
        let told = self.repair.dupacks > 0 || self.repair.sacked;
        told || self.bytes.una < self.repair.resent
    }

    /// Takes an ACK of `step` new bytes. Returns its event, if it is part of a message.
    pub fn advance(&mut self, step: i64, now: Time) -> Option<Acked> {
        let (segment, top) = (i64::from(self.segments.mss), self.bytes.top);
        let full = self.window.size > 0 && top + segment > self.window.edge;
        let bytes = if step <= 2 * segment { step } else { 0 };
        self.bytes.una += step;
        if self.bytes.una >= top {
            self.tries.passed = self.tries.passed.max(self.tries.sent);
            self.tries.sent = 0;
        }
        self.tries.count = 0;
        self.hidden.count = 0;
        self.last_advance = now;
        self.waiting.message.is_some().then_some(Acked { full, bytes, step, at: now })
    }

    /// The time of the timestamp that is timed, if a packet of the other end answers it.
    pub fn echoed_by(&self, packet: &Packet) -> Option<Time> {
        let (echo, (value, sent)) = (packet.options.timestamps?.echo, self.timing.stamp?);
        (echo.wrapping_sub(value) as i32 >= 0).then_some(sent)
    }

    /// Stops the timing of a timestamp, because it was answered.
    pub fn stop_stamp(&mut self) {
        self.timing.stamp = None;
    }

    /// Notes the timestamp of a packet.
    pub fn stamp(&mut self, packet: &Packet, now: Time) {
        let Some(stamps) = packet.options.timestamps else { return };
        let newer = |last: u32| stamps.value.wrapping_sub(last) as i32 > 0;
        if self.timing.newest.is_none_or(newer) {
            self.timing.newest = Some(stamps.value);
            self.timing.stamp.get_or_insert((stamps.value, now));
        }
    }
}
