//! Header prediction (Jacobson 1990, RFC 1323 §4.2): a few fields show that a packet is the next
//! data segment, or an ACK of new data outside loss recovery.
//!
//! Predicted packets use the same scoreboard, congestion control, estimator and ACK policy as other
//! packets. Predicted packets skip the checks whose result is known, because there is no event, no
//! loss and no expired deadline. [`Connection::handle_segment`] handles all other packets. For a
//! predicted packet, this method would have the same result, and [`Connection::poll_transmit`]
//! would send the same packets.

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

/// Extras that do not affect a receiver with no data to send.
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
    .or(Extras::DEFERS)
    .or(Extras::IDLE_TIMER)
    .or(Extras::HEAD)
    .or(Extras::DELIVERY)
    .or(Extras::DELAYED_ACKS)
    .or(Extras::TICKS);

/// Extras that do not affect the sender, or that `predict_ack` handles.
const SENDS: Extras = Extras::RECOVERY
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::ECN)
    .or(Extras::IDLE_TIMER)
    .or(Extras::DELAYED_ACKS)
    .or(Extras::TICKS);

/// The result of header prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicted {
    /// The packet was not predicted; nothing has changed.
    Nothing,
    /// The packet was the next data, and has been overwritten with its ACK.
    Answered,
    /// The packet was the next data. Its ACK is delayed.
    Received,
    /// The packet was an ACK of new data. [`Connection::send_predicted`] sends the full segments
    /// below this number. Near the end of the data ([`Connection::nears_end`]), `poll_transmit` may
    /// send more.
    Acked(u64),
}

impl Connection {
    /// Handles a packet if it is predicted. Packets that this packet causes have the trigger
    /// `trigger`.
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

    /// Handles the next data segment, if this end has nothing to send and no SACK blocks to report.
    #[inline]
    fn predict_data(&mut self, now: Time, packet: &mut Packet, trigger: Trigger) -> Predicted {
        let control = packet.flags.control();
        let (start, end) = (packet.seq, packet.seq + u64::from(packet.payload));
        let sent = self.board.una();
        let is_next = self.extras.only(RECEIVES)
            && (control == Flags::ACK || control == Flags::ACK.with(Flags::RETRANSMISSION))
            && self.inbound.data.is_next(start)
            // Receive offload may hold the answer to a duplicate.
            && !self.inbound.owes_duplicate
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
        self.set_trigger(trigger);
        self.peer_window = u64::from(packet.window);
        let arrival = self.inbound.data.insert(start, end);
        debug_assert_eq!(arrival, Arrival::InOrder, "the next data leave no gap");
        if self.extras.has(Extras::TIMESTAMPS) {
            self.note_timestamp(packet);
        }
        if self.extras.has(Extras::DELAYED_ACKS) && self.delays_ack(now, end - start) {
            return Predicted::Received;
        }
        self.fill_control(now, packet);
        Predicted::Answered
    }

    /// Whether the ACK of `bytes` in-order bytes is delayed.
    #[inline(never)]
    fn delays_ack(&mut self, now: Time, bytes: u64) -> bool {
        let is_due = self.acks.policy.on_segment(now, Arrival::InOrder, bytes);
        if is_due {
            self.acks.policy.on_ack_sent();
        }
        !is_due
    }

    /// Handles an ACK of new data that leaves other data unacknowledged, if no segment is lost and
    /// no segment was returned to the send queue.
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
            // If an ACK is being delayed, the next data segment must carry this ACK.
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
        let has_ticks = self.extras.has(Extras::TICKS);
        let deadline = if has_ticks { self.wheel.after(now, wait) } else { now + wait };
        self.timer = Timer { kind: TimerKind::Data, deadline };
        let limit = packet.ack + window.min(self.peer_window);
        debug_assert_eq!(limit.max(max), self.limit_of_room(), "cwnd alone bounds the flight");
        Predicted::Acked(limit)
    }

    /// Grows the window, and returns it. `NewReno`'s window grows without a view of the path.
    #[inline]
    fn grow_predicted(&mut self, now: Time, packet: &Packet, acked: &Acked) -> u64 {
        if let Controller::Reno(reno) = &mut self.congestion
            && !reno.is_watched()
        {
            reno.grow(acked.bytes, u64::from(self.segment_size));
            return reno.window();
        }
        self.grow_by_view(now, packet, acked)
    }

    #[inline(never)]
    fn grow_by_view(&mut self, now: Time, packet: &Packet, acked: &Acked) -> u64 {
        self.grow(now, packet, acked, true);
        self.congestion.window()
    }

    /// One past the last byte that may be sent, computed as for packets that are not predicted.
    fn limit_of_room(&self) -> u64 {
        let peer_end = self.board.una() + self.peer_window;
        self.room_anew().end.min(peer_end).max(self.board.max())
    }

    /// Whether [`Self::send_predicted`] may send a segment: the segment is not the last one, and
    /// ends at or below the `limit` of [`Predicted::Acked`].
    #[inline]
    pub fn sends_predicted(&self, limit: u64) -> bool {
        let end = self.board.next() + u64::from(self.segment_size);
        end <= limit && end < self.written
    }

    /// Sends the next full segment of new data, if [`Self::sends_predicted`] is true.
    #[inline]
    pub fn send_predicted(&mut self, now: Time, out: &mut Packet) {
        debug_assert!(!self.nears_end(), "the last segment is not predicted");
        let (seq, len) = (self.board.next(), self.segment_size);
        self.note_new(now, seq..seq + u64::from(len), false);
        self.fill_data(now, seq, out);
        out.payload = len as u16;
        if self.extras.has(Extras::ECN) {
            self.ecn.mark_data(out, false);
        }
        self.counters.data_packets += 1;
    }

    /// Whether `poll_transmit` may send more than [`Self::send_predicted`].
    #[inline]
    pub fn nears_end(&self) -> bool {
        self.board.next() + u64::from(self.segment_size) >= self.written
    }
}

impl EcnState {
    /// Whether a data packet, marked or not, leaves the echo unchanged.
    #[inline]
    fn knows(&self, packet: &Packet) -> bool {
        !self.is_on() || (packet.ecn() == Ecn::CongestionExperienced) == self.echo
    }

    /// Whether an ACK with these control bits does not reduce the window. A congestion control that
    /// counts marks handles every echo itself.
    #[inline]
    fn predicts(&self, control: Flags) -> bool {
        control == Flags::ACK || (control == Flags::ACK.with(Flags::ECE) && self.counts_marks())
    }
}

#[cfg(test)]
#[path = "predict_tests.rs"]
mod tests;
