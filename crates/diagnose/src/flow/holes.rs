//! Holes in the bytes of a flow: bytes that were skipped.

use crate::time::Time;

/// A range of bytes that has not been seen, below one that has.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    pub start: i64,
    pub end: i64,
    /// When the first packet behind it was seen.
    pub made: Time,
    /// Packets seen behind it.
    pub behind: u32,
    /// Whether its bytes had been sent before.
    pub again: bool,
    /// Whether later bytes were sent again, and these, which come first, did not arrive.
    pub passed: bool,
}

/// The holes of a flow, in order. Of too many the oldest is given up.
#[derive(Debug, Default)]
pub struct Holes(Vec<Hole>);

const MOST: usize = 256;

impl Holes {
    pub fn first(&self) -> Option<Hole> {
        self.0.first().copied()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> i64 {
        self.0.iter().map(|hole| hole.end - hole.start).sum()
    }

    /// A packet begins at the end, although the start was expected.
    pub fn make(&mut self, (start, end): (i64, i64), again: bool, now: Time) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Hole { start, end, made: now, behind: 0, again, passed: false });
    }

    /// A packet was seen that ends at `end`: all holes below it have one more behind them.
    pub fn pass(&mut self, start: i64) {
        for hole in self.0.iter_mut().take_while(|hole| hole.end <= start) {
            hole.behind += 1;
        }
    }

    /// Bytes from `start` on were retransmitted: those missing before them were retransmitted
    /// earlier, and lost again.
    pub fn pass_over(&mut self, start: i64) {
        if let Some(at) = self.0.iter().position(|hole| hole.start < start && start < hole.end)
            && self.0.len() < MOST
        {
            self.0.insert(at + 1, Hole { start, ..self.0[at] });
            self.0[at].end = start;
        }
        for hole in self.0.iter_mut().take_while(|hole| hole.end <= start) {
            hole.passed = true;
        }
    }

    /// The hole that has one of these bytes.
    pub fn at(&self, start: i64, end: i64) -> Option<Hole> {
        let overlaps = |hole: &&Hole| hole.start < end && start < hole.end;
        self.0.iter().find(overlaps).copied()
    }

    /// These bytes have been seen.
    pub fn fill(&mut self, start: i64, end: i64) {
        let mut at = 0;
        while at < self.0.len() {
            let hole = self.0[at];
            if hole.end <= start || end <= hole.start {
                at += 1;
                continue;
            }
            let right = Hole { start: end, ..hole };
            let left = Hole { end: start, ..hole };
            self.0.remove(at);
            if right.start < right.end && self.0.len() < MOST {
                self.0.insert(at, right);
            }
            if left.start < left.end && self.0.len() < MOST {
                self.0.insert(at, left);
            }
            at += 1;
        }
    }

    /// Everything below `una` has arrived; returns the bytes that never were seen.
    pub fn settle(&mut self, una: i64) -> i64 {
        let mut unseen = 0;
        self.0.retain_mut(|hole| {
            unseen += (una.min(hole.end) - hole.start).max(0);
            hole.start = hole.start.max(una);
            hole.start < hole.end
        });
        unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::at;

    #[test]
    fn only_what_comes_before_was_sent_again_in_vain() {
        let mut holes = Holes::default();
        holes.make((10, 40), false, at(0));
        holes.make((60, 70), false, at(0));
        holes.pass_over(30);
        let passed: Vec<_> = holes.0.iter().map(|hole| (hole.start, hole.passed)).collect();
        assert_eq!(passed, [(10, true), (30, false), (60, false)]);
        holes.pass_over(10);
        assert_eq!(holes.0.len(), 3);
    }

    #[test]
    fn a_hole_is_filled_from_its_middle() {
        let mut holes = Holes::default();
        holes.make((10, 40), false, at(0));
        holes.pass(40);
        holes.fill(20, 30);
        assert_eq!(holes.0.len(), 2);
        holes.fill(10, 20);
        assert_eq!(
            holes.first().map(|hole| (hole.start, hole.end, hole.behind)),
            Some((30, 40, 1))
        );
        assert_eq!(holes.settle(35), 5);
        assert_eq!(holes.settle(50), 5);
        assert!(holes.first().is_none());
    }
}
