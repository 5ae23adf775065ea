//! Retransmissions: lost segments, holes and rescues, recovery's demands, and copies and probes for
//! hooks.

use incast_engine::Time;
use incast_net::Packet;

use super::extras::Extras;
use super::transmit::Polled;
use super::{Connection, TimerKind};
use crate::hooks::TxPlan;
use crate::recovery::{LossRecovery, Spare};
use crate::send::Sent;

/// Why a segment is retransmitted.
#[derive(Clone, Copy)]
struct Again {
    /// Whether the segment stays eligible for a retransmission (RFC 6675 §4, `NextSeg` rule 4).
    rescue: bool,
    /// Whether recovery, a timeout or a hook demands the segment, so that it is sent at once.
    owed: bool,
    /// Whether a hook demands the segment.
    requested: bool,
}

impl Again {
    const DUE: Self = Self { rescue: false, owed: false, requested: false };
    const OWED: Self = Self { rescue: false, owed: true, requested: false };
    const REQUESTED: Self = Self { rescue: false, owed: true, requested: true };
}

impl Connection {
    /// Sends a lost segment, if the pipe and the receive window allow it.
    pub(super) fn poll_lost(&mut self, now: Time, lost: &Sent, out: &mut Packet) -> Polled {
        let una = self.board.una();
        let fits = lost.seq == una || lost.end() <= una + self.peer_window;
        self.poll_again(now, lost, fits, Again::DUE, out)
    }

    /// Sends a segment again although it is not lost, if recovery asks for it.
    pub(super) fn poll_spare(&mut self, now: Time, out: &mut Packet) -> Polled {
        // The search takes longer than this check.
        if !self.room_anew().holds(self.board.next(), 1) {
            return Polled::Nothing;
        }
        let Some(Spare { seq, rescue }) = self.recovery.spare(&self.board) else {
            return Polled::Nothing;
        };
        let Some(segment) = self.board.at(seq) else { return Polled::Nothing };
        self.poll_again(now, &segment, true, Again { rescue, ..Again::DUE }, out)
    }

    fn poll_again(
        &mut self,
        now: Time,
        segment: &Sent,
        fits: bool,
        again: Again,
        out: &mut Packet,
    ) -> Polled {
        let leaves = fits
            && self.room_anew().holds(self.board.next(), segment.len.into())
            && self.send_again(now, segment, again, out);
        if leaves { Polled::Packet } else { Polled::Nothing }
    }

    /// Sends an outstanding segment again. The host's delay does not apply to demanded segments.
    fn send_again(&mut self, now: Time, segment: &Sent, again: Again, out: &mut Packet) -> bool {
        let plan = TxPlan { seq: segment.seq, retransmission: true, requested: again.requested };
        let advice = self.shape(now, &plan);
        if !again.owed {
            let is_held = self.burst == 0
                || (self.extras.has(Extras::PACER) && self.is_paced_out(now, segment.seq, 0));
            if is_held || !self.may_leave(now, advice.hold_until, false) {
                return false;
            }
            self.burst -= u32::from(self.burst != u32::MAX);
        }
        self.timed.take_if(|timed| timed.0 == segment.end());
        if again.rescue {
            self.board.rescue_at(segment.seq, now);
        } else {
            self.board.resend_at(segment.seq, now);
        }
        if !again.requested {
            self.recovery.on_resent(segment.end(), again.rescue);
        }
        self.send_data(now, segment.seq..segment.end(), plan, &advice, out);
        true
    }

    /// Sends the retransmission that recovery, a timeout or the congestion control demands: the
    /// first lost segment, or else the first unacknowledged segment.
    pub(super) fn send_head(&mut self, now: Time, out: &mut Packet) -> bool {
        let segment = self.board.due().or_else(|| self.board.head().copied());
        segment.is_some_and(|segment| self.send_again(now, &segment, Again::OWED, out))
    }

    /// Sends the first unacknowledged segment. If rate reduction does not allow this segment now,
    /// recovery demands the segment again at the next duplicate ACK.
    pub(super) fn send_hole(&mut self, now: Time, out: &mut Packet) -> bool {
        let segment = u64::from(self.segment_size);
        let waits = self.reduced_allowance().is_some_and(|allowance| allowance < segment);
        !waits && self.recovery.has_hole() && self.send_head(now, out)
    }

    /// Sends a copy of the first outstanding segment, because a hook requested this copy.
    pub(super) fn copy_head(&mut self, now: Time, out: &mut Packet) -> bool {
        let head = self.board.head().copied();
        head.is_some_and(|head| self.send_again(now, &head, Again::REQUESTED, out))
    }

    /// Sends a copy of the last outstanding segment. If a timeout returned the segment to the send
    /// queue, it is also sent again in order.
    pub(super) fn copy_highest(&mut self, now: Time, out: &mut Packet) -> bool {
        let again = Again { rescue: self.board.resend().is_some(), ..Again::REQUESTED };
        let last = self.board.last().copied();
        last.is_some_and(|last| self.send_again(now, &last, again, out))
    }

    /// Answers a partial ACK with a segment, regardless of the pipe: a lost segment, else new data,
    /// else the first unacknowledged segment.
    pub(super) fn answer_partial_ack(&mut self, now: Time, out: &mut Packet) -> bool {
        (self.board.due().is_none() && self.send_beside(now, out)) || self.send_head(now, out)
    }

    /// Sends new data regardless of cwnd.
    fn send_beside(&mut self, now: Time, out: &mut Packet) -> bool {
        self.board.next() < self.stream_end() && self.poll_beside(now, out) != Polled::Nothing
    }

    /// Sends a tail loss probe: new data if the receiver allows it, else the last segment (RFC 8985
    /// §7.3).
    pub(super) fn send_tail_probe(&mut self, now: Time, out: &mut Packet) -> bool {
        let is_fresh = self.send_beside(now, out);
        if !is_fresh {
            let Some(last) = self.board.last().copied() else {
                return false;
            };
            if !self.send_again(now, &last, Again::OWED, out) {
                return false;
            }
        }
        self.counters.tail_probes += 1;
        self.recovery.on_probe_sent(!is_fresh, &self.board);
        self.arm(now, TimerKind::Data);
        true
    }
}
