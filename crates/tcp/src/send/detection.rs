//! Losses detected by time (RFC 8985 §6.2).

use incast_engine::{Span, Time};

use super::scoreboard::{Marks, Scoreboard, Sent};

/// The arrived segment that was sent last, and the time after which a segment sent earlier is
/// considered lost (RFC 8985 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// When the segment was sent.
    pub sent_at: Time,
    /// One past the last byte of the segment.
    pub end: u64,
    /// The sum of a round trip and the reordering window.
    pub patience: Span,
}

impl Horizon {
    /// Whether the horizon's segment was sent after `segment`.
    fn is_after(&self, segment: &Sent) -> bool {
        (self.sent_at, self.end) > (segment.sent_at, segment.end())
    }
}

/// The result of loss detection by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detection {
    /// Number of segments newly declared lost.
    pub lost: u32,
    /// When the last retransmission among these segments was sent.
    pub copy_sent_at: Option<Time>,
    /// The latest time at which one of the undecided segments sent before the horizon's segment may
    /// be declared lost; `None` if there is no such segment.
    pub next: Option<Time>,
}

impl Scoreboard {
    /// Declares lost the segments that were sent before the segment of `horizon`, and longer ago
    /// than the `patience` of `horizon` (RFC 8985 §6.2, step 5).
    ///
    /// Segments sent once were sent in the order of their sequence numbers, and copies are recorded
    /// in the order of sending. The search skips the leading segments whose loss earlier calls have
    /// decided. The search ends at the first segment that was not sent before the segment of
    /// `horizon`.
    pub fn detect(&mut self, now: Time, horizon: &Horizon) -> Detection {
        let mut found = Detection::default();
        self.detect_copies(now, horizon, &mut found);
        let first = self.first_from(self.tally.settled);
        let mut all_settled = true;
        for index in first..self.segments.len() {
            let segment = self.segments[index];
            let undecided = segment.transmissions == 1 && segment.marks.is_empty();
            if undecided {
                if !horizon.is_after(&segment) {
                    break;
                }
                let expiry = segment.sent_at + horizon.patience;
                if expiry <= now {
                    self.mark_lost(index);
                    found.lost += 1;
                } else {
                    found.next = found.next.max(Some(expiry));
                    all_settled = false;
                }
            }
            if all_settled {
                self.tally.settled = segment.end();
            }
        }
        found
    }

    fn detect_copies(&mut self, now: Time, horizon: &Horizon, found: &mut Detection) {
        while let Some(&(seq, sent_at)) = self.tally.copies.front() {
            if let Some(index) = self.unanswered(seq, sent_at) {
                if !horizon.is_after(&self.segments[index]) {
                    return;
                }
                if sent_at + horizon.patience > now {
                    let last = self.last_copy_before(horizon).unwrap_or(sent_at);
                    found.next = found.next.max(Some(last + horizon.patience));
                    return;
                }
                self.mark_lost(index);
                found.lost += 1;
                found.copy_sent_at = found.copy_sent_at.max(Some(sent_at));
            }
            self.tally.copies.pop_front();
        }
    }

    /// Index of the segment at `seq`, if its last copy was sent at `sent_at` and is in flight.
    fn unanswered(&self, seq: u64, sent_at: Time) -> Option<usize> {
        let index = self.segments.partition_point(|segment| segment.seq < seq);
        let segment = self.segments.get(index)?;
        let waits = segment.marks.has(Marks::RESENT) && !segment.marks.has(Marks::SACKED);
        (segment.sent_at == sent_at && waits).then_some(index)
    }

    /// Sending time of the latest copy that was sent before the segment of `horizon` and is still
    /// in flight. Later copies that were sent before this segment are no longer in flight, and are
    /// removed from the list.
    fn last_copy_before(&mut self, horizon: &Horizon) -> Option<Time> {
        let sent_before = |&(_, at): &(u64, Time)| at <= horizon.sent_at;
        let end = self.tally.copies.partition_point(sent_before);
        let in_flight = |&(seq, at): &(u64, Time)| self.unanswered(seq, at).is_some();
        let last = self.tally.copies.range(..end).rposition(in_flight)?;
        self.tally.copies.drain(last + 1..end);
        let is_before = |&&(seq, at): &&(u64, Time)| {
            self.unanswered(seq, at).is_some_and(|index| horizon.is_after(&self.segments[index]))
        };
        self.tally.copies.range(..=last).rev().find(is_before).map(|copy| copy.1)
    }
}
