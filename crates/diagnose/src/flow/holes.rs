//! Holes in the bytes of a flow: bytes that were skipped.

use crate::time::Time;

/// A range of bytes that has not been seen, below bytes that have been seen.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    pub start: i64,
    pub end: i64,
    /// Time at which the first packet behind the hole was seen.
    pub made: Time,
    /// Number of packets seen behind the hole.
    pub behind: u32,
    /// Whether the bytes of the hole had been sent before.
    pub again: bool,
    /// Whether bytes after the hole were retransmitted while the hole existed. An earlier
    /// retransmission of the bytes of the hole was then lost.
    pub passed: bool,
}

/// The holes of a flow, in order. If there are too many holes, the oldest is forgotten.
#[derive(Debug, Default)]
pub struct Holes(pub(super) Vec<Hole>);

const MOST: usize = 256;

impl Holes {
    pub fn first(&self) -> Option<Hole> {
        self.0.first().copied()
    }

    /// The number of bytes in the holes.
    pub fn bytes(&self) -> i64 {
        self.0.iter().map(|hole| hole.end - hole.start).sum()
    }

    /// Adds a hole, because a packet begins at `end` although `start` was expected.
    pub fn make(&mut self, (start, end): (i64, i64), again: bool, now: Time) {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Hole { start, end, made: now, behind: 0, again, passed: false });
    }

    /// Notes a packet that begins at `start`. This packet counts as one more packet behind every
    /// hole below `start`.
    pub fn pass(&mut self, start: i64) {
        for hole in self.0.iter_mut().take_while(|hole| hole.end <= start) {
            hole.behind += 1;
        }
    }

    /// Notes that bytes from `start` on were retransmitted. The missing bytes before `start` were
    /// therefore retransmitted earlier, and lost again.
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

    /// The hole that contains one of these bytes.
    pub fn at(&self, start: i64, end: i64) -> Option<Hole> {
        let overlaps = |hole: &&Hole| hole.start < end && start < hole.end;
        self.0.iter().find(overlaps).copied()
    }

    /// Notes that these bytes have been seen.
    pub fn fill(&mut self, start: i64, end: i64) {
        let mut at = 0;
        while at < self.0.len() {
            let hole = self.0[at];
            if hole.end <= start || end <= hole.start {
                at += 1;
                continue;
            }
            self.0.remove(at);
            // The left part is inserted second, so that it ends up before the right part.
            let parts = [Hole { start: end, ..hole }, Hole { end: start, ..hole }];
            for part in parts.into_iter().filter(|part| part.start < part.end) {
                if self.0.len() < MOST {
                    self.0.insert(at, part);
                }
            }
            // The rest of this hole does not overlap any more, but the next hole may.
        }
    }

    /// Notes that all bytes below `una` have arrived, and returns the number of those bytes that
    /// were never seen.
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

    /// Holes from 10 to 20 and from 30 to 40.
    fn two() -> Holes {
        let mut holes = Holes::default();
        holes.make((10, 20), false, at(0));
        holes.make((30, 40), true, at(5));
        holes
    }

    fn spans(holes: &Holes) -> Vec<(i64, i64)> {
        holes.0.iter().map(|hole| (hole.start, hole.end)).collect()
    }

    #[test]
    fn a_packet_is_behind_the_holes_that_end_before_it() {
        let behind = |start| {
            let mut holes = two();
            holes.pass(start);
            [holes.0[0].behind, holes.0[1].behind]
        };
        assert_eq!([19, 20, 39, 40].map(behind), [[0, 0], [1, 0], [1, 0], [1, 1]]);
    }

    #[test]
    fn a_hole_has_bytes_from_its_start_to_before_its_end() {
        let holes = two();
        let start = |from, to| holes.at(from, to).map(|hole| hole.start);
        assert_eq!(
            [start(0, 10), start(0, 11), start(19, 21), start(20, 30)],
            [None, Some(10), Some(10), None]
        );
        assert_eq!([start(30, 31), start(39, 50), start(40, 50)], [Some(30), Some(30), None]);
        assert_eq!((holes.bytes(), holes.first().map(|hole| hole.end)), (20, Some(20)));
        assert!(!holes.0[0].again && holes.0[1].again && holes.0[1].made == at(5));
    }

    #[test]
    fn what_is_seen_is_missing_no_longer() {
        let left = |start, end| {
            let mut holes = two();
            holes.fill(start, end);
            spans(&holes)
        };
        assert_eq!(left(0, 10), [(10, 20), (30, 40)]);
        assert_eq!(left(20, 30), [(10, 20), (30, 40)]);
        assert_eq!(left(0, 11), [(11, 20), (30, 40)]);
        assert_eq!(left(19, 31), [(10, 19), (31, 40)]);
        assert_eq!(left(10, 40), []);
        assert_eq!(left(12, 18), [(10, 12), (18, 20), (30, 40)]);
        assert_eq!(left(30, 40), [(10, 20)]);
    }

    #[test]
    fn holes_below_what_was_sent_again_were_passed_over() {
        let passed = |start| {
            let mut holes = two();
            holes.pass_over(start);
            holes.0.iter().map(|hole| (hole.start, hole.end, hole.passed)).collect::<Vec<_>>()
        };
        assert_eq!(passed(10), [(10, 20, false), (30, 40, false)]);
        assert_eq!(passed(11), [(10, 11, true), (11, 20, false), (30, 40, false)]);
        assert_eq!(passed(20), [(10, 20, true), (30, 40, false)]);
        assert_eq!(passed(40), [(10, 20, true), (30, 40, true)]);
    }

    #[test]
    fn of_too_many_holes_the_oldest_is_given_up() {
        let mut holes = Holes::default();
        for number in 0..257 {
            holes.make((10 * number, 10 * number + 5), false, at(0));
        }
        assert_eq!((holes.0.len(), holes.first().map(|hole| hole.start)), (256, Some(10)));
        holes.pass_over(2563);
        assert_eq!((holes.0.len(), holes.0[255].end), (256, 2565), "there is no room for two");
        holes.fill(12, 13);
        assert_eq!((holes.0.len(), spans(&holes)[0]), (256, (13, 15)), "one part is kept");
    }

    #[test]
    fn an_ack_ends_what_is_below_it() {
        let settled = |una| {
            let mut holes = two();
            (holes.settle(una), spans(&holes))
        };
        assert_eq!(settled(10), (0, vec![(10, 20), (30, 40)]));
        assert_eq!(settled(13), (3, vec![(13, 20), (30, 40)]));
        assert_eq!(settled(25), (10, vec![(30, 40)]));
        assert_eq!(settled(40), (20, vec![]));
    }
}
