//! Why the first missing segment was sent again, when it had been seen before: the ACK after it
//! tells.

use incast_capture::read::Packet;

use crate::connection::Connection;
use crate::event::{Event, Reason, Wait};
use crate::flow::{Kind, Pending};
use crate::stall::{Cause, Ended, Stall};

const NO_DUPLICATES_TOLD: &str =
    "the connection has no SACK, so the receiver cannot say that it had the segment";
const NO_ANSWER: &str = "no answer to the retransmission was captured";

impl Connection {
    /// An ACK after a segment was sent again.
    pub fn settle_resent(
        &mut self,
        side: usize,
        ack: i64,
        packet: &Packet,
        duplicate: Option<(u32, u32)>,
        now: i64,
        events: &mut Vec<Event>,
    ) {
        self.settle_probed(side, ack, events);
        let flow = &self.flows[side];
        let Some(pending) = flow.pending else { return };
        let Kind::Resent { top, dupacks, sacked, resent, probe, value } = pending.kind else {
            return;
        };
        let selective = !packet.options.sacks().is_empty();
        if ack <= flow.una && duplicate.is_none() && !(probe && selective) {
            return;
        }
        let reply = self.trips[1 - side].least().unwrap_or(0);
        let echoed_older = match (value, packet.options.timestamps) {
            (Some(value), Some(stamps)) => (stamps.echo.wrapping_sub(value) as i32) < 0,
            _ => false,
        };
        let at_once = now - pending.end < reply * 3 / 4;
        if self.asks(side) && at_once {
            // The request had arrived, and its answer was on the way.
            self.flows[side].pending = None;
            return;
        }
        let segment = flow.segment();
        let alone = top - pending.from <= segment;
        let (at_sender, at_receiver) = (self.near(side), self.near(1 - side));
        // What was seen at the receiver has arrived there, unless it asks for it again.
        let arrived = at_receiver && dupacks == 0 && !sacked;
        let had = duplicate.is_some() || echoed_older || arrived;
        let (cause, confidence) = if resent && duplicate.is_none() {
            (Ok(Cause::LostRetransmission), 0.97)
        } else if had && (at_once || at_receiver) {
            // An ACK that is not seen at the receiver was not sent: it was held.
            (Ok(Cause::Spurious), 0.9)
        } else if had {
            (Ok(Cause::AckLoss), 0.9)
        } else if dupacks > 0 || sacked || probe && selective {
            (Ok(Cause::LackOfDupacks), 0.9)
        } else if ack <= pending.to {
            if !self.sack[1 - side] && (probe || alone && at_sender) {
                (Err(NO_DUPLICATES_TOLD), 0.5)
            } else {
                (Ok(Cause::FullWindow), 0.95)
            }
        } else if self.sack[1 - side] || !at_sender {
            (Ok(Cause::LackOfDupacks), 0.6)
        } else {
            (Err(NO_DUPLICATES_TOLD), 0.5)
        };
        self.resent(side, &pending, cause, confidence, events);
    }

    /// An ACK after new bytes that may have been a probe (RFC 8985 §7.3).
    fn settle_probed(&mut self, side: usize, ack: i64, events: &mut Vec<Event>) {
        let Some(pending) = self.flows[side].pending else { return };
        let Kind::Probed { una, arrived } = pending.kind else { return };
        if ack <= una {
            let cause = if arrived { Cause::LackOfDupacks } else { Cause::FullWindow };
            self.resent(side, &pending, Ok(cause), 0.9, events);
            return;
        }
        self.flows[side].pending = None;
        let Pending { start, end, before, after, idle, .. } = pending;
        let wait = Wait { reason: Reason::Middle, start, end, before, after, idle };
        events.push(Event::Waited { side, wait });
    }

    /// The segment was sent once more, or the capture ends, before an answer came.
    pub fn give_up_resent(&mut self, side: usize, events: &mut Vec<Event>) {
        let Some(pending) = self.flows[side].pending else { return };
        let Kind::Resent { dupacks, sacked, resent, .. } = pending.kind else { return };
        let (cause, confidence) = if resent {
            (Ok(Cause::LostRetransmission), 0.95)
        } else if dupacks > 0 || sacked {
            (Ok(Cause::LackOfDupacks), 0.8)
        } else if self.flows[side].resent_top > pending.from {
            (Ok(Cause::FullWindow), 0.7)
        } else {
            (Err(NO_ANSWER), 0.5)
        };
        self.resent(side, &pending, cause, confidence, events);
    }

    fn resent(
        &mut self,
        side: usize,
        pending: &Pending,
        cause: Result<Cause, &'static str>,
        confidence: f64,
        events: &mut Vec<Event>,
    ) {
        let probe = match pending.kind {
            Kind::Resent { probe, .. } => probe,
            Kind::Probed { .. } => true,
            Kind::Silent { .. } => return,
        };
        // A request is alone: it is all of its window.
        let cause = if self.asks(side) { cause.or(Ok(Cause::FullWindow)) } else { cause };
        let stall = Stall {
            sender: self.ends[side],
            receiver: self.ends[1 - side],
            start: pending.start,
            end: pending.end,
            ended: if probe { Ended::Probe } else { Ended::Timeout },
            cause,
            confidence,
            idle: pending.idle,
            frames: vec![pending.before, pending.after],
            behind: pending.to,
            upstream: true,
            near_end: false,
            missing: None,
            proven: matches!(pending.kind, Kind::Resent { .. }),
            restart: false,
            if_counted: None,
            void: false,
        };
        self.flows[side].pending = None;
        if self.asks(side) {
            // Its answer tells whether it was lost, or the answer was.
            if let Some(stall) = self.asked_again.replace(stall) {
                events.push(Event::Stalled { side, stall });
            }
        } else if self.flows[side].message.is_some() {
            self.flows[side].unsettled.push(stall);
            self.limit(side, events);
        } else {
            events.push(Event::Stalled { side, stall });
        }
    }
}
