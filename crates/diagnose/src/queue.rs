//! How long packets wait in the queue of a switch, before the point or behind it.

use crate::connection::Connection;
use crate::data::Gap;
use crate::flow::Seen;

/// No queue is longer.
const LONGEST: i64 = 10_000_000;

impl Connection {
    /// How long packets to an end are in queues behind the point.
    pub fn queued(&self, side: usize) -> i64 {
        let trip = &self.trips[side];
        if self.near(side) { 0 } else { trip.most() - trip.least().unwrap_or(0) }
    }

    /// The ACK of all that was seen calls new bytes. What they take beyond a round trip is a queue.
    pub fn queue_before(&mut self, side: usize, seen: Seen, gap: &Gap) {
        let Some(trip) = self.round_trip() else { return };
        let unasked = self.heard[side] > self.heard[1 - side];
        let flow = &mut self.flows[side];
        if unasked && gap.quiet > trip {
            flow.resumed = gap.now;
        }
        let called = seen == Seen::Next && !gap.first && flow.una == flow.top;
        let whole = gap.missing.unwrap_or(0) == 0 && flow.holes.first().is_none();
        let length = gap.now - flow.last_data;
        if called && whole && length < gap.timer.unwrap_or(i64::MAX).min(2 * LONGEST) / 2 {
            flow.queued = flow.queued.max(length - trip);
        }
    }

    /// The ACK of one segment came: what it took beyond the least is a queue behind the point.
    pub fn queue_behind(&mut self, side: usize, (sent, now): (i64, i64), alone: bool) {
        let wait = now - sent;
        let near = self.near(side);
        let least = self.trips[side].least().unwrap_or(wait);
        let flow = &mut self.flows[1 - side];
        let repairs = flow.dupacks > 0 || flow.sacked || flow.una < flow.resent_top;
        if alone && sent > flow.resumed && wait < LONGEST && !near && !repairs {
            flow.queued = flow.queued.max(wait - least);
        }
    }
}
