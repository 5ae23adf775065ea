//! Segments that are too long for a link of the path, and that a router drops without reporting the
//! drops (RFC 2923 §2.1).

use super::Connection;
use crate::event::Event;
use crate::time::{Span, Time};

/// If a hole is older than this, the sender has tried several times to fill it.
const SECOND: Span = Span::from_secs(1);

impl Connection {
    /// Reports whether the segments of an end did not get through because they are too long.
    pub(super) fn tell_black_hole(&self, side: usize, now: Time, events: &mut Vec<Event>) {
        if self.asks(side) {
            return;
        }
        let flow = &self.flows[side];
        let mut tell = |certain, places| events.push(Event::BlackHole { side, certain, places });
        if let Some(places) = flow.tries.in_vain() {
            tell(true, places);
            return;
        }
        if !flow.segments.are_short() {
            return;
        }
        // A capture behind that link shows only the shorter segments.
        let places = (flow.last_place(), self.last_place);
        if flow.segments.any() && flow.bytes.lacked_for(SECOND, now) {
            tell(true, places);
        } else if self.is_unanswered(side, now) {
            tell(false, places);
        }
    }

    /// Whether an end has acknowledged a request, but no byte of its answer came for a long time.
    fn is_unanswered(&self, side: usize, now: Time) -> bool {
        let (answer, request) = (&self.flows[side].bytes, &self.flows[1 - side].bytes);
        let asked =
            self.flows[1 - side].waiting.message().is_some_and(|one| now - one.last > SECOND);
        let taken = !request.are_outstanding() && request.top() > 0;
        asked && taken && answer.una() <= answer.top()
    }
}
