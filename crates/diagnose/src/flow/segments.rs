//! The lengths of a flow's segments, and the segments that do not arrive. These may be too long for a
//! link of the path.

use crate::stall::Place;

/// Bytes of options that a full segment may have.
const OPTIONS: i64 = 40;
/// The shortest full segment (RFC 1122 §4.2.2.6).
const FULL: i64 = 536;
/// The longest segment on an Ethernet. A longer segment was merged.
pub(super) const ETHERNET: u32 = 1460;

/// Shorter segments fit into the MTU of every link. IPv6 requires an MTU of 1280 bytes, which
/// include the headers of the packet and of a tunnel.
pub const LONG: u32 = 1200;
/// A segment counts as longer than another segment only if it has more than this number of
/// additional bytes, because headers may have different options.
pub const LONGER: u32 = 60;

/// The segments that were seen.
#[derive(Debug, Default)]
pub struct Segments {
    /// Number of packets of data.
    pub(super) packets: u64,
    /// The longest segment that the two ends accept.
    pub(super) mss: u32,
    /// The largest payload of a packet, except in merged segments.
    pub(super) most: u32,
    /// Whether the flow's first packet was full. If so, the flow does not send requests.
    pushes: bool,
}

impl Segments {
    /// Notes the longest segment that the sender of a SYN accepts.
    pub fn accept(&mut self, mss: Option<u16>) {
        self.mss = mss.unwrap_or(0).into();
    }

    /// Limits segments to the length that both ends accept.
    pub fn agree(&mut self, other: &mut Self) {
        let least = self.mss.min(other.mss);
        self.mss = least;
        other.mss = least;
    }

    /// Counts a packet of data, even if it is only a keep-alive.
    pub fn count(&mut self) {
        self.packets += 1;
    }

    /// Records the payload of a packet, and returns the number of segments that it represents.
    pub fn take(&mut self, payload: u32) -> u32 {
        let segments = self.within(payload);
        if self.mss == 0 || (payload > self.mss && payload <= ETHERNET) {
            self.mss = payload.min(ETHERNET);
        }
        if payload <= self.mss {
            self.most = self.most.max(payload);
        }
        let full = i64::from(payload) + OPTIONS >= self.usual();
        self.pushes |= full && self.packets == 1;
        segments
    }

    /// The usual length of a segment, or a guess before a segment was seen.
    pub fn usual(&self) -> i64 {
        i64::from(if self.mss == 0 { ETHERNET } else { self.mss })
    }

    /// Number of segments that a packet represents, because offloads merge segments.
    pub fn within(&self, payload: u32) -> u32 {
        payload.div_ceil(self.usual() as u32).max(1)
    }

    /// Whether this number of bytes is one full segment.
    pub fn are_one(&self, bytes: i64) -> bool {
        ((self.usual() - OPTIONS).max(FULL)..=self.usual()).contains(&bytes)
    }

    /// The length of the longest segment seen; before a segment was seen, the length that both ends
    /// accept.
    pub fn longest(&self) -> u32 {
        if self.most > 0 { self.most } else { self.mss }
    }

    /// Whether all segments were so short that a link with a small MTU lets them through.
    pub fn are_short(&self) -> bool {
        self.mss >= LONG && self.most + LONGER < self.mss
    }

    /// Whether a segment was seen.
    pub fn any(&self) -> bool {
        self.most > 0
    }

    /// Number of packets of data.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Whether the flow's first packet was full. If so, the flow does not send requests.
    pub fn pushes(&self) -> bool {
        self.pushes
    }
}

/// Minimum number of times that a segment was sent without arriving.
const TRIES: u32 = 3;

/// The transmissions of the first unacknowledged segment, and the length of the segments that
/// arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    size: u32,
    pub(super) count: u32,
    places: (Place, Place),
    /// The longest segment that was sent, and the longest segment that is known to have arrived.
    pub(super) sent: u32,
    pub(super) passed: u32,
    /// The length, the number of tries, and the first and last frame of the segment with the most
    /// tries.
    worst: Option<(u32, u32, (Place, Place))>,
}

impl Tries {
    /// Notes a segment. `again` is true if this is a further transmission of the first
    /// unacknowledged segment.
    pub fn sent(&mut self, size: u32, again: bool, place: Place) {
        self.sent = self.sent.max(size);
        if !again {
            return;
        }
        if self.count == 0 || size != self.size {
            *self = Self { size, count: 0, places: (place, place), ..*self };
        }
        self.count += 1;
        self.places.1 = place;
        if self.worst.is_none_or(|(_, count, _)| count < self.count) {
            self.worst = Some((self.size, self.count, self.places));
        }
    }

    /// Notes that new bytes were acknowledged. `all` is true if all bytes sent so far are
    /// acknowledged.
    pub fn acknowledged(&mut self, all: bool) {
        if all {
            self.passed = self.passed.max(self.sent);
            self.sent = 0;
        }
        self.count = 0;
    }

