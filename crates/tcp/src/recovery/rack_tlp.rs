//! RACK-TLP: loss detection by time, and tail loss probes (RFC 8985).

mod params;
mod probe;

use incast_engine::{Span, Time};

use super::min_rtt::MinRtt;
use super::phase::{Phase, Repair};
use super::{Echo, Episode, LossRecovery, News, RecoveryView, Traits};
use crate::congestion::RecoveryExit;
use crate::send::rtt::timestamp;
use crate::send::{Detection, Horizon, Scoreboard, Sent};
use probe::Probe;

pub use params::Params;

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct RackTlp {
    params: Params,
    repair: Repair,
    min_rtt: MinRtt,
    /// The arrived segment that was sent last: its send time and its end (`RACK.xmit_ts`,
    /// `RACK.end_seq`).
    newest: Option<(Time, u64)>,
    /// The round trip of this segment (`RACK.rtt`).
    rtt: Span,
    /// One past the highest byte that has arrived (`RACK.fack`).
    fack: u64,
    reordering_seen: bool,
    /// `RACK.reo_wnd_mult` and `RACK.reo_wnd_persist`.
    multiplier: u32,
    persistence: u32,
    /// End of the round in which a duplicate was reported (`RACK.dsack_round`).
    dsack_round: Option<u64>,
    /// Time of the last reduction of the window.
    reduced_at: Time,
    /// Time at which segments that may merely be reordered are declared lost.
    reorder_at: Time,
    probe: Probe,
}

