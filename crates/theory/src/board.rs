//! The scoreboard of selective acknowledgements (RFC 6675 §3), in segments.

use std::collections::VecDeque;

use crate::packet::Ticks;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RESENT: u8 = 4;

/// An outstanding segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// When the segment was sent last.
    pub at: Ticks,
    /// How often the segment was sent.
    pub copies: u32,
    marks: u8,
}

/// The state of the outstanding segments.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// First unacknowledged segment.
    una: u32,
    segments: VecDeque<Sent>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// Lost segments that were not retransmitted.
    due: u32,
    /// One past the highest segment that has arrived.
    highest: u32,
    /// The loss of segments below this one has been decided by [`Self::judge`].
    judged: u32,
    /// Number of times that a segment was found to be lost.
    losses: u32,
    /// Below this segment, every segment that was sent once has arrived or is declared lost by
    /// time.
    settled: u32,
    /// Segments and times of copies, in the order of sending; with [`Self::with_copies`] only.
    copies: VecDeque<(u32, Ticks)>,
    keeps_copies: bool,
}

/// The arrived segment that was sent last, and the time after which a segment that was sent earlier
/// is lost (RFC 8985 §6.2).
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// When the segment was sent, and its number.
    pub newest: (Ticks, u32),
    /// The sum of a round trip and the reordering window.
    pub patience: Ticks,
}

/// The result of loss detection by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// When the last lost copy was sent.
    pub copy_at: Option<Ticks>,
    /// The latest time at which one of the undecided segments sent before the horizon's segment may
    /// be declared lost; `None` if there is no such segment.
    pub next: Option<Ticks>,
}

impl Board {
    /// An empty scoreboard; `first` is the first segment.
    pub fn new(first: u32) -> Self {
        Self { una: first, ..Self::default() }
    }

    /// An empty scoreboard that stores copies, for [`Self::detect`].
    pub fn with_copies(first: u32) -> Self {
        Self { keeps_copies: true, ..Self::new(first) }
    }

