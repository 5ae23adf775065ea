//! The bytes of a flow: the bytes seen and acknowledged so far, and the missing bytes in between.

use super::holes::{Hole, Holes};
use crate::time::{Span, Time};

/// The largest window (RFC 7323 §2.3).
const MOST_ANNOUNCED: i64 = 1 << 30;
/// A byte that is farther ahead than this, and beyond the window, belongs to another connection.
const FAR: i64 = 1 << 24;

/// The relation of a segment to the bytes seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The next bytes.
    Next,
    /// Bytes beyond the next bytes, so that the bytes in between are missing.
    Beyond,
    /// Bytes that were missing.
    Missing,
    /// Bytes that were seen before.
    Again,
}

/// The state of a flow's bytes; byte 0 is the first byte that was seen.
#[derive(Debug, Default)]
pub struct Bytes {
    pub(super) base: Option<u32>,
    /// The highest byte seen, and the first byte that was not acknowledged.
    pub(super) top: i64,
    pub(super) una: i64,
    pub(super) holes: Holes,
    /// The longest time for which a hole existed before it was filled.
    filled_late: Span,
    /// Whether the end of the flow was seen.
    pub(super) closed: bool,
}

impl Bytes {
    /// The number of a byte with sequence number `seq`, counted from the first byte. Sequence
    /// numbers wrap around, so the result is the possible number that is closest to `near`.
    fn relative(&self, seq: u32, near: i64) -> i64 {
        let base = self.base.unwrap_or(seq);
        near + i64::from(seq.wrapping_sub(base.wrapping_add(near as u32)) as i32)
    }

    /// Begins the flow at a SYN. The first byte of data has the next sequence number.
    pub fn open(&mut self, seq: u32) {
        self.base = Some(seq.wrapping_add(1));
    }

    /// Notes that a FIN was seen.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the beginning of the flow or any byte was seen.
    pub fn begun(&self) -> bool {
        self.base.is_some()
    }

    /// Whether no more bytes will follow.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The number of the first byte of a packet.
    pub fn start_of(&mut self, seq: u32) -> i64 {
        self.base.get_or_insert(seq);
        self.relative(seq, self.top)
    }

    /// The number of the first byte of a segment of data. If the byte is farther ahead than
    /// `window` allows, it does not belong to the earlier bytes, so the flow begins anew.
    pub fn place(&mut self, seq: u32, window: i64) -> i64 {
        let start = self.start_of(seq);
        if (start - self.top).abs() <= FAR.max(2 * window) {
            return start;
        }
        self.base = Some(seq.wrapping_sub(self.top as u32));
        self.holes = Holes::default();
        self.una = self.top;
        self.top
    }

    /// The number of a byte that the other end acknowledges.
    pub fn acked(&mut self, ack: u32) -> i64 {
        self.base.get_or_insert(ack);
        self.relative(ack, self.una)
    }

    /// The highest byte seen.
    pub fn top(&self) -> i64 {
        self.top
    }

    /// The first byte that was not acknowledged.
    pub fn una(&self) -> i64 {
        self.una
    }

    /// Whether any byte was not acknowledged.
    pub fn are_outstanding(&self) -> bool {
        self.una < self.top
    }

    /// Whether all bytes were sent and acknowledged.
    pub fn are_done(&self) -> bool {
        self.closed && !self.are_outstanding()
    }

    /// The relation of a segment to the bytes seen so far.
    pub fn seen(&self, start: i64, end: i64) -> Seen {
        if self.holes.at(start, end).is_some() {
            Seen::Missing
        } else if end <= self.top {
            Seen::Again
        } else if start > self.top {
            Seen::Beyond
        } else {
            Seen::Next
        }
    }

    /// Whether a packet without data shows that the sender has sent bytes that were not seen. The
    /// sequence number of such a packet is that of the sender's next byte.
    pub fn lack(&self, next: i64) -> bool {
        // One of these bytes may belong to a FIN.
        self.top + 1 < next && next - self.top <= MOST_ANNOUNCED && !self.closed
    }

