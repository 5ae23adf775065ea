//! Segments of data: the messages that they begin, the bytes that they add to their flow, and the
//! meaning of the silence before them. New bytes after a silence show the cause of the wait, or the
//! queue of a switch, before the vantage point or behind it.

use incast_capture::read::Packet;

use super::gap::{Gap, SOON};
use super::{Around, Connection};
use crate::event::{Event, Message, Resumed};
use crate::flow::{Kind, LONGEST_QUEUE, Probed, Rounds, Seen, Silent};
use crate::stall::{Cause, Ended, Finding, Reason, Stall};
use crate::time::{Span, Time};

/// If a flow was silent for longer than this, an outage may have stopped it.
pub(super) const BREAK: Span = Span::from_millis(50);

/// A segment of data, with its position in its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub packet: &'a Packet,
    pub side: usize,
    pub now: Time,
    /// The first byte of the segment, and the first byte behind it.
    pub start: i64,
    pub end: i64,
    pub seen: Seen,
}

impl Arrival<'_> {
    /// Whether some bytes of the segment had been sent before.
    fn is_repeated(&self) -> bool {
        matches!(self.seen, Seen::Again | Seen::Missing)
    }

    /// The way in which the segment continues its flow, if all bytes below `una` had been
    /// acknowledged. `before` is true if the ACK of these bytes is older than a round trip. If the
    /// segment is nevertheless retransmitted, this ACK was lost.
    fn resumes(&self, una: i64, before: bool) -> Resumed {
        match self.seen {
            Seen::Again if self.end <= una && before => Resumed::Acknowledged,
            Seen::Again | Seen::Missing => Resumed::Again,
            Seen::Next | Seen::Beyond => Resumed::New,
        }
    }
}

impl Connection {
    /// Takes a segment of data, and returns whether it is a retransmitted request.
    pub(super) fn data(
        &mut self,
        packet: &Packet,
        side: usize,
        now: Time,
        around: Around,
        events: &mut Vec<Event>,
    ) -> bool {
        let flow = &mut self.flows[side];
        let (start, end) = flow.place(packet);
        flow.segments.count();
        if packet.payload <= 1 && end <= flow.bytes.una() {
            return false; // a keep-alive, or a probe of a closed window
        }
        let segments = flow.segments.take(packet.payload);
        let it = Arrival { packet, side, now, start, end, seen: flow.bytes.seen(start, end) };
        let missing = self.lost_before(&it, around);
        if self.flows[side].waiting.is_pending() {
            self.settle_silent(side, Some((start, now)), events);
        }
        let first = self.begin_message(&it, events);
        if first {
            self.flows[1 - side].waiting.ask(now, around.own);
        }
        let gap = self.gap(&it, around, missing, first);
        self.queue_before(&it, &gap);
        self.judge(&it, &gap, events);
        let last = self.flows[side].last_data();
        self.take(&it, segments);
        self.marks[side] = around.mark;
        // A retransmitted request does not end the wait for its answer.
        let asks_again = it.seen == Seen::Again && self.asks(side);
        if asks_again && let Some(message) = self.flows[side].waiting.message() {
            let asked = message.first;
            let in_vain = Some(last).filter(|&last| last > asked && self.heard[1 - side] < last);
            events.push(Event::AskedAgain { side, asked, at: now, in_vain });
        }
        asks_again
    }

    /// Reports the losses and waits that a segment shows.
    fn judge(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let (side, asks, asked_again) = (it.side, self.asks(it.side), self.asked_again.is_some());
        let flow = &mut self.flows[side];
        let (una, last) = (flow.bytes.una(), flow.last_data());
        if it.now - last > BREAK && flow.segments.packets() > 1 {
            let before = it.now - flow.last_advance() > gap.patience;
            let how = it.resumes(una, before);
            // The answer to a repeated request gives no further evidence.
            if !(how == Resumed::New && asked_again) {
                events.push(Event::Resumed { side, last, how, asks });
            }
        }
        let again = it.seen == Seen::Again && (it.start..it.end).contains(&una);
        flow.tries.sent(it.packet.payload, again, it.packet.into());
        match it.seen {
            Seen::Again => self.again(it, gap, events),
            Seen::Missing => self.missing(it, gap, events),
            Seen::Next => self.fresh(it, gap, events),
            Seen::Beyond => {
                let packets = flow.new_packets(it.start);
                events.push(Event::Lost { side, packets, at_once: gap.is_at_once(last) });
                self.fresh(it, gap, events);
            }
        }
    }

