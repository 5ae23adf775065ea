//! Chooses the segments that a sender with a scoreboard sends, and when (RFC 6675 §4, `NextSeg`).

use super::{Burst, Rules, Sender};
use crate::flavour::{Idle, Repair};
use crate::packet::{NEVER, Ticks};
use crate::parts::BITS;

impl Sender {
    /// The next segments to send according to the scoreboard. If `is_open` is false, these are only
    /// segments that the host does not delay.
    pub(crate) fn poll_selectively(
        &mut self,
        now: Ticks,
        is_open: bool,
        rules: &Rules,
    ) -> Option<Burst> {
        self.forget_deferral();
        if let Some(burst) = self.poll_owed(now, rules) {
            return Some(burst);
        }
        if !self.is_plain
            && let Some(end) = self.forward_only()
        {
            let end = end.min(self.end);
            let count = end.saturating_sub(self.max).min(self.allowed(rules));
            return (count > 0).then(|| self.send_fresh(now, count, rules));
        }
        let room = self.room(rules);
        if room == 0 {
            return None;
        }
        if let Some(due) = self.selective.as_deref().and_then(|it| it.board.first_due()) {
            let may = !self.is_paced_out(now) && is_open;
            return may.then(|| self.send_copy(now, due, false, rules));
        }
        if self.max < self.end {
            let flight = self.max - self.una;
            let waits = self.dupacks > 0 && !self.in_recovery;
            let is_limited = waits && flight >= (self.window >> BITS) as u32;
            let most = self.allowed(rules).min(self.burst);
            let count = room.min(most).min(self.end - self.max);
            let may = !is_limited || rules.flavour.limited_transmit;
            if count > 0 && may && self.defers(now, room.min(self.allowed(rules)), rules) {
                return None;
            }
            if count > 0 && may && !self.is_paced_out(now) && (is_open || is_limited) {
                let count = if is_limited || self.bbr.is_some() { 1 } else { count };
                self.limited += u32::from(is_limited);
                return Some(self.send_fresh(now, count, rules));
            }
            if count > 0 || !self.in_recovery {
                return None;
            }
        }
        if is_open && !self.is_paced_out(now) { self.poll_spare(now, rules) } else { None }
    }

    /// Whether data waits for BBR's pacer.
    fn is_paced_out(&mut self, now: Ticks) -> bool {
        self.bbr.as_deref_mut().is_some_and(|bbr| bbr.is_early(now))
    }

    /// The segments that recovery demands, regardless of the window and the host's delay.
    fn poll_owed(&mut self, now: Ticks, rules: &Rules) -> Option<Burst> {
        if std::mem::take(&mut self.owes_first) {
            let due = self.selective.as_deref()?.board.first_due();
            return Some(self.send_copy(now, due.unwrap_or(self.una), false, rules));
        }
        if std::mem::take(&mut self.owes_probe) {
            return Some(self.send_probe(now, rules));
        }
        let it = self.selective.as_deref_mut()?;
        if std::mem::take(&mut it.owes_partial) {
            let due = it.board.first_due();
            if due.is_none() && self.max < self.end {
                return Some(self.send_fresh(now, 1, rules));
            }
            return Some(self.send_copy(now, due.unwrap_or(self.una), false, rules));
        }
        if rules.flavour.idle != Idle::Kept && self.max < self.end && !it.board.is_due() {
            self.validate(now, rules);
        }
        None
    }

    /// A segment that is not lost but may be sent again in recovery.
    fn poll_spare(&mut self, now: Ticks, rules: &Rules) -> Option<Burst> {
        let is_rfc = rules.flavour.repair == Repair::Sack;
        if !self.in_recovery || !is_rfc {
            return None;
        }
        let it = self.selective.as_deref_mut()?;
        let spare = if rules.flavour.answers {
            it.board.first_untried()
        } else {
            it.board.hole(it.high_resent)
        };
        if let Some(segment) = spare {
            return Some(self.send_copy(now, segment, false, rules));
        }
        if !rules.flavour.rescues || it.rescued {
            return None;
        }
        let last = it.board.last_missing().filter(|&last| last >= it.high_resent)?;
        Some(self.send_copy(now, last, true, rules))
    }

    /// Number of segments that the receiver's window allows.
    fn allowed(&self, rules: &Rules) -> u32 {
        ((rules.most_window >> BITS) as u32).saturating_sub(self.max - self.una)
    }

