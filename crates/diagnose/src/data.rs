//! A segment of data: what it adds to its flow, and what the silence before it means.

use incast_capture::read::{Endpoint, Packet};

use crate::chain;
use crate::connection::{Around, Connection};
use crate::event::{Event, Message, Reason, Resumed, Wait};
use crate::flow::{Flow, Kind, Pending, Seen};
use crate::stall::{Cause, Ended, Place, Stall};

const NO_WITNESS: &str =
    "no packet shows whether it had been sent before, or its sender had waited";
const UNNUMBERED: &str = "it had been outstanding in an earlier repair, and packets without \
    counted identifications do not show whether it was sent again then, in vain";

/// Bytes of options that a full segment may have.
const OPTIONS: i64 = 40;

/// No probe or retransmission timer of a common stack is shorter (Linux: two ticks): a shorter
/// silence before new bytes is no stall.
const SOON: i64 = 2_000_000;
/// The share of a wait in which the receiver's link must have been idle at the least: else packets
/// of others, or a queue, have delayed the one that ended it.
const IDLE: f64 = 0.1;
/// No queue is so long: a repeated packet after such a silence was sent by a timer, however busy the
/// link was.
const LONG: i64 = 150_000_000;
/// No full segment is shorter (RFC 1122 §4.2.2.6).
const FULL: i64 = 536;
/// No retransmission timer is longer at first (RFC 6298 §2: a second, 3 s after a lost SYN).
const TIMER: i64 = 3_000_000_000;
/// Packets of one window that may have been sent several times in vain.
const MOST_REPEATS: i64 = 16;
/// A flow that was silent for so long may have met an outage.
const BREAK: i64 = 50_000_000;
/// What is so far ahead, and farther than the window reaches, is another stream of bytes.
const FAR: i64 = 1 << 24;

/// The silence before a segment.
pub struct Gap {
    start: i64,
    pub now: i64,
    /// Since any packet of the connection.
    pub quiet: i64,
    patience: i64,
    idle: f64,
    before: Place,
    /// Packets that the numbers of IP packets say are missing.
    pub missing: Option<u32>,
    /// The same, if it is not yet known what the sender counts.
    if_counted: Option<u32>,
    /// No byte of this message was seen before.
    pub first: bool,
    /// The usual timer.
    pub timer: Option<i64>,
}

