//! A connection: the packets of its two ends, and the losses and waits that they show together.
//!
//! A packet opens the connection (`opening`), acknowledges data (`acknowledge`) or carries data
//! (`data`). A segment of data is classified by the silence before it (`gap`) and by its bytes,
//! which are new, seen before (`again`) or missing so far (`missing`). Later packets decide the
//! cases that remain open (`resent`, `silent`).

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
mod gap;
mod missing;
mod numbers;
mod opening;
mod ordinary;
mod resent;
mod silent;
#[cfg(test)]
mod tests;

pub use ordinary::Told;

/// The state of the vantage point when a packet is seen.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The load of the receiving host, and of the sending host.
    pub mark: Mark,
    pub own: Mark,
    /// The round-trip time that is assumed until one has been measured.
    pub round_trip: Span,
    /// Number of packets that are missing before this packet, and whether its sender counts the
    /// packets of each connection separately.
    pub missing: Option<u32>,
    pub counted: bool,
    /// The usual timer, if enough waits have shown one.
    pub timer: Option<Span>,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    /// The number of the connection.
    pub serial: u64,
    ends: [Endpoint; 2],
    /// The indices of the connection's two hosts in the lists of the point.
    pub hosts: [usize; 2],
    /// Whether each end has sent a packet.
    spoken: [bool; 2],
    /// Whether the file repeats packets of the connection, so that only packets with new bytes
    /// count.
    replayed: bool,
    /// The flow of each end.
    flows: [Flow; 2],
    /// The times that the ends take to answer.
    trips: Trips,
    /// The end that opened the connection.
    opener: Option<usize>,
    sack: [bool; 2],
    /// Time of each end's last packet, and time and place of the connection's last packet.
    heard: [Time; 2],
    last: Time,
    last_place: Place,
    /// The load of each flow's receiver at the receiver's last packet.
    marks: [Mark; 2],
    reset: bool,
    /// A request that was sent again, and has not been answered yet.
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

    /// The times that the two ends take to answer.
    pub fn trips(&self) -> &Trips {
        &self.trips
    }

    /// Time of the last packet.
    pub fn last(&self) -> Time {
        self.last
    }

    /// Whether each end has sent a packet.
    pub fn spoken(&self) -> [bool; 2] {
        self.spoken
    }

    /// Notes that an end has sent a packet.
    pub fn speak(&mut self, side: usize) {
        self.spoken[side] = true;
    }

    /// The flow of an end.
    pub fn flow(&self, side: usize) -> &Flow {
        &self.flows[side]
    }

    /// The flow of an end, mutably, for counts that are made before any inference.
    pub fn flow_mut(&mut self, side: usize) -> &mut Flow {
        &mut self.flows[side]
    }

    /// The end that sends more.
    pub fn sender(&self) -> usize {
        usize::from(self.flows[1].bytes.top() > self.flows[0].bytes.top())
    }

    /// Whether the two ends understand selective acknowledgments.
    pub fn is_selective(&self) -> bool {
        self.sack[0] && self.sack[1]
    }

    /// Number of packets that are missing before a packet of an end, according to the
    /// identifications of IP packets.
    pub fn missing_before(
        &mut self,
        packet: &Packet,
        side: usize,
        numbering: &mut Numbering,
    ) -> Option<u32> {
        let number = (2 * self.serial + side as u64) as u32;
        self.flows[side].missing_before(packet, numbering, (self.hosts[side], number))
    }

    /// The votes on an end's identifications since the last call.
    pub fn votes(&mut self, side: usize) -> Votes {
        self.flows[side].ids.collect()
    }

    /// The ends of a flow, its sender first.
    fn ends_of(&self, side: usize) -> (Endpoint, Endpoint) {
        (self.ends[side], self.ends[1 - side])
    }

    /// Whether an end sends requests. The end that sends requests has sent fewer bytes than the
    /// other end. In addition, the requesting end opened the connection, or the other end sends
    /// full segments.
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

    /// Whether a packet was in the file before. This is so if the SYN of the connection came again,
    /// with the same sequence number and the same identification, and the packet has no new bytes.
    pub fn is_replay(&mut self, packet: &Packet, side: usize) -> bool {
        let flow = &mut self.flows[side];
        if packet.has(flags::SYN) {
            let same = flow.opening.is_copy(packet);
            self.replayed |= same;
            return same;
        }
        if self.replayed {
            let end = flow.bytes.start_of(packet.seq) + i64::from(packet.payload);
            self.replayed = end <= flow.bytes.top();
        }
        self.replayed
    }

    /// Whether no more packets are expected.
    pub fn over(&self) -> bool {
        self.reset || self.flows.iter().all(|flow| flow.bytes.are_done())
    }

    /// Takes a packet.
    pub fn handle(&mut self, packet: &Packet, around: Around, events: &mut Vec<Event>) {
        let side = usize::from(packet.source != self.ends[0]);
        let now = Time::of(packet).max(self.last);
        if packet.has(flags::SYN) {
            self.open(packet, side, now, events);
            // From now on, each end may wait for the first data of the other end.
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

    /// Ends everything that is open, because the capture or the connection ends `now`.
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
