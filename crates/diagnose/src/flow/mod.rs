//! One direction of a connection: its bytes that were seen, and its bytes that were acknowledged.

use incast_capture::read::{Packet, flags};

use crate::event::{Acked, Event};
use crate::intake::Trail;
use crate::numbering::{Ids, Numbering};
use crate::stall::Place;
use crate::time::{Span, Time};

mod bytes;
mod holes;
mod opening;
mod ordinary;
mod repair;
mod segments;
mod timing;
mod waiting;
mod window;

pub use bytes::Seen;
pub use holes::Hole;
pub use timing::{LONGEST_QUEUE, Rounds};
pub use waiting::{Kind, Pending, Probed, Resent, Silent};
pub use window::Shut;

/// The state of one direction, in parts. This module makes the decisions that concern several
/// parts.
#[derive(Debug, Default)]
pub struct Flow {
    pub opening: opening::Opening,
    pub bytes: bytes::Bytes,
    pub segments: segments::Segments,
    pub window: window::Window,
    pub repair: repair::Repair,
    pub tries: segments::Tries,
    pub ids: Ids,
    pub hidden: repair::Hidden,
    pub trail: Trail,
    pub timing: timing::Timing,
    pub queued: timing::Queued,
    pub rounds: Rounds,
    pub waiting: waiting::Waiting,
    /// The time of the last packet of data, and the time of the last ACK of new bytes.
    last_data: Time,
    last_place: Place,
    last_advance: Time,
}

impl Flow {
    /// Time of the last packet of data.
    pub fn last_data(&self) -> Time {
        self.last_data
    }

    /// The frame of the last packet of data.
    pub fn last_place(&self) -> Place {
        self.last_place
    }

    /// Time of the last ACK of new bytes.
    pub fn last_advance(&self) -> Time {
        self.last_advance
    }

    /// The first byte of a segment of data, and the first byte behind it.
    pub fn place(&mut self, packet: &Packet) -> (i64, i64) {
        let start = self.bytes.place(packet.seq, self.window.most());
        (start, start + i64::from(packet.payload))
    }

    /// Number of packets that are missing before this packet, according to its identification.
    /// Packets that are missing before a packet without data are reported with the next data. `who`
    /// holds the index of the host and the number of the flow.
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

    /// Whether a packet is a copy: its identification is older than those of the packets before it,
    /// and it fills no hole.
    pub fn is_old(&mut self, packet: &Packet) -> bool {
        if !self.ids.is_late() || !self.bytes.begun() || packet.has(flags::SYN | flags::RST) {
            return false;
        }
        let start = self.bytes.start_of(packet.seq);
        let end = start + i64::from(packet.payload);
        let seen = packet.payload == 0 || self.bytes.seen(start, end) == Seen::Again;
        end <= self.bytes.top() && seen
    }

    /// Takes a packet without data. Its sequence number is that of the next byte, so all bytes
    /// before this number were sent.
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

    /// Whether the bytes after the highest byte seen had been sent before. The answer may be wrong
    /// if the sender does not count the packets of each connection in the IP identifications.
    fn is_sent_again(&self) -> bool {
        self.repair.may_cover(self.bytes.top())
    }

    /// Whether the window lets no further segment through.
    pub fn fills_window(&self) -> bool {
        self.window.used_up(self.bytes.top(), self.segments.usual())
    }

    /// The time since which the window has been used up, and the last data packet that fitted into
    /// the window. The time is a round trip after this packet.
    pub fn used_up_since(&self, trip: Span) -> Option<(Time, Place)> {
        let full = self.segments.packets() > 0 && self.fills_window();
        full.then_some((self.last_data + trip, self.last_place))
    }

    /// The event of an ACK of new bytes. An ACK for more than two segments is taken for the end of
    /// a repair.
    pub fn acked_event(&self, side: usize, ack: i64, at: Time) -> Event {
        let step = ack - self.bytes.una();
        let bytes = if step <= 2 * self.segments.usual() { step } else { 0 };
        Event::Acked { side, acked: Acked { full: self.fills_window(), bytes, step, at } }
    }

    /// Notes that all bytes below `ack` have arrived.
    pub fn acknowledged(&mut self, ack: i64, now: Time) {
        self.repair.advance(self.bytes.una(), ack, self.segments.usual());
        self.tries.acknowledged(ack >= self.bytes.top());
        self.bytes.acknowledged(ack);
        self.hidden.reset();
        self.last_advance = now;
    }

    /// Number of packets between the highest byte seen and the byte `next`.
    pub fn new_packets(&self, next: i64) -> u32 {
        ((next - self.bytes.top()).max(0) as u64).div_ceil(self.segments.usual() as u64) as u32
    }

    /// Notes a segment.
    pub fn take(&mut self, span: (i64, i64), now: Time, place: Place) {
        self.bytes.take(span, self.is_sent_again(), now);
        self.last_data = now;
        self.last_place = place;
    }

    /// Whether a repair is in progress. During a repair, some retransmissions may be missing, too.
    pub fn is_repaired(&self) -> bool {
        self.repair.covers(self.bytes.una()) || !self.bytes.are_whole()
    }

    /// Reports the stalls of a message whose end is known.
    pub fn decide(&mut self, side: usize, events: &mut Vec<Event>) {
        let stalls = self.waiting.decide(self.bytes.top(), self.segments.usual());
        events.extend(stalls.map(|stall| Event::Stalled { side, stall }));
    }
}

#[cfg(test)]
mod tests;
