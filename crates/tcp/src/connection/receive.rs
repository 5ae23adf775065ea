//! Data in: reassembly and the decision to acknowledge.

use incast_engine::Time;
use incast_net::Packet;

use super::demand::Demand;
use super::{Connection, Event};
use crate::hooks::{Advice, ReceiveView};
use crate::recv::reassembly::Arrival;

impl Connection {
    /// Handles a segment with data or a FIN, or a labelled probe.
    #[inline]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let (start, end) = (packet.seq, packet.seq_end());
        let before = self.data.next();
        let mut duplicate = true;
        if end > start {
            if end > before {
                self.confirm_request();
            }
            let arrival = if self.receive_window.accepts(end, before) {
                match &mut self.sack_report {
                    Some(report) if self.owes_duplicate || !self.data.is_next(start) => {
                        let arrival = report.insert(start, end, &mut self.data);
                        self.owes_duplicate = report.owes_duplicate();
                        arrival
                    }
                    // What comes in order is not reported.
                    _ => self.data.insert(start, end),
                }
            } else {
                Arrival::Duplicate
            };
            duplicate = arrival == Arrival::Duplicate;
            self.note_timestamp(packet);
            if self.ecn.is_on() && self.note_mark(packet, before) {
                self.owe(Demand::Ack);
            }
            if self.ack_policy.on_segment(now, arrival, end - start) {
                self.owe(Demand::Ack);
            }
            let next = self.data.next();
            if before < self.notify_at && next >= self.notify_at {
                self.events.push(Event::Received);
            }
        }
        if self.has_receiver_hooks() {
            self.consult_receiver(now, packet, duplicate);
        }
    }

    /// RFC 7323 §4.3, step 2: echo the earliest segment since the last ACK, and none that is older.
    #[inline]
    fn note_timestamp(&mut self, packet: &Packet) {
        let is_newer = |recent: u32| packet.ts_value.wrapping_sub(recent) as i32 >= 0;
        if self.config.timestamps.is_some()
            && packet.seq <= self.last_ack_sent
            && self.ts_recent.is_none_or(is_newer)
        {
            self.ts_recent = Some(packet.ts_value);
        }
    }

    fn consult_receiver(&mut self, now: Time, packet: &Packet, duplicate: bool) {
        let view = ReceiveView { now, next: self.data.next(), duplicate };
        let advice = self
            .receiver_hooks
            .iter_mut()
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.on_segment(packet, &view)));
        if advice.echo {
            self.ts_recent = Some(packet.ts_value);
        }
        if advice.label != 0 || advice.extra_acks > 0 {
            self.owe(Demand::Ack);
            self.ack_label |= advice.label;
            self.extra_acks = self.extra_acks.max(advice.extra_acks);
        }
    }
}
