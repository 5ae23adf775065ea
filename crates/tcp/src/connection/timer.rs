//! The sender's timer and its expiry.

use incast_engine::{Span, Time};
use incast_net::Trigger;

use super::demand::Demand;
use super::{Connection, Event, State, TimeoutKind, TimeoutReport};
use crate::congestion::{Congestion, CongestionControl};
use crate::hooks::{Advice, SendEvent};
use crate::recovery::LossRecovery;
use crate::send::rtt::IdleTimer;

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimerKind {
    #[default]
    Off,
    Handshake,
    Request,
    Data,
    /// The window is closed (RFC 9293 §3.8.6.1).
    Persist,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub kind: TimerKind,
    pub deadline: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Self { kind: TimerKind::Off, deadline: Time::NEVER }
    }
}

impl Connection {
    /// Handles the expiry of [`Connection::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Time) {
        self.open_gate(now);
        if self.pacer.is_some() {
            self.end_pace(now);
        }
        if self.acks.policy.deadline() <= now && self.acks.policy.on_deadline(now) {
            self.owe(Demand::Ack);
            self.acks.policy.on_ack_sent();
            self.set_trigger(Trigger::DelayedAck);
        }
        if self.recovery.deadline() <= now {
            self.run_recovery_deadline(now);
        }
        if self.timer.deadline <= now && !self.owed.has(Demand::TailProbe) {
            match self.timer.kind {
                TimerKind::Off => {}
                TimerKind::Handshake => self.expire_handshake(now),
                TimerKind::Request => self.expire_request(now),
                TimerKind::Data => self.expire(now, None),
                TimerKind::Persist => {
                    self.window_probes += 1;
                    self.arm(now, TimerKind::Persist);
                    self.owe(Demand::WindowProbe);
                    self.set_trigger(Trigger::Persist);
                }
            }
        }
        if self.has_sender_hooks() {
            self.run_hook_deadlines(now);
        }
        if self.has_receiver_hooks() {
            self.release_due(now);
            if self.owed.has(Demand::Held) {
                self.set_trigger(Trigger::DelayedAck);
            }
        }
    }

    pub(super) fn arm(&mut self, now: Time, kind: TimerKind) {
        let wait = match kind {
            TimerKind::Data => {
                let floor = self.rto_floor(now);
                self.rtt.timeout(floor, &mut self.random)
            }
            TimerKind::Persist => {
                let wait = self.rtt.timeout(Span::ZERO, &mut self.random);
                wait.saturating_doubled(self.window_probes).min(self.config.rto.max)
            }
            TimerKind::Handshake => self.syn_wait(self.opening.tries),
            TimerKind::Request => self.syn_wait(self.opening.request.tries),
            TimerKind::Off => return self.timer = Timer::default(),
        };
        self.timer = Timer { kind, deadline: self.wheel.after(now, wait) };
    }

    fn syn_wait(&self, tries: u32) -> Span {
        let doublings = tries.min(self.config.rto.max_doublings);
        self.config.syn_rto.saturating_doubled(doublings).min(self.config.rto.max)
    }

    /// Stops the timer when nothing is outstanding, or restarts it as the idle timer.
    pub(super) fn rest(&mut self, now: Time) {
        let kind = match self.config.rto.idle {
            IdleTimer::Stops => TimerKind::Off,
            IdleTimer::Runs => TimerKind::Data,
        };
        self.arm(now, kind);
    }

    fn expire_handshake(&mut self, now: Time) {
        self.set_trigger(Trigger::Handshake);
        self.report_timeout(TimeoutKind::Handshake, false);
        self.opening.tries += 1;
        self.arm(now, TimerKind::Handshake);
        let is_opener = self.state == State::SynSent;
        self.owe(if is_opener { Demand::Syn } else { Demand::SynAck });
    }

    fn expire_request(&mut self, now: Time) {
        self.set_trigger(Trigger::Handshake);
        self.report_timeout(TimeoutKind::Request, false);
        self.opening.request.tries += 1;
        self.arm(now, TimerKind::Request);
        self.owe(Demand::Request);
    }

    /// RFC 6298 §5 (5.4)-(5.6) and RFC 5681 §3.1: the whole flight is assumed to be lost. `advised`
    /// is set if a hook causes the expiry.
    pub(super) fn expire(&mut self, now: Time, advised: Option<Advice>) {
        if self.board.is_empty() {
            if self.config.rto.idle == IdleTimer::Runs {
                let view = self.recovery_view(now);
                self.recovery.on_idle_expiry(&view);
            }
            return self.rest(now);
        }
        self.set_trigger(Trigger::Timeout);
        self.report_timeout(TimeoutKind::Data, advised.is_some());
        let una = self.board.una();
        let flight = self.in_flight();
        let window = self.congestion.window();
        if self.undo.is_some() {
            self.remember_timeout(now);
        }
        let repeated = self.timed_out_at == Some(una);
        self.timed_out_at = Some(una);
        let path = self.path(now, self.recovery.flight_size(flight, &self.board));
        self.congestion.on_congestion(Congestion::Timeout { repeated }, &path);
        self.ecn.on_reduction(self.board.max());
        self.cap_after_loss(now, flight, window);
        self.waive(Demand::Head);
        self.waive(Demand::TailProbe);
        self.end_reduction();
        self.note_silent_losses(self.board.outstanding_segments() as u64);
        let view = self.recovery_view(now);
        self.recovery.on_timeout(&mut self.board, &view);
        if self.board.resend().is_none() {
            // Segments in the send queue need no demand, because they are sent in order.
            self.owe(Demand::Head);
        }
        self.send_at_once_until_repaired();
        self.timed = None;
        self.limited_bytes = 0;
        self.burst = u32::MAX;
        if !advised.is_some_and(|advice| advice.keep_rto) {
            self.rtt.back_off();
        }
        self.arm(now, TimerKind::Data);
        if advised.is_none() && self.has_sender_hooks() {
            self.consult(now, SendEvent::Timeout);
        }
    }

    /// Applies RFC 7661 §4.4.1, if RFC 7661 is configured.
    pub(super) fn cap_after_loss(&mut self, now: Time, flight: u64, window_before: u64) {
        if let Some(idle) = &self.idle
            && let Some(limit) = idle.on_loss(flight, window_before)
        {
            self.limit(now, limit);
        }
    }

    fn report_timeout(&mut self, kind: TimeoutKind, advised: bool) {
        let una = self.board.una();
        let head = self.board.head();
        let report = TimeoutReport {
            kind,
            una,
            max: self.board.max(),
            head_end: head.map_or(una, crate::send::Sent::end),
            transmissions: head.map_or(0, |head| head.transmissions.into()),
            dupacks: self.recovery.dupacks(),
            cwnd: self.congestion.window(),
            ssthresh: self.congestion.ssthresh(),
            flight: self.board.flight(),
            rto: self.rtt.rto(),
            block_head: una < self.block.first_window_end,
            advised,
        };
        self.report = Some(Box::new(report));
        self.events.push(Event::Timeout(report));
    }
}
