//! Recovery by selective acknowledgements before RFC 6675, as in ns-2's `Agent/TCP/Sack1` (Fall and
//! Floyd: "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996).
//!
//! Lost segments stay in the pipe until their retransmissions have arrived. If more than half of a
//! window is lost, the repair therefore waits for the retransmission timer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::{Phase, Repair};
use super::{Episode, LossRecovery, News, RecoveryView, Traits};
use crate::congestion::RecoveryExit;
use crate::send::Scoreboard;

/// `Sack1` of ns-2 has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Sack1 {
    repair: Repair,
    /// First unacknowledged byte when recovery began.
    began_at: u64,
    /// Bytes retransmitted in this recovery, without the first segment, which ns-2 does not count.
    resent: u64,
    /// Bytes that ACKs have removed from the pipe.
    freed: u64,
    segment: u64,
    is_first_copy: bool,
}

impl Sack1 {
    pub(super) fn new(_: &Params) -> Self {
        Self {
            repair: Repair::NONE,
            began_at: 0,
            resent: 0,
            freed: 0,
            segment: 0,
            is_first_copy: false,
        }
    }
}

impl LossRecovery for Sack1 {
    fn traits(&self) -> Traits {
        Traits::SELECTIVE
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        if !self.repair.begin(view.max) {
            return Episode::None;
        }
        self.began_at = view.una;
        self.resent = 0;
        self.segment = view.segment;
        self.freed = u64::from(view.dupack_threshold) * view.segment;
        self.is_first_copy = true;
        Episode::Enter { restart_timer: true }
    }

    fn dupacks(&self) -> u32 {
        self.repair.dupacks
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_recovery()
    }

    fn on_undo(&mut self) {
        self.repair.end();
    }

    /// Handles an expiry of the timer while nothing is outstanding (`rto_runs_idle`).
    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        self.repair.await_timeout(view.max);
    }

    fn is_calm(&self) -> bool {
        self.repair.is_calm()
    }

    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        let RecoveryView { una, segment, dupack_threshold, .. } = *view;
        if news.acked > 0 {
            self.repair.dupacks = 0;
        }
        match self.repair.phase {
            Phase::Timeout if una <= self.repair.until => return Episode::None,
            Phase::Recovery if una >= self.repair.until => {
                self.repair.phase = Phase::Open;
                return Episode::exit(RecoveryExit::Reduced { deficit: 0 });
            }
            Phase::Recovery => {
                // Every ACK removes a segment from the pipe. An ACK of new data also removes the
                // retransmission of the acknowledged segment.
                self.freed += if news.acked > 0 { 2 * self.segment } else { self.segment };
                board.judge(1, segment);
                return Episode::None;
            }
            Phase::Timeout | Phase::Open => self.repair.phase = Phase::Open,
        }
        if news.sacked == 0 {
            return Episode::None;
        }
        self.repair.dupacks += 1;
        if self.repair.dupacks < dupack_threshold {
            return Episode::None;
        }
        // All missing segments below the highest arrived segment are retransmitted, regardless of
        // how many segments have arrived above them.
        board.judge(1, segment);
        self.enter(view)
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        board.forget_sacked();
        board.lose_all();
        self.repair.await_timeout(view.max);
    }

    /// After a timeout, ns-2 sends all outstanding data again (go-back-N).
    fn reads_blocks(&self) -> bool {
        self.repair.phase != Phase::Timeout
    }

    fn pipe(&self, board: &Scoreboard) -> u64 {
        if self.repair.is_recovery() {
            (board.max() - self.began_at + self.resent).saturating_sub(self.freed)
        } else {
            board.pipe()
        }
    }

    fn on_resent(&mut self, _end: u64, _rescue: bool) {
        if !std::mem::take(&mut self.is_first_copy) {
            self.resent += self.segment;
        }
    }
}