    /// Records a packet, which represents one or more segments.
    fn take(&mut self, it: &Arrival, segments: u32) {
        let flow = &mut self.flows[it.side];
        flow.take((it.start, it.end), it.now, it.packet.into());
        if it.seen == Seen::Next {
            flow.timing.send(it.end, it.now);
        }
        let top = flow.bytes.top();
        if let Some(message) = flow.waiting.message_mut() {
            message.last = it.now;
            message.bytes = top - message.first_byte;
            message.packets += segments;
            message.again += u32::from(it.is_repeated()) * segments;
        }
    }

    /// The silence before the segment that has just been seen. `missing` is the number of missing
    /// packets, and `first` tells whether the segment is the first of its message.
    fn gap(&self, it: &Arrival, around: Around, missing: Option<u32>, first: bool) -> Gap {
        let (flow, now) = (&self.flows[it.side], it.now);
        let last = flow.last_data();
        let start = if first {
            // The wait for a lost SYN counts separately, so the silence begins after the handshake.
            let asked = flow.waiting.message().map_or(now, |message| message.start);
            self.opened().map_or(asked, |opened| asked.max(opened))
        } else {
            last.max(flow.last_advance())
        };
        // Before the first segment of an answer, the idle time of the link counts from the request.
        let (since, mark) = match flow.waiting.asked() {
            Some(asked) if first => asked,
            _ => (last, self.marks[it.side]),
        };
        let idle = (around.mark.idle - mark.idle).share_of(now - since);
        Gap {
            start: start.min(now),
            now,
            quiet: now - self.last,
            patience: self.trips.patience(around.round_trip),
            idle: idle.clamp(0.0, 1.0),
            before: self.last_place,
            missing: missing.filter(|_| around.counted),
            if_counted: missing.filter(|_| !around.counted),
            first,
            timer: around.timer,
        }
    }
}

impl Connection {
    /// Takes a segment of new bytes.
    pub(super) fn fresh(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let side = it.side;
        self.rounds(side, gap, events);
        let flow = &mut self.flows[side];
        let again = flow.repair.may_cover(it.start);
        if it.seen == Seen::Next
            && let Some(unseen @ 1..) = gap.missing.or(gap.if_counted)
        {
            // The missing packets carried the bytes from this segment on. These bytes are now sent
            // again.
            flow.repair.sent_unseen(it.start + gap.beyond(unseen) * flow.segments.usual());
        }
        if gap.is_shut_out(flow) {
            return; // the receiver caused the wait
        }
        let last = flow.last_data();
        if gap.is_late(last) && self.ack_was_held(side, gap.now, last) {
            let wait = gap.wait(Reason::DelayedAck, last, it.packet);
            events.push(Event::Waited { side, wait });
            return;
        }
        if self.asks(side) {
            return; // the client decides when it asks
        }
        let unasked = gap.first && it.start == 0 && self.opener == Some(side);
        if !gap.is_wait(unasked) {
            return;
        }
        if it.seen == Seen::Beyond {
            self.probed_beyond(it, gap, events);
        } else {
            self.wait_for_more(it, gap, again);
        }
    }

    /// Takes new bytes beyond a hole after a silence. If the receiver sends SACK ranges, these
    /// bytes may be a probe (RFC 8985 §7.3).
    fn probed_beyond(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        if self.is_selective() && gap.length() > SOON {
            let finding = Finding::of(Cause::FullWindow, 0.8);
            let stall = gap.stall(self.ends_of(it.side), it.packet, finding);
            // It is not known yet whether the missing packet was lost, because the capture may have
            // dropped it.
            self.keep(it.side, Stall { ended: Ended::Probe, proven: false, ..stall }, events);
        }
    }

