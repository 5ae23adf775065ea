//! Header prediction (Jacobson 1990, RFC 1323 §4.2): a few fields decide whether a packet is just
//! the next segment of data, or an ACK of new data outside loss recovery.
//!
//! Predicted packets use the same scoreboard, congestion control, estimator and ACK policy as
//! others, without the checks whose result is known: no event, no loss, nothing due. The rest is
//! for [`Connection::handle_segment`], which does the same for what is predicted;
//! [`Connection::poll_transmit`] then sends the same packets.

use incast_engine::{Span, Time};
use incast_net::{Ecn, Flags, Packet, Trigger};

use super::ecn::EcnState;
use super::extras::Extras;
use super::gate::Gate;
use super::{Connection, State, Timer, TimerKind};
use crate::congestion::{CongestionControl, Controller};
use crate::recovery::LossRecovery;
use crate::recv::buffer::Arrival;
use crate::send::scoreboard::Acked;

/// Extras without effect on a receiver of data that has none to send.
const RECEIVES: Extras = Extras::RECOVERY
    .or(Extras::TIMED_RECOVERY)
    .or(Extras::PACKETS)
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PRR)
    .or(Extras::UNDO)
    .or(Extras::IDLE_RESTART)
    .or(Extras::JITTER)
    .or(Extras::ECN)
    .or(Extras::SENT)
    .or(Extras::PACER)
    .or(Extras::OFFLOAD)
    .or(Extras::IDLE_TIMER)
    .or(Extras::HEAD)
    .or(Extras::DELIVERY)
    .or(Extras::DELAYED_ACKS);

/// What makes no difference to the sender of data, or is asked for below.
const SENDS: Extras = Extras::RECOVERY
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::ECN)
    .or(Extras::IDLE_TIMER)
    .or(Extras::DELAYED_ACKS);

/// The result of header prediction for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicted {
    /// It was not predicted, and nothing has happened.
    Nothing,
    /// It was the next data, and has become the ACK that answers them.
    Answered,
    /// It was the next data, whose ACK is delayed.
    Received,
    /// It was an ACK of new data. More may leave: full segments below this number by
    /// [`Connection::send_predicted`], and nothing else but towards the end of the data
    /// ([`Connection::nears_end`]).
    Acked(u64),
}

impl Connection {
    /// Handles a packet if it is one of those that are predicted; what it sends has this trigger.
    #[inline]
    pub fn predict(&mut self, now: Time, packet: &mut Packet, trigger: Trigger) -> Predicted {
        let is_ordinary = packet.epoch == self.template.epoch
            && packet.label == 0
            && packet.window > 0
            && packet.sack.is_empty()
            && self.state == State::Established
            && self.owed.is_empty()
            && self.events.is_empty()
            && self.host.gate == Gate::Closed;
        if !is_ordinary {
            Predicted::Nothing
        } else if packet.payload > 0 {
            self.predict_data(now, packet, trigger)
        } else {
            self.predict_ack(now, packet, trigger)
        }
    }

    /// The next data, for an end that has nothing to send and nothing to report selectively.
    #[inline]
    fn predict_data(&mut self, now: Time, packet: &mut Packet, trigger: Trigger) -> Predicted {
        let control = packet.flags.control();
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        let sent = self.board.una();
        let is_next = self.extras.only(RECEIVES)
            && (control == Flags::ACK || control == Flags::ACK.with(Flags::RETRANSMISSION))
            && self.inbound.data.is_next(start)
            && end < self.inbound.notify_at
            && self.inbound.window.accepts(end, start)
            && packet.ack == sent
            && sent == self.board.max()
            && sent == self.stream_end()
            && !self.opening.request.outstanding
            && self.ecn.knows(packet);
        if !is_next {
            return Predicted::Nothing;
        }
        debug_assert!(!self.inbound.owes_duplicate, "a duplicate is answered at once");
        self.set_trigger(trigger);
        self.peer_window = u64::from(packet.window);
        let arrival = self.inbound.data.insert(start, end);
        debug_assert_eq!(arrival, Arrival::InOrder, "what is next leaves no gap");
        if self.extras.has(Extras::TIMESTAMPS) {
            self.note_timestamp(packet);
        }
        if self.extras.has(Extras::DELAYED_ACKS) && self.delays_ack(now, end - start) {
            return Predicted::Received;
        }
        self.fill_control(now, packet);
        Predicted::Answered
    }

