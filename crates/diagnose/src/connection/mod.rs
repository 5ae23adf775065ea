//! A connection: the packets of both ends, and what they show together.
//!
//! A packet opens the connection (`opening`), acknowledges data (`acknowledge`) or carries data
//! (`data`). A segment of data is classified by the silence before it (`gap`) and by its bytes: new
//! (`fresh`), seen before (`again`) or missing so far (`missing`). Later packets decide the cases
//! that are then still open (`resent`, `silent`).

use incast_capture::read::{Endpoint, Packet, flags};

use crate::event::Event;
use crate::flow::Flow;
use crate::load::Mark;
use crate::numbering::{Numbering, Votes};
use crate::stall::{Place, Stall};
use crate::time::{Span, Time};
use crate::trip::Trips;

mod acknowledge;
mod again;
mod black_hole;
mod data;
mod fresh;
mod gap;
mod message;
mod missing;
mod numbers;
mod opening;
mod queue;
mod resent;
mod silent;
#[cfg(test)]
mod tests;

/// What is known of the place of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The load of the host that it goes to, and of the one that it comes from.
    pub mark: Mark,
    pub own: Mark,
    /// A round trip to use before one was seen.
    pub round_trip: Span,
    /// How many packets are missing before it, and whether its sender counts those of each
    /// connection.
    pub missing: Option<u32>,
    pub counted: bool,
    /// The usual timer, as far as waits have shown it.
    pub timer: Option<Span>,
}

/// A connection that is open.
#[derive(Debug)]
pub struct Connection {
    /// A number of its own.
    pub serial: u64,
    ends: [Endpoint; 2],
    /// Where its hosts are in the lists of the point.
    pub hosts: [usize; 2],
    /// Whether each end was heard.
    spoken: [bool; 2],
    /// Its packets were in the file before: only new bytes count.
    replayed: bool,
    /// What each end sends.
    flows: [Flow; 2],
    /// How long each end takes to answer.
    trips: Trips,
    /// The end that opened it.
    opener: Option<usize>,
    sack: [bool; 2],
    /// When each end was last heard, and when any.
    heard: [Time; 2],
    last: Time,
    last_place: Place,
    /// The load of the receiver of each flow when it last was heard.
    marks: [Mark; 2],
    reset: bool,
    /// A request that was sent again, and not yet answered.
    asked_again: Option<Stall>,
}

impl Connection {
    pub fn new(serial: u64, ends: [Endpoint; 2], hosts: [usize; 2], now: Time) -> Self {
        Self {
            serial,
            ends,
            hosts,
            spoken: [false; 2],
            replayed: false,
            flows: Default::default(),
            trips: Trips::default(),
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

    /// How long both ends take to answer.
    pub fn trips(&self) -> &Trips {
        &self.trips
    }

    /// When any packet was seen last.
    pub fn last(&self) -> Time {
        self.last
    }

    /// Which ends were heard.
    pub fn spoken(&self) -> [bool; 2] {
        self.spoken
    }

    /// An end was heard.
    pub fn speak(&mut self, side: usize) {
        self.spoken[side] = true;
    }

    /// What an end sends.
    pub fn flow(&self, side: usize) -> &Flow {
        &self.flows[side]
    }

    /// The same, for what is counted before any inference.
    pub fn flow_mut(&mut self, side: usize) -> &mut Flow {
        &mut self.flows[side]
    }

    /// The end that sends more.
    pub fn sender(&self) -> usize {
        usize::from(self.flows[1].bytes.top() > self.flows[0].bytes.top())
    }

    /// Whether both ends understand selective acknowledgments.
    pub fn is_selective(&self) -> bool {
        self.sack[0] && self.sack[1]
    }

    /// How many packets the numbers of IP packets say are missing before one of an end.
    pub fn missing_before(
        &mut self,
        packet: &Packet,
        side: usize,
        numbering: &mut Numbering,
    ) -> Option<u32> {
        let number = (2 * self.serial + side as u64) as u32;
        self.flows[side].missing_before(packet, numbering, (self.hosts[side], number))
    }

    /// What the numbers of packets of an end have shown since the last call.
    pub fn votes(&mut self, side: usize) -> Votes {
        self.flows[side].ids.collect()
    }

    /// The ends of a flow, its sender first.
    fn ends_of(&self, side: usize) -> (Endpoint, Endpoint) {
        (self.ends[side], self.ends[1 - side])
    }

    /// Whether an end sends requests: it opened the connection, or the other one sends full
    /// segments, and it has sent less.
    fn asks(&self, side: usize) -> bool {
        let (own, other) = (&self.flows[side], &self.flows[1 - side]);
        let opened_other = self.opener == Some(1 - side);
        if own.segments.pushes() {
            return !opened_other && own.bytes.top() < other.bytes.top();
        }
        if other.segments.pushes() {
            return own.bytes.top() <= other.bytes.top();
        }
        let most = if self.opener == Some(side) { own.segments.usual() } else { 0 };
        !opened_other && own.bytes.top() <= other.bytes.top().max(most)
    }

    /// Whether nothing more is expected.
    pub fn over(&self) -> bool {
        self.reset || self.flows.iter().all(|flow| flow.bytes.are_done())
    }

    /// Takes a packet.
    pub fn handle(&mut self, packet: &Packet, around: Around, events: &mut Vec<Event>) {
        let side = usize::from(packet.source != self.ends[0]);
        let now = Time::of(packet).max(self.last);
        if packet.has(flags::SYN) {
            self.open(packet, side, now, events);
            // From here on, an end that speaks first is waited for.
            self.flows[side].waiting.ask(now, around.mark);
            self.flows[1 - side].waiting.ask(now, around.own);
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
            self.flows[side].bytes.close();
        }
        self.heard[side] = now;
        if !asks_again {
            self.last = now;
            self.last_place = packet.into();
        }
    }

    /// The end of all that is open, when the capture ends `now`, or the connection did.
    pub fn finish(&mut self, now: Time, events: &mut Vec<Event>) {
        for side in 0..2 {
            self.tell_black_hole(side, now, events);
        }
        for side in 0..2 {
            self.stay_paused(side, events);
            self.settle_silent(side, None, events);
            self.give_up_resent(side, events);
            self.end_message(side, events);
        }
        if let Some(stall) = self.asked_again.take().filter(Stall::is_its_own) {
            let side = usize::from(stall.sender != self.ends[0]);
            events.push(Event::Stalled { side, stall });
        }
    }
}