    /// Takes the next bytes after a silence. Later packets show what the flow waited for. `again`
    /// tells whether the bytes had been sent before.
    fn wait_for_more(&mut self, it: &Arrival, gap: &Gap, again: bool) {
        let probes = self.is_selective() && !self.trips.near(1 - it.side);
        let flow = &mut self.flows[it.side];
        let span = (it.start, it.end);
        if probes && flow.bytes.are_outstanding() && gap.is_stall() {
            // The outstanding bytes were not acknowledged during the silence. If the next ACK does
            // not acknowledge them either, the new bytes are a probe.
            let arrived = flow.repair.is_told();
            let kind = Kind::Probed(Probed { una: flow.bytes.una(), arrived });
            flow.waiting.wait_for(gap.pending(kind, it.packet, span));
            return;
        }
        let kind = Kind::Silent(Silent {
            first: gap.first,
            again,
            missing: gap.missing,
            if_counted: gap.if_counted,
        });
        if let Some(missing @ 1..) = gap.missing {
            // The missing packets carried the bytes from this segment on. These bytes are now sent
            // again.
            flow.repair.extend(it.start + gap.beyond(missing) * flow.segments.usual());
        }
        flow.waiting.wait_for(gap.pending(kind, it.packet, span));
    }

    /// Checks whether each round of packets fills the window up to its edge.
    fn rounds(&mut self, side: usize, gap: &Gap, events: &mut Vec<Event>) {
        let Some(trip) = self.trips.round() else { return };
        let flow = &mut self.flows[side];
        let edge = flow.window.edge();
        if gap.first {
            flow.rounds.begin(edge);
        } else if Rounds::are_parted_by(gap.now - flow.last_data(), trip) {
            let full = flow.rounds.next(flow.bytes.top() + flow.segments.usual(), edge);
            events.push(Event::Round { side, full });
        }
    }
}

impl Connection {
    /// Begins a message if the other end sent last. Returns whether the segment has the first byte
    /// of the new message.
    pub(super) fn begin_message(&mut self, it: &Arrival, events: &mut Vec<Event>) -> bool {
        let (side, now) = (it.side, it.now);
        if self.flows[side].waiting.message().is_some() || it.seen == Seen::Again {
            return false;
        }
        let asked = self.flows[1 - side].waiting.message().map(|message| message.first);
        self.end_message(1 - side, events);
        let first_byte = self.flows[side].bytes.top().min(it.start);
        // If the first SYN was lost, the message counts from this SYN.
        let begins = first_byte == 0 && !self.flows[1 - side].segments.pushes();
        let tried = self.tried().filter(|_| begins);
        let opened = self.opened().filter(|_| begins);
        let start = tried.or(asked).or(opened).unwrap_or(now);
        let message = Message { start, first: now, last: now, first_byte, ..Message::default() };
        self.flows[side].waiting.begin(message);
        let opens = first_byte == 0 && self.opener == Some(side);
        events.push(Event::Begun { side, start, first: now, opens });
        true
    }

    /// Ends a message, and decides the stalls that depend on its end.
    pub(super) fn end_message(&mut self, side: usize, events: &mut Vec<Event>) {
        self.settle_silent(side, None, events);
        let flow = &mut self.flows[side];
        let Some(message) = flow.waiting.end() else { return };
        flow.decide(side, events);
        events.push(Event::Ended { side, message });
    }

    /// Keeps a stall until its message ends, or until many stalls of the message are kept.
    pub(super) fn keep(&mut self, side: usize, stall: Stall, events: &mut Vec<Event>) {
        let flow = &mut self.flows[side];
        if flow.waiting.keep(stall) {
            flow.decide(side, events);
        }
    }
}

impl Connection {
    /// Measures the queue before the point. The ACK of all bytes seen so far releases new bytes. If
    /// the new bytes take longer than a round trip, they have waited in a queue for the rest of the
    /// time.
    pub(super) fn queue_before(&mut self, it: &Arrival, gap: &Gap) {
        let side = it.side;
        let Some(trip) = self.trips.round() else { return };
        let unasked = self.heard[side] > self.heard[1 - side];
        let flow = &mut self.flows[side];
        if unasked && gap.quiet > trip {
            flow.queued.resume(gap.now);
        }
        let called = it.seen == Seen::Next && !gap.first && flow.bytes.una() == flow.bytes.top();
        let whole = !gap.has_lost() && flow.bytes.are_whole();
        let length = gap.now - flow.last_data();
        if called && whole && length < gap.timer.unwrap_or(Span::MAX).min(2 * LONGEST_QUEUE) / 2 {
            flow.queued.take(length - trip);
        }
    }
}
