//! `NewReno` (RFC 6582).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reported::Reported;
use super::sack::ReduceFrom;
use super::{Answer, ByDuplicates, Episode, LossRecovery, News, RecoveryView};
use crate::congestion::RecoveryExit;
use crate::send::Scoreboard;

/// Variants of RFC 6582.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether fast retransmit requires an ACK of more than `recover` (RFC 6582 §3.2, step 2). If
    /// false, an ACK of exactly `recover` is enough (the less careful variant of RFC 2582 §5).
    pub careful: bool,
    /// Whether only the first partial ACK restarts the retransmission timer (RFC 6582 §4,
    /// "Impatient"); if false, every partial ACK restarts the timer ("Slow-but-Steady").
    pub impatient: bool,
    /// The effect of the end of recovery on cwnd.
    pub exit: Exit,
    /// Whether fast retransmit restarts the retransmission timer (Linux, ns-2; not in the RFCs).
    pub restart_timer_on_entry: bool,
    /// Quantity that a loss halves.
    pub reduce_from: ReduceFrom,
    /// When a partial ACK is answered by a retransmission.
    pub partial_acks: PartialAcks,
    /// Whether each duplicate ACK counts as a delivered segment. If there are then more duplicate
    /// ACKs than segments that can have arrived, the number of duplicate ACKs that signals a loss
    /// rises (Linux without SACK: `tcp_check_reno_reordering()`).
    pub counts_reports: bool,
}

/// When a partial ACK is answered by a retransmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialAcks {
    /// At once (RFC 6582 §3.2, step 3).
    #[default]
    AtOnce,
    /// As soon as rate reduction (`prr`) allows a segment. Rate reduction may allow the segment
    /// only at a later duplicate ACK or never (Linux, `tcp_newreno_mark_lost()` and
    /// `tcp_xmit_retransmit_queue()`).
    Reduced,
}

/// The effect of the end of recovery on cwnd (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// `cwnd = ssthresh`.
    #[default]
    Ssthresh,
    /// `cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)`, which prevents a burst.
    Flight,
    /// cwnd keeps the value to which partial ACKs have reduced it, and the ACK that ends recovery
    /// increases cwnd (ns-2).
    Keep,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            careful: true,
            impatient: true,
            exit: Exit::default(),
            restart_timer_on_entry: true,
            reduce_from: ReduceFrom::default(),
            partial_acks: PartialAcks::default(),
            counts_reports: false,
        }
    }
}

impl super::Parameters for Params {}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct NewReno {
    params: Params,
    /// Highest sequence number sent at the last loss event. `None` before the first loss event, so
    /// that a loss of the first segment can be repaired.
    recover: Option<u64>,
    in_recovery: bool,
    partial_ack_seen: bool,
    /// With [`PartialAcks::Reduced`]: whether the first unacknowledged segment is lost and was not
    /// sent again yet.
    hole: bool,
    dupacks: u32,
    reported: Option<Reported>,
    /// Data that has left the network according to duplicate ACKs, bytes.
    inflation: u64,
    /// Bytes that partial ACKs deducted beyond the inflation.
    deficit: u64,
}

impl NewReno {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            recover: None,
            in_recovery: false,
            partial_ack_seen: false,
            hole: false,
            dupacks: 0,
            reported: params.counts_reports.then(Reported::default),
            inflation: 0,
            deficit: 0,
        }
    }

    /// RFC 6582 §3.2, step 2: whether duplicate ACKs indicate a new loss rather than the last loss.
    pub(super) fn may_enter(&self, view: &RecoveryView) -> bool {
        let last_acked = view.una - 1;
        self.recover.is_none_or(|recover| {
            last_acked > recover || (!self.params.careful && last_acked == recover)
        })
    }

    /// Number of duplicate ACKs, or of reported segments, that is compared with the threshold for a
    /// loss.
    fn signals(&self) -> u32 {
        self.reported.as_ref().map_or(self.dupacks, Reported::segments)
    }

    /// Sets the difference between the quota and cwnd.
    pub(super) fn inflate(&mut self, bytes: u64) {
        self.inflation = bytes;
    }

    fn leave(&mut self) {
        if let Some(reported) = &mut self.reported {
            reported.forget();
        }
        self.in_recovery = false;
        self.hole = false;
        self.dupacks = 0;
        self.inflation = 0;
        self.deficit = 0;
    }
}

