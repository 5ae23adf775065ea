//! Loss-recovery episodes: how they begin, continue and end.

use incast_engine::Time;
use incast_net::{Packet, Trigger};

use super::demand::Demand;
use super::extras::Extras;
use super::{Connection, Event, TimerKind};
use crate::congestion::{Congestion, CongestionControl, Head, RecoveryExit};
use crate::recovery::{Answer, Episode, LossRecovery, News};
use crate::send::Sent;
use crate::send::scoreboard::Acked;

impl Connection {
    /// Acts on recovery's result for an ACK, and returns this result.
    pub(super) fn conclude(
        &mut self,
        now: Time,
        packet: &Packet,
        acked: &Acked,
        news: &News,
        held: u64,
    ) -> Episode {
        let view = self.recovery_view(now);
        let reported = self.recovery.reported();
        let mut episode = self.recovery.on_ack(news, &mut self.board, &view);
        if let (Some(before), Some(after)) = (reported, self.recovery.reported()) {
            self.note_reported(now, after.saturating_sub(before));
        }
        let found = episode;
        if matches!(found, Episode::Enter { .. } | Episode::Partial { .. }) {
            self.note_silent_losses(1);
        }
        let mut restart_timer = true;
        if let Episode::Partial { restart_timer: restart, answer } = episode {
            restart_timer = restart;
            self.settle_delivery(acked);
            match answer {
                Answer::Head => self.owe(Demand::Head),
                Answer::Reduced => self.owe(Demand::Hole),
                Answer::Any => self.owe(Demand::PartialAck),
                Answer::Nothing => {}
            }
        }
        if let Episode::Exit { cwnd, grows } = episode {
            let path = self.path(now, self.in_flight());
            self.congestion.on_recovery_exit(cwnd, &path);
            if grows || self.needs.every_ack {
                self.grow(now, packet, acked, grows);
            }
            self.leave_episode();
            // The rest of the scoreboard may hold the next loss.
            let news = News { acked: 0, twice: None, ..*news };
            episode = self.recovery.on_ack(&news, &mut self.board, &view);
        } else if news.acked > 0 && (!self.recovery.in_recovery() || self.needs.every_ack) {
            let may_grow = !self.recovery.in_recovery();
            self.grow(now, packet, acked, may_grow);
        } else if self.delivery.as_ref().is_some_and(|delivery| delivery.has_news()) {
            self.grow(now, packet, acked, false);
        }
        if news.acked > 0 {
            self.note_emptied(now, restart_timer);
        }
        if episode != Episode::None {
            self.begin_episode(now, episode, held);
        }
        if self.recovery.limits_burst(news, self.config.dupack_threshold) {
            self.burst = self.config.recovery_burst.unwrap_or(u32::MAX);
        }
        if news.acked > 0 {
            self.note_new_head(now);
        }
        found
    }

    /// Stops the timer after an ACK of new data if nothing is outstanding, or else restarts it.
    #[inline]
    pub(super) fn note_emptied(&mut self, now: Time, restart_timer: bool) {
        if self.board.is_empty() {
            self.rest(now);
        } else if restart_timer {
            self.arm(now, TimerKind::Data);
        }
    }

    /// Checks the new first unacknowledged segment after an ACK of new data, once the timer is set.
    #[inline]
    pub(super) fn note_new_head(&mut self, now: Time) {
        if self.needs.head && self.declares_loss(now, true) {
            self.owe(Demand::Head);
        }
        self.note_timer(now);
    }

    fn leave_episode(&mut self) {
        self.end_reduction();
        self.waive(Demand::Head);
        self.waive(Demand::Hole);
        self.waive(Demand::PartialAck);
        self.events.push(Event::RecoveryExit);
    }

