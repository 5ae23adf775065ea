//! The selective part of the scoreboard: arrived and lost segments, and the pipe.

use incast_engine::{Span, Time};

use super::scoreboard::{Marks, SEEN, Scoreboard, Sent, Tally};

impl Scoreboard {
    /// Bytes that the receiver holds beyond the cumulative ACK.
    #[inline]
    pub fn sacked(&self) -> u64 {
        self.tally.sacked
    }

    /// Segments that the receiver holds beyond the cumulative ACK.
    pub fn sacked_segments(&self) -> u32 {
        self.tally.sacked_segments
    }

    /// Number of times that a segment was declared lost.
    pub fn losses(&self) -> u64 {
        self.tally.losses
    }

    /// One past the highest byte selectively acknowledged beyond the cumulative ACK, if any.
    pub fn highest_sacked(&self) -> Option<u64> {
        (self.tally.sacked > 0).then_some(self.tally.highest)
    }

    /// Number of outstanding segments, including selectively acknowledged ones.
    pub fn outstanding_segments(&self) -> usize {
        self.segments.len()
    }

    /// Bytes in the network by RFC 6675's estimate (`pipe`): outstanding bytes that have not
    /// arrived and are not lost, plus copies.
    #[inline]
    pub fn pipe(&self) -> u64 {
        let Tally { sacked, lost, resent, .. } = self.tally;
        (self.max - self.una + resent) - sacked - lost
    }

    /// The number of segments in [`Self::pipe`].
    #[inline]
    pub fn pipe_segments(&self) -> u64 {
        let Tally { sacked_segments, lost_segments, resent_segments, .. } = self.tally;
        let sent = self.segments.len() as u64 + u64::from(resent_segments);
        sent - u64::from(sacked_segments) - u64::from(lost_segments)
    }

    /// Processes a SACK block. Returns the number of bytes that were not reported before. `deliver`
    /// is called for each segment that contains such bytes.
    pub fn sack(&mut self, start: u64, end: u64, mut deliver: impl FnMut(&Sent)) -> u64 {
        let before = self.tally.sacked;
        let known = self.tally.seen.iter().find(|seen| seen.0 < end && start < seen.1);
        let news = match known {
            Some(&(from, to)) => [(start, from), (to, end)],
            None => [(start, end), (end, end)],
        };
        for (from, to) in news.into_iter().filter(|(from, to)| from < to) {
            let first = self.segments.partition_point(|segment| segment.end() <= from);
            for segment in self.segments.range_mut(first..) {
                if segment.seq >= to {
                    break;
                }
                let is_whole = start <= segment.seq && segment.end() <= end;
                if is_whole && !segment.marks.has(Marks::SACKED) {
                    self.tally.forget(segment.marks, segment.len, 1);
                    segment.marks.0 |= Marks::SACKED.0;
                    self.tally.sacked += u64::from(segment.len);
                    self.tally.sacked_segments += 1;
                    self.tally.highest = self.tally.highest.max(segment.end());
                    deliver(segment);
                }
            }
        }
        self.tally.sacked - before
    }

    /// Stores the blocks of this ACK.
    pub fn note_blocks(&mut self, blocks: impl Iterator<Item = (u64, u64)>) {
        self.tally.seen = [(0, 0); SEEN];
        for (place, block) in self.tally.seen.iter_mut().zip(blocks) {
            *place = block;
        }
    }

    /// The first lost segment whose retransmission is due.
    #[inline]
    pub fn due(&mut self) -> Option<Sent> {
        if self.tally.due == 0 { None } else { self.find_due() }
    }

    fn find_due(&mut self) -> Option<Sent> {
        let first = self.segments.partition_point(|segment| segment.seq < self.tally.due_from);
        let is_due = |segment: &&Sent| segment.marks == Marks::LOST;
        let segment = *self.segments.range(first..).find(is_due)?;
        self.tally.due_from = segment.seq;
        Some(segment)
    }

