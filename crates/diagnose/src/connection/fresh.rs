//! New bytes after a silence: what the flow waited for, if it waited.

use super::Connection;
use super::data::Arrival;
use super::gap::{Gap, SOON};
use crate::event::{Event, Reason};
use crate::flow::{Kind, Probed, Rounds, Seen, Silent};
use crate::stall::{Cause, Ended, Finding, Stall};

impl Connection {
    /// Takes a segment of them.
    pub(super) fn fresh(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let side = it.side;
        self.rounds(side, gap, events);
        let flow = &self.flows[side];
        if gap.is_shut_out(flow) {
            return; // the receiver's affair
        }
        let last = flow.last_data();
        if gap.is_late(last) && self.ack_was_held(side, gap.now, last) {
            let wait = gap.wait(Reason::DelayedAck, last, it.packet);
            events.push(Event::Waited { side, wait });
            return;
        }
        if self.asks(side) {
            return; // when to ask is the client's own affair
        }
        let unasked = gap.first && it.start == 0 && self.opener == Some(side);
        if !gap.is_wait(unasked) {
            return;
        }
        if it.seen == Seen::Beyond {
            self.probed_beyond(it, gap, events);
        } else {
            self.wait_for_more(it, gap);
        }
    }

    /// New bytes beyond a hole that a silence was before: a probe may have sent them, where the
    /// receiver names ranges (RFC 8985 §7.3).
    fn probed_beyond(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        if self.is_selective() && gap.length() > SOON {
            let finding = Finding::of(Cause::FullWindow, 0.8);
            let stall = gap.stall(self.ends_of(it.side), it.packet, finding);
            // Whether the hole is filled is not known yet: the capture may have dropped it.
            self.keep(it.side, Stall { ended: Ended::Probe, proven: false, ..stall }, events);
        }
    }

    /// The next bytes after a silence: what follows shows who was waited for.
    fn wait_for_more(&mut self, it: &Arrival, gap: &Gap) {
        let probes = self.is_selective() && !self.trips.near(1 - it.side);
        let flow = &mut self.flows[it.side];
        let span = (it.start, it.end);
        if probes && flow.bytes.are_outstanding() && gap.is_stall() {
            // What is outstanding was not acknowledged meanwhile. If it is not now, this is a probe.
            let arrived = flow.repair.is_told();
            let kind = Kind::Probed(Probed { una: flow.bytes.una(), arrived });
            flow.waiting.wait_for(gap.pending(kind, it.packet, span));
            return;
        }
        let kind = Kind::Silent(Silent {
            first: gap.first,
            again: flow.repair.covers(it.start),
            missing: gap.missing,
            if_counted: gap.if_counted,
        });
        if let Some(missing @ 1..) = gap.missing {
            // All of them are sent again.
            flow.repair.extend(it.start + gap.beyond(missing) * flow.segments.usual());
        }
        flow.waiting.wait_for(gap.pending(kind, it.packet, span));
    }

    /// Whether the rounds of packets end where the window does.
    fn rounds(&mut self, side: usize, gap: &Gap, events: &mut Vec<Event>) {
        let Some(trip) = self.trips.round() else { return };
        let flow = &mut self.flows[side];
        let edge = flow.window.edge();
        if gap.first {
            flow.rounds.begin(edge);
        } else if Rounds::are_parted_by(gap.now - flow.last_data(), trip) {
            let full = flow.rounds.next(flow.bytes.top() + flow.segments.usual(), edge);
            events.push(Event::Round { side, full });
        }
    }
}