    /// Notes that bytes up to `next` were skipped. `again` is true if they had been sent before.
    pub fn pass(&mut self, next: i64, again: bool, now: Time) {
        self.holes.make((self.top, next), again, now);
        self.top = next;
    }

    /// Notes a segment.
    pub fn take(&mut self, (start, end): (i64, i64), again: bool, now: Time) {
        if start > self.top {
            self.holes.make((self.top, start), again, now);
        } else if start < self.top {
            self.holes.fill(start, end);
        }
        self.holes.pass(start);
        self.top = self.top.max(end);
    }

    /// Notes that all bytes below `ack` have arrived. Returns the number of bytes that were never
    /// seen: those beyond the highest byte seen, and those in holes.
    pub fn arrived(&mut self, ack: i64) -> [i64; 2] {
        // If only one byte beyond the highest byte seen is acknowledged, it belongs to a FIN.
        let beyond = if ack > self.top + 1 { ack - self.top } else { 0 };
        let end_of_fin = i64::from(self.closed || ack == self.top + 1);
        let missing = self.holes.settle(ack);
        self.top = self.top.max(ack - end_of_fin);
        [beyond, missing]
    }

    /// Notes that `ack` is now the first byte that is not acknowledged.
    pub fn acknowledged(&mut self, ack: i64) {
        self.una = ack;
    }

    /// Whether no byte is missing.
    pub fn are_whole(&self) -> bool {
        self.holes.first().is_none()
    }

    /// Number of bytes that were not acknowledged, and number of bytes in holes.
    pub fn left(&self) -> (i64, i64) {
        (self.top - self.una.min(self.top), self.holes.bytes())
    }

    /// The hole that contains one of these bytes.
    pub fn hole(&self, start: i64, end: i64) -> Option<Hole> {
        self.holes.at(start, end)
    }

    /// Whether a hole is the first hole.
    pub fn is_first(&self, hole: &Hole) -> bool {
        self.holes.first().is_some_and(|first| first.start == hole.start)
    }

    /// Fills a hole.
    pub fn fill(&mut self, hole: &Hole, now: Time) {
        self.filled_late = self.filled_late.max(now - hole.made);
    }

    /// Notes that bytes from `start` on were sent again.
    pub fn pass_over(&mut self, start: i64) {
        self.holes.pass_over(start);
    }