impl Connection {
    /// Takes a segment of data; returns whether it is a request that is sent again.
    pub fn data(
        &mut self,
        packet: &Packet,
        side: usize,
        now: i64,
        around: Around,
        events: &mut Vec<Event>,
    ) -> bool {
        let flow = &mut self.flows[side];
        let mut start = flow.start_of(packet.seq);
        if (start - flow.top).abs() > FAR.max(2 * flow.window.most) {
            flow.restart(packet.seq);
            start = flow.top;
        }
        let end = start + i64::from(packet.payload);
        flow.packets += 1;
        if packet.payload <= 1 && end <= flow.una {
            return false; // keeps the connection, or asks for the window
        }
        let segments = flow.segments(packet);
        if flow.mss == 0 || (packet.payload > flow.mss && packet.payload < 1461) {
            flow.mss = packet.payload.min(1460);
        }
        if packet.payload <= flow.mss {
            flow.most = flow.most.max(packet.payload);
        }
        let full = i64::from(packet.payload) + OPTIONS >= flow.segment();
        flow.pushes |= full && flow.packets == 1;
        let seen = flow.seen(start, end);
        let missing = self.lost_before(side, (start, now), seen, around);
        self.settle_silent(side, Some((start, now)), events);
        let first = self.begin_message(side, now, (start, seen), events);
        if first {
            self.flows[1 - side].asked = Some((now, around.own));
        }
        let gap = self.gap(side, now, around, missing, first);
        self.queue_before(side, seen, &gap);
        let last = self.flows[side].last_data;
        if now - last > BREAK && self.flows[side].packets > 1 {
            let how = match seen {
                Seen::Again if end <= self.flows[side].una => Resumed::Acknowledged,
                Seen::Again | Seen::Missing => Resumed::Again,
                Seen::Next | Seen::Beyond => Resumed::New,
            };
            events.push(Event::Resumed { side, last, how });
        }
        let flow = &mut self.flows[side];
        let again = seen == Seen::Again && (start..end).contains(&flow.una);
        flow.tries.sent(packet.payload, again, packet.into());
        match seen {
            Seen::Again => self.again(packet, side, (start, end), &gap, events),
            Seen::Missing => self.missing(packet, side, (start, end), &gap, events),
            Seen::Next | Seen::Beyond => {
                if seen == Seen::Beyond {
                    let flow = &self.flows[side];
                    let packets = flow.new_packets(start);
                    let at_once = !gap.first && gap.now - flow.last_data <= gap.patience;
                    events.push(Event::Lost { side, packets, at_once });
                }
                self.fresh(packet, side, (start, end), seen, &gap, events);
            }
        }
        let flow = &mut self.flows[side];
        flow.advance(start, end, now);
        if seen == Seen::Next && flow.timed.is_none() {
            flow.timed = Some((end, now));
        }
        if let Some(message) = &mut flow.message {
            message.last = now;
            message.bytes = flow.top - message.first_byte;
            message.packets += segments;
            message.again += u32::from(matches!(seen, Seen::Again | Seen::Missing)) * segments;
        }
        flow.last_data = now;
        flow.last_place = packet.into();
        self.marks[side] = around.mark;
        // A request that is sent again does not end the wait for its answer.
        let asks_again = seen == Seen::Again && self.asks(side);
        if asks_again && let Some(message) = self.flows[side].message {
            events.push(Event::AskedAgain { side, asked: message.first, at: now });
        }
        asks_again
    }

    /// How many packets were lost before a segment, if its sender counts those of each connection.
    fn lost_before(
        &mut self,
        side: usize,
        (start, now): (i64, i64),
        seen: Seen,
        around: Around,
    ) -> Option<u32> {
        let quick = now - self.flows[side].last_data <= self.patience(around.round_trip);
        let flow = &mut self.flows[side];
        let missing = around.missing?;
        let new = flow.new_packets(start);
        // More than the window lets through cannot have been lost.
        let room = (flow.window.edge - flow.una).max(flow.window.most) / flow.segment();
        let hidden = missing.saturating_sub(new);
        // Nor so few packets, as timers double, in so long a time.
        let longest = TIMER << hidden.min(8);
        let long = hidden > 0 && flow.last_data > 0 && now - flow.last_data > longest;
        if long || flow.window.most > 0 && i64::from(hidden) > room + MOST_REPEATS {
            flow.ids.vote(false);
            flow.ids.vote(false);
            return None;
        }
        // While losses are repaired, retransmissions may be missing, too.
        let repairs = flow.una < flow.recover || flow.holes.first().is_some();
        let early = flow.early;
        if matches!(seen, Seen::Next | Seen::Beyond) {
            let agrees = missing <= new && new <= missing + early;
            flow.early = 0;
            if !quick && hidden > 0 && seen == Seen::Next {
                flow.ids.is_silent();
            }
            // What comes late may have been sent again, in vain.
            if agrees || quick && !repairs {
                flow.ids.vote(agrees);
                if new > 0 && missing == new {
                    flow.ids.matches();
                }
            }
        } else {
            flow.early += missing;
        }
        flow.surplus += hidden;
        let long = now - self.flows[side].last_data > SOON;
        Some(if seen == Seen::Next && long { missing + early } else { missing })
    }