impl ByDuplicates for NewReno {
    fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode {
        if let Some(reported) = &mut self.reported {
            reported.on_covered(acked, view);
            if !self.in_recovery {
                reported.forget();
            }
        }
        if !self.in_recovery {
            self.dupacks = 0;
            return Episode::None;
        }
        if self.recover.is_none_or(|recover| view.una > recover) {
            let cwnd = match self.params.exit {
                Exit::Ssthresh => RecoveryExit::Ssthresh,
                Exit::Flight => RecoveryExit::Flight,
                Exit::Keep => RecoveryExit::Reduced { deficit: self.deficit },
            };
            self.leave();
            return Episode::Exit { cwnd, grows: self.params.exit == Exit::Keep };
        }
        // RFC 6582 §3.2, step 3, partial ACK: deflate by the acknowledged data, and add back a
        // segment if at least a full segment was acknowledged.
        if self.inflation > acked {
            self.inflation -= acked;
            if acked >= view.segment {
                self.inflation += view.segment;
            }
        } else {
            // The window itself is not deflated below a segment.
            let most = view.window.saturating_sub(view.segment);
            self.deficit = (self.deficit + acked - self.inflation).min(most);
            self.inflation = if acked >= view.segment { view.segment } else { 0 };
        }
        let first = !std::mem::replace(&mut self.partial_ack_seen, true);
        self.hole = self.params.partial_acks == PartialAcks::Reduced;
        let answer = if self.hole { Answer::Reduced } else { Answer::Head };
        Episode::Partial { restart_timer: first || !self.params.impatient, answer }
    }

    fn on_duplicate_ack(&mut self, _: bool, view: &RecoveryView) -> Episode {
        self.dupacks += 1;
        if let Some(reported) = &mut self.reported {
            reported.on_duplicate(view);
        }
        if self.in_recovery {
            self.inflation += view.segment;
            if self.hole {
                return Episode::Partial { restart_timer: false, answer: Answer::Reduced };
            }
            Episode::None
        } else if self.signals() >= view.dupack_threshold && self.may_enter(view) {
            self.enter(view)
        } else {
            Episode::None
        }
    }
}

