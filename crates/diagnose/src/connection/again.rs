//! Retransmissions of segments that were seen before. The segment or its ACK was lost behind the
//! vantage point.

use super::Connection;
use super::data::Arrival;
use super::gap::Gap;
use crate::event::Event;
use crate::flow::{Kind, Resent};

impl Connection {
    /// Takes a segment that was seen before.
    #[cold]
    pub(super) fn again(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let (side, start, end) = (it.side, it.start, it.end);
        self.give_up_resent(side, events);
        let flow = &mut self.flows[side];
        flow.timing.cancel();
        let una = flow.bytes.una();
        if end <= una {
            let first = gap.quiet > gap.patience;
            events.push(Event::InVain { side, first });
            return;
        }
        let at_una = start <= una;
        let resent = flow.repair.has_resent(start);
        let probe = end >= flow.bytes.top() && !at_una && !resent;
        if at_una && !resent {
            events.push(Event::Lost { side, packets: 1, at_once: false });
        }
        // A window probe has at most one byte. A longer segment is a retransmission.
        let asks_for_room = it.packet.payload <= 1 && gap.is_shut_out(flow);
        let stalled = gap.is_stall() && !asks_for_room && (at_una || probe);
        if stalled {
            let kind = Kind::Resent(Resent {
                top: flow.bytes.top(),
                dupacks: flow.repair.witnesses(),
                sacked: flow.repair.is_sacked(),
                before: resent,
                probe,
                value: it.packet.options.timestamps.map(|stamps| stamps.value),
            });
            flow.waiting.wait_for(gap.pending(kind, it.packet, (start.max(una), end)));
        }
        if !(stalled && probe) {
            flow.repair.resend(end);
        }
    }
}
