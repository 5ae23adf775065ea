//! TCP-EFR's fast retransmit (Sreekumari, Jung & Lee, 2016, §4): the weight of a duplicate ACK
//! depends on the mark that it echoes and on the outstanding data. Losses are repaired as in
//! `NewReno`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::newreno::{self, NewReno};
use super::{ByDuplicates, Episode, LossRecovery, News, RecoveryView};
use crate::send::Scoreboard;

/// TCP-EFR's rules for duplicate ACKs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Data that count as outstanding when a duplicate ACK arrives. With up to three outstanding
    /// segments, one marked duplicate begins recovery.
    pub outstanding: Outstanding,
    /// Which duplicate ACK's mark counts.
    pub marks: Marks,
    /// How much an early retransmission inflates the window.
    pub inflation: Inflation,
    /// Whether the third duplicate ACK reduces the window again after a marked first duplicate has
    /// reduced it (§4.2, read literally). If false, each loss reduces the window once.
    pub reduce_twice: bool,
}

/// The data that count as outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outstanding {
    /// All data sent and not acknowledged, in segments, as in `FlightSize`.
    #[default]
    Flight,
    /// As `flight`, minus a segment for each duplicate ACK.
    LessDuplicates,
}

/// Which duplicate ACK's mark counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marks {
    /// The mark of each duplicate counts for this duplicate.
    #[default]
    Each,
    /// The mark of the first duplicate also counts for all following duplicates.
    First,
}

/// The inflation of the window after an early retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inflation {
    /// The window grows by a segment per duplicate ACK that has arrived.
    #[default]
    Duplicates,
    /// The window grows by three segments, as if three duplicate ACKs had arrived (RFC 5681 §3.2,
    /// step 3).
    Three,
}

/// With at most this many outstanding segments, three duplicate ACKs cannot arrive.
const FEW: u64 = 3;

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Efr {
    params: Params,
    base: NewReno,
    /// Whether the first of the current duplicates was marked.
    first_marked: bool,
    /// Number of segments that unmarked duplicates have released.
    released: u32,
    /// A marked first duplicate has reduced the window for the data below this sequence number.
    reduced_until: u64,
}

impl Efr {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            base: NewReno::new(&newreno::Params::default()),
            first_marked: false,
            released: 0,
            reduced_until: 0,
        }
    }

    /// Number of outstanding segments when the `nth` duplicate ACK arrives.
    fn outstanding(&self, view: &RecoveryView, nth: u32) -> u64 {
        let flight = (view.max - view.una).div_ceil(view.segment);
        match self.params.outstanding {
            Outstanding::Flight => flight,
            Outstanding::LessDuplicates => flight.saturating_sub(u64::from(nth)),
        }
    }
}

impl ByDuplicates for Efr {
    fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode {
        self.released = 0;
        self.base.on_new_ack(acked, view)
    }

    fn on_duplicate_ack(&mut self, ece: bool, view: &RecoveryView) -> Episode {
        if self.base.in_recovery() {
            return self.base.on_duplicate_ack(ece, view);
        }
        let nth = self.base.dupacks() + 1;
        if nth == 1 {
            self.first_marked = ece;
        }
        let marked = match self.params.marks {
            Marks::Each => ece,
            Marks::First => self.first_marked,
        };
        let is_new = self.base.may_enter(view);
        let reduced = view.una < self.reduced_until && !self.params.reduce_twice;
        let early = marked && self.outstanding(view, nth) <= FEW;
        let threshold = if early { nth } else { view.dupack_threshold };
        let view = RecoveryView { dupack_threshold: threshold, ..*view };
        match self.base.on_duplicate_ack(ece, &view) {
            Episode::Enter { restart_timer } => {
                if early && self.params.inflation == Inflation::Three {
                    self.base.inflate(FEW * view.segment);
                }
                if reduced {
                    Episode::EnterReduced { restart_timer }
                } else {
                    Episode::Enter { restart_timer }
                }
            }
            // §4.2, first case: the window is reduced before the repair.
            Episode::None if marked && nth == 1 && is_new && !reduced => {
                self.reduced_until = view.max;
                Episode::Again
            }
            episode => {
                if !marked && nth < view.dupack_threshold.min(3) {
                    self.released += 1;
                }
                episode
            }
        }
    }
}

impl LossRecovery for Efr {
    fn on_ack(&mut self, news: &News, _: &mut Scoreboard, view: &RecoveryView) -> Episode {
        self.read(news, view)
    }

    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        self.released = 0;
        self.base.on_idle_expiry(view);
    }

    fn is_calm(&self) -> bool {
        self.base.is_calm() && self.released == 0
    }

    fn on_undo(&mut self) {
        self.base.on_undo();
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        self.base.enter(view)
    }

    fn quota(&self, cwnd: u64) -> u64 {
        self.base.quota(cwnd)
    }

    fn released(&self, limited: u32) -> u32 {
        // Marked duplicates are handled as in `NewReno`.
        self.released.max(limited)
    }

    fn dupacks(&self) -> u32 {
        self.base.dupacks()
    }

    fn in_recovery(&self) -> bool {
        self.base.in_recovery()
    }
}
