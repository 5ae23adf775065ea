//! The queue at the client's link: first in, first out, drop-tail.

use crate::packet::{PACKET, Ticks};
use crate::timeline::Timeline;

/// The size of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Its transmission time.
    pub time: Ticks,
    /// Its buffer space.
    pub space: u64,
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
    /// One tick if a packet that leaves at the time of an arrival is still there.
    linger: Ticks,
    /// Packets that are not full, by the time at which they leave the buffer, and their sum.
    others: Timeline<Size>,
    sum: Size,
}

impl Queue {
    /// An empty queue with a buffer of `limit`. With `arrival_first`, a packet that leaves at the
    /// time of an arrival is still there.
    pub fn new(limit: u64, full: Size, arrival_first: bool) -> Self {
        let linger = Ticks::from(arrival_first);
        Self { limit, full, free: 0, linger, others: Timeline::new(), sum: Size::default() }
    }

    /// Offers a packet. Returns its departure time; `None` if it is lost.
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
            return Some(self.free);
        }
        // The link is busy for at most a packet time with one packet, then with the waiting ones.
        let waiting = (self.free + self.linger - now - self.sum.time - 1) / PACKET;
        if waiting * self.full.space + self.sum.space + size.space > self.limit {
            return None;
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
