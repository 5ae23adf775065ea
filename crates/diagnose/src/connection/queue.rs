//! Waiting times in the queue of a switch, before the vantage point or behind it.

use super::Connection;
use super::data::Arrival;
use super::gap::Gap;
use crate::flow::{LONGEST_QUEUE, Seen};
use crate::time::{Span, Time};

impl Connection {
    /// Measures the queue before the point. The ACK of all bytes seen so far releases new bytes. If
    /// the new bytes take longer than a round trip, they have waited in a queue for the rest of the
    /// time.
    pub(super) fn queue_before(&mut self, it: &Arrival, gap: &Gap) {
        let side = it.side;
        let Some(trip) = self.trips.round() else { return };
        let unasked = self.heard[side] > self.heard[1 - side];
        let flow = &mut self.flows[side];
        if unasked && gap.quiet > trip {
            flow.queued.resume(gap.now);
        }
        let called = it.seen == Seen::Next && !gap.first && flow.bytes.una() == flow.bytes.top();
        let whole = !gap.has_lost() && flow.bytes.are_whole();
        let length = gap.now - flow.last_data();
        if called && whole && length < gap.timer.unwrap_or(Span::MAX).min(2 * LONGEST_QUEUE) / 2 {
            flow.queued.take(length - trip);
        }
    }

    /// Measures the queue behind the point. If the ACK of a single segment takes longer than the
    /// shortest time of an ACK, the difference is a wait in a queue.
    pub(super) fn queue_behind(&mut self, side: usize, (sent, now): (Time, Time), alone: bool) {
        let wait = now - sent;
        let near = self.trips.near(side);
        let least = self.trips.least(side).unwrap_or(wait);
        let flow = &mut self.flows[1 - side];
        let quiet = flow.queued.is_called(sent) && !flow.is_disturbed();
        if alone && wait < LONGEST_QUEUE && !near && quiet {
            flow.queued.take(wait - least);
        }
    }
}
