//! Reno: fast retransmit and fast recovery (RFC 5681 §3.2). The first ACK of new data ends
//! recovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByDuplicates, Episode, LossRecovery, News, RecoveryView};
use crate::congestion::RecoveryExit;
use crate::send::Scoreboard;

/// Parameters of Reno.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether fast retransmit requires an ACK of more than the data outstanding at the last loss
    /// (ns-2's `bugfix_`). If false, a window with several losses is reduced several times
    /// (4.3BSD).
    pub careful: bool,
    /// The effect of the end of recovery on cwnd.
    pub exit: Exit,
    /// Whether fast retransmit restarts the retransmission timer (Linux, ns-2; not in the RFCs).
    pub restart_timer_on_entry: bool,
}

/// The effect of the end of recovery on cwnd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// `cwnd = ssthresh` (RFC 5681 §3.2, step 6).
    #[default]
    Ssthresh,
    /// The end of recovery does not reset cwnd, and the ACK that ends recovery increases cwnd
    /// (ns-2).
    Keep,
}

impl Default for Params {
    fn default() -> Self {
        Self { careful: true, exit: Exit::default(), restart_timer_on_entry: true }
    }
}

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Reno {
    params: Params,
    /// One past the highest sequence number sent at the last loss event.
    recover: u64,
    in_recovery: bool,
    dupacks: u32,
    /// Data that has left the network according to duplicate ACKs, bytes.
    inflation: u64,
}

impl Reno {
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), recover: 0, in_recovery: false, dupacks: 0, inflation: 0 }
    }

    fn leave(&mut self) {
        self.in_recovery = false;
        self.dupacks = 0;
        self.inflation = 0;
    }
}

impl ByDuplicates for Reno {
    fn on_new_ack(&mut self, _: u64, _: &RecoveryView) -> Episode {
        let ends = self.in_recovery;
        self.leave();
        if !ends {
            return Episode::None;
        }
        match self.params.exit {
            Exit::Ssthresh => Episode::exit(RecoveryExit::Ssthresh),
            Exit::Keep => Episode::Exit { cwnd: RecoveryExit::Reduced { deficit: 0 }, grows: true },
        }
    }

    fn on_duplicate_ack(&mut self, _: bool, view: &RecoveryView) -> Episode {
        self.dupacks += 1;
        let is_new = view.una > self.recover || !self.params.careful;
        if self.in_recovery {
            // RFC 5681 §3.2, step 4.
            self.inflation += view.segment;
            Episode::None
        } else if self.dupacks >= view.dupack_threshold && is_new {
            self.enter(view)
        } else {
            Episode::None
        }
    }
}

impl LossRecovery for Reno {
    fn enter(&mut self, view: &RecoveryView) -> Episode {
        if self.in_recovery {
            return Episode::None;
        }
        self.recover = view.max;
        self.in_recovery = true;
        self.inflation = u64::from(self.dupacks) * view.segment;
        Episode::Enter { restart_timer: self.params.restart_timer_on_entry }
    }

    fn on_undo(&mut self) {
        self.recover = 0;
    }

    fn dupacks(&self) -> u32 {
        self.dupacks
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }

    fn on_ack(&mut self, news: &News, _: &mut Scoreboard, view: &RecoveryView) -> Episode {
        self.read(news, view)
    }

    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        self.recover = view.max;
        self.leave();
    }

    fn quota(&self, cwnd: u64) -> u64 {
        cwnd + self.inflation
    }
}
