//! How a sender with a scoreboard handles ACKs and sends (RFC 6675 §5).

use crate::packet::Ticks;
use crate::parts::{BITS, Parts};
use crate::sender::{AckInfo, Burst, DUPLICATES, Rules, Sender};

impl Sender {
    /// Handles an ACK with selective acknowledgements.
    #[inline(never)]
    pub(crate) fn on_selective_ack(&mut self, now: Ticks, ack: &AckInfo, rules: &Rules) {
        let AckInfo { next: ack, segment, sent } = *ack;
        if ack < self.una || (ack == self.una && self.una == self.max) {
            return;
        }
        let before = self.una;
        let is_new = ack > before;
        if is_new {
            self.time(now, ack, sent, rules);
            self.burst = u32::MAX;
            self.limited = 0;
            self.dupacks = 0;
        }
        let Some(it) = self.selective.as_deref_mut() else { return };
        if is_new {
            it.board.acknowledge(ack);
        }
        let mut is_news = segment >= ack && it.board.sack(segment);
        self.una = ack;
        self.next = self.next.max(ack);
        self.max = self.max.max(ack);
        let mut restarts = true;
        if ack >= self.recover && (self.in_recovery || it.repairs_timeout) {
            it.repairs_timeout = false;
            it.owes_partial = false;
            if std::mem::take(&mut self.in_recovery) {
                self.owes_first = false;
                self.window = self.threshold;
                return self.retime(now, true, rules);
            }
        }
        if it.repairs_timeout {
            is_news = false;
        } else {
            let first_is_lost = it.board.judge();
            if self.in_recovery {
                if is_new && rules.flavour.answers {
                    restarts = !std::mem::replace(&mut self.was_restarted, true);
                    it.owes_partial = !it.board.first_is_resent();
                }
                is_news = false;
            } else if is_news {
                self.dupacks += 1;
                is_news = self.dupacks >= DUPLICATES || first_is_lost;
            }
        }
        if is_new && !self.in_recovery && !is_news {
            // Growth needs the previous `una`.
            self.una = before;
            self.grow(now, ack, sent, rules);
            self.una = ack;
        }
        if is_new {
            self.retime(now, restarts, rules);
        }
        if is_news {
            self.begin_selectively(now, rules);
        }
        if self.in_recovery {
            self.burst = rules.flavour.burst;
        }
    }

    fn begin_selectively(&mut self, now: Ticks, rules: &Rules) {
        self.in_recovery = true;
        self.recover = self.max;
        self.was_restarted = false;
        self.owes_first = true;
        self.timed = None;
        let limited = Parts::from(self.limited) << BITS;
        let flight = self.outstanding(self.max, rules).saturating_sub(limited);
        self.reduce(flight, rules);
        if let Some(it) = self.selective.as_deref_mut() {
            (it.high_resent, it.rescued) = (self.una, false);
        }
        if rules.flavour.restarts_timer {
            self.arm(now);
        }
    }

    /// The next segments to send by the scoreboard. Unless `is_open`, only those that the host does
    /// not delay.
    pub(crate) fn poll_selectively(
        &mut self,
        now: Ticks,
        is_open: bool,
        rules: &Rules,
    ) -> Option<Burst> {
        let it = self.selective.as_deref_mut()?;
        if std::mem::take(&mut self.owes_first) {
            let segment = it.board.first_due().unwrap_or(self.una);
            return Some(self.send_copy(now, segment, false));
        }
        if std::mem::take(&mut it.owes_partial) {
            let due = it.board.first_due();
            if due.is_none() && self.max < self.end {
                return Some(self.send_fresh(now, 1, rules));
            }
            return Some(self.send_copy(now, due.unwrap_or(self.una), false));
        }
        let room = self.room(rules);
        if room == 0 {
            return None;
        }
        if let Some(due) = self.selective.as_deref().and_then(|it| it.board.first_due()) {
            return is_open.then(|| self.send_copy(now, due, false));
        }
        if self.max < self.end {
            let flight = self.max - self.una;
            let most = ((rules.most_window >> BITS) as u32).saturating_sub(flight);
            let waits = self.dupacks > 0 && !self.in_recovery;
            let is_limited = waits && flight >= (self.window >> BITS) as u32;
            let count = room.min(most).min(self.burst).min(self.end - self.max);
            if count > 0 && (is_open || is_limited) {
                let count = if is_limited { 1 } else { count };
                self.limited += u32::from(is_limited);
                return Some(self.send_fresh(now, count, rules));
            }
            if count > 0 || !self.in_recovery {
                return None;
            }
        }
        if !self.in_recovery || !is_open {
            return None;
        }
        let it = self.selective.as_deref_mut()?;
        let spare = if rules.flavour.answers {
            it.board.first_untried()
        } else {
            it.board.hole(it.high_resent)
        };
        if let Some(segment) = spare {
            return Some(self.send_copy(now, segment, false));
        }
        if !rules.flavour.rescues || it.rescued {
            return None;
        }
        let last = it.board.last_missing().filter(|&last| last >= it.high_resent)?;
        Some(self.send_copy(now, last, true))
    }

    /// Number of segments that fit into the pipe.
    fn room(&self, rules: &Rules) -> u32 {
        let pipe = self.selective.as_deref().map_or(0, |it| it.board.pipe());
        let window = self.window.min(rules.most_window.max(self.window));
        let room = ((window >> BITS) as u32).saturating_sub(pipe);
        room.max(u32::from(pipe == 0))
    }

    /// Whether there is something to send once the host releases it.
    pub(crate) fn is_ready_selectively(&self, rules: &Rules) -> bool {
        let Some(it) = self.selective.as_deref() else { return false };
        let spare = || {
            let hole = if rules.flavour.answers {
                it.board.first_untried()
            } else {
                it.board.hole(it.high_resent)
            };
            let rescue = rules.flavour.rescues && !it.rescued;
            hole.is_some()
                || rescue && it.board.last_missing().is_some_and(|last| last >= it.high_resent)
        };
        let flight = self.max - self.una;
        let has_new =
            self.max < self.end && self.burst > 0 && ((rules.most_window >> BITS) as u32) > flight;
        self.room(rules) > 0
            && (it.board.first_due().is_some() || has_new || self.in_recovery && spare())
    }

    fn send_copy(&mut self, now: Ticks, segment: u32, is_rescue: bool) -> Burst {
        if let Some(it) = self.selective.as_deref_mut() {
            if is_rescue {
                it.rescued = true;
            } else {
                it.board.resend(segment);
                it.high_resent = it.high_resent.max(segment + 1);
            }
        }
        self.resent = self.resent.max(segment + 1);
        self.timed.take_if(|timed| timed.0 == segment);
        if self.deadline == crate::packet::NEVER {
            self.arm(now);
        }
        self.last_sent = now;
        Burst { segment, count: 1, again: true, is_all: false }
    }

    /// Sends new segments. The last one of an SRU, which is not full, is sent alone.
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
            it.board.send(count);
        }
        if is_first || self.deadline == crate::packet::NEVER {
            self.arm(now);
        }
        self.last_sent = now;
        Burst { segment, count, again: false, is_all: false }
    }
}