    /// The segment that starts at `seq`.
    pub fn at(&self, seq: u64) -> Option<Sent> {
        let index = self.segments.partition_point(|segment| segment.seq < seq);
        self.segments.get(index).copied()
    }

    /// Whether a retransmission is due, because a segment is lost or because a timeout returned a
    /// segment to the send queue.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.tally.due > 0 || self.cursor < self.segments.len()
    }

    /// Records that the segment at `seq` was sent again. If this segment is the first segment and
    /// is in the send queue, it leaves the queue.
    pub fn resend_at(&mut self, seq: u64, now: Time) {
        let index = self.first_from(seq);
        if index == 0 && self.cursor == 0 {
            return self.send_again(now);
        }
        let segment = &mut self.segments[index];
        segment.note_copy(now);
        let len = u64::from(segment.len);
        if !segment.marks.has(Marks::RESENT) && !segment.marks.has(Marks::SACKED) {
            if segment.marks.has(Marks::LOST) {
                self.tally.due -= len;
            }
            segment.marks.0 |= Marks::RESENT.0;
            self.tally.resent += len;
            self.tally.resent_segments += 1;
        }
        if self.keeps_copies {
            self.tally.copies.push_back((seq, now));
        }
    }

    /// Records that the segment at `seq` was sent again as a rescue (RFC 6675 §4, `NextSeg` rule
    /// 4). The segment stays eligible for a retransmission.
    pub fn rescue_at(&mut self, seq: u64, now: Time) {
        let index = self.first_from(seq);
        self.segments[index].note_copy(now);
    }

    /// The first segment at or above `from` that has not arrived and is below selectively
    /// acknowledged data (RFC 6675 §4, `NextSeg` rule 3).
    pub fn hole(&self, from: u64) -> Option<Sent> {
        let highest = self.highest_sacked()?;
        let first = self.segments.partition_point(|segment| segment.seq < from);
        let below = |segment: &&Sent| segment.end() <= highest;
        let is_hole = |segment: &&Sent| !segment.marks.has(Marks::SACKED);
        self.segments.range(first..).take_while(below).find(is_hole).copied()
    }

    /// The first segment that has not arrived and was not sent again.
    pub fn first_untried(&self) -> Option<Sent> {
        let is_untried = |segment: &&Sent| {
            !segment.marks.has(Marks::SACKED) && !segment.marks.has(Marks::RESENT)
        };
        self.segments.iter().find(is_untried).copied()
    }

    /// The last segment that has not arrived.
    pub fn last_missing(&self) -> Option<Sent> {
        self.segments.iter().rev().find(|segment| !segment.marks.has(Marks::SACKED)).copied()
    }

    /// Index of the first segment at or above `seq`. Often the index is 0.
    pub(super) fn first_from(&self, seq: u64) -> usize {
        if self.segments.front().is_none_or(|head| head.seq >= seq) {
            return 0;
        }
        self.segments.partition_point(|segment| segment.seq < seq)
    }

    pub(super) fn mark_lost(&mut self, index: usize) {
        self.tally.losses += 1;
        let segment = &mut self.segments[index];
        let len = u64::from(segment.len);
        if segment.marks.has(Marks::RESENT) {
            segment.marks.0 &= !Marks::RESENT.0;
            self.tally.resent -= len;
            self.tally.resent_segments -= 1;
            if segment.marks.has(Marks::LOST) {
                self.tally.due += len;
            }
        }
        if !segment.marks.has(Marks::LOST) {
            segment.marks.0 |= Marks::LOST.0;
            self.tally.lost += len;
            self.tally.lost_segments += 1;
            self.tally.due += len;
        }
        self.tally.due_from = self.tally.due_from.min(segment.seq);
    }

    /// Marks lost segments by RFC 6675 §4, `IsLost`. A segment is lost if `threshold` discontiguous
    /// ranges, or more than `threshold` - 1 segments of `segment` bytes, have arrived above it.
    /// Returns whether the first unacknowledged segment is lost.
    pub fn judge(&mut self, threshold: u32, segment: u64) -> bool {
        let Some(highest) = self.highest_sacked() else {
            return false;
        };
        let enough = u64::from(threshold.saturating_sub(1)) * segment;
        let top = self.segments.partition_point(|segment| segment.end() < highest);
        let (mut bytes, mut ranges, mut in_range) = (0, 0, false);
        let mut boundary = self.una;
        for segment in self.segments.range(..=top).rev() {
            let sacked = segment.marks.has(Marks::SACKED);
            if sacked {
                bytes += u64::from(segment.len);
                ranges += u32::from(!in_range);
                if bytes > enough || ranges >= threshold {
                    boundary = segment.seq;
                    break;
                }
            }
            in_range = sacked;
        }
        let from = self.tally.judged.max(self.una);
        let first = self.segments.partition_point(|segment| segment.seq < from);
        let last = self.segments.partition_point(|segment| segment.seq < boundary);
        for index in first..last {
            if !self.segments[index].marks.has(Marks::SACKED.or(Marks::LOST)) {
                self.mark_lost(index);
            }
        }
        self.tally.judged = self.tally.judged.max(boundary);
        self.segments.front().is_some_and(|head| head.marks.has(Marks::LOST))
    }

    /// Removes the marks of selectively acknowledged segments (RFC 2018 §8: after a timeout).
    pub fn forget_sacked(&mut self) {
        let is_sacked = |segment: &&mut Sent| segment.marks.has(Marks::SACKED);
        for segment in self.segments.iter_mut().filter(is_sacked) {
            segment.marks.0 &= !Marks::SACKED.0;
            // The segment may have been marked as lost or resent before it arrived.
            let len = u64::from(segment.len);
            if segment.marks.has(Marks::LOST) {
                self.tally.lost += len;
                self.tally.lost_segments += 1;
                self.tally.due += if segment.marks.has(Marks::RESENT) { 0 } else { len };
            }
            if segment.marks.has(Marks::RESENT) {
                self.tally.resent += len;
                self.tally.resent_segments += 1;
            }
        }
        self.tally.sacked = 0;
        self.tally.sacked_segments = 0;
        self.tally.highest = 0;
        self.tally.seen = Default::default();
    }

    /// Marks as lost all segments that have not arrived, including segments with a copy in flight.
    pub fn lose_all(&mut self) {
        for index in 0..self.segments.len() {
            if !self.segments[index].marks.has(Marks::SACKED) {
                self.mark_lost(index);
            }
        }
        self.tally.judged = self.max;
        self.tally.settled = self.max;
        self.tally.copies.clear();
    }

    /// Removes the marks of all lost segments, so that the lost segments are in flight again.
    pub fn lose_nothing(&mut self) {
        self.go_forward();
        for segment in &mut self.segments {
            if !segment.marks.has(Marks::SACKED) {
                segment.marks.0 &= !Marks::LOST.0;
            }
        }
        self.tally.lost = 0;
        self.tally.lost_segments = 0;
        self.tally.due = 0;
        self.tally.judged = self.una;
        self.tally.settled = self.una;
    }

    /// Marks lost segments at an expiry of the retransmission timer (RFC 8985 §6.3): the first
    /// segment, and all segments sent longer ago than `patience`.
    pub fn lose_old(&mut self, now: Time, patience: Span) {
        for index in 0..self.segments.len() {
            let Sent { marks, sent_at, .. } = self.segments[index];
            let is_old = sent_at + patience <= now;
            if (index == 0 || is_old) && !marks.has(Marks::SACKED) {
                self.mark_lost(index);
            }
        }
    }

    /// Whether [`Self::detect`] cannot find a loss. No loss can be found if all outstanding
    /// segments were sent only once, and later than the segment that ends at `end` and was sent at
    /// `sent_at`.
    #[inline]
    pub fn all_sent_after(&self, sent_at: Time, end: u64) -> bool {
        // Segments sent once were sent in the order of their sequence numbers.
        self.tally.copies.is_empty()
            && self.segments.front().is_none_or(|head| {
                head.transmissions == 1
                    && head.marks.is_empty()
                    && (sent_at, end) <= (head.sent_at, head.end())
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEN: u64 = 10;

    /// A reference model of the scoreboard for equal segments, one entry per segment.
    #[derive(Clone, Copy, Default)]
    struct Model {
        sacked: bool,
        lost: bool,
        resent: bool,
    }

    fn bytes(model: &[Model], count: impl Fn(&Model) -> bool) -> u64 {
        model.iter().filter(|segment| count(segment)).count() as u64 * LEN
    }

    /// `IsLost` as RFC 6675 §4 defines it.
    fn is_lost(model: &[Model], index: usize, threshold: u32) -> bool {
        let above = &model[index + 1..];
        let starts = |at: usize| above[at].sacked && (at == 0 || !above[at - 1].sacked);
        let ranges = (0..above.len()).filter(|at| starts(*at)).count();
        let sacked = bytes(above, |segment| segment.sacked);
        ranges >= threshold as usize || sacked > u64::from(threshold - 1) * LEN
    }

    proptest! {
        #[test]
        fn agrees_with_a_list_of_segments(
            steps in prop::collection::vec((0_u8..7, 0_usize..12, 1_usize..5), 1..120),
            threshold in 1_u32..5,
        ) {
            let mut board = Scoreboard::new(0);
            let mut model: Vec<Model> = Vec::new();
            let mut first = 0;
            for (step, at, count) in steps {
                let (una, now) = (first as u64 * LEN, Time::ZERO);
                let from = at.min(model.len());
                let to = (from + count).min(model.len());
                let range = (una + from as u64 * LEN, una + to as u64 * LEN);
                match step {
                    0 | 1 => {
                        board.send_new(LEN as u32, now);
                        model.push(Model::default());
                    }
                    2 if from > 0 && from < to => {
                        let news = bytes(&model[from..to], |segment| !segment.sacked);
                        prop_assert_eq!(board.sack(range.0, range.1, |_| {}), news);
                        board.note_blocks([range].into_iter());
                        model[from..to].iter_mut().for_each(|segment| segment.sacked = true);
                    }
                    3 if to > 0 => {
                        board.acknowledge(una + to as u64 * LEN);
                        model.drain(..to);
                        first += to;
                    }
                    4 => {
                        board.judge(threshold, LEN);
                        for index in 0..model.len() {
                            let lost = is_lost(&model, index, threshold);
                            model[index].lost |= lost && !model[index].sacked;
                        }
                    }
                    5 => {
                        let due = model.iter().position(|it| it.lost && !it.resent && !it.sacked);
                        let found = board.due().map(|segment| segment.seq);
                        prop_assert_eq!(found, due.map(|index| una + index as u64 * LEN));
                        if let Some(index) = due {
                            board.resend_at(una + index as u64 * LEN, now);
                            model[index].resent = true;
                        }
                    }
                    6 if count == 1 => {
                        board.lose_all();
                        for segment in model.iter_mut().filter(|segment| !segment.sacked) {
                            (segment.lost, segment.resent) = (true, false);
                        }
                    }
                    _ => {}
                }
                let open = |segment: &Model| !segment.sacked && !segment.lost;
                let copies = |segment: &Model| !segment.sacked && segment.resent;
                prop_assert_eq!(board.pipe(), bytes(&model, open) + bytes(&model, copies));
                prop_assert_eq!(board.pipe_segments() * LEN, board.pipe());
                prop_assert_eq!(board.flight_segments() * LEN, board.flight());
                prop_assert_eq!(board.sacked(), bytes(&model, |segment| segment.sacked));
                let due = |it: &Model| it.lost && !it.resent && !it.sacked;
                prop_assert_eq!(board.is_due(), model.iter().any(due));
            }
        }
    }
}