    /// The silence before a segment that is seen now.
    fn gap(&self, side: usize, now: i64, around: Around, missing: Option<u32>, first: bool) -> Gap {
        let flow = &self.flows[side];
        // A handshake that took two attempts was a wait of its own.
        let opened = self.opened().unwrap_or(i64::MIN);
        let asked = flow.message.map_or(now, |message| message.start).max(opened);
        let start = if first { asked } else { flow.last_data.max(flow.last_advance) };
        let start = start.min(now);
        // Before an answer counts how the link was since it was asked for.
        let (since, mark) = match flow.asked {
            Some(asked) if first => asked,
            _ => (flow.last_data, self.marks[side]),
        };
        let idle = (around.mark.idle - mark.idle) as f64 / (now - since).max(1) as f64;
        Gap {
            start,
            now,
            quiet: now - self.last,
            patience: self.patience(around.round_trip),
            idle: idle.clamp(0.0, 1.0),
            before: self.last_place,
            missing: missing.filter(|_| around.counted),
            if_counted: missing.filter(|_| !around.counted),
            first,
            timer: around.timer,
        }
    }

    /// Begins a message if the other end spoke last; returns whether this is its first byte.
    fn begin_message(
        &mut self,
        side: usize,
        now: i64,
        (start, seen): (i64, Seen),
        events: &mut Vec<Event>,
    ) -> bool {
        if self.flows[side].message.is_some() || seen == Seen::Again {
            return false;
        }
        let asked = self.flows[1 - side].message.map(|message| message.first);
        self.end_message(1 - side, events);
        let first_byte = self.flows[side].top.min(start);
        // A SYN that was lost was the first attempt to ask, or to be asked.
        let again = self.flows.iter().filter_map(|flow| flow.syn_again).min();
        let begins = first_byte == 0 && !self.flows[1 - side].pushes;
        let tried = again.filter(|_| begins);
        let opened = self.opened().filter(|_| begins);
        let start = tried.or(asked).or(opened).unwrap_or(now);
        self.flows[side].message =
            Some(Message { start, first: now, last: now, first_byte, ..Message::default() });
        let opens = first_byte == 0 && self.opener == Some(side);
        events.push(Event::Begun { side, start, opens });
        true
    }

    /// Ends a message, and decides what its end decides.
    pub fn end_message(&mut self, side: usize, events: &mut Vec<Event>) {
        self.settle_silent(side, None, events);
        let Some(message) = self.flows[side].message.take() else { return };
        self.flush(side, events);
        events.push(Event::Ended { side, message });
    }

    /// A segment that was seen before: something behind the point is lost, or its ACK.
    fn again(
        &mut self,
        packet: &Packet,
        side: usize,
        (start, end): (i64, i64),
        gap: &Gap,
        events: &mut Vec<Event>,
    ) {
        if self.flows[side].pending.is_some() {
            self.give_up_resent(side, events);
        }
        let flow = &mut self.flows[side];
        flow.timed = None;
        if end <= flow.una {
            let first = gap.quiet > gap.patience;
            events.push(Event::InVain { side, first });
            return;
        }
        let at_una = start <= flow.una;
        let resent = start < flow.resent_top;
        let probe = end >= flow.top && start > flow.una && !resent;
        if at_una && !resent {
            events.push(Event::Lost { side, packets: 1, at_once: false });
        }
        // A probe of the window is one byte long; what is longer had been sent before.
        let asks_for_room = packet.payload <= 1 && flow.window.was_shut(gap.start);
        let stalled = gap.is_stall() && !asks_for_room && (at_una || probe);
        if stalled {
            let value = packet.options.timestamps.map(|stamps| stamps.value);
            let (top, dupacks) = (flow.top, flow.dupacks.max(flow.held as u32));
            let sacked = flow.sacked;
            let kind = Kind::Resent { top, dupacks, sacked, resent, probe, value };
            flow.pending = Some(gap.pending(kind, packet, start.max(flow.una), end));
        }
        if !(stalled && probe) {
            flow.resent_top = flow.resent_top.max(end);
        }
    }

