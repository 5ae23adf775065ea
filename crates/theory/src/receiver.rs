//! What the client has of a server's segments, and when it says so.

use crate::packet::{NEVER, Ticks};

/// One connection's reassembly, and its delayed ACKs.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The segment expected next: the cumulative ACK.
    pub next: u32,
    /// Segments beyond it.
    beyond: u32,
    /// Segments since the last ACK.
    pending: u32,
    /// Segments that are yet acknowledged one by one.
    quick: u32,
    /// When the ACK that waits is due.
    pub due: Ticks,
    /// Which they are, in a ring.
    held: Vec<u64>,
}

impl Receiver {
    /// Expects segment 1, and no segment further ahead of what is expected than `most`; the first
    /// `quick` are acknowledged one by one.
    pub fn new(most: u32, quick: u32) -> Self {
        let held = vec![0; (most as usize / 64 + 1).next_power_of_two()];
        Self { next: 1, beyond: 0, pending: 0, quick, due: NEVER, held }
    }

    /// A new connection; nothing is beyond what is expected.
    pub fn renew(&mut self, quick: u32) {
        (self.pending, self.quick, self.due) = (0, quick, NEVER);
    }

    /// Takes a segment; returns the ACK.
    #[inline]
    pub fn take(&mut self, segment: u32) -> u32 {
        if segment == self.next && self.beyond == 0 {
            self.next += 1;
        } else if segment >= self.next {
            self.take_out_of_order(segment);
        }
        self.next
    }

    /// Whether a segment that is about to be taken has to be acknowledged at once (RFC 5681 §4.2);
    /// `every` segments are, and one that follows a duplicate or a gap; one that is acknowledged
    /// already restores the first `quick` (Linux).
    pub fn is_due(&mut self, segment: u32, every: u32, quick: u32) -> bool {
        self.pending += 1;
        let is_due = if segment < self.next {
            self.quick = quick;
            true
        } else if segment > self.next || self.beyond > 0 {
            true
        } else if self.quick > 0 {
            self.quick = self.quick.saturating_sub(self.pending);
            true
        } else {
            self.pending >= every
        };
        if is_due {
            self.acknowledged();
        }
        is_due
    }

    /// An ACK has left.
    pub fn acknowledged(&mut self) {
        (self.pending, self.due) = (0, NEVER);
    }

    #[inline(never)]
    fn take_out_of_order(&mut self, segment: u32) {
        let (word, bit) = self.place(segment);
        self.beyond += u32::from(self.held[word] & bit == 0);
        self.held[word] |= bit;
        loop {
            let (word, bit) = self.place(self.next);
            if self.held[word] & bit == 0 {
                return;
            }
            self.held[word] &= !bit;
            self.beyond -= 1;
            self.next += 1;
        }
    }

    fn place(&self, segment: u32) -> (usize, u64) {
        ((segment as usize / 64) & (self.held.len() - 1), 1 << (segment % 64))
    }
}
