//! Counts the transmissions of a segment that does not arrive. Such a segment may be too long for a
//! link of the path.

use super::segments::{LONG, LONGER};
use crate::stall::Place;

/// Minimum number of times that a segment was sent without arriving.
const TRIES: u32 = 3;

/// The transmissions of the first unacknowledged segment, and the length of the segments that
/// arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    size: u32,
    count: u32,
    places: (Place, Place),
    /// The longest segment that was sent, and the longest segment that is known to have arrived.
    sent: u32,
    passed: u32,
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
