//! The scoreboard: unacknowledged segments, their marks, and sums over the marks. This file handles
//! cumulative ACKs. `selective.rs` sets marks.

use std::collections::VecDeque;

use incast_engine::Time;

/// The marks of an outstanding segment, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub(super) u8);

impl Marks {
    /// The receiver has the segment (RFC 2018).
    pub const SACKED: Self = Self(1);
    /// The segment is considered lost.
    pub const LOST: Self = Self(1 << 1);
    /// A copy of the segment is in flight.
    pub const RESENT: Self = Self(1 << 2);

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set includes any of `other`.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A segment that was sent at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Sequence number of the first byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// How often the segment was sent.
    pub transmissions: u16,
    /// The marks of the segment.
    pub marks: Marks,
    /// When the segment was sent last.
    pub sent_at: Time,
}

impl Sent {
    /// Records that a copy of the segment was sent.
    pub(super) fn note_copy(&mut self, now: Time) {
        self.transmissions = self.transmissions.saturating_add(1);
        self.sent_at = now;
    }

    /// One past the last byte.
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }
}

/// Number of stored SACK blocks of the last ACK. Only blocks that differ from the stored blocks are
/// processed.
pub(super) const SEEN: usize = 3;

/// Sums over the marks, updated with each mark, so that an ACK need not scan all segments.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Tally {
    /// Bytes that the receiver holds beyond the cumulative ACK.
    pub(super) sacked: u64,
    /// Bytes that are considered lost and were not selectively acknowledged afterwards.
    pub(super) lost: u64,
    /// Bytes with a copy in flight.
    pub(super) resent: u64,
    /// Lost bytes without a copy in flight. The retransmission of these bytes is due.
    pub(super) due: u64,
    pub(super) sacked_segments: u32,
    pub(super) lost_segments: u32,
    pub(super) resent_segments: u32,
    /// Number of times that a segment was declared lost.
    pub(super) losses: u64,
    /// No retransmission is due below this number.
    pub(super) due_from: u64,
    /// One past the highest byte selectively acknowledged.
    pub(super) highest: u64,
    /// RFC 6675's `IsLost` was evaluated for the data below this number.
    pub(super) judged: u64,
    /// Below this number, every segment that was sent once is selectively acknowledged or lost.
    pub(super) settled: u64,
    /// Copies in the order of sending: sequence number and time.
    pub(super) copies: VecDeque<(u64, Time)>,
    pub(super) seen: [(u64, u64); SEEN],
}

impl Tally {
    /// Removes `len` outstanding bytes with these marks. The bytes are `segments` whole segments.
    #[inline(never)]
    pub(super) fn forget(&mut self, marks: Marks, len: u32, segments: u32) {
        let len = u64::from(len);
        if marks.has(Marks::SACKED) {
            self.sacked -= len;
            self.sacked_segments -= segments;
            return;
        }
        if marks.has(Marks::LOST) {
            self.lost -= len;
            self.lost_segments -= segments;
            if !marks.has(Marks::RESENT) {
                self.due -= len;
            }
        }
        if marks.has(Marks::RESENT) {
            self.resent -= len;
            self.resent_segments -= segments;
        }
    }
}

/// The data that an ACK covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Bytes newly acknowledged.
    pub bytes: u64,
    /// Number of segments that are fully covered.
    pub segments: u64,
    /// Latest time at which one of the fully covered segments was sent; `None` if any of them was
    /// sent twice (Karn's rule, RFC 6298 §3).
    pub sent_at: Option<Time>,
}

/// The outstanding segments, contiguous from `una` to `max`. Segments below `next` count as in
/// flight. After a timeout `next` is set back to `una` (go-back-N), and sending resumes there, so
/// that the segments from `next` on are in the send queue again.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    pub(super) una: u64,
    pub(super) next: u64,
    pub(super) max: u64,
    /// Index of the segment that starts at `next`, or the number of segments.
    pub(super) cursor: usize,
    pub(super) segments: VecDeque<Sent>,
    /// One past the byte of a window probe.
    probed: u64,
    /// Whether copies are recorded in the order of sending, for [`Self::detect`].
    pub(super) keeps_copies: bool,
    /// Sums over the marks.
    pub(super) tally: Tally,
}

