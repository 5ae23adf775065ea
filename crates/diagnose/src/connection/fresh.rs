//! New bytes after a silence, and the cause of the flow's wait, if it waited.

use super::Connection;
use super::data::Arrival;
use super::gap::{Gap, SOON};
use crate::event::Event;
use crate::flow::{Kind, Probed, Rounds, Seen, Silent};
use crate::stall::{Cause, Ended, Finding, Reason, Stall};

impl Connection {
    /// Takes a segment of new bytes.
    pub(super) fn fresh(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let side = it.side;
        self.rounds(side, gap, events);
        let flow = &mut self.flows[side];
        let again = flow.repair.may_cover(it.start);
        if it.seen == Seen::Next
            && let Some(unseen @ 1..) = gap.missing.or(gap.if_counted)
        {
            // The missing packets carried the bytes from this segment on. These bytes are now sent
            // again.
            flow.repair.sent_unseen(it.start + gap.beyond(unseen) * flow.segments.usual());
        }
        if gap.is_shut_out(flow) {
            return; // the receiver caused the wait
        }
        let last = flow.last_data();
        if gap.is_late(last) && self.ack_was_held(side, gap.now, last) {
            let wait = gap.wait(Reason::DelayedAck, last, it.packet);
            events.push(Event::Waited { side, wait });
            return;
        }
        if self.asks(side) {
            return; // the client decides when it asks
        }
        let unasked = gap.first && it.start == 0 && self.opener == Some(side);
        if !gap.is_wait(unasked) {
            return;
        }
        if it.seen == Seen::Beyond {
            self.probed_beyond(it, gap, events);
        } else {
            self.wait_for_more(it, gap, again);
        }
    }

    /// Takes new bytes beyond a hole after a silence. If the receiver sends SACK ranges, these
    /// bytes may be a probe (RFC 8985 §7.3).
    fn probed_beyond(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        if self.is_selective() && gap.length() > SOON {
            let finding = Finding::of(Cause::FullWindow, 0.8);
            let stall = gap.stall(self.ends_of(it.side), it.packet, finding);
            // It is not known yet whether the missing packet was lost, because the capture may have
            // dropped it.
            self.keep(it.side, Stall { ended: Ended::Probe, proven: false, ..stall }, events);
        }
    }

    /// Takes the next bytes after a silence. Later packets show what the flow waited for. `again`
    /// tells whether the bytes had been sent before.
    fn wait_for_more(&mut self, it: &Arrival, gap: &Gap, again: bool) {
        let probes = self.is_selective() && !self.trips.near(1 - it.side);
        let flow = &mut self.flows[it.side];
        let span = (it.start, it.end);
        if probes && flow.bytes.are_outstanding() && gap.is_stall() {
            // The outstanding bytes were not acknowledged during the silence. If the next ACK does
            // not acknowledge them either, the new bytes are a probe.
            let arrived = flow.repair.is_told();
            let kind = Kind::Probed(Probed { una: flow.bytes.una(), arrived });
            flow.waiting.wait_for(gap.pending(kind, it.packet, span));
            return;
        }
        let kind = Kind::Silent(Silent {
            first: gap.first,
            again,
            missing: gap.missing,
            if_counted: gap.if_counted,
        });
        if let Some(missing @ 1..) = gap.missing {
            // The missing packets carried the bytes from this segment on. These bytes are now sent
            // again.
            flow.repair.extend(it.start + gap.beyond(missing) * flow.segments.usual());
        }
        flow.waiting.wait_for(gap.pending(kind, it.packet, span));
    }

    /// Checks whether each round of packets fills the window up to its edge.
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