    /// A segment that was missing: it was lost before the point, or comes late.
    fn missing(
        &mut self,
        packet: &Packet,
        side: usize,
        (start, end): (i64, i64),
        gap: &Gap,
        events: &mut Vec<Event>,
    ) {
        let trip = self.round_trip();
        let ends = (self.ends[side], self.ends[1 - side]);
        let sack = self.sack[0] && self.sack[1];
        let flow = &mut self.flows[side];
        let Some(hole) = flow.holes.at(start, end) else { return };
        flow.filled_late = flow.filled_late.max(gap.now - hole.made);
        if trip.is_some_and(|trip| gap.now - hole.made < trip / 2) {
            events.push(Event::Reordered { side });
            return;
        }
        let first = flow.holes.first().is_some_and(|first| first.start == hole.start);
        flow.holes.pass_over(start);
        let repairing = flow.una < flow.recover;
        // The segment after a repair may be refused a fast one (RFC 6582 §3.2, step 1).
        let after_repair = flow.recover > 0 && flow.una <= flow.recover;
        if first && (gap.is_stall() || !repairing) {
            // What was lost behind the last packet will be sent again, too.
            let surplus = gap.missing.map_or(0, |_| flow.surplus);
            let beyond = gap.beyond(surplus) * flow.segment();
            flow.recover = flow.top + if gap.is_stall() { beyond } else { 0 };
        }
        if !gap.is_stall() || !first {
            return;
        }
        // With SACK every packet behind a hole speaks for its loss, else a duplicate at `una` does.
        let duplicates = if sack { hole.behind.max(flow.dupacks) } else { flow.dupacks };
        let asked = repairing || duplicates >= 3;
        let alone = duplicates == 0 && hole.behind == 0;
        let lost = flow.surplus > 0;
        let cause = |lost: Option<bool>| match lost {
            None if hole.passed => (Ok(Cause::LostRetransmission), 0.9),
            Some(_) if hole.again => (Ok(Cause::LostRetransmission), 0.95),
            Some(true) if asked || alone => (Ok(Cause::LostRetransmission), 0.95),
            None if after_repair => (Err(UNNUMBERED), 0.5),
            None if asked => (Ok(Cause::LostRetransmission), 0.85),
            _ if alone => (Ok(Cause::FullWindow), 0.9),
            Some(_) => (Ok(Cause::LackOfDupacks), 0.95),
            None => (Ok(Cause::LackOfDupacks), 0.9),
        };
        let if_counted = gap.if_counted.and_then(|_| cause(Some(lost)).0.ok());
        let (cause, confidence) = cause(gap.missing.map(|_| lost));
        let mut stall = gap.stall(ends, packet, cause, confidence);
        stall.missing = gap.missing.map(|_| flow.surplus);
        stall.if_counted = if_counted;
        stall.behind = end;
        flow.unsettled.push(stall);
        self.limit(side, events);
    }

    /// New bytes: who was waited for, if anyone was?
    fn fresh(
        &mut self,
        packet: &Packet,
        side: usize,
        (start, end): (i64, i64),
        seen: Seen,
        gap: &Gap,
        events: &mut Vec<Event>,
    ) {
        self.rounds(side, gap, events);
        let length = gap.now - gap.start;
        if self.flows[side].window.was_shut(gap.start) {
            return; // the receiver's affair
        }
        let last = self.flows[side].last_data;
        let held = !gap.first && gap.now - last > gap.patience;
        if held && self.ack_was_held(side, gap.now, last) {
            events.push(Event::Waited { side, wait: gap.wait(Reason::DelayedAck, last, packet) });
            return;
        }
        if self.asks(side) {
            return; // when to ask is the client's own affair
        }
        let lost = gap.missing.is_some_and(|missing| missing > 0);
        let unasked = gap.first && start == 0 && self.opener == Some(side);
        let quick = gap.patience.max(if lost && !unasked { 0 } else { SOON });
        // While others' packets kept the link busy, it waited for its turn.
        if length <= quick || !gap.link_idled() && !(lost && length > LONG) {
            return;
        }
        let selective = self.sack[0] && self.sack[1];
        if seen == Seen::Beyond {
            if selective && length > SOON {
                let ends = (self.ends[side], self.ends[1 - side]);
                let mut stall = gap.stall(ends, packet, Ok(Cause::FullWindow), 0.8);
                stall.ended = Ended::Probe;
                stall.behind = i64::MIN;
                self.flows[side].unsettled.push(stall);
            }
            return;
        }
        let probes = selective && !self.near(1 - side);
        let flow = &mut self.flows[side];
        if probes && flow.una < flow.top && gap.is_stall() {
            // What is outstanding was not acknowledged meanwhile. If it is not now, this is a probe.
            let arrived = flow.sacked || flow.dupacks > 0;
            let kind = Kind::Probed { una: flow.una, arrived };
            flow.pending = Some(gap.pending(kind, packet, start, end));
            return;
        }
        let again = start < flow.recover;
        if let Some(missing @ 1..) = gap.missing {
            // All of them are sent again.
            let all = gap.beyond(missing) * flow.segment();
            flow.recover = flow.recover.max(start + all);
        }
        let kind = Kind::Silent {
            first: gap.first,
            again,
            missing: gap.missing,
            if_counted: gap.if_counted,
        };
        flow.pending = Some(gap.pending(kind, packet, start, end));
    }