impl LossRecovery for NewReno {
    fn on_ack(&mut self, news: &News, _: &mut Scoreboard, view: &RecoveryView) -> Episode {
        self.read(news, view)
    }

    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        // RFC 6582 §3.2, step 4.
        self.recover = Some(view.max - 1);
        self.leave();
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        board.go_back();
        self.on_idle_expiry(view);
        if let Some(reported) = &mut self.reported {
            reported.on_timeout(view);
        }
    }

    fn released(&self, limited: u32) -> u32 {
        match &self.reported {
            Some(reported) if reported.threshold().is_some() => reported.segments().max(limited),
            _ => limited,
        }
    }

    fn threshold(&self, usual: u32) -> u32 {
        self.reported.as_ref().and_then(Reported::threshold).unwrap_or(usual)
    }

    fn reported(&self) -> Option<u64> {
        self.reported.as_ref().map(|reported| reported.segments().into())
    }

    fn on_undo(&mut self) {
        self.recover = None;
    }

    fn on_resent(&mut self, _end: u64, _rescue: bool) {
        self.hole = false;
    }

    fn has_hole(&self) -> bool {
        self.hole
    }

    fn enter(&mut self, view: &RecoveryView) -> Episode {
        if self.in_recovery {
            return Episode::None;
        }
        self.recover = Some(view.max - 1);
        self.in_recovery = true;
        self.partial_ack_seen = false;
        // RFC 5681 §3.2, step 3: the segments that caused the duplicate ACKs have left the network.
        self.inflation = u64::from(self.dupacks) * view.segment;
        self.deficit = 0;
        Episode::Enter { restart_timer: self.params.restart_timer_on_entry }
    }

    #[inline]
    fn quota(&self, cwnd: u64) -> u64 {
        (cwnd + self.inflation).saturating_sub(self.deficit)
    }

    fn flight_size(&self, flight: u64, board: &Scoreboard) -> u64 {
        match self.params.reduce_from {
            ReduceFrom::Flight => flight,
            ReduceFrom::Pipe => board.flight().saturating_sub(self.inflation),
        }
    }

    #[inline]
    fn dupacks(&self) -> u32 {
        self.dupacks
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::view;
    use super::*;

    fn entered(params: &Params) -> NewReno {
        let mut newreno = NewReno::new(params);
        let at = view(1, 10_001);
        assert_eq!(newreno.on_duplicate_ack(false, &at), Episode::None);
        assert_eq!(newreno.on_duplicate_ack(false, &at), Episode::None);
        assert_eq!(newreno.on_duplicate_ack(false, &at), Episode::Enter { restart_timer: true });
        newreno
    }

    #[test]
    fn rfc6582_3_2_partial_ack_deflates_and_adds_back_a_segment() {
        let mut newreno = entered(&Params::default());
        assert_eq!(newreno.quota(5000), 8000);
        newreno.on_duplicate_ack(false, &view(1, 10_001));
        assert_eq!(newreno.quota(5000), 9000);
        newreno.on_new_ack(2000, &view(2001, 10_001));
        assert_eq!(newreno.quota(5000), 8000);
    }

    #[test]
    fn rfc6582_3_2_a_large_partial_ack_takes_from_the_window_itself() {
        let mut newreno = entered(&Params { exit: Exit::Keep, ..Params::default() });
        newreno.on_new_ack(5000, &view(5001, 10_001));
        assert_eq!(newreno.quota(5000), 5000 + 3000 - 5000 + 1000);
        let exit = newreno.on_new_ack(5000, &view(10_001, 10_001));
        let cwnd = RecoveryExit::Reduced { deficit: 2000 };
        assert_eq!(exit, Episode::Exit { cwnd, grows: true });
    }

    #[test]
    fn rfc6582_4_impatient_restarts_the_timer_once() {
        for (impatient, expected) in [(true, [true, false]), (false, [true, true])] {
            let mut newreno = entered(&Params { impatient, ..Params::default() });
            for (una, restart_timer) in [2001, 3001].into_iter().zip(expected) {
                let episode = newreno.on_new_ack(1000, &view(una, 10_001));
                assert_eq!(episode, Episode::Partial { restart_timer, answer: Answer::Head });
            }
        }
    }

    #[test]
    fn rfc6582_3_2_careful_ignores_duplicates_up_to_recover() {
        for (careful, enters_at_recover) in [(true, false), (false, true)] {
            let mut newreno = NewReno::new(&Params { careful, ..Params::default() });
            newreno.on_timeout(&mut Scoreboard::new(1), &view(1, 10_001));
            let third = |newreno: &mut NewReno, una| {
                newreno.on_new_ack(1000, &view(una, 20_001));
                (0..3).map(|_| newreno.on_duplicate_ack(false, &view(una, 20_001))).last().unwrap()
            };
            assert_eq!(third(&mut newreno, 5001), Episode::None);
            let at_recover = third(&mut newreno, 10_001) != Episode::None;
            assert_eq!(at_recover, enters_at_recover);
        }
    }

    #[test]
    fn a_timeout_ends_recovery_and_its_inflation() {
        let mut newreno = entered(&Params::default());
        newreno.on_timeout(&mut Scoreboard::new(1), &view(1, 10_001));
        assert!(!newreno.in_recovery());
        assert_eq!((newreno.dupacks(), newreno.quota(1000)), (0, 1000));
    }
}
