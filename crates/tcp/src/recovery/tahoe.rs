//! Tahoe: fast retransmit without fast recovery (Jacobson 1988; RFC 5681 §3.2 without steps 3 to 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByDuplicates, Episode, LossRecovery, News, RecoveryView};
use crate::send::Scoreboard;

/// Parameters of Tahoe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether fast retransmit requires an ACK of more than the data outstanding at the last loss.
    /// Duplicate ACKs of data sent twice then do not count as a loss (ns-2's `bugfix_`; not in
    /// 4.3BSD).
    pub careful: bool,
    /// Whether the retransmission waits for the host's random send delay like other data. In ns-2
    /// the retransmission waits, because ns-2 sends it as the first segment of the new window. If
    /// false, the retransmission is sent at once.
    pub in_turn: bool,
    /// Whether a timeout leaves the count of duplicate ACKs as it is, so that limited transmit
    /// sends less for later duplicates (ns-2's `TcpAgent::timeout()`; ns-2's Reno and `NewReno`
    /// reset the count).
    pub keeps_count: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { careful: true, in_turn: false, keeps_count: false }
    }
}

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Tahoe {
    params: Params,
    /// One past the highest sequence number sent at the last loss event.
    recover: u64,
    dupacks: u32,
    /// The duplicate ACKs that were counted before the last timeout.
    counted: u32,
}

impl Tahoe {
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone(), recover: 0, dupacks: 0, counted: 0 }
    }
}

impl ByDuplicates for Tahoe {
    fn on_new_ack(&mut self, _: u64, _: &RecoveryView) -> Episode {
        self.dupacks = 0;
        self.counted = 0;
        Episode::None
    }

    fn on_duplicate_ack(&mut self, _: bool, view: &RecoveryView) -> Episode {
        self.dupacks += 1;
        let is_new = view.una > self.recover || !self.params.careful;
        if self.dupacks == view.dupack_threshold && is_new {
            self.enter(view)
        } else {
            Episode::None
        }
    }
}

impl LossRecovery for Tahoe {
    fn enter(&mut self, view: &RecoveryView) -> Episode {
        self.recover = view.max;
        Episode::Restart { in_turn: self.params.in_turn }
    }

    fn on_undo(&mut self) {
        self.recover = 0;
    }

    fn dupacks(&self) -> u32 {
        self.dupacks
    }

    fn in_recovery(&self) -> bool {
        false
    }

    fn on_ack(&mut self, news: &News, _: &mut Scoreboard, view: &RecoveryView) -> Episode {
        self.read(news, view)
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        board.go_back();
        self.recover = view.max;
        if !self.params.keeps_count {
            self.dupacks = 0;
        }
        self.counted = self.dupacks;
    }

    fn released(&self, limited: u32) -> u32 {
        limited.saturating_sub(self.counted)
    }
}
