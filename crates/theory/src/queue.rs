//! The queue in front of the client's link: first in, first out, drop-tail.

use crate::packet::{PACKET, Ticks};
use crate::timeline::Timeline;

/// What a packet takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Time that a link needs for it.
    pub time: Ticks,
    /// Room in the buffer.
    pub space: u64,
}

/// Packets that wait, and the link behind them.
///
/// Full packets that wait are counted by the time for which the link is busy; the few others are
/// kept one by one.
#[derive(Debug)]
pub struct Queue {
    limit: u64,
    full: Size,
    /// When the link has sent all that has come.
    free: Ticks,
    /// One tick where a packet that leaves in the instant of an arrival is still there.
    linger: Ticks,
    /// Packets that are not full, by when they leave the buffer, and their sum.
    others: Timeline<Size>,
    sum: Size,
}

impl Queue {
    /// An empty queue with a buffer of this size; what leaves in the instant of an arrival has
    /// left, or is still there if `arrival_first`.
    pub fn new(limit: u64, full: Size, arrival_first: bool) -> Self {
        let linger = Ticks::from(arrival_first);
        Self { limit, full, free: 0, linger, others: Timeline::new(), sum: Size::default() }
    }

    /// Takes a packet; returns when it will have left, or nothing where it is lost.
    ///
    /// The packet on the link takes no room.
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
        // The link is busy with one packet for up to a packet time, and then with those that wait.
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
