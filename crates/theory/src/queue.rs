//! The queue at the client's link: first in, first out, drop-tail.

use crate::packet::{PACKET, Ticks};
use crate::timeline::Timeline;

/// The size of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// The packet's transmission time.
    pub time: Ticks,
    /// The packet's buffer space.
    pub space: u64,
}

/// A switch that marks each packet on arrival if the queue is longer than a threshold (RFC 8257
/// §3.1).
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    /// The threshold: packets, or bytes.
    pub threshold: f64,
    /// Whether the threshold counts packets.
    pub counts_packets: bool,
    /// Whether the packet on the link counts, and whether the arriving packet counts.
    pub in_service: bool,
    /// See `in_service`.
    pub arriving: bool,
}

/// The queue and its link.
///
/// The number of waiting full packets is computed from the time until the link is idle. The few
/// other packets are stored one by one.
#[derive(Debug)]
pub struct Queue {
    limit: u64,
    full: Size,
    /// When the link becomes idle.
    free: Ticks,
    /// One tick if a packet that leaves at the time of an arrival is still in the buffer, and
    /// otherwise 0.
    linger: Ticks,
    /// Packets that are not full, in the order in which they leave the buffer, and the sum of their
    /// sizes.
    others: Timeline<Size>,
    sum: Size,
    marking: Option<Marking>,
    /// Bytes of a full packet.
    bytes: f64,
    /// Whether the last packet was marked.
    pub has_marked: bool,
}

impl Queue {
    /// An empty queue with a buffer of `limit`. With `arrival_first`, a packet that leaves at the
    /// time of an arrival is still in the buffer.
    pub fn new(limit: u64, full: Size, arrival_first: bool) -> Self {
        let linger = Ticks::from(arrival_first);
        Self {
            limit,
            full,
            free: 0,
            linger,
            others: Timeline::new(),
            sum: Size::default(),
            marking: None,
            bytes: 0.0,
            has_marked: false,
        }
    }

    /// The same queue, with marking. A full packet has `bytes` bytes.
    pub fn marking(self, marking: Option<Marking>, bytes: f64) -> Self {
        Self { marking, bytes, ..self }
    }

    /// Whether an arriving packet is marked if `waiting` full packets wait.
    #[inline(never)]
    fn marks(&self, waiting: u64, size: Size) -> bool {
        let Some(it) = self.marking else { return false };
        let share = |size: Size| size.time as f64 / self.full.time as f64;
        let (others, own) = if it.counts_packets {
            (self.others.len() as f64, 1.0)
        } else {
            (share(self.sum), share(size))
        };
        let more = f64::from(u8::from(it.in_service)) + if it.arriving { own } else { 0.0 };
        let each = if it.counts_packets { 1.0 } else { self.bytes };
        (waiting as f64 + others + more) * each > it.threshold
    }

    /// Offers a packet. Returns its departure time, or `None` if the packet is lost.
    ///
    /// The packet on the link takes no buffer space.
    #[inline]
    pub fn offer(&mut self, now: Ticks, size: Size) -> Option<Ticks> {
        while self.others.due.saturating_add(self.linger) <= now {
            let gone = self.others.pop();
            self.sum.time -= gone.time;
            self.sum.space -= gone.space;
        }
        if self.free + self.linger <= now {
            self.free = now + size.time;
            self.has_marked = false;
            return Some(self.free);
        }
        // The link first sends the rest of one packet, for at most a packet time, and then the
        // waiting packets.
        let waiting = (self.free + self.linger - now - self.sum.time - 1) / PACKET;
        if waiting * self.full.space + self.sum.space + size.space > self.limit {
            return None;
        }
        if self.marking.is_some() {
            self.has_marked = self.marks(waiting, size);
        }
        if size.time != self.full.time {
            self.others.push(self.free, size);
            self.sum.time += size.time;
            self.sum.space += size.space;
        }
        self.free += size.time;
        Some(self.free)
    }
}
