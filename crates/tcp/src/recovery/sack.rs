//! Recovery by selective acknowledgements (RFC 6675).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::{Phase, Repair};
use super::{Answer, Episode, LossRecovery, News, RecoveryView, Spare, Traits};
use crate::congestion::RecoveryExit;
use crate::send::{Marks, Scoreboard};

/// Parameters of RFC 6675.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether segments below the highest one that has arrived are sent again before they count as
    /// lost, if there is nothing else to send (RFC 6675 §4, `NextSeg` rule 3).
    pub retransmit_holes: bool,
    /// Whether the last segment is sent again if there is nothing else to send. This rescue happens
    /// once per recovery, and detects a loss at the end of the window (RFC 6675 §4, `NextSeg` rule
    /// 4).
    pub rescue: bool,
    /// Whether `retransmit_holes` also applies to segments above the highest one that has arrived
    /// (ns-3: `TcpTxBuffer::NextSeg()` omits condition (1.b) in rule 3).
    pub retransmit_tail: bool,
    /// Whether a partial ACK is handled as in `NewReno` (RFC 6582 §3.2, step 3; §4, "Impatient").
    /// Each partial ACK then releases one segment regardless of the pipe, unless the first
    /// unacknowledged segment was already sent again. The released segment is a lost segment, else
    /// new data, else the first unacknowledged segment. Only the first partial ACK restarts the
    /// timer (ns-3: `TcpSocketBase::ProcessAck()`). In RFC 6675, the answer waits until the pipe
    /// allows a segment.
    pub answer_partial_acks: bool,
    /// Whether the beginning of recovery restarts the retransmission timer (Linux; RFC 6675 leaves
    /// it open).
    pub restart_timer_on_entry: bool,
    /// Quantity that a loss halves.
    pub reduce_from: ReduceFrom,
}

/// Quantity that a loss halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceFrom {
    /// All data not cumulatively acknowledged (RFC 6675 §5, step 4.2).
    #[default]
    Flight,
    /// The data in the network, without segments that have arrived or are lost (ns-3). Without
    /// SACK, this is the outstanding data minus a segment per duplicate ACK.
    Pipe,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            retransmit_holes: true,
            rescue: true,
            retransmit_tail: false,
            answer_partial_acks: false,
            restart_timer_on_entry: true,
            reduce_from: ReduceFrom::default(),
        }
    }
}

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Sack {
    params: Params,
    repair: Repair,
    /// One past the highest byte retransmitted in this recovery (`HighRxt`).
    high_rxt: u64,
    /// One past the data covered by a rescue (`RescueRxt`).
    rescued: u64,
    partial_ack_seen: bool,
}

impl Sack {
    pub(super) fn new(params: &Params) -> Self {
        let params = params.clone();
        let (repair, high_rxt, rescued) = (Repair::NONE, 0, 0);
        Self { params, repair, high_rxt, rescued, partial_ack_seen: false }
    }
}

impl LossRecovery for Sack {
    fn traits(&self) -> Traits {
        Traits::SELECTIVE
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        if !self.repair.begin(view.max) {
            return Episode::None;
        }
        // RFC 6675 §5, step 4.
        self.high_rxt = view.una;
        self.rescued = 0;
        self.partial_ack_seen = false;
        Episode::Enter { restart_timer: self.params.restart_timer_on_entry }
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

    fn is_calm(&self) -> bool {
        self.repair.is_calm()
    }

    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        let RecoveryView { una, segment, dupack_threshold, .. } = *view;
        if news.acked > 0 {
            self.repair.dupacks = 0;
        }
        let is_over = self.repair.phase != Phase::Open && una >= self.repair.until;
        if is_over && self.repair.end() {
            return Episode::exit(RecoveryExit::Ssthresh);
        }
        if self.repair.phase == Phase::Timeout {
            return Episode::None;
        }
        let head_is_lost = board.judge(dupack_threshold, segment);
        if self.repair.phase == Phase::Recovery {
            if news.acked == 0 || !self.params.answer_partial_acks {
                return Episode::None;
            }
            let first = !std::mem::replace(&mut self.partial_ack_seen, true);
            let is_repaired = board.head().is_none_or(|head| head.marks.has(Marks::RESENT));
            let answer = if is_repaired { Answer::Nothing } else { Answer::Any };
            return Episode::Partial { restart_timer: first, answer };
        }
        if news.sacked == 0 {
            return Episode::None;
        }
        // RFC 6675 §2 (the definition of duplicate ACKs) and §5, steps 1 and 2.
        self.repair.dupacks += 1;
        if self.repair.dupacks >= dupack_threshold || head_is_lost {
            self.enter(view)
        } else {
            Episode::None
        }
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        // RFC 6675 §5.1: arrived segments keep their marks, and all others are sent again.
        board.lose_all();
        self.repair.await_timeout(view.max);
    }

    fn flight_size(&self, flight: u64, board: &Scoreboard) -> u64 {
        match self.params.reduce_from {
            ReduceFrom::Flight => flight,
            ReduceFrom::Pipe => board.pipe(),
        }
    }

    fn spare(&mut self, board: &Scoreboard) -> Option<Spare> {
        if self.repair.phase != Phase::Recovery {
            return None;
        }
        let hole = match &self.params {
            Params { retransmit_holes: false, .. } => None,
            Params { retransmit_tail: true, .. } => board.first_untried(),
            Params { .. } => board.hole(self.high_rxt),
        };
        if let Some(hole) = hole {
            return Some(Spare { seq: hole.seq, rescue: false });
        }
        // The rescue detects a loss at the end of the window. A second copy of a retransmission
        // would not detect this loss.
        let may_rescue = self.params.rescue && board.una() > self.rescued;
        let last = board.last_missing().filter(|last| may_rescue && last.seq >= self.high_rxt)?;
        (!last.marks.has(Marks::RESENT)).then_some(Spare { seq: last.seq, rescue: true })
    }

    fn on_resent(&mut self, end: u64, rescue: bool) {
        if rescue {
            self.rescued = self.repair.until;
        } else {
            self.high_rxt = self.high_rxt.max(end);
        }
    }
}
