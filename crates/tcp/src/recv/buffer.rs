//! The receive buffer: in-order data, ranges beyond gaps, and the advertised window.

use super::ranges::{Range, Ranges};

/// The effect of a segment on the received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The segment extended the in-order data, and there is no gap.
    InOrder,
    /// The segment filled a gap, wholly or in part, so it is acknowledged at once (RFC 5681 §4.2).
    FilledGap,
    /// The segment is beyond a gap.
    OutOfOrder,
    /// The segment had no new data.
    Duplicate,
}

/// Received bytes: all bytes below `next`, and ranges above it.
#[derive(Clone, Debug)]
pub struct Reassembly {
    next: u64,
    /// Allocated at the first gap.
    ranges: Option<Box<Ranges>>,
}

impl Reassembly {
    /// An empty buffer; `next` is the first byte expected.
    pub fn new(next: u64) -> Self {
        Self { next, ranges: None }
    }

    /// Next byte expected: the cumulative ACK.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether there is data beyond a gap.
    #[inline]
    pub fn has_gap(&self) -> bool {
        self.ranges.as_ref().is_some_and(|ranges| !ranges.is_empty())
    }

    /// Ranges received beyond the gap, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = Range> {
        self.ranges.iter().flat_map(|ranges| ranges.iter().copied())
    }

    /// Number of ranges received beyond the gap.
    pub fn range_count(&self) -> usize {
        self.ranges.as_ref().map_or(0, |ranges| ranges.len())
    }

    /// The range beyond the gap that contains `seq`.
    pub fn range_of(&self, seq: u64) -> Option<Range> {
        self.ranges.as_ref()?.first_after(seq).filter(|range| range.0 <= seq)
    }

    /// The first range between `start` and `end` that has arrived before.
    pub fn overlap(&self, start: u64, end: u64) -> Option<Range> {
        if start < self.next {
            return Some((start, end.min(self.next)));
        }
        let range = self.ranges.as_ref()?.first_after(start).filter(|range| range.0 < end)?;
        Some((start.max(range.0), end.min(range.1)))
    }

    /// Whether a segment that starts at `start` is in order and there is no gap.
    #[inline]
    pub fn is_next(&self, start: u64) -> bool {
        start == self.next && !self.has_gap()
    }

    /// Adds the bytes from `start` to `end`.
    #[inline]
    pub fn insert(&mut self, start: u64, end: u64) -> Arrival {
        if self.is_next(start) {
            self.next = end;
            return Arrival::InOrder;
        }
        self.insert_slowly(start.max(self.next), end)
    }

    fn insert_slowly(&mut self, start: u64, end: u64) -> Arrival {
        if start >= end {
            return Arrival::Duplicate;
        }
        let ranges = self.ranges.get_or_insert_default();
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            if start == self.next {
                self.next = end;
                return Arrival::InOrder;
            }
            ranges.append((start, end));
            return Arrival::OutOfOrder;
        };
        if start >= last.1 {
            ranges.append((start, end));
            return Arrival::OutOfOrder;
        }
        if start == self.next && end <= first.0 {
            self.next = end;
            if end == first.0 {
                self.next = first.1;
                ranges.pop_first();
            }
            return Arrival::FilledGap;
        }
        let Some(merged) = ranges.take_union((start, end)) else {
            return Arrival::Duplicate;
        };
        if merged.0 > self.next {
            ranges.insert(merged);
            return Arrival::OutOfOrder;
        }
        self.next = merged.1;
        Arrival::FilledGap
    }
}

/// The advertised window; its right edge never moves back (RFC 9293 §3.8.6.2.1).
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    capacity: u64,
    right_edge: u64,
}

impl ReceiveWindow {
    /// A buffer of `capacity` bytes that starts at sequence number `next`.
    pub fn new(capacity: u64, next: u64) -> Self {
        Self { capacity, right_edge: next }
    }