impl Scoreboard {
    /// An empty scoreboard; `start` is the first sequence number.
    pub fn new(start: u64) -> Self {
        let (una, next, max, probed) = (start, start, start, start);
        let tally = Tally::default();
        let (segments, cursor, keeps_copies) = (VecDeque::new(), 0, false);
        Self { una, next, max, cursor, segments, probed, keeps_copies, tally }
    }

    /// An empty scoreboard for a recovery that detects losses by time.
    pub fn with_copies(start: u64) -> Self {
        Self { keeps_copies: true, ..Self::new(start) }
    }

    /// First unacknowledged sequence number.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Sequence number to be sent next.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// One past the highest sequence number ever sent.
    #[inline]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Whether an ACK of all data below `ack` is acceptable. A window probe counts as sent but not
    /// as outstanding, because the receiver may refuse it (RFC 9293 §3.8.6.1).
    #[inline]
    pub fn accepts(&self, ack: u64) -> bool {
        ack <= self.max || ack <= self.probed
    }

    /// Bytes in flight by the sender's estimate (RFC 5681 `FlightSize`).
    #[inline]
    pub fn flight(&self) -> u64 {
        self.next - self.una
    }

    /// The number of segments in [`Self::flight`].
    #[inline]
    pub fn flight_segments(&self) -> u64 {
        self.cursor as u64
    }

