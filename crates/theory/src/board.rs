//! The scoreboard of selective acknowledgements (RFC 6675 §3), in segments.

use std::collections::VecDeque;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RESENT: u8 = 4;

/// Number of arrived segments above a hole after which it is lost.
const ENOUGH: u32 = 3;

/// The state of the outstanding segments.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// First unacknowledged segment.
    una: u32,
    marks: VecDeque<u8>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// Lost segments that were not retransmitted.
    due: u32,
    /// One past the highest segment that has arrived.
    highest: u32,
    /// Below this, lost segments are marked.
    judged: u32,
}

impl Board {
    /// An empty scoreboard; `first` is the first segment.
    pub fn new(first: u32) -> Self {
        Self { una: first, ..Self::default() }
    }

    /// `count` new segments were sent.
    pub fn send(&mut self, count: u32) {
        self.marks.resize(self.marks.len() + count as usize, 0);
    }

    fn forget(&mut self, marks: u8) {
        if marks & SACKED != 0 {
            self.sacked -= 1;
            return;
        }
        self.lost -= u32::from(marks & LOST != 0);
        self.due -= u32::from(marks & (LOST | RESENT) == LOST);
        self.resent -= u32::from(marks & RESENT != 0);
    }

    /// All segments before `ack` have arrived.
    pub fn acknowledge(&mut self, ack: u32) {
        while self.una < ack {
            let Some(marks) = self.marks.pop_front() else { break };
            self.forget(marks);
            self.una += 1;
        }
        self.una = self.una.max(ack);
    }

    /// A segment has arrived out of order. Returns whether it was not reported before.
    pub fn sack(&mut self, segment: u32) -> bool {
        let Some(index) = segment.checked_sub(self.una) else { return false };
        let Some(&marks) = self.marks.get(index as usize) else { return false };
        if marks & SACKED != 0 {
            return false;
        }
        self.forget(marks);
        self.marks[index as usize] = marks | SACKED;
        self.sacked += 1;
        self.highest = self.highest.max(segment + 1);
        true
    }

    fn lose(&mut self, index: usize) {
        let marks = self.marks[index];
        self.forget(marks);
        self.marks[index] = LOST;
        self.lost += 1;
        self.due += 1;
    }

    /// Marks lost segments (RFC 6675 §4, `IsLost`). Returns whether the first segment is lost.
    pub fn judge(&mut self) -> bool {
        if self.sacked >= ENOUGH {
            let mut above = 0;
            let mut boundary = self.highest;
            while boundary > self.una && above < ENOUGH {
                boundary -= 1;
                above += u32::from(self.marks[(boundary - self.una) as usize] & SACKED != 0);
            }
            if above == ENOUGH {
                for segment in self.judged.max(self.una)..boundary {
                    let index = (segment - self.una) as usize;
                    if self.marks[index] & (SACKED | LOST) == 0 {
                        self.lose(index);
                    }
                }
                self.judged = self.judged.max(boundary);
            }
        }
        self.marks.front().is_some_and(|marks| marks & LOST != 0)
    }

    /// Marks all segments that have not arrived as lost, including retransmissions.
    pub fn lose_all(&mut self) {
        for index in 0..self.marks.len() {
            if self.marks[index] & SACKED == 0 {
                self.lose(index);
            }
        }
    }

    /// The first lost segment that was not retransmitted.
    pub fn first_due(&self) -> Option<u32> {
        if self.due == 0 { None } else { self.find(0, |marks| marks == LOST) }
    }

    /// The first segment that has not arrived and was not retransmitted.
    pub fn first_untried(&self) -> Option<u32> {
        self.find(0, |marks| marks & (SACKED | RESENT) == 0)
    }

    /// The first segment from `from` on that has not arrived, below one that has.
    pub fn hole(&self, from: u32) -> Option<u32> {
        let hole = self.find(from.saturating_sub(self.una), |marks| marks & SACKED == 0)?;
        (hole < self.highest).then_some(hole)
    }

    /// The last segment that has not arrived, if it was not retransmitted.
    pub fn last_missing(&self) -> Option<u32> {
        let index = self.marks.iter().rposition(|marks| marks & SACKED == 0)?;
        (self.marks[index] & RESENT == 0).then_some(self.una + index as u32)
    }

    fn find(&self, from: u32, mut fits: impl FnMut(u8) -> bool) -> Option<u32> {
        let mut rest = self.marks.iter().skip(from as usize);
        rest.position(|&marks| fits(marks)).map(|index| self.una + from + index as u32)
    }

    /// A segment was retransmitted.
    pub fn resend(&mut self, segment: u32) {
        if let Some(index) = segment.checked_sub(self.una)
            && (index as usize) < self.marks.len()
        {
            self.resend_at(index as usize);
        }
    }

    fn resend_at(&mut self, index: usize) {
        let marks = self.marks[index];
        if marks & (SACKED | RESENT) == 0 {
            self.due -= u32::from(marks & LOST != 0);
            self.marks[index] = marks | RESENT;
            self.resent += 1;
        }
    }

    /// Whether the first segment was retransmitted since it was lost.
    pub fn first_is_resent(&self) -> bool {
        self.marks.front().is_none_or(|marks| marks & RESENT != 0)
    }

    /// Estimated number of segments in the network.
    pub fn pipe(&self) -> u32 {
        self.marks.len() as u32 + self.resent - self.sacked - self.lost
    }
}
