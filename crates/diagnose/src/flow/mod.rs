//! One direction of a connection: what was seen of its bytes, and what was acknowledged.

use incast_capture::read::{Packet, flags};

use crate::event::Event;
use crate::intake::Trail;
use crate::numbering::{Ids, Numbering};
use crate::stall::Place;
use crate::time::{Span, Time};

mod bytes;
mod hidden;
mod holes;
mod opening;
mod queued;
mod repair;
mod rounds;
mod segments;
mod timing;
mod tries;
mod waiting;
mod window;

pub use bytes::Seen;
pub use holes::Hole;
pub use queued::LONGEST as LONGEST_QUEUE;
pub use rounds::Rounds;
pub use waiting::{Kind, Pending, Probed, Resent, Silent};
pub use window::Shut;

/// The state of one direction, in parts; what concerns several of them is decided here.
#[derive(Debug, Default)]
pub struct Flow {
    pub opening: opening::Opening,
    pub bytes: bytes::Bytes,
    pub segments: segments::Segments,
    pub window: window::Window,
    pub repair: repair::Repair,
    pub tries: tries::Tries,
    pub ids: Ids,
    pub hidden: hidden::Hidden,
    pub trail: Trail,
    pub timing: timing::Timing,
    pub queued: queued::Queued,
    pub rounds: Rounds,
    pub waiting: waiting::Waiting,
    /// The last packet of data, and when the first missing byte moved.
    last_data: Time,
    last_place: Place,
    last_advance: Time,
}

impl Flow {
    /// When its last data was seen.
    pub fn last_data(&self) -> Time {
        self.last_data
    }

    /// Where that was.
    pub fn last_place(&self) -> Place {
        self.last_place
    }

    /// When the first byte that is not acknowledged moved last.
    pub fn last_advance(&self) -> Time {
        self.last_advance
    }

    /// The first byte of a segment of data, and the one behind it.
    pub fn place(&mut self, packet: &Packet) -> (i64, i64) {
        let start = self.bytes.place(packet.seq, self.window.most());
        (start, start + i64::from(packet.payload))
    }

    /// How many packets are missing before this one by its identification. Those before a packet
    /// without data are reported with the next data. `who` is the place of its host, and its number.
    pub fn missing_before(
        &mut self,
        packet: &Packet,
        numbering: &mut Numbering,
        who: (usize, u32),
    ) -> Option<u32> {
        let id = packet.id?;
        if packet.has(flags::SYN) && packet.has(flags::ACK) && id == 0 {
            numbering.host(who.0).opened_bare();
            return None;
        }
        let data = packet.payload > 0;
        let segments = if data { self.segments.within(packet.payload) } else { 1 };
        let missing = numbering.take(who, &mut self.ids, id, segments)?;
        if data {
            return Some(missing + self.ids.kept());
        }
        self.ids.keep(missing);
        None
    }

    /// Whether a packet has an older number than those before it, and nothing that was missing: it is
    /// a copy.
    pub fn is_old(&mut self, packet: &Packet) -> bool {
        if !self.ids.is_late() || !self.bytes.begun() || packet.has(flags::SYN | flags::RST) {
            return false;
        }
        let start = self.bytes.start_of(packet.seq);
        let end = start + i64::from(packet.payload);
        let seen = packet.payload == 0 || self.bytes.seen(start, end) == Seen::Again;
        end <= self.bytes.top() && seen
    }

    /// A packet without data has the number of the next byte: all before it was sent.
    pub fn announce(&mut self, packet: &Packet, now: Time) {
        if !self.bytes.begun() || packet.has(flags::SYN) || packet.has(flags::RST) {
            return;
        }
        let next = self.bytes.start_of(packet.seq);
        if self.bytes.lack(next) {
            let new = self.new_packets(next);
            self.hidden.add(self.ids.kept().saturating_sub(new));
            self.bytes.pass(next, self.is_sent_again(), now);
        }
    }

    /// Whether the next bytes had been sent before.
    fn is_sent_again(&self) -> bool {
        self.repair.covers(self.bytes.top())
    }

    /// Whether the window lets no further segment through.
    pub fn fills_window(&self) -> bool {
        self.window.used_up(self.bytes.top(), self.segments.usual())
    }

    /// Since when and where its window was used up, so that nothing more could come: a round trip
    /// after the last packet that it had room for.
    pub fn used_up_since(&self, trip: Span) -> Option<(Time, Place)> {
        let full = self.segments.packets() > 0 && self.fills_window();
        full.then_some((self.last_data + trip, self.last_place))
    }

    /// What an ACK of new bytes says. One of more than two segments comes after a repair.
    pub fn acked_event(&self, side: usize, ack: i64, at: Time) -> Event {
        let step = ack - self.bytes.una();
        let bytes = if step <= 2 * self.segments.usual() { step } else { 0 };
        Event::Acked { side, full: self.fills_window(), bytes, step, at }
    }

    /// Everything below `ack` has arrived.
    pub fn acknowledged(&mut self, ack: i64, now: Time) {
        self.repair.advance(self.bytes.una(), ack, self.segments.usual());
        self.tries.acknowledged(ack >= self.bytes.top());
        self.bytes.acknowledged(ack);
        self.hidden.reset();
        self.last_advance = now;
    }

    /// Packets between the highest byte seen and another.
    pub fn new_packets(&self, next: i64) -> u32 {
        ((next - self.bytes.top()).max(0) as u64).div_ceil(self.segments.usual() as u64) as u32
    }

    /// Takes note of a segment.
    pub fn take(&mut self, span: (i64, i64), now: Time, place: Place) {
        self.bytes.take(span, self.is_sent_again(), now);
        self.last_data = now;
        self.last_place = place;
    }

    /// Whether a repair is in progress, in which retransmissions may be missing, too.
    pub fn is_repaired(&self) -> bool {
        self.repair.covers(self.bytes.una()) || !self.bytes.are_whole()
    }

    /// Whether the receiver reports a loss, or one is being repaired: the time to an ACK then says
    /// nothing about queues.
    pub fn is_disturbed(&self) -> bool {
        self.repair.is_told() || self.repair.has_resent(self.bytes.una())
    }

    /// Gives out the stalls of a message whose end is known.
    pub fn decide(&mut self, side: usize, events: &mut Vec<Event>) {
        let stalls = self.waiting.decide(self.bytes.top(), self.segments.usual());
        events.extend(stalls.map(|stall| Event::Stalled { side, stall }));
    }
}

#[cfg(test)]
mod tests;