    /// Whether the rounds of packets end where the window does.
    fn rounds(&mut self, side: usize, gap: &Gap, events: &mut Vec<Event>) {
        let Some(trip) = self.round_trip() else { return };
        let flow = &mut self.flows[side];
        if gap.first {
            flow.round_edge = flow.window.edge;
        } else if gap.now - flow.last_data > trip * 2 / 5 && gap.now - flow.last_data < 3 * trip {
            let full = flow.top + flow.segment() > flow.round_edge && flow.round_edge > 0;
            events.push(Event::Round { side, full });
            flow.round_edge = flow.window.edge;
        }
    }

    /// Keeps the number of undecided stalls small.
    pub fn limit(&mut self, side: usize, events: &mut Vec<Event>) {
        if self.flows[side].unsettled.len() >= 64 {
            self.flush(side, events);
        }
    }

    /// Gives out the stalls of a message whose end is known.
    fn flush(&mut self, side: usize, events: &mut Vec<Event>) {
        let flow: &mut Flow = &mut self.flows[side];
        let (top, segment) = (flow.top, flow.segment());
        for mut stall in std::mem::take(&mut flow.unsettled) {
            stall.near_end = top.saturating_sub(stall.behind) <= 2 * segment;
            if stall.cause == Ok(Cause::LackOfDupacks) && stall.near_end {
                stall.cause = Ok(Cause::Tail);
            }
            events.push(Event::Stalled { side, stall });
        }
    }

