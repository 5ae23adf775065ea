//! A connection: the packets of both ends, and what they say of each other.

use incast_capture::read::{Endpoint, Packet, flags};

use crate::event::{Event, Reason, Wait};
use crate::flow::{Flow, Kind};
use crate::load::Mark;
use crate::stall::{Cause, Ended, Place, Stall};
use crate::trip::Trip;
use crate::window::Shut;

/// No timer of a SYN is shorter (RFC 6298 §2.1: a second; some stacks ask sooner).
const SYN_TIMER: i64 = 100_000_000;

/// What is known of the place of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The load of the host that it goes to, and of the one that it comes from.
    pub mark: Mark,
    pub own: Mark,
    /// A round trip to use before one was seen.
    pub round_trip: i64,
    /// How many packets are missing before it, and whether its sender counts those of each
    /// connection.
    pub missing: Option<u32>,
    pub counted: bool,
    /// The usual timer, as far as waits have shown it.
    pub timer: Option<i64>,
}

/// A connection that is open.
#[derive(Debug)]
pub struct Connection {
    /// A number of its own.
    pub serial: u64,
    pub ends: [Endpoint; 2],
    /// Where its hosts are in the lists of the point.
    pub hosts: [usize; 2],
    /// Whether each end was heard.
    pub spoken: [bool; 2],
    /// Its packets were in the file before: only new bytes count.
    pub replayed: bool,
    /// What each end sends.
    pub flows: [Flow; 2],
    /// How long each end takes to answer.
    pub trips: [Trip; 2],
    /// The end that opened it.
    pub opener: Option<usize>,
    pub sack: [bool; 2],
    /// When each end was last heard, and when any.
    pub heard: [i64; 2],
    pub last: i64,
    pub last_place: Place,
    /// The load of the receiver of each flow when it last was heard.
    pub marks: [Mark; 2],
    pub reset: bool,
    /// A request that was sent again, and not yet answered.
    pub asked_again: Option<Stall>,
}

impl Connection {
    pub fn new(serial: u64, ends: [Endpoint; 2], hosts: [usize; 2], now: i64) -> Self {
        Self {
            serial,
            ends,
            hosts,
            spoken: [false; 2],
            replayed: false,
            flows: Default::default(),
            trips: Default::default(),
            opener: None,
            sack: [false; 2],
            heard: [now; 2],
            last: now,
            last_place: Place::default(),
            marks: [Mark::default(); 2],
            reset: false,
            asked_again: None,
        }
    }

    /// The shortest round trip seen, both parts of it.
    pub fn round_trip(&self) -> Option<i64> {
        Some(self.trips[0].least()? + self.trips[1].least()?)
    }

    /// The longest that was no pause.
    pub fn slow_round_trip(&self) -> i64 {
        self.trips[0].most() + self.trips[1].most()
    }

    /// A silence of more than this is no ordinary round trip.
    pub fn patience(&self, fallback: i64) -> i64 {
        match self.round_trip() {
            Some(trip) => (2 * trip).max(self.slow_round_trip() * 3 / 2),
            None => 3 * fallback,
        }
        .max(100_000)
    }

    /// Whether an end sends requests: it opened the connection, or the other one sends full
    /// segments, and it has sent less.
    pub fn asks(&self, side: usize) -> bool {
        let (own, other) = (&self.flows[side], &self.flows[1 - side]);
        if own.pushes {
            return self.opener != Some(1 - side) && own.top < other.top;
        }
        if other.pushes {
            return own.top <= other.top;
        }
        let most = if self.opener == Some(side) { own.segment() } else { 0 };
        self.opener != Some(1 - side) && own.top <= other.top.max(most)
    }

    /// Whether a SYN opens another connection of the same ends.
    pub fn ends_before(&self, packet: &Packet, side: usize) -> bool {
        let known = self.flows[side].syn.map(|(_, seq, _)| seq);
        self.over() || self.reset || known != Some(packet.seq) && self.flows[side].begun()
    }

    /// Whether a packet was in the file before: its SYN came again, with the same number, when
    /// data had been seen, and it brings nothing new.
    pub fn is_replay(&mut self, packet: &Packet, side: usize) -> bool {
        let flow = &mut self.flows[side];
        if packet.has(flags::SYN) {
            let same = flow.syn.is_some_and(|(_, seq, _)| seq == packet.seq)
                && flow.syn_id.is_some()
                && flow.syn_id == packet.id;
            self.replayed |= same;
            return same;
        }
        if !self.replayed {
            return false;
        }
        let end = flow.start_of(packet.seq) + i64::from(packet.payload);
        self.replayed = end <= flow.top;
        self.replayed
    }

    /// Whether nothing more is expected.
    pub fn over(&self) -> bool {
        let done = |flow: &Flow| flow.closed && flow.una >= flow.top;
        self.reset || self.flows.iter().all(done)
    }