impl RackTlp {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            repair: Repair::NONE,
            min_rtt: MinRtt::new(params.min_rtt_window),
            newest: None,
            rtt: Span::ZERO,
            fack: 0,
            reordering_seen: false,
            multiplier: 1,
            persistence: 0,
            dsack_round: None,
            reduced_at: Time::ZERO,
            reorder_at: Time::NEVER,
            probe: Probe::default(),
        }
    }

    /// RFC 8985 §6.2, step 4, `RACK_update_reo_wnd`: the effect of duplicates.
    fn adapt(&mut self, news: &News, view: &RecoveryView, leaves: bool) {
        if self.dsack_round.is_some_and(|round| view.una >= round) {
            self.dsack_round = None;
        }
        let widens = news.twice.is_some()
            && self.params.dsack_adaptation
            && (self.reordering_seen || !self.params.dsack_needs_reordering);
        if widens && self.dsack_round.is_none() {
            self.dsack_round = Some(view.max);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persistence = self.params.dsack_persistence;
        } else if leaves {
            self.persistence = self.persistence.saturating_sub(1);
            if self.persistence == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// The reordering window.
    fn patience(&self, board: &Scoreboard, view: &RecoveryView) -> Span {
        let enough =
            self.params.dupack_threshold && board.sacked_segments() >= view.dupack_threshold;
        if !self.reordering_seen && (self.repair.phase != Phase::Open || enough) {
            return Span::ZERO;
        }
        let fraction =
            self.min_rtt.get().unwrap_or_default() / u64::from(self.params.reordering_divisor);
        (fraction * u64::from(self.multiplier)).min(view.srtt.unwrap_or_default())
    }

    /// RFC 8985 §6.2, step 5, `RACK_detect_loss_and_arm_timer`.
    fn detect(&mut self, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        self.reorder_at = Time::NEVER;
        let Some((sent_at, end)) = self.newest else {
            return Episode::None;
        };
        let found = if board.all_sent_after(sent_at, end) {
            Detection::default()
        } else {
            let patience = self.rtt + self.patience(board, view);
            board.detect(view.now, &Horizon { sent_at, end, patience })
        };
        self.reorder_at = found.next.map_or(Time::NEVER, |next| {
            view.wheel.after(view.now, next - view.now + self.params.timer_margin)
        });
        match self.repair.phase {
            Phase::Open if board.is_due() => {
                self.reduced_at = view.now;
                self.enter(view)
            }
            Phase::Recovery
                if self.params.reduce_for_lost_retransmission
                    && found.copy_sent_at.is_some_and(|sent_at| sent_at >= self.reduced_at) =>
            {
                self.reduced_at = view.now;
                Episode::Again
            }
            _ => Episode::None,
        }
    }
}

impl LossRecovery for RackTlp {
    fn traits(&self) -> Traits {
        Traits { timed: true, ..Traits::SELECTIVE }
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        if !self.repair.begin(view.max) {
            return Episode::None;
        }
        self.probe.cancel();
        Episode::Enter { restart_timer: self.params.restart_timer_on_entry }
    }

    fn dupacks(&self) -> u32 {
        self.repair.dupacks
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_recovery()
    }

    /// RFC 8985 §6.2, steps 1 to 3.
    fn on_delivered(&mut self, segment: &Sent, now: Time, echo: Option<Echo>) {
        let rtt = now - segment.sent_at;
        let resent = segment.transmissions > 1;
        if segment.end() > self.fack {
            self.fack = segment.end();
        } else if !resent {
            self.reordering_seen = true;
        }
        if resent {
            let echo = echo.filter(|_| self.params.timestamp_check);
            let echoes_earlier = echo.is_some_and(|(echo, tick)| {
                (echo.wrapping_sub(timestamp(segment.sent_at, tick)) as i32) < 0
            });
            if echoes_earlier || self.min_rtt.get().is_some_and(|min| rtt < min) {
                return;
            }
        } else {
            self.min_rtt.sample(now, rtt);
            self.probe.on_round_trip();
        }
        self.rtt = rtt;
        self.newest = self.newest.max(Some((segment.sent_at, segment.end())));
    }

    fn on_handshake(&mut self, now: Time, rtt: Span) {
        self.min_rtt.sample(now, rtt);
    }

    fn on_undo(&mut self) {
        self.repair.end();
    }

    fn is_calm(&self) -> bool {
        // No segment that was sent before the newest arrived segment is missing, so segments that
        // arrive in order cannot reveal a loss.
        self.repair.is_calm()
            && self.reorder_at == Time::NEVER
            && self.dsack_round.is_none()
            && self.probe.is_settled()
    }

    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        if news.acked > 0 {
            self.repair.dupacks = 0;
        }
        let leaves = self.repair.phase != Phase::Open && view.una >= self.repair.until;
        self.adapt(news, view, leaves);
        let repaired = self.probe.on_ack(news, view.una);
        if leaves && self.repair.end() {
            return Episode::exit(RecoveryExit::Ssthresh);
        }
        if news.sacked > 0 && self.repair.phase == Phase::Open {
            self.repair.dupacks += 1;
        }
        if board.sacked_segments() > 0 {
            self.probe.cancel();
        }
        match self.detect(board, view) {
            Episode::None if self.repair.phase == Phase::Open => repaired.unwrap_or(Episode::None),
            episode => episode,
        }
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        // RFC 8985 §6.3.
        self.repair.await_timeout(view.max);
        self.reorder_at = Time::NEVER;
        self.probe.reset();
        let patience = self.rtt + self.patience(board, view);
        board.lose_old(view.now, patience);
    }

    fn on_progress(&mut self, board: &Scoreboard, view: &RecoveryView) {
        if self.repair.phase == Phase::Open {
            self.probe.schedule(&self.params, board, view);
        }
    }

    fn deadline(&self) -> Time {
        self.reorder_at.min(self.probe.deadline())
    }

    fn on_deadline(&mut self, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        if self.reorder_at <= view.now {
            return self.detect(board, view);
        }
        if self.probe.expire(&self.params) && !board.is_empty() {
            Episode::Probe
        } else {
            Episode::None
        }
    }

    fn on_probe_sent(&mut self, retransmission: bool, board: &Scoreboard) {
        self.probe.on_sent(retransmission, board);
    }
}