    /// Whether everything sent has been acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.una == self.max
    }

    /// Whether no outstanding segment has a mark.
    #[inline]
    pub fn is_unmarked(&self) -> bool {
        let Tally { sacked, lost, resent, .. } = self.tally;
        sacked | lost | resent == 0
    }

    /// The next segment that a timeout returned to the send queue, if any.
    #[inline]
    pub fn resend(&self) -> Option<&Sent> {
        self.segments.get(self.cursor)
    }

    /// The first unacknowledged segment.
    pub fn head(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// The segment with the highest sequence number.
    pub fn last(&self) -> Option<&Sent> {
        self.segments.back()
    }

    /// Records that `len` new bytes were sent at `now`.
    #[inline]
    pub fn send_new(&mut self, len: u32, now: Time) {
        debug_assert_eq!(self.next, self.max, "new data follow all data sent before");
        let (seq, marks) = (self.next, Marks::default());
        self.segments.push_back(Sent { seq, len, transmissions: 1, marks, sent_at: now });
        self.cursor += 1;
        self.next += u64::from(len);
        self.max = self.next;
    }

    /// Records that the segment at `next` was sent again at `now`.
    pub fn send_again(&mut self, now: Time) {
        let segment = &mut self.segments[self.cursor];
        segment.note_copy(now);
        self.next = segment.end();
        self.cursor += 1;
    }

    /// Records that the byte at `next` was sent as a window probe.
    pub fn note_probe(&mut self) {
        self.probed = self.next + 1;
    }

    /// Returns all outstanding data to the send queue, as they are considered lost. Sending resumes
    /// at `una`.
    pub fn go_back(&mut self) {
        self.cursor = 0;
        self.next = self.una;
    }

    /// Takes segments out of the send queue without sending them again. Sending continues with new
    /// data.
    pub fn go_forward(&mut self) {
        self.cursor = self.segments.len();
        self.next = self.max;
    }

    /// Handles a cumulative ACK above `una`.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) -> Acked {
        debug_assert!(ack > self.una && self.accepts(ack), "unacceptable ACK");
        match self.segments.front() {
            Some(&head) if head.end() == ack && head.marks.is_empty() => {
                self.acknowledge_head(&head)
            }
            _ => self.acknowledge_several(ack),
        }
    }

    /// Handles a cumulative ACK of the first segment, which has no marks.
    #[inline]
    fn acknowledge_head(&mut self, head: &Sent) -> Acked {
        let ack = head.end();
        let bytes = ack - self.una;
        self.segments.pop_front();
        self.cursor = self.cursor.saturating_sub(1);
        self.end_acknowledging(ack);
        let sent_at = (head.transmissions == 1).then_some(head.sent_at);
        Acked { bytes, segments: 1, sent_at }
    }

    #[inline(never)]
    fn acknowledge_several(&mut self, ack: u64) -> Acked {
        self.acknowledge_each(ack, |_| {})
    }

    /// Handles a cumulative ACK above `una`. `deliver` is called for each segment not reported
    /// before.
    #[inline]
    pub fn acknowledge_each(&mut self, ack: u64, mut deliver: impl FnMut(&Sent)) -> Acked {
        debug_assert!(ack > self.una && self.accepts(ack), "unacceptable ACK");
        let outstanding = self.segments.len();
        let mut acked = Acked { bytes: ack - self.una, ..Acked::default() };
        let mut sent_once = true;
        while let Some(segment) = self.segments.front_mut() {
            if segment.end() > ack {
                if segment.seq < ack {
                    let cut = (ack - segment.seq) as u32;
                    segment.len -= cut;
                    segment.seq = ack;
                    self.tally.forget(segment.marks, cut, 0);
                }
                break;
            }
            let segment = *segment;
            self.segments.pop_front();
            self.cursor = self.cursor.saturating_sub(1);
            if !segment.marks.is_empty() {
                self.tally.forget(segment.marks, segment.len, 1);
                if segment.marks.has(Marks::SACKED) {
                    continue;
                }
            }
            deliver(&segment);
            sent_once &= segment.transmissions == 1;
            acked.sent_at = Some(segment.sent_at);
        }
        if !sent_once {
            acked.sent_at = None;
        }
        acked.segments = (outstanding - self.segments.len()) as u64;
        self.end_acknowledging(ack);
        acked
    }

    #[inline]
    fn end_acknowledging(&mut self, ack: u64) {
        if self.segments.is_empty() {
            // The next segment is stored at the beginning of the buffer, which is in the cache.
            self.segments.clear();
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.max = self.max.max(ack);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Time = Time::from_picos(7);

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::new(1);
        (0..segments).for_each(|i| board.send_new(100, Time::from_picos(i)));
        board
    }

    #[test]
    fn a_cumulative_ack_yields_the_youngest_send_time() {
        let mut board = board(4);
        let acked = board.acknowledge(301);
        assert_eq!(acked, Acked { bytes: 300, segments: 3, sent_at: Some(Time::from_picos(2)) });
        assert_eq!((board.una(), board.flight()), (301, 100));
    }

    #[test]
    fn rfc6298_3_karn_gives_no_sample_if_anything_acknowledged_was_sent_twice() {
        let mut board = board(4);
        board.resend_at(board.una(), NOW);
        assert_eq!(board.acknowledge(401), Acked { bytes: 400, segments: 4, sent_at: None });
    }

    #[test]
    fn going_back_resends_in_order_and_an_ack_may_overtake() {
        let mut board = board(4);
        board.go_back();
        assert_eq!(board.flight(), 0);
        board.send_again(NOW);
        assert_eq!(board.resend().map(|segment| segment.seq), Some(101));
        board.acknowledge(351);
        assert_eq!((board.next(), board.flight()), (351, 0));
        assert_eq!(board.resend().map(|segment| (segment.seq, segment.len)), Some((351, 50)));
        board.send_again(NOW);
        assert_eq!((board.next(), board.max()), (401, 401));
        assert_eq!(board.resend(), None);
    }

    #[test]
    fn a_copy_of_the_head_after_going_back_counts_as_in_flight() {
        let mut board = board(2);
        board.go_back();
        board.resend_at(board.una(), NOW);
        assert_eq!((board.flight(), board.resend().map(|segment| segment.seq)), (100, Some(101)));
    }

    proptest! {
        /// Comparison with a plain list of bytes: the flight is equal, and no segment is skipped.
        #[test]
        fn agrees_with_a_byte_count(steps in prop::collection::vec((0_u8..5, 1_u32..300), 1..100)) {
            let mut board = Scoreboard::new(1);
            let (mut una, mut next, mut max) = (1, 1, 1);
            for (step, amount) in steps {
                match step {
                    0 | 1 if next == max => {
                        board.send_new(amount, NOW);
                        next += u64::from(amount);
                        max = next;
                    }
                    0..=2 => {
                        if let Some(segment) = board.resend().copied() {
                            prop_assert_eq!(segment.seq, next);
                            board.send_again(NOW);
                            next = segment.end();
                        }
                    }
                    3 => {
                        board.go_back();
                        next = una;
                    }
                    _ if max > una => {
                        let ack = una + 1 + u64::from(amount) % (max - una);
                        let acked = board.acknowledge(ack);
                        prop_assert_eq!(acked.bytes, ack - una);
                        una = ack;
                        next = next.max(ack);
                    }
                    _ => {}
                }
                prop_assert_eq!((board.una(), board.next(), board.max()), (una, next, max));
                prop_assert_eq!(board.is_empty(), una == max);
                prop_assert_eq!(board.resend().map_or(max, |segment| segment.seq), next);
            }
        }
    }
}