    /// Whether a hole existed for longer than `long`, until it was filled or until now.
    pub fn lacked_for(&self, long: Span, now: Time) -> bool {
        self.filled_late > long || self.holes.first().is_some_and(|hole| now - hole.made > long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{at, ns};

    /// A flow with bytes 0 to 1000. Bytes 400 to 500 are missing.
    fn bytes() -> Bytes {
        let mut bytes = Bytes::default();
        bytes.open(u32::MAX - 100);
        bytes.take((0, 400), false, at(0));
        bytes.take((500, 1000), false, at(7));
        bytes
    }

    #[test]
    fn numbers_go_on_where_those_of_packets_begin_anew() {
        let mut bytes = bytes();
        assert_eq!(bytes.start_of(u32::MAX - 99), 0);
        assert_eq!(bytes.start_of(900), 1000);
        assert_eq!(bytes.acked(300), 400);
    }

    #[test]
    fn a_segment_is_next_beyond_missing_or_again() {
        let bytes = bytes();
        assert_eq!(bytes.seen(1000, 1100), Seen::Next);
        assert_eq!(bytes.seen(900, 1100), Seen::Next, "some of it is");
        assert_eq!(bytes.seen(1001, 1100), Seen::Beyond);
        assert_eq!(bytes.seen(490, 600), Seen::Missing);
        assert_eq!(bytes.seen(500, 600), Seen::Again);
    }

    #[test]
    fn a_stream_that_is_too_far_ahead_is_another_one() {
        let mut bytes = bytes();
        let ahead = |far: i64| 900_u32.wrapping_add(far as u32);
        assert_eq!(bytes.place(ahead(FAR), 0), 1000 + FAR);
        assert_eq!(bytes.place(ahead(FAR + 1), FAR), 1001 + FAR, "a window of this size");
        assert!(!bytes.are_whole());
        assert_eq!(bytes.place(ahead(FAR + 1), 0), 1000);
        assert!(bytes.are_whole() && !bytes.are_outstanding());
    }

    #[test]
    fn what_was_acknowledged_and_not_seen_is_beyond_or_in_holes() {
        let mut bytes = bytes();
        assert_eq!(bytes.arrived(450), [0, 50]);
        assert_eq!(bytes.arrived(1200), [200, 50]);
        bytes.close();
        assert_eq!(bytes.arrived(1201), [0, 0], "the FIN has a number, too");
        bytes.acknowledged(1201);
        assert!(bytes.are_done());
    }

    #[test]
    fn a_packet_without_data_says_what_was_sent_before_it() {
        let mut bytes = bytes();
        assert!(bytes.lack(1002) && !bytes.lack(1001) && !bytes.lack(1001 + MOST_ANNOUNCED));
        bytes.close();
        assert!(!bytes.lack(1001));
    }

    #[test]
    fn a_hole_was_there_until_it_was_filled() {
        let mut bytes = bytes();
        assert!(bytes.lacked_for(ns(2), at(10)) && !bytes.lacked_for(ns(3), at(10)));
        let hole = bytes.hole(450, 460).expect("a hole");
        assert!(bytes.is_first(&hole));
        bytes.fill(&hole, at(12));
        bytes.take((400, 500), false, at(12));
        assert!(bytes.lacked_for(ns(4), at(100)) && !bytes.lacked_for(ns(5), at(100)));
    }

    #[test]
    fn bytes_are_outstanding_until_they_are_acknowledged() {
        let mut bytes = bytes();
        assert!(bytes.are_outstanding() && !bytes.is_closed());
        assert_eq!(bytes.left(), (1000, 100));
        bytes.acknowledged(999);
        assert!(bytes.are_outstanding());
        assert_eq!(bytes.left(), (1, 100));
        bytes.acknowledged(1000);
        assert!(!bytes.are_outstanding() && !bytes.are_done());
        bytes.close();
        assert!(bytes.is_closed() && bytes.are_done());
        bytes.acknowledged(1001);
        assert_eq!(bytes.left(), (0, 100), "a FIN");
    }

    #[test]
    fn only_the_first_hole_comes_first() {
        let mut bytes = bytes();
        bytes.take((1200, 1300), false, at(9));
        let hole = |bytes: &Bytes, at| bytes.hole(at, at + 1).expect("a hole");
        assert!(bytes.is_first(&hole(&bytes, 450)) && !bytes.is_first(&hole(&bytes, 1100)));
        bytes.pass_over(1100);
        assert!(hole(&bytes, 450).passed && hole(&bytes, 1050).passed);
        assert!(!hole(&bytes, 1150).passed);
    }

    #[test]
    fn a_fin_that_was_not_seen_has_a_number() {
        let mut bytes = bytes();
        bytes.take((400, 500), false, at(9));
        assert_eq!(bytes.arrived(1001), [0, 0]);
        assert_eq!(bytes.top(), 1000);
        assert_eq!(bytes.arrived(1002), [2, 0]);
        assert_eq!(bytes.top(), 1002);
        bytes.close();
        assert_eq!(bytes.arrived(1004), [2, 0]);
        assert_eq!(bytes.top(), 1003, "the last is the FIN");
    }

    #[test]
    fn far_ahead_is_farther_than_two_windows() {
        let ahead = |far: i64, window| {
            let mut bytes = bytes();
            bytes.place(900_u32.wrapping_add(far as u32), window)
        };
        assert_eq!(ahead(2 * FAR, FAR), 1000 + 2 * FAR);
        assert_eq!(ahead(2 * FAR + 1, FAR), 1000);
        assert_eq!(ahead(-FAR - 1, 0), 1000, "and behind it");
    }
}
