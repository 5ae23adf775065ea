//! One direction of a connection: what was seen of its bytes, and what was acknowledged.

use incast_capture::read::{Packet, flags};

use crate::black_hole::Tries;
use crate::event::{Event, Message};
use crate::holes::Holes;
use crate::intake::Trail;
use crate::load::Mark;
use crate::numbering::{Ids, Numbering};
use crate::stall::{Place, Stall};
use crate::window::Window;

/// No window is larger (RFC 7323 §2.3).
const MOST_ANNOUNCED: i64 = 1 << 30;

/// How a segment relates to what was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The next bytes.
    Next,
    /// Bytes beyond the next: some are missing.
    Beyond,
    /// Bytes that were missing.
    Missing,
    /// Bytes that were there.
    Again,
}

/// A wait whose reason shows later.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub start: i64,
    pub end: i64,
    pub idle: f64,
    pub before: Place,
    pub after: Place,
    pub kind: Kind,
    /// The segment that ended it.
    pub from: i64,
    pub to: i64,
}

/// What a pending wait is waiting for.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The first missing segment was sent again: the next ACK tells why.
    Resent { top: i64, dupacks: u32, sacked: bool, resent: bool, probe: bool, value: Option<u32> },
    /// New bytes came after a silence in which older ones were not acknowledged: the next ACK tells
    /// whether those are lost. `arrived` if others had arrived behind them.
    Probed { una: i64, arrived: bool },
    /// New bytes came after a silence: the next packet tells why.
    /// `again` if they had been sent before.
    Silent { first: bool, again: bool, missing: Option<u32>, if_counted: Option<u32> },
}

/// The state of one direction; byte 0 is the first that was seen.
#[derive(Debug, Default)]
pub struct Flow {
    base: Option<u32>,
    /// The highest byte seen, and the first one not acknowledged.
    pub top: i64,
    pub una: i64,
    pub window: Window,
    pub mss: u32,
    /// The most data that one of its packets had, unless segments were merged.
    pub most: u32,
    pub holes: Holes,
    /// The longest time that a hole was there before it was filled.
    pub filled_late: i64,
    pub tries: Tries,
    pub ids: Ids,
    pub trail: Trail,
    /// Packets of data.
    pub packets: u64,
    /// Packets that were lost since `una` moved last, beside those that left holes.
    pub surplus: u32,
    /// Packets that were lost before one that was sent again: new ones may be among them.
    pub early: u32,
    /// When it went on by itself, unasked by an ACK.
    pub resumed: i64,
    /// The longest that a packet was in queues before the point, as pauses between rounds show.
    pub queued: i64,
    /// The last packet of data, and when the first missing byte moved.
    pub last_data: i64,
    pub last_place: Place,
    pub last_advance: i64,
    pub dupacks: u32,
    pub sacked: bool,
    /// What was sent before a repair began: holes below it are repaired without further duplicates.
    pub recover: i64,
    /// The end of what was sent again, and segments that the receiver holds beyond a hole.
    pub resent_top: i64,
    pub held: i64,
    /// The highest byte when the last of them was told.
    pub held_top: i64,
    /// When the first SYN was seen, if it was sent again.
    pub syn_again: Option<i64>,
    /// Whether its first packet was full, which a request is not.
    pub pushes: bool,
    /// Whether its SYN was acknowledged.
    pub greeted: bool,
    pub syn: Option<(i64, u32, Place)>,
    pub syn_id: Option<u16>,
    /// When its answer was asked for, and how idle the link of the one who asks was until then.
    pub asked: Option<(i64, Mark)>,
    /// Timed: the end of a segment, and the value of a timestamp.
    pub timed: Option<(i64, i64)>,
    pub stamped: Option<(u32, i64)>,
    pub stamp: Option<u32>,
    /// The end of the window when this round of packets began.
    pub round_edge: i64,
    pub pending: Option<Pending>,
    /// Stalls of this message that wait for its end.
    pub unsettled: Vec<Stall>,
    pub message: Option<Message>,
    pub closed: bool,
}

impl Flow {
    /// The number of a byte near `near`, counted from the first.
    fn relative(&self, seq: u32, near: i64) -> i64 {
        let base = self.base.unwrap_or(seq);
        near + i64::from(seq.wrapping_sub(base.wrapping_add(near as u32)) as i32)
    }