    /// Whether the ACK of so many bytes in order is delayed.
    #[inline(never)]
    fn delays_ack(&mut self, now: Time, bytes: u64) -> bool {
        let is_due = self.acks.policy.on_segment(now, Arrival::InOrder, bytes);
        if is_due {
            self.acks.policy.on_ack_sent();
        }
        !is_due
    }

    /// An ACK of new data, but not of the last, while nothing is lost or called back.
    #[inline]
    fn predict_ack(&mut self, now: Time, packet: &Packet, trigger: Trigger) -> Predicted {
        let max = self.board.max();
        let is_next = self.extras.only(SENDS)
            && self.ecn.predicts(packet.flags.control())
            && packet.ack > self.board.una()
            && packet.ack < max
            && self.board.next() == max
            && self.board.is_unmarked()
            && self.recovery.is_calm()
            // Data would carry the ACK that is held.
            && !(self.extras.has(Extras::DELAYED_ACKS) && self.acks.policy.is_holding());
        if !is_next {
            return Predicted::Nothing;
        }
        self.set_trigger(trigger);
        self.peer_window = u64::from(packet.window);
        let acked = self.board.acknowledge(packet.ack);
        self.note_progress(now, packet, &acked);
        let window = self.grow_predicted(now, packet, &acked);
        let wait = self.rtt.timeout(Span::ZERO, &mut self.random);
        self.timer = Timer { kind: TimerKind::Data, deadline: now + wait };
        let limit = packet.ack + window.min(self.peer_window);
        debug_assert_eq!(limit.max(max), self.limit_of_room(), "cwnd alone bounds the flight");
        Predicted::Acked(limit)
    }

    /// Grows the window, and returns it. The usual control needs no view of the path for that.
    #[inline]
    fn grow_predicted(&mut self, now: Time, packet: &Packet, acked: &Acked) -> u64 {
        if let Controller::Reno(reno) = &mut self.congestion
            && !reno.is_watched()
        {
            reno.grow(acked.bytes, u64::from(self.segment_size));
            return reno.window();
        }
        self.grow(now, packet, acked, true);
        self.congestion.window()
    }

    /// How far data may leave by the long way.
    fn limit_of_room(&self) -> u64 {
        let peer_end = self.board.una() + self.peer_window;
        self.room_anew().end.min(peer_end).max(self.board.max())
    }

    /// Sends a full segment of new data, but not the last, if it lies below the `limit` of
    /// [`Predicted::Acked`].
    #[inline]
    pub fn send_predicted(&mut self, now: Time, limit: u64, out: &mut Packet) -> bool {
        let (seq, len) = (self.board.next(), self.segment_size);
        let end = seq + u64::from(len);
        if end > limit || end >= self.written {
            return false;
        }
        self.note_new(now, seq..end, false);
        self.fill_data(now, seq, out);
        out.payload = len as u16;
        if self.extras.has(Extras::ECN) {
            self.ecn.mark_data(out, false);
        }
        self.counters.data_packets += 1;
        true
    }

    /// Whether more may leave than [`Self::send_predicted`] sends.
    #[inline]
    pub fn nears_end(&self) -> bool {
        self.board.next() + u64::from(self.segment_size) >= self.written
    }
}

impl EcnState {
    /// Whether a data packet tells the receiver nothing about marks that it does not know.
    #[inline]
    fn knows(&self, packet: &Packet) -> bool {
        !self.is_on() || (packet.ecn() == Ecn::CongestionExperienced) == self.echo
    }

    /// Whether these control bits are those of an ACK that means no reduction by itself: a control
    /// that counts marks is shown every echo.
    #[inline]
    fn predicts(&self, control: Flags) -> bool {
        control == Flags::ACK || (control == Flags::ACK.with(Flags::ECE) && self.counts_marks())
    }
}

#[cfg(test)]
#[path = "predict_tests.rs"]
mod tests;
