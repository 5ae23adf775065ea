//! Detects premature timeouts by new data (F-RTO, RFC 5682) or by echoed timestamps (Eifel, RFC
//! 3522), and undoes them (RFC 4015), as in Linux.

use super::cubic::Cubic;
use super::marks::Marks;
use super::{Rules, Sender};
use crate::bbr::Bbr;
use crate::flavour::Examine;
use crate::packet::Ticks;
use crate::parts::{BITS, Parts, SEGMENT};

/// Window after the check of a timeout has sent new data and has found that the timeout was genuine
/// (RFC 5682 §2.1, step 3 a).
const GENUINE: Parts = 3 * SEGMENT;

/// The steps of checking a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    /// Nothing to check.
    #[default]
    Off,
    /// The first segment was sent again. The next ACK of new data decides how the check continues
    /// (RFC 5682 §2.1, step 2).
    Again,
    /// New data was sent (step 3).
    Forward,
    /// Only echoed timestamps can show that the timeout was premature.
    Echo,
}

/// The state of the congestion control that a timeout changes.
#[derive(Clone, Debug)]
struct Saved {
    window: Parts,
    threshold: Parts,
    cubic: Option<Box<Cubic>>,
    marks: Option<Box<Marks>>,
    bbr: Option<Box<Bbr>>,
}

/// The state of the check of a timeout, and the saved state that an undo restores.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    step: Step,
    /// The congestion control before the timeout.
    saved: Option<Saved>,
    /// At the timeout: one past the highest segment sent, and the first segment outstanding.
    recover: u32,
    head: u32,
    /// When the first retransmission was sent.
    again_at: Ticks,
    /// The check may send new data below this segment, regardless of cwnd.
    forward: u32,
}

impl Undo {
    /// Whether an ACK must be checked.
    pub fn is_examining(&self) -> bool {
        self.step != Step::Off
    }

    /// The end of the new data that the check sends.
    pub fn forward(&self) -> Option<u32> {
        (self.step == Step::Forward).then_some(self.forward)
    }

    /// Whether a segment that was sent `copies` times was outstanding at the timeout and was not
    /// sent again since then.
    pub fn is_original(&self, segment: u32, copies: u32) -> bool {
        self.step != Step::Off && segment < self.recover && copies == 1
    }
}

impl Sender {
    /// Saves the state at an expiry of the timer, before anything changes.
    pub(crate) fn remember_timeout(&mut self, now: Ticks, rules: &Rules) {
        let flight = self.outstanding(self.next, rules);
        let is_linux = rules.flavour.examine == Examine::Linux;
        let is_repeated = self.timed_out_at == self.una;
        let Some(undo) = &mut self.undo else { return };
        // RFC 5682 §2.1, step 1: no earlier timeout is being repaired.
        let is_first = self.una >= undo.recover;
        undo.step = if is_linux && self.in_recovery && !is_repeated {
            // tcp_enter_loss() examines only timeouts that begin a repair.
            (undo.step, undo.saved, undo.recover) = (Step::Off, None, self.max);
            return;
        } else if is_first {
            Step::Again
        } else if is_linux && is_repeated {
            // tcp_enter_loss() keeps the window and the time of the first retransmission.
            (undo.step, undo.recover, undo.head) = (Step::Again, self.max, self.una);
            return;
        } else if is_linux {
            Step::Echo
        } else {
            (undo.step, undo.saved) = (Step::Off, None);
            return;
        };
        let threshold = flight.max(self.threshold);
        undo.again_at = now;
        let (cubic, marks) = (self.cubic.clone(), self.marks.clone());
        let bbr = self.bbr.clone();
        undo.saved = Some(Saved { window: self.window, threshold, cubic, marks, bbr });
        (undo.recover, undo.head) = (self.max, self.una);
    }

    /// Examines an ACK of `acked` new segments after a timeout. The caller has handled the ACK
    /// before. A duplicate ACK has no new segments. `echo` is the timestamp that the ACK echoes, if
    /// there are timestamps. `is_original` says whether the ACK reports data that were outstanding
    /// at the timeout and were not sent again.
    #[inline(never)]
    pub(crate) fn examine(&mut self, acked: u32, echo: Ticks, is_original: bool, rules: &Rules) {
        let is_selective = self.selective.is_some();
        let (una, max, end) = (self.una, self.max, self.end);
        let Some(undo) = &mut self.undo else { return };
        let has_echoes = rules.flavour.timestamps && rules.flavour.examine == Examine::Linux;
        // RFC 3522 §3.2, step 5: the echoed timestamp is older than the retransmission.
        if has_echoes && undo.step != Step::Off && acked > 0 && echo < undo.again_at {
            undo.step = Step::Off;
            return self.undo_timeout(acked, rules);
        }
        match undo.step {
            Step::Off => {}
            Step::Echo => {
                if una >= undo.recover {
                    undo.step = Step::Off;
                }
            }
            Step::Again if acked == 0 => {
                // With SACK, duplicate ACKs only update the scoreboard.
                if !is_selective {
                    undo.step = Step::Off;
                }
            }
            Step::Again => {
                let can_send = end > max && rules.most_window > Parts::from(max - una) << BITS;
                if una >= undo.recover || una <= undo.head || !can_send {
                    undo.step = Step::Off;
                    return;
                }
                (undo.step, undo.forward) = (Step::Forward, max + 2);
                self.next = max;
            }
            Step::Forward => {
                undo.step = Step::Off;
                // Without SACK, no segment after the first was sent again.
                if is_original || (!is_selective && acked > 0) {
                    self.undo_timeout(acked, rules);
                } else {
                    self.limit_window(GENUINE);
                    if !is_selective {
                        self.next = una;
                    }
                }
            }
        }
    }

    /// Lowers the window without a loss.
    pub(crate) fn limit_window(&mut self, most: Parts) {
        if self.window > most {
            if let Some(cubic) = &mut self.cubic {
                cubic.restart();
            }
            self.window = most;
            if let Some(bbr) = &mut self.bbr {
                bbr.limit(most as f64 / SEGMENT as f64, false);
            }
        }
        self.counted = 0;
    }

    /// Continues with new data, and restores the congestion control. cwnd is at most the flight
    /// plus the newly acknowledged data, of which at most an initial window counts.
    fn undo_timeout(&mut self, acked: u32, rules: &Rules) {
        let Some(saved) = self.undo.as_mut().and_then(|it| it.saved.take()) else { return };
        (self.window, self.threshold) = (saved.window, saved.threshold);
        (self.cubic, self.marks) = (saved.cubic, saved.marks);
        // Values measured since the timeout are kept.
        if let (Some(now), Some(then)) = (&mut self.bbr, saved.bbr) {
            now.restore(*then);
        }
        self.next = self.max;
        self.recover = 0;
        self.owes_first = false;
        self.timed_out_at = 0;
        if let Some(deferral) = &mut self.deferral {
            deferral.defer_again();
        }
        if let Some(it) = &mut self.selective {
            it.board.lose_nothing();
            it.repairs_timeout = false;
        }
        self.in_recovery = false;
        let flight = self.outstanding(self.next, rules);
        let more = (Parts::from(acked) << BITS).min(rules.initial_window);
        self.limit_window((flight + more).max(SEGMENT));
    }

    /// The end of the new data that is sent as a test instead of lost segments (RFC 5682 §3.1, step
    /// 2); with SACK only.
    pub(crate) fn forward_only(&self) -> Option<u32> {
        self.undo.as_ref().and_then(|it| it.forward())
    }
}
