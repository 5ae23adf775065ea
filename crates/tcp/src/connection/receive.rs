//! Incoming data: reassembly and the decision to acknowledge.

use incast_engine::Time;
use incast_net::Packet;

use super::demand::Demand;
use super::extras::Extras;
use super::{Connection, Event};
use crate::config::Config;
use crate::hooks::{Advice, ReceiveView};
use crate::recv::buffer::Arrival;
use crate::recv::{Reassembly, ReceiveWindow, SackReport};

/// Received data, and their reports to the application and the sender.
#[derive(Clone, Debug)]
pub(super) struct Inbound {
    pub window: ReceiveWindow,
    pub data: Reassembly,
    /// Number of in-order bytes at which `Event::Received` is reported.
    pub notify_at: u64,
    /// The state of the SACK option, if it is in use.
    pub report: Option<Box<SackReport>>,
    /// Whether the next SACK option must report a duplicate.
    pub owes_duplicate: bool,
}

impl Inbound {
    pub fn new(config: &Config, first: u64) -> Self {
        Self {
            window: ReceiveWindow::new(config.receive_window, first),
            data: Reassembly::new(first),
            notify_at: u64::MAX,
            report: config.sack.map(|sack| Box::new(SackReport::new(sack))),
            owes_duplicate: false,
        }
    }
}

impl Connection {
    /// Handles a segment with data or a FIN, or a labelled probe.
    #[inline]
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let (start, end) = (packet.seq, packet.seq_end());
        let before = self.inbound.data.next();
        let mut duplicate = true;
        if end > start {
            if end > before {
                self.confirm_request();
            }
            let arrival = if self.inbound.window.accepts(end, before) {
                match &mut self.inbound.report {
                    Some(report)
                        if self.inbound.owes_duplicate || !self.inbound.data.is_next(start) =>
                    {
                        let arrival = report.insert(start, end, &mut self.inbound.data);
                        self.inbound.owes_duplicate = report.owes_duplicate();
                        arrival
                    }
                    // In-order data is not reported in SACK blocks.
                    _ => self.inbound.data.insert(start, end),
                }
            } else {
                Arrival::Duplicate
            };
            duplicate = arrival == Arrival::Duplicate;
            if self.extras.has(Extras::TIMESTAMPS) {
                self.note_timestamp(packet);
            }
            if self.ecn.is_on() && self.note_mark(packet, before) {
                self.owe(Demand::Ack);
            }
            if self.acks.policy.on_segment(now, arrival, end - start) {
                self.owe(Demand::Ack);
            }
            let next = self.inbound.data.next();
            if before < self.inbound.notify_at && next >= self.inbound.notify_at {
                self.events.push(Event::Received);
            }
        }
        if self.has_receiver_hooks() {
            self.consult_receiver(now, packet, duplicate);
        }
    }

    /// RFC 7323 §4.3, step 2: the next ACK echoes the timestamp of the earliest segment since the
    /// last ACK, and no older timestamp.
    #[inline(never)]
    pub(super) fn note_timestamp(&mut self, packet: &Packet) {
        let is_newer = |recent: u32| packet.ts_value.wrapping_sub(recent) as i32 >= 0;
        if packet.seq <= self.acks.last_sent && self.acks.ts_recent.is_none_or(is_newer) {
            self.acks.ts_recent = Some(packet.ts_value);
        }
    }

    fn consult_receiver(&mut self, now: Time, packet: &Packet, duplicate: bool) {
        let view = ReceiveView { now, next: self.inbound.data.next(), duplicate };
        let advice = self
            .hooks
            .parts_mut()
            .receivers
            .iter_mut()
            .fold(Advice::NONE, |sum, hook| sum.merge(hook.on_segment(packet, &view)));
        if advice.echo {
            self.acks.ts_recent = Some(packet.ts_value);
        }
        if advice.label != 0 || advice.extra_acks > 0 {
            self.owe(Demand::Ack);
            self.acks.label |= advice.label;
            self.acks.extra = self.acks.extra.max(advice.extra_acks);
        }
    }
}