    /// Decides about a silence before new bytes: by the next packet, or without it by the end.
    pub fn settle_silent(
        &mut self,
        side: usize,
        next: Option<(i64, i64)>,
        events: &mut Vec<Event>,
    ) {
        let (trip, patience) = (self.round_trip().unwrap_or(0), self.patience(1_000_000));
        let ends = (self.ends[side], self.ends[1 - side]);
        let flow = &mut self.flows[side];
        let Some(pending) = flow.pending else { return };
        let Kind::Silent { first, again, missing, if_counted } = pending.kind else { return };
        flow.pending = None;
        // A timer sends one full segment; what follows comes a round trip later, or is farther on.
        let full = (flow.segment() - OPTIONS).max(FULL)..=flow.segment();
        let single = full.contains(&(pending.to - pending.from));
        let alone =
            next.is_some_and(|(start, now)| now - pending.end > trip / 2 || start > pending.to);
        let mut cause = match missing {
            Some(0) => None,
            Some(_) if again => Some((Ok(Cause::LostRetransmission), 0.95)),
            Some(_) => Some((Ok(Cause::FullWindow), 0.97)),
            // Nothing was seen of a loss: this may be a timer's segment, and is no proof of one.
            None if single && alone => Some((Err(NO_WITNESS), 0.5)),
            None => None,
        };
        let mut span = (pending.start, pending.end);
        let asked = if first { self.asked_again.take() } else { None };
        if let Some(stall) = asked {
            if matches!(stall.cause, Ok(Cause::AckLoss | Cause::Spurious)) {
                // The server had the request, and what it had answered did not arrive: its own
                // timer has sent it again. The client's timer for the same loss is no second wait.
                cause = Some((Ok(Cause::FullWindow), 0.85));
            } else {
                // An answer that comes much later than the request was sent again waited by itself.
                let apart = missing.is_some_and(|missing| missing > 0)
                    && pending.end - stall.end > patience;
                span.0 = if apart { stall.end } else { span.0 };
                if apart || missing.unwrap_or(0) == 0 {
                    events.push(Event::Stalled { side: 1 - side, stall });
                    if !apart {
                        return;
                    }
                }
            }
        }
        let Some((cause, confidence)) = cause else {
            let reason = if first { Reason::FirstByte } else { Reason::Middle };
            let (before, after) = (pending.before, pending.after);
            let (start, end) = span;
            let wait = Wait { reason, start, end, before, after, idle: pending.idle };
            events.push(Event::Waited { side, wait });
            return;
        };
        let flow = &mut self.flows[side];
        flow.unsettled.push(Stall {
            sender: ends.0,
            receiver: ends.1,
            start: span.0,
            end: span.1,
            ended: Ended::Timeout,
            cause,
            confidence,
            idle: pending.idle,
            frames: vec![pending.before, pending.after],
            behind: i64::MIN,
            upstream: false,
            near_end: false,
            missing,
            proven: false,
            restart: missing.is_none(),
            if_counted: if_counted
                .filter(|lost| *lost > 0)
                .map(|_| if again { Cause::LostRetransmission } else { Cause::FullWindow }),
            void: false,
        });
        if cause.is_ok() {
            let packets = missing.unwrap_or(1);
            events.push(Event::Lost { side, packets, at_once: false });
        }
        self.limit(side, events);
    }
}

impl Gap {
    /// Whether this is longer than any round trip. Where the link was busy, a long queue may have
    /// held the packet.
    fn is_stall(&self) -> bool {
        let timer = self.timer.map_or(LONG, |timer| timer * 3 / 4);
        self.quiet > self.patience
            && (self.link_idled() || self.quiet > timer.max(4 * self.patience))
    }

    /// Whether the link was idle for more than a round trip meanwhile: its queue was empty then.
    fn link_idled(&self) -> bool {
        self.idle >= IDLE && self.idle * self.quiet as f64 > self.patience as f64
    }

    /// A wait without a loss, which a packet has ended.
    fn wait(&self, reason: Reason, start: i64, packet: &Packet) -> Wait {
        let (before, after) = (self.before, packet.into());
        Wait { reason, start, end: self.now, before, after, idle: self.idle }
    }

    /// How many of the lost packets were sent before the wait, and not by its timer.
    fn beyond(&self, lost: u32) -> i64 {
        let most = i32::try_from(lost).unwrap_or(i32::MAX).clamp(1, 8);
        let timer = self.timer.unwrap_or(i64::MAX);
        let again = chain::expiries(self.now - self.start, timer, most) - 1;
        (i64::from(lost) - i64::from(again)).max(0)
    }

    fn pending(&self, kind: Kind, packet: &Packet, from: i64, to: i64) -> Pending {
        Pending {
            start: self.start,
            end: self.now,
            idle: self.idle,
            before: self.before,
            after: packet.into(),
            kind,
            from,
            to,
        }
    }

    fn stall(
        &self,
        (sender, receiver): (Endpoint, Endpoint),
        packet: &Packet,
        cause: Result<Cause, &'static str>,
        confidence: f64,
    ) -> Stall {
        Stall {
            sender,
            receiver,
            start: self.start,
            end: self.now,
            ended: Ended::Timeout,
            cause,
            confidence,
            idle: self.idle,
            frames: vec![self.before, packet.into()],
            behind: i64::MIN,
            upstream: false,
            near_end: false,
            missing: None,
            proven: true,
            restart: false,
            if_counted: None,
            void: false,
        }
    }
}