    /// The first and last frame of a segment that was sent repeatedly without arriving, although
    /// shorter segments arrived.
    pub fn in_vain(&self) -> Option<(Place, Place)> {
        let (size, count, places) = self.worst?;
        (count >= TRIES && size >= LONG && self.passed + LONGER < size).then_some(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(payloads: &[u32]) -> Segments {
        let mut segments = Segments::default();
        for &payload in payloads {
            segments.count();
            segments.take(payload);
        }
        segments
    }

    #[test]
    fn a_merged_packet_is_several_segments_and_no_longer_one() {
        let mut segments = of(&[1448]);
        assert_eq!(segments.within(3 * 1448 + 1), 4);
        segments.take(65_160);
        assert_eq!((segments.usual(), segments.longest()), (1448, 1448));
        assert_eq!(of(&[65_160]).usual(), 1460, "a guess");
        assert_eq!(of(&[100, 1460]).usual(), 1460, "a longer one was seen");
    }

    #[test]
    fn a_request_does_not_begin_with_a_full_segment() {
        let mut asking = Segments::default();
        asking.accept(Some(1460));
        asking.count();
        asking.take(1419);
        assert!(!asking.pushes());
        asking.count();
        asking.take(1460);
        assert!(!asking.pushes(), "only its first packet says so");
        assert!(of(&[1420]).pushes());
    }

    #[test]
    fn one_full_segment_may_have_options() {
        let segments = of(&[1448]);
        assert!([1408, 1448].iter().all(|&bytes| segments.are_one(bytes)));
        assert!([1407, 1449].iter().all(|&bytes| !segments.are_one(bytes)));
        assert!(!of(&[300]).are_one(300), "shorter than any full one");
    }

    #[test]
    fn short_ones_are_those_that_a_small_link_lets_through() {
        let mut segments = Segments::default();
        segments.accept(Some(1460));
        segments.take(1399);
        assert!(segments.are_short());
        segments.take(1400);
        assert!(!segments.are_short());
    }

    #[test]
    fn both_ends_accept_what_the_shorter_says() {
        let (mut one, mut other) = (Segments::default(), Segments::default());
        one.accept(Some(1460));
        other.accept(Some(1380));
        one.agree(&mut other);
        assert_eq!((one.usual(), other.usual()), (1380, 1380));
        one.accept(None);
        assert_eq!(one.usual(), 1460, "a guess");
    }

    #[test]
    fn the_longest_is_that_which_was_seen_or_is_accepted() {
        let mut segments = Segments::default();
        assert_eq!((segments.longest(), segments.any()), (0, false));
        segments.accept(Some(1460));
        assert_eq!((segments.longest(), segments.any()), (1460, false));
        segments.take(0);
        assert!(!segments.any());
        segments.take(1);
        assert_eq!((segments.longest(), segments.any()), (1, true));
        assert_eq!(segments.take(1460), 1);
        assert_eq!(segments.take(1461), 2);
        assert_eq!(segments.longest(), 1460);
        let mut jumbo = Segments::default();
        jumbo.accept(Some(1000));
        assert_eq!((jumbo.take(1460), jumbo.usual()), (2, 1460), "it was not merged after all");
        assert_eq!((jumbo.take(1461), jumbo.usual()), (2, 1460));
        assert_eq!((of(&[1000, 1000]).packets(), of(&[]).packets()), (2, 0));
    }

    #[test]
    fn a_long_segment_that_is_tried_in_vain_though_short_ones_pass() {
        let place = Place::default();
        let mut tries = Tries::default();
        tries.sent(300, false, place);
        tries.acknowledged(true);
        tries.sent(1448, false, place);
        (0..2).for_each(|_| tries.sent(1448, true, place));
        assert!(tries.in_vain().is_none(), "twice");
        tries.sent(1448, true, place);
        assert!(tries.in_vain().is_some());
        let passed = Tries { passed: 1448, ..tries };
        assert!(passed.in_vain().is_none(), "others of its length pass");
    }

    fn place(frame: u64) -> Place {
        Place { file: 0, frame }
    }

    #[test]
    fn tries_are_of_one_length_and_told_from_the_first_to_the_last() {
        let mut tries = Tries::default();
        for frame in 1..=3 {
            tries.sent(1400, true, place(frame));
        }
        assert_eq!(tries.in_vain(), Some((place(1), place(3))));
        tries.sent(1300, true, place(4));
        tries.sent(1300, true, place(5));
        tries.sent(1300, true, place(6));
        assert_eq!(tries.in_vain(), Some((place(1), place(3))), "no more tries than before");
        tries.sent(1300, true, place(7));
        assert_eq!(tries.in_vain(), Some((place(4), place(7))));
        let mut other = Tries::default();
        for (size, frame) in [(1400, 1), (1300, 2), (1400, 3), (1400, 4)] {
            other.sent(size, true, place(frame));
        }
        assert_eq!(other.in_vain(), None, "of another length in between");
        let mut acked = Tries::default();
        (1..3).for_each(|frame| acked.sent(1400, true, place(frame)));
        acked.acknowledged(false);
        acked.sent(1400, true, place(3));
        assert_eq!(acked.in_vain(), None, "new bytes were acknowledged");
    }

    #[test]
    fn a_long_segment_is_longer_than_what_passes_by_more_than_options() {
        let found = |size, passed| {
            let mut tries = Tries { passed, ..Tries::default() };
            (0..3).for_each(|_| tries.sent(size, true, place(1)));
            tries.in_vain().is_some()
        };
        assert!(found(1200, 0) && !found(1199, 0));
        assert!(found(1400, 1339) && !found(1400, 1340));
    }
}
