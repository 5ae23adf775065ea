//! How a sender without SACK handles ACKs: Tahoe, Reno (RFC 5681 §3.2) and `NewReno` (RFC 6582),
//! with limited transmit (RFC 3042), and go-back-N after a timeout (RFC 6298 §5).

use super::growth::Loss;
use super::{DUPLICATES, Rules, Sender};
use crate::flavour::{Exit, Repair};
use crate::packet::{NEVER, Ticks};
use crate::parts::{BITS, Parts, SEGMENT};
use crate::proportion::Proportion;

impl Sender {
    /// Handles an ACK of all segments before `ack`. `sent` is when the segment that caused the ACK
    /// was sent, if it was sent once.
    #[inline]
    pub fn acknowledge(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        if ack > self.una {
            let acked = ack - self.una;
            self.acknowledge_new(now, ack, sent, rules);
            if !self.is_plain {
                self.examine(acked, sent, false, rules);
            }
        } else if ack == self.una && self.una < self.max {
            self.acknowledge_again(now, rules);
            if !self.is_plain {
                self.examine(0, sent, false, rules);
            }
        }
    }

    #[inline]
    fn acknowledge_new(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        self.time(now, ack, sent, rules);
        self.burst = u32::MAX;
        let mut restarts = true;
        let is_whole = ack >= self.recover || rules.flavour.repair == Repair::Reno;
        let is_partial = self.in_recovery && !is_whole;
        let acked = ack - self.una;
        let may_grow = self.is_plain || self.observe(ack, rules);
        if !self.in_recovery {
            self.dupacks = 0;
            if may_grow {
                let is_fresh = sent != NEVER && self.una >= self.resent;
                self.grow(now, ack, is_fresh.then(|| now - sent), rules);
            }
        } else if is_whole {
            self.end_recovery(now, ack, rules);
        } else {
            restarts = self.acknowledge_part(self.outstanding(ack, rules), rules);
            restarts |= !rules.flavour.impatient;
            self.burst = rules.flavour.burst;
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.max = self.max.max(ack);
        self.limited = 0;
        if is_partial && !self.is_plain {
            self.settle(acked);
        }
        self.retime(now, restarts, rules);
    }

    #[inline(never)]
    fn end_recovery(&mut self, now: Ticks, ack: u32, rules: &Rules) {
        let deficit = self.deficit;
        self.leave();
        self.counted = 0;
        match rules.flavour.exit {
            Exit::Threshold => self.window = self.threshold,
            Exit::Flight => {
                let flight = Parts::from(self.next.max(ack) - ack) << BITS;
                self.window = self.threshold.min(flight.max(SEGMENT) + SEGMENT);
            }
            Exit::Keep => {
                self.window = self.window.saturating_sub(deficit).max(SEGMENT);
                self.grow(now, ack, None, rules);
            }
        }
    }

    /// Handles a partial ACK (RFC 6582 §3.2, step 3): retransmits the next hole, and deflates the
    /// window by the acknowledged data. Returns whether the timer restarts. With `impatient`, the
    /// timer restarts only for the first partial ACK (§4).
    fn acknowledge_part(&mut self, acked: Parts, rules: &Rules) -> bool {
        let back = if acked >= SEGMENT { SEGMENT } else { 0 };
        if self.inflation > acked {
            self.inflation = self.inflation - acked + back;
        } else {
            let most = self.window.saturating_sub(SEGMENT);
            self.deficit = (self.deficit + acked - self.inflation).min(most);
            self.inflation = back;
        }
        // Linux waits until rate reduction allows the retransmission (`tcp_newreno_mark_lost()`).
        if rules.flavour.proportional {
            self.has_hole = true;
        } else {
            self.owes_first = true;
        }
        !std::mem::replace(&mut self.was_restarted, true)
    }

    #[inline(never)]
    fn acknowledge_again(&mut self, now: Ticks, rules: &Rules) {
        self.dupacks += 1;
        if self.in_recovery {
            self.inflation += SEGMENT;
        } else if self.begins_recovery(rules) {
            self.begin_recovery(now, rules);
        }
        if !self.is_plain {
            self.credit();
        }
        if self.dupacks >= DUPLICATES {
            self.burst = rules.flavour.burst;
        }
    }

    /// Whether duplicate ACKs indicate a new loss (RFC 6582 §3.2, step 2).
    fn begins_recovery(&self, rules: &Rules) -> bool {
        let is_careful = rules.flavour.careful;
        match rules.flavour.repair {
            Repair::Tahoe => self.dupacks == DUPLICATES && (self.una > self.recover || !is_careful),
            Repair::Reno => self.dupacks >= DUPLICATES && (self.una > self.recover || !is_careful),
            _ => {
                self.dupacks >= DUPLICATES
                    && (self.una > self.recover || !is_careful && self.una == self.recover)
            }
        }
    }

    #[inline(never)]
    fn begin_recovery(&mut self, now: Ticks, rules: &Rules) {
        self.recover = self.max;
        let limited = Parts::from(self.limited) << BITS;
        let flight = self.outstanding(self.next, rules).saturating_sub(limited);
        if rules.flavour.repair == Repair::Tahoe {
            return self.restart(now, flight, rules);
        }
        self.in_recovery = true;
        self.was_restarted = false;
        self.owes_first = true;
        self.inflation = Parts::from(self.dupacks) << BITS;
        self.deficit = 0;
        self.timed = None;
        let window = self.window;
        self.reduce(flight, rules);
        if rules.flavour.proportional {
            self.proportion = Some(Proportion::new(window, self.dupacks - 1));
        }
        if rules.flavour.restarts_timer {
            self.arm(now, rules);
        }
    }

    /// Begins slow start at the first unacknowledged segment, without a timeout (Tahoe).
    fn restart(&mut self, now: Ticks, flight: Parts, rules: &Rules) {
        self.reduce_for(Loss::Timeout { repeated: false }, flight, rules);
        self.timed = None;
        self.limited = 0;
        self.next = self.una;
        self.owes_first = !rules.flavour.in_turn;
        self.arm(now, rules);
    }

    /// Passes a duplicate ACK, which reports a segment, to rate reduction.
    #[inline(never)]
    fn credit(&mut self) {
        let (window, out) = (self.window, self.next - self.una);
        if let Some(it) = &mut self.proportion {
            let gone = it.credit() + u32::from(self.has_hole);
            it.on_ack(1, out.saturating_sub(gone), window, false);
        }
    }

    /// Passes a partial ACK to rate reduction. Such an ACK confirms the segments that duplicate
    /// ACKs have reported, and reports another loss.
    #[inline(never)]
    fn settle(&mut self, acked: u32) {
        let (window, out) = (self.window, self.next - self.una);
        if let Some(it) = &mut self.proportion {
            let (delivered, announced) = it.settle(acked);
            it.on_ack(delivered, out.saturating_sub(announced + 1), window, false);
        }
    }
}