    /// Takes a packet.
    pub fn handle(&mut self, packet: &Packet, around: Around, events: &mut Vec<Event>) {
        let side = usize::from(packet.source != self.ends[0]);
        let now = packet.time.max(self.last);
        if packet.has(flags::SYN) {
            self.open(packet, side, now, events);
            // From here on, an end that speaks first is waited for.
            self.flows[side].asked = Some((now, around.mark));
            self.flows[1 - side].asked = Some((now, around.own));
        } else {
            self.time_stamps(packet, side, now);
        }
        if packet.has(flags::RST) {
            self.reset = true;
        } else if packet.has(flags::ACK) {
            self.acknowledge(packet, side, (now, around.round_trip), events);
        }
        let data = packet.payload > 0 && !packet.has(flags::SYN);
        if packet.payload == 0 {
            self.flows[side].announce(packet, now);
        }
        let asks_again = data && self.data(packet, side, now, around, events);
        if packet.has(flags::FIN) {
            self.flows[side].closed = true;
        }
        self.heard[side] = now;
        if !asks_again {
            self.last = now;
            self.last_place = packet.into();
        }
    }

    /// A SYN or SYN-ACK.
    fn open(&mut self, packet: &Packet, side: usize, now: i64, events: &mut Vec<Event>) {
        if !packet.has(flags::ACK) {
            self.opener = Some(side);
        }
        let flow = &mut self.flows[side];
        let before = flow.syn.filter(|&(_, seq, _)| seq == packet.seq);
        match before {
            // An answer by a reset refuses the first attempt; the next one is not for a loss.
            Some(_) if self.reset => {}
            Some((sent, _, place)) => {
                flow.syn_again = flow.syn_again.or(Some(sent));
                if now - sent > SYN_TIMER {
                    let stall = Stall {
                        sender: self.ends[side],
                        receiver: self.ends[1 - side],
                        start: sent,
                        end: now,
                        ended: Ended::Timeout,
                        cause: Ok(Cause::Handshake),
                        confidence: 0.99,
                        idle: 1.0,
                        frames: vec![place, packet.into()],
                        behind: 0,
                        upstream: true,
                        near_end: false,
                        missing: None,
                        proven: true,
                        restart: false,
                        if_counted: None,
                        void: false,
                    };
                    events.push(Event::Stalled { side, stall });
                }
            }
            None => flow.open(packet.seq),
        }
        flow.syn = Some((now, packet.seq, packet.into()));
        flow.syn_id = packet.id.filter(|id| *id != 0);
        flow.mss = packet.options.mss.unwrap_or(0).into();
        self.flows[1 - side].window.scale = packet.options.scale.or(Some(0));
        self.sack[side] = packet.options.sack_permitted;
        if packet.has(flags::ACK) && before.is_none() {
            // Windows are shifted only if both ends say so (RFC 7323 §2.2).
            if packet.options.scale.is_none() {
                self.flows[side].window.scale = Some(0);
            }
            if let Some((sent, ..)) = self.flows[1 - side].syn {
                self.trips[side].take(now - sent, 0);
            }
            // No segment is longer than what both accept.
            let least = self.flows[0].mss.min(self.flows[1].mss);
            self.flows[0].mss = least;
            self.flows[1].mss = least;
        }
    }

    /// Timestamps: an answer echoes what it has heard.
    fn time_stamps(&mut self, packet: &Packet, side: usize, now: i64) {
        let Some(stamps) = packet.options.timestamps else { return };
        let other = &mut self.flows[1 - side];
        if let Some((value, sent)) = other.stamped
            && stamps.echo.wrapping_sub(value) as i32 >= 0
        {
            other.stamped = None;
            self.trips[side].take(now - sent, now - self.last);
        }
        let own = &mut self.flows[side];
        let newer = own.stamp.is_none_or(|last| stamps.value.wrapping_sub(last) as i32 > 0);
        if newer {
            own.stamp = Some(stamps.value);
            if own.stamped.is_none() {
                own.stamped = Some((stamps.value, now));
            }
        }
    }