    /// Begins at a SYN: data starts behind it.
    pub fn open(&mut self, seq: u32) {
        self.base = Some(seq.wrapping_add(1));
    }

    /// Begins anew at a byte that does not belong to those before.
    pub fn restart(&mut self, seq: u32) {
        self.base = Some(seq.wrapping_sub(self.top as u32));
        self.holes = Holes::default();
        self.una = self.top;
    }

    pub fn begun(&self) -> bool {
        self.base.is_some()
    }

    /// The number of the first byte of a packet.
    pub fn start_of(&mut self, seq: u32) -> i64 {
        self.base.get_or_insert(seq);
        self.relative(seq, self.top)
    }

    /// The number of a byte that the other end acknowledges.
    pub fn acked(&mut self, ack: u32) -> i64 {
        self.base.get_or_insert(ack);
        self.relative(ack, self.una)
    }

    /// How a segment relates to what was seen.
    pub fn seen(&self, start: i64, end: i64) -> Seen {
        if self.holes.at(start, end).is_some() {
            Seen::Missing
        } else if end <= self.top {
            Seen::Again
        } else if start > self.top {
            Seen::Beyond
        } else {
            Seen::Next
        }
    }

    /// How many packets are missing before this one by its identification. Those before a packet
    /// without data are told with the next data. `who` is the place of its host, and its number.
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
        let segments = if data { self.segments(packet) } else { 1 };
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
        if !self.ids.is_late() || !self.begun() || packet.has(flags::SYN | flags::RST) {
            return false;
        }
        let start = self.start_of(packet.seq);
        let end = start + i64::from(packet.payload);
        end <= self.top && (packet.payload == 0 || self.seen(start, end) == Seen::Again)
    }

    /// A packet without data has the number of the next byte: all before it was sent.
    pub fn announce(&mut self, packet: &Packet, now: i64) {
        if !self.begun() || packet.has(flags::SYN) || packet.has(flags::RST) {
            return;
        }
        let next = self.start_of(packet.seq);
        if self.top < next && next - self.top <= MOST_ANNOUNCED && !self.closed {
            self.make_hole(next, now);
            let new = self.new_packets(next);
            self.surplus += self.ids.kept().saturating_sub(new);
            self.top = next;
        }
    }

    /// Bytes up to `end` were passed over.
    fn make_hole(&mut self, end: i64, now: i64) {
        self.holes.make((self.top, end), self.top < self.recover, now);
    }

    /// What an ACK of new bytes says. One of more than two segments comes after a repair.
    pub fn acked_event(&self, side: usize, ack: i64, at: i64) -> Event {
        let full = self.window.used_up(self.top, self.segment());
        let step = ack - self.una;
        let bytes = if step <= 2 * self.segment() { step } else { 0 };
        Event::Acked { side, full, bytes, at }
    }

    /// Everything below `ack` has arrived.
    pub fn acknowledged(&mut self, ack: i64, now: i64) {
        // One segment filled the hole; the others of this step were held.
        self.held = (self.held - (ack - self.una) / self.segment() + 1).max(0);
        if ack >= self.held_top {
            self.held = 0;
        }
        self.tries.acknowledged(ack >= self.top);
        self.una = ack;
        self.last_advance = now;
        self.surplus = 0;
        self.dupacks = 0;
        self.sacked = false;
    }

    /// Packets between the highest byte seen and another.
    pub fn new_packets(&self, next: i64) -> u32 {
        ((next - self.top).max(0) as u64).div_ceil(self.segment() as u64) as u32
    }

    /// Takes note of a segment.
    pub fn advance(&mut self, start: i64, end: i64, now: i64) {
        if start > self.top {
            self.make_hole(start, now);
        } else if start < self.top {
            self.holes.fill(start, end);
        }
        self.holes.pass(start);
        self.top = self.top.max(end);
    }

    /// The usual segment, a guess before one was seen.
    pub fn segment(&self) -> i64 {
        i64::from(if self.mss == 0 { 1460 } else { self.mss })
    }

    /// How many segments this packet stands for: offloads merge them.
    pub fn segments(&self, packet: &Packet) -> u32 {
        packet.payload.div_ceil(self.segment() as u32).max(1)
    }
}