    /// Records that `count` new segments were sent.
    pub fn send(&mut self, count: u32, now: Ticks) {
        let sent = Sent { at: now, copies: 1, marks: 0 };
        self.segments.resize(self.segments.len() + count as usize, sent);
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

    /// Records that all segments before `ack` have arrived. `deliver` is called for each segment
    /// that was not reported before.
    pub fn acknowledge(&mut self, ack: u32, mut deliver: impl FnMut(u32, &Sent)) {
        while self.una < ack {
            let Some(segment) = self.segments.pop_front() else { break };
            self.forget(segment.marks);
            if segment.marks & SACKED == 0 {
                deliver(self.una, &segment);
            }
            self.una += 1;
        }
        self.una = self.una.max(ack);
    }

    /// Records that a segment has arrived out of order. Returns the segment if it was not reported
    /// before.
    pub fn sack(&mut self, segment: u32) -> Option<Sent> {
        let index = segment.checked_sub(self.una)? as usize;
        let sent = *self.segments.get(index)?;
        if sent.marks & SACKED != 0 {
            return None;
        }
        self.forget(sent.marks);
        self.segments[index].marks |= SACKED;
        self.sacked += 1;
        self.highest = self.highest.max(segment + 1);
        Some(sent)
    }

    fn lose(&mut self, index: usize) {
        self.losses += 1;
        self.forget(self.segments[index].marks);
        self.segments[index].marks = LOST;
        self.lost += 1;
        self.due += 1;
    }

    /// Marks segments as lost if `enough` segments above them have arrived (RFC 6675 §4, `IsLost`).
    /// Returns whether the first segment is lost.
    pub fn judge(&mut self, enough: u32) -> bool {
        if self.sacked >= enough {
            let mut above = 0;
            let mut boundary = self.highest;
            while boundary > self.una && above < enough {
                boundary -= 1;
                above += u32::from(self.segments[(boundary - self.una) as usize].marks & SACKED);
            }
            if above == enough {
                for segment in self.judged.max(self.una)..boundary {
                    let index = (segment - self.una) as usize;
                    if self.segments[index].marks & (SACKED | LOST) == 0 {
                        self.lose(index);
                    }
                }
                self.judged = self.judged.max(boundary);
            }
        }
        self.segments.front().is_some_and(|it| it.marks & LOST != 0)
    }

    /// Marks as lost all segments that have not arrived, including retransmitted segments.
    pub fn lose_all(&mut self) {
        for index in 0..self.segments.len() {
            if self.segments[index].marks & SACKED == 0 {
                self.lose(index);
            }
        }
        self.copies.clear();
    }

    /// Forgets which segments have arrived (RFC 2018 §8: after a timeout).
    pub fn forget_arrived(&mut self) {
        for index in 0..self.segments.len() {
            if self.segments[index].marks & SACKED != 0 {
                self.sacked -= 1;
                self.segments[index].marks = 0;
            }
        }
        self.highest = 0;
    }

    /// Marks lost segments after a timeout: the first segment, and all segments that were sent
    /// longer ago than `patience` (RFC 8985 §6.3).
    pub fn lose_old(&mut self, now: Ticks, patience: Ticks) {
        for index in 0..self.segments.len() {
            let Sent { at, marks, .. } = self.segments[index];
            if marks & SACKED == 0 && (index == 0 || at + patience <= now) {
                self.lose(index);
            }
        }
    }

    /// Removes the marks of all lost segments.
    pub fn lose_nothing(&mut self) {
        for segment in self.segments.iter_mut().filter(|it| it.marks & SACKED == 0) {
            segment.marks &= !LOST;
        }
        (self.lost, self.due) = (0, 0);
        (self.judged, self.settled) = (self.una, self.una);
    }

    /// Whether [`Self::detect`] cannot find a loss.
    pub fn is_settled(&self, newest: (Ticks, u32)) -> bool {
        self.copies.is_empty()
            && self
                .segments
                .front()
                .is_none_or(|it| it.copies == 1 && it.marks == 0 && newest <= (it.at, self.una))
    }

    /// Marks segments as lost if they were sent before the horizon, and longer ago than the
    /// horizon's `patience` (RFC 8985 §6.2, step 5). Segments that were sent once were sent in the
    /// order of their numbers.
    pub fn detect(&mut self, now: Ticks, horizon: &Horizon) -> Found {
        let mut found = Found::default();
        self.detect_copies(now, horizon, &mut found);
        let mut is_settled = true;
        for segment in self.settled.max(self.una)..self.una + self.segments.len() as u32 {
            let index = (segment - self.una) as usize;
            let Sent { at, copies, marks } = self.segments[index];
            if copies == 1 && marks == 0 {
                if (at, segment) >= horizon.newest {
                    break;
                }
                if at + horizon.patience <= now {
                    self.lose(index);
                } else {
                    found.next = found.next.max(Some(at + horizon.patience));
                    is_settled = false;
                }
            }
            if is_settled {
                self.settled = segment + 1;
            }
        }
        found
    }

    fn detect_copies(&mut self, now: Ticks, horizon: &Horizon, found: &mut Found) {
        let mut kept = 0;
        while let Some(&(segment, at)) = self.copies.get(kept) {
            let index = segment.checked_sub(self.una).map(|it| it as usize);
            let is_out = |it: &Sent| it.at == at && it.marks & (SACKED | RESENT) == RESENT;
            let Some(index) = index.filter(|&it| self.segments.get(it).is_some_and(is_out)) else {
                self.copies.remove(kept);
                continue;
            };
            if (at, segment) >= horizon.newest {
                return;
            }
            if at + horizon.patience <= now {
                self.lose(index);
                self.copies.remove(kept);
                found.copy_at = found.copy_at.max(Some(at));
            } else {
                found.next = found.next.max(Some(at + horizon.patience));
                kept += 1;
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

    /// The first segment from `from` on that has not arrived and is below an arrived segment.
    pub fn hole(&self, from: u32) -> Option<u32> {
        let hole = self.find(from.saturating_sub(self.una), |marks| marks & SACKED == 0)?;
        (hole < self.highest).then_some(hole)
    }

    /// The last segment that has not arrived, if it was not retransmitted.
    pub fn last_missing(&self) -> Option<u32> {
        let index = self.segments.iter().rposition(|it| it.marks & SACKED == 0)?;
        (self.segments[index].marks & RESENT == 0).then_some(self.una + index as u32)
    }

    fn find(&self, from: u32, mut fits: impl FnMut(u8) -> bool) -> Option<u32> {
        let mut rest = self.segments.iter().skip(from as usize);
        rest.position(|it| fits(it.marks)).map(|index| self.una + from + index as u32)
    }

    /// Records that a segment was retransmitted.
    pub fn resend(&mut self, segment: u32, now: Ticks) {
        let Some(index) = segment.checked_sub(self.una) else { return };
        let Some(sent) = self.segments.get_mut(index as usize) else { return };
        (sent.at, sent.copies) = (now, sent.copies + 1);
        if sent.marks & (SACKED | RESENT) == 0 {
            self.due -= u32::from(sent.marks & LOST != 0);
            sent.marks |= RESENT;
            self.resent += 1;
        }
        if self.keeps_copies {
            self.copies.push_back((segment, now));
        }
    }

    /// Whether the first segment was retransmitted after its loss.
    pub fn first_is_resent(&self) -> bool {
        self.segments.front().is_none_or(|it| it.marks & RESENT != 0)
    }

    /// The time of the first segment's last transmission.
    pub fn first_at(&self) -> Option<Ticks> {
        self.segments.front().map(|it| it.at)
    }

    /// The time of the last segment's last transmission.
    pub fn last_at(&self) -> Option<Ticks> {
        self.segments.back().map(|it| it.at)
    }

    /// Estimated number of segments in the network.
    pub fn pipe(&self) -> u32 {
        self.segments.len() as u32 + self.resent - self.sacked - self.lost
    }

    /// Number of segments that have arrived out of order.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Number of times that a segment was found to be lost.
    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// Whether a lost segment was not retransmitted yet.
    pub fn is_due(&self) -> bool {
        self.due > 0
    }
}