    /// What a packet says of the bytes of the other end.
    fn acknowledge(
        &mut self,
        packet: &Packet,
        side: usize,
        (now, usual): (i64, i64),
        events: &mut Vec<Event>,
    ) {
        let from = 1 - side;
        let quiet = now - self.last;
        let greets = self.flows[side].start_of(packet.seq) == 0;
        let mut flow = &mut self.flows[from];
        let fresh = !flow.begun();
        let ack = flow.acked(packet.ack);
        let duplicate = duplicate_range(packet);
        if packet.has(flags::SYN) {
            flow.una = flow.una.max(0);
            flow.window.opens(packet.window);
            return;
        }
        let end_of_fin = i64::from(flow.closed);
        if !fresh && ack > flow.top + end_of_fin {
            events.push(Event::Unseen { side: from, bytes: ack - flow.top });
        }
        let unseen = flow.holes.settle(ack);
        if unseen > 0 {
            events.push(Event::Unseen { side: from, bytes: unseen });
        }
        flow.top = flow.top.max(ack - end_of_fin);
        if let Some((sent, ..)) = flow.syn
            && !flow.greeted
        {
            flow.greeted = true;
            // After a second SYN, or lost packets, this would be no round trip; nor is it if the
            // opener's SYN was answered before, and an ACK is for its data.
            let answers = self.opener != Some(from) || packet.payload > 0;
            if flow.syn_again.is_none() && greets && answers {
                self.trips[side].guess(now - sent, 0, usual);
            }
        }
        if ack > flow.una {
            if let Some((end, sent)) = flow.timed
                && ack >= end
            {
                flow.timed = None;
                self.queue_behind(side, (sent, now), ack == end);
                self.trips[side].guess(now - sent, quiet, usual);
                flow = &mut self.flows[from];
            }
            if flow.syn.is_some() && flow.top == 0 {
                flow.una = ack;
            }
            if flow.message.is_some() {
                events.push(flow.acked_event(from, ack, now));
            }
        } else if ack == flow.una && packet.payload == 0 && flow.top > flow.una {
            flow.dupacks += 1;
            flow.held += 1;
            flow.held_top = flow.top;
        }
        flow.sacked |= !packet.options.sacks().is_empty() && duplicate.is_none();
        self.settle_resent(from, ack, packet, duplicate, now, events);
        let flow = &mut self.flows[from];
        if ack > flow.una {
            flow.acknowledged(ack, now);
        }
        let trip = self.round_trip().unwrap_or(0);
        let flow = &mut self.flows[from];
        let ends = packet.has(flags::FIN) || flow.closed;
        let segment = flow.segment();
        // It had let nothing through since the last packet that it had room for was there.
        let last = flow.last_data + trip;
        let full = flow.window.used_up(flow.top, segment) && flow.packets > 0 && last < now;
        let since = if full { (last, flow.last_place) } else { (now, packet.into()) };
        if let Some(shut) =
            flow.window.offer((packet.window, ack), segment, [since, (now, packet.into())], ends)
        {
            events.push(Self::paused(from, shut, false));
        }
    }

    /// Reports a window that let no segment through.
    fn paused(side: usize, shut: Shut, lasts: bool) -> Event {
        let Shut { since: start, until: end, places: (before, after) } = shut;
        let reason = if lasts { Reason::StillPaused } else { Reason::Paused };
        Event::Waited { side, wait: Wait { reason, start, end, before, after, idle: 1.0 } }
    }

    /// Whether a silence of a flow was ended by an ACK that the other end had held.
    pub fn ack_was_held(&self, side: usize, now: i64, start: i64) -> bool {
        let heard = self.heard[1 - side];
        let patience = self.patience(1_000_000);
        // It spoke late in the silence, and the sender went on at once.
        let late = heard - start > patience && now - heard <= patience;
        let bare = self.flows[1 - side].last_data < heard;
        late && bare && self.flows[side].last_advance == heard
    }

    /// Whether the point is at an end, so that what the other one answers may be lost before it.
    pub fn near(&self, side: usize) -> bool {
        let (own, other) = (self.trips[side].least(), self.trips[1 - side].least());
        own.unwrap_or(0) * 4 < other.unwrap_or(1)
    }

    /// When the handshake was over, as far as it was seen.
    pub fn opened(&self) -> Option<i64> {
        self.flows.iter().filter_map(|flow| flow.syn.map(|(sent, ..)| sent)).max()
    }

    /// The end of all that is open, when the capture ends `now`, or the connection did.
    pub fn finish(&mut self, now: i64, events: &mut Vec<Event>) {
        for side in 0..2 {
            self.tell_black_hole(side, now, events);
        }
        for side in 0..2 {
            if let Some(shut) = self.flows[side].window.at_end(self.last, self.last_place) {
                events.push(Self::paused(side, shut, true));
            }
            self.settle_silent(side, None, events);
            if let Some(pending) = self.flows[side].pending
                && matches!(pending.kind, Kind::Resent { .. })
            {
                self.give_up_resent(side, events);
            }
            self.end_message(side, events);
        }
        if let Some(stall) = self.asked_again.take() {
            let side = usize::from(stall.sender != self.ends[0]);
            events.push(Event::Stalled { side, stall });
        }
    }
}

/// The range that a D-SACK reports: below the ACK, or inside the second block (RFC 2883 §4).
pub fn duplicate_range(packet: &Packet) -> Option<(u32, u32)> {
    let blocks = packet.options.sacks();
    let &(start, end) = blocks.first()?;
    let below = packet.ack.wrapping_sub(end) as i32 >= 0;
    let inside = blocks.get(1).is_some_and(|&(left, right)| {
        start.wrapping_sub(left) as i32 >= 0 && right.wrapping_sub(end) as i32 >= 0
    });
    (below || inside).then_some((start, end))
}