    /// Acts on recovery's result, unless the result ends an episode. `held` bytes had been reported
    /// as received before this ACK.
    pub(super) fn begin_episode(&mut self, now: Time, episode: Episode, held: u64) {
        let (restart_timer, reduces) = match episode {
            Episode::Enter { restart_timer } => (restart_timer, true),
            Episode::EnterReduced { restart_timer } => (restart_timer, false),
            Episode::Restart { in_turn } => return self.restart(now, in_turn),
            Episode::Again => return self.reduce_again(now, None),
            Episode::Repaired { flight } => return self.reduce_again(now, Some(flight)),
            Episode::Probe => return self.owe(Demand::TailProbe),
            Episode::None | Episode::Partial { .. } | Episode::Exit { .. } => return,
        };
        let window = self.congestion.window();
        // RFC 5681 §3.2, step 2: data sent by limited transmit is not part of FlightSize.
        let flight = self.in_flight().saturating_sub(self.limited_bytes);
        if reduces {
            let path = self.path(now, self.recovery.flight_size(flight, &self.board));
            self.congestion.on_congestion(Congestion::FastRetransmit, &path);
            self.ecn.on_reduction(self.board.max());
            self.cap_after_loss(now, flight, window);
        }
        if self.prr.is_some() {
            self.begin_reduction(window, held);
        }
        if self.config.rto.backs_off_in_recovery {
            self.rtt.back_off();
        }
        self.timed = None;
        self.owe(Demand::Head);
        self.counters.fast_retransmits += 1;
        self.events.push(Event::FastRetransmit);
        if restart_timer {
            self.arm(now, TimerKind::Data);
        }
    }

    /// Begins slow start at the first unacknowledged segment, without a timeout (Tahoe).
    fn restart(&mut self, now: Time, in_turn: bool) {
        let window = self.congestion.window();
        let flight = self.in_flight().saturating_sub(self.limited_bytes);
        let path = self.path(now, flight);
        self.congestion.on_congestion(Congestion::Timeout { repeated: false }, &path);
        self.ecn.on_reduction(self.board.max());
        self.cap_after_loss(now, flight, window);
        self.timed = None;
        self.limited_bytes = 0;
        self.board.go_back();
        if !in_turn {
            self.owe(Demand::Head);
        }
        self.counters.fast_retransmits += 1;
        self.events.push(Event::FastRetransmit);
        self.arm(now, TimerKind::Data);
    }

    /// Whether the congestion control declares the first unacknowledged segment lost. Called after
    /// a duplicate ACK, and after an ACK that changed the first unacknowledged segment (`is_new`).
    pub(super) fn declares_loss(&mut self, now: Time, is_new: bool) -> bool {
        if self.recovery.in_recovery() {
            return false;
        }
        let path = self.path(now, self.in_flight());
        self.board.head().is_some_and(|head| {
            let Sent { sent_at, transmissions, .. } = *head;
            self.congestion.is_lost(Head { sent_at, transmissions, is_new }, &path)
        })
    }

    /// Notifies the recovery that the retransmission timer was restarted.
    #[inline]
    pub(super) fn note_timer(&mut self, now: Time) {
        if self.extras.has(Extras::TIMED_RECOVERY) {
            self.notify_timer(now);
        }
    }

    #[inline(never)]
    fn notify_timer(&mut self, now: Time) {
        let view = self.recovery_view(now);
        self.recovery.on_progress(&self.board, &view);
    }

    /// The recovery's own deadline has expired.
    pub(super) fn run_recovery_deadline(&mut self, now: Time) {
        self.set_trigger(Trigger::TailProbe);
        let view = self.recovery_view(now);
        let episode = self.recovery.on_deadline(&mut self.board, &view);
        self.begin_episode(now, episode, 0);
    }

    /// Reduces the window for a loss during recovery, or for a loss that was already repaired with
    /// a flight of `repaired` bytes.
    fn reduce_again(&mut self, now: Time, repaired: Option<u64>) {
        let window = self.congestion.window();
        // Data that the receiver has is part of the flight, but not in the network.
        let flight = repaired.unwrap_or_else(|| self.in_flight().min(window));
        let path = self.path(now, flight);
        self.congestion.on_congestion(Congestion::FastRetransmit, &path);
        self.ecn.on_reduction(self.board.max());
        self.cap_after_loss(now, flight, window);
        if repaired.is_some() {
            let path = self.path(now, self.in_flight());
            self.congestion.on_recovery_exit(RecoveryExit::Ssthresh, &path);
        }
    }
}