    /// Number of segments that may be added to the pipe.
    fn room(&self, rules: &Rules) -> u32 {
        let Some(it) = self.selective.as_deref() else { return 0 };
        let pipe = if self.in_recovery && rules.flavour.repair == Repair::Sack1 {
            (self.max - it.began + it.resent).saturating_sub(it.freed)
        } else {
            it.board.pipe()
        };
        let room = match &self.proportion {
            Some(proportion) => proportion.allowance,
            None => ((self.window >> BITS) as u32).saturating_sub(pipe),
        };
        room.max(u32::from(pipe == 0))
    }

    /// Whether there are segments to send when the host releases them.
    pub(crate) fn is_ready_selectively(&self, rules: &Rules) -> bool {
        let Some(it) = self.selective.as_deref() else { return false };
        let spare = || {
            let hole = if rules.flavour.answers {
                it.board.first_untried()
            } else {
                it.board.hole(it.high_resent)
            };
            let rescue = rules.flavour.rescues && !it.rescued;
            rules.flavour.repair == Repair::Sack
                && (hole.is_some()
                    || rescue && it.board.last_missing().is_some_and(|last| last >= it.high_resent))
        };
        let may = self.max < self.end && self.burst > 0 && !self.is_deferred();
        let has_new = may && self.allowed(rules) > 0;
        self.forward_only().is_none()
            && !self.bbr.as_deref().is_some_and(|bbr| bbr.waits)
            && self.room(rules) > 0
            && (it.board.is_due() || has_new || self.in_recovery && spare())
    }

    /// Sends a tail loss probe: new data if possible, and otherwise the last segment (RFC 8985
    /// §7.3).
    fn send_probe(&mut self, now: Ticks, rules: &Rules) -> Burst {
        let is_fresh = self.max < self.end && self.allowed(rules) > 0;
        let burst = if is_fresh {
            self.send_fresh(now, 1, rules)
        } else {
            self.send_copy(now, self.max - 1, false, rules)
        };
        self.note_probe(!is_fresh, rules);
        self.cancel_probe();
        self.arm(now, rules);
        burst
    }

    fn send_copy(&mut self, now: Ticks, segment: u32, is_rescue: bool, rules: &Rules) -> Burst {
        if let Some(it) = self.selective.as_deref_mut() {
            if is_rescue {
                it.rescued = true;
            } else {
                it.board.resend(segment, now);
                it.high_resent = it.high_resent.max(segment + 1);
            }
            it.resent += u32::from(!std::mem::take(&mut it.is_first_copy));
        }
        self.resent = self.resent.max(segment + 1);
        self.timed.take_if(|timed| timed.0 == segment);
        self.note_sent(now, segment, 1, rules);
        if self.deadline == NEVER {
            self.arm(now, rules);
        }
        Burst { segment, count: 1, again: true, is_all: false }
    }

    /// Sends new segments. The last segment of an SRU, which is not full, is sent alone.
    fn send_fresh(&mut self, now: Ticks, count: u32, rules: &Rules) -> Burst {
        let segment = self.max;
        let full = self.end - 1 - segment;
        let count = if full == 0 { 1 } else { count.min(full) };
        if rules.flavour.per_window && self.timed.is_none() {
            self.timed = Some((segment, now));
        }
        let is_first = self.una == self.max;
        self.max += count;
        self.next = self.max;
        self.burst -= if self.burst == u32::MAX { 0 } else { count.min(self.burst) };
        if let Some(it) = self.selective.as_deref_mut() {
            it.board.send(count, now);
        }
        self.note_sent(now, segment, count, rules);
        if is_first || self.deadline == NEVER {
            self.arm(now, rules);
        }
        if !self.is_plain {
            self.schedule_probe(now, rules);
        }
        Burst { segment, count, again: false, is_all: false }
    }

    /// Counts sent segments for rate reduction, the use of the window, and BBR.
    fn note_sent(&mut self, now: Ticks, segment: u32, count: u32, rules: &Rules) {
        self.last_sent = now;
        if rules.flavour.idle == Idle::Validates {
            self.used = self.used.max(self.outstanding(self.max, rules));
        }
        if self.is_plain {
            return;
        }
        if let Some(it) = &mut self.proportion {
            it.on_sent(count);
        }
        let is_first = self.una == self.block && self.max - self.una <= 1;
        let (srtt, is_last) = (self.rto.smoothed(), segment + count == self.end);
        if let Some(bbr) = &mut self.bbr {
            bbr.rates.on_sent(now, segment, count);
            let share = if is_last { rules.last } else { f64::from(count) };
            bbr.on_sent(now, share, is_first, srtt);
        }
    }
}
