//! What the client has of a server's segments.

/// One connection's reassembly.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The segment expected next: the cumulative ACK.
    pub next: u32,
    /// Segments beyond it.
    beyond: u32,
    /// Which they are, in a ring.
    held: Vec<u64>,
}

impl Receiver {
    /// Expects segment 1, and no segment further ahead of what is expected than `most`.
    pub fn new(most: u32) -> Self {
        Self { next: 1, beyond: 0, held: vec![0; (most as usize / 64 + 1).next_power_of_two()] }
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