    /// Changes the buffer. Returns whether to send a window update, because a window of less than a
    /// segment opens (RFC 9293 §3.8.6.2.2).
    pub fn set_capacity(&mut self, capacity: u64, next: u64, segment: u64) -> bool {
        let grows = capacity > std::mem::replace(&mut self.capacity, capacity);
        let advertised = self.right_edge.saturating_sub(next);
        grows && advertised < segment && capacity >= segment
    }

    /// The window to advertise with the cumulative ACK `next`. This window is at most `cap`, unless
    /// the right edge would move back.
    #[inline]
    pub fn advertise(&mut self, next: u64, cap: Option<u64>) -> u32 {
        let wanted = cap.map_or(self.capacity, |cap| cap.min(self.capacity));
        self.right_edge = self.right_edge.max(next + wanted);
        u32::try_from(self.right_edge - next).unwrap_or(u32::MAX)
    }

    /// Whether a segment that ends at `end` fits into the window. A probe of a closed window does
    /// not fit.
    #[inline]
    pub fn accepts(&self, end: u64, next: u64) -> bool {
        end <= self.right_edge.max(next + self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arrivals_are_told_apart() {
        let mut data = Reassembly::new(1);
        assert_eq!(data.insert(1, 11), Arrival::InOrder);
        assert_eq!(data.insert(21, 31), Arrival::OutOfOrder);
        assert_eq!(data.insert(22, 30), Arrival::Duplicate);
        assert_eq!(data.insert(5, 11), Arrival::Duplicate);
        assert_eq!(data.insert(41, 51), Arrival::OutOfOrder);
        assert_eq!(data.insert(11, 21), Arrival::FilledGap);
        assert_eq!((data.next(), data.ranges().collect()), (31, vec![(41, 51)]));
        assert_eq!(data.insert(25, 41), Arrival::FilledGap);
        assert_eq!((data.next(), data.has_gap()), (51, false));
    }

    #[test]
    fn rfc9293_3_8_6_the_right_edge_never_moves_back() {
        let mut window = ReceiveWindow::new(1000, 1);
        assert_eq!(window.advertise(1, None), 1000);
        assert_eq!(window.advertise(101, Some(200)), 900);
        assert_eq!(window.advertise(901, Some(200)), 200);
        assert!(window.accepts(1101, 901) && !window.accepts(5000, 901));
    }

    #[test]
    fn rfc9293_3_8_6_2_2_opening_a_closed_window_is_worth_an_update() {
        let mut window = ReceiveWindow::new(0, 1);
        assert_eq!(window.advertise(1, None), 0);
        assert!(!window.accepts(2, 1));
        assert!(!window.set_capacity(50, 1, 100), "silly window");
        assert!(window.set_capacity(500, 1, 100));
        assert_eq!(window.advertise(1, None), 500);
        assert!(!window.set_capacity(800, 1, 100), "the window was already open");
        assert!(!ReceiveWindow::new(500, 1).set_capacity(500, 1, 100), "nothing has changed");
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_bytes(segments in prop::collection::vec((1_u64..60, 1_u64..12), 1..60)) {
            let mut data = Reassembly::new(1);
            let mut bytes = BTreeSet::new();
            for (start, len) in segments {
                let known = (start..start + len).all(|byte| bytes.contains(&byte));
                bytes.extend(start..start + len);
                let arrival = data.insert(start, start + len);
                prop_assert_eq!(arrival == Arrival::Duplicate, known);
                let next = (1..=100).find(|byte| !bytes.contains(byte)).unwrap();
                prop_assert_eq!(data.next(), next);
                let held: Vec<u64> = data.ranges().flat_map(|range| range.0..range.1).collect();
                let expected: Vec<u64> = bytes.iter().copied().filter(|byte| *byte > next).collect();
                prop_assert_eq!(held, expected);
                let ranges: Vec<_> = data.ranges().collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert_eq!(ranges.len(), data.range_count());
            }
        }
    }
}
