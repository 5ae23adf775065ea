//! Segments that are too long for a link of the path, whose router does not say so (RFC 2923 §2.1).

use crate::connection::Connection;
use crate::event::Event;
use crate::stall::Place;

/// So often was a segment sent in vain, at the least.
const TRIES: u32 = 3;
/// Shorter segments pass any link (IPv6: 1280 bytes, with headers and a tunnel's).
const LONG: u32 = 1200;
/// Longer ones than those that pass, by more than the options that a header may have.
const LONGER: u32 = 60;
/// A hole that is not filled for so long was tried several times.
const SECOND: i64 = 1_000_000_000;

/// How often the first unacknowledged segment was sent, and which ones passed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    size: u32,
    count: u32,
    places: (Place, Place),
    /// The longest that was sent, and that is known to have arrived.
    sent: u32,
    passed: u32,
    /// Of the segments with the most tries.
    worst: Option<(u32, u32, (Place, Place))>,
}

impl Tries {
    /// A segment was sent, perhaps the first unacknowledged one again.
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

    /// New bytes were acknowledged; `all` that had been sent, or not.
    pub fn acknowledged(&mut self, all: bool) {
        if all {
            self.passed = self.passed.max(self.sent);
            self.sent = 0;
        }
        self.count = 0;
    }

    /// The segment that was sent in vain again and again, though shorter ones passed.
    fn in_vain(&self) -> Option<(Place, Place)> {
        let (size, count, places) = self.worst?;
        (count >= TRIES && size >= LONG && self.passed + LONGER < size).then_some(places)
    }
}

impl Connection {
    /// Says whether the segments of an end did not get through, because they are too long.
    pub fn tell_black_hole(&self, side: usize, now: i64, events: &mut Vec<Event>) {
        if self.asks(side) {
            return;
        }
        let flow = &self.flows[side];
        let mut tell = |certain, places| events.push(Event::BlackHole { side, certain, places });
        if let Some(places) = flow.tries.in_vain() {
            tell(true, places);
            return;
        }
        // Behind the link only what is shorter is seen.
        let places = (flow.last_place, self.last_place);
        let small = flow.mss >= LONG && flow.most + LONGER < flow.mss;
        let short = small && flow.most > 0;
        let open = flow.holes.first().is_some_and(|hole| now - hole.made > SECOND);
        let filled = flow.filled_late > SECOND;
        if short && (open || filled) {
            tell(true, places);
        } else if small && self.is_unanswered(side, now) {
            tell(false, places);
        }
    }

    /// Whether an end has acknowledged a request, and nothing of its answer came for long.
    fn is_unanswered(&self, side: usize, now: i64) -> bool {
        let (answer, request) = (&self.flows[side], &self.flows[1 - side]);
        let asked = request.message.is_some_and(|one| now - one.last > SECOND);
        asked && request.una >= request.top && request.top > 0 && answer.una <= answer.top
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
}
