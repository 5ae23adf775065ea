//! Chooses the segments that a sender sends, and when.

use super::undo::Undo;
use super::{Burst, DUPLICATES, Rules, Sender};
use crate::flavour::Idle;
use crate::packet::{NEVER, Ticks};
use crate::parts::{BITS, Parts, SEGMENT};

impl Sender {
    /// The next segments to send. If `is_open` is false, these are only segments that the host does
    /// not delay (`send_jitter`): retransmissions in recovery, and segments sent by limited
    /// transmit.
    #[inline]
    pub fn poll(&mut self, now: Ticks, is_open: bool, rules: &Rules) -> Option<Burst> {
        if self.selective.is_some() {
            return self.poll_selectively(now, is_open, rules);
        }
        if !self.is_plain {
            self.forget_deferral();
        }
        if self.has_hole && self.proportion.is_some_and(|it| it.allowance > 0) {
            (self.has_hole, self.owes_first) = (false, true);
        }
        if self.owes_first || self.next < self.max {
            return self.send_again(now, is_open, rules);
        }
        if self.next < self.end { self.send_new(now, is_open, rules) } else { None }
    }

    /// Whether there are segments to send when the host releases them.
    pub fn is_ready(&self, rules: &Rules) -> bool {
        if self.selective.is_some() {
            return self.is_ready_selectively(rules);
        }
        if self.next < self.max {
            return self.next == self.una || self.fits_again(self.next, rules);
        }
        self.next < self.end && !self.is_deferred() && self.count_new(rules).0 > 0
    }

    /// The window plus the inflation of recovery, or the flight that rate reduction allows.
    #[inline]
    fn quota(&self) -> Parts {
        if !self.is_plain
            && let Some(it) = &self.proportion
        {
            return Parts::from(self.next - self.una + it.allowance) << BITS;
        }
        self.window + self.inflation - self.deficit
    }

    fn fits_again(&self, segment: u32, rules: &Rules) -> bool {
        let more = if rules.flavour.limited_again { self.beyond(rules) } else { 0 };
        self.outstanding(segment + 1, rules) <= (self.quota() + more).min(rules.most_window)
    }

    #[inline(never)]
    fn send_again(&mut self, now: Ticks, is_open: bool, rules: &Rules) -> Option<Burst> {
        let segment = if self.owes_first { self.una } else { self.next };
        if segment > self.una && !self.fits_again(segment, rules) {
            return None;
        }
        if !self.owes_first && !is_open {
            // Limited transmit is not delayed.
            let fits = self.outstanding(segment + 1, rules) <= self.quota();
            if fits || self.beyond(rules) == 0 {
                return None;
            }
        }
        self.owes_first = false;
        self.next = self.next.max(segment + 1);
        self.resent = self.resent.max(segment + 1);
        self.timed.take_if(|timed| timed.0 == segment);
        if let Some(it) = &mut self.proportion {
            it.on_sent(1);
        }
        if self.deadline == NEVER {
            self.arm(now, rules);
        }
        self.last_sent = now;
        self.note_departure(now, segment, 1);
        Some(Burst { segment, count: 1, again: true, is_all: false })
    }

    /// Number of new segments that may be sent now, and number of full segments that the window
    /// allows.
    #[inline]
    fn count_new(&self, rules: &Rules) -> (u32, u32) {
        let flight = self.next - self.una;
        let more = self.beyond(rules);
        let forward =
            if self.is_plain { None } else { self.undo.as_deref().and_then(Undo::forward) };
        let forward = forward.map_or(0, |it| Parts::from(it - self.una) << BITS);
        let most = (self.quota() + more).max(forward).min(rules.most_window);
        let full = self.end - 1 - self.next;
        let room = ((most >> BITS) as u32).saturating_sub(flight).max(u32::from(flight == 0));
        let room = room.min(self.burst);
        let mut count = room.min(full);
        if full == 0 && self.burst > 0 && (flight == 0 || self.outstanding(self.end, rules) <= most)
        {
            count = 1;
        }
        (count, room)
    }

    /// Limited transmit's addition to the window.
    #[inline]
    fn beyond(&self, rules: &Rules) -> Parts {
        let limits = self.dupacks > 0
            && self.dupacks < DUPLICATES
            && !self.in_recovery
            && rules.flavour.limited_transmit;
        if limits { Parts::from(self.dupacks) << BITS } else { 0 }
    }

    #[inline]
    fn send_new(&mut self, now: Ticks, is_open: bool, rules: &Rules) -> Option<Burst> {
        if rules.flavour.idle != Idle::Kept {
            self.validate(now, rules);
        }
        let segment = self.next;
        let flight = segment - self.una;
        let limits = self.beyond(rules) > 0;
        let (mut count, room) = self.count_new(rules);
        if count == 0 || !self.is_plain && self.defers(now, room.max(count), rules) {
            return None;
        }
        if !is_open {
            // A segment of limited transmit is not delayed, unless earlier data are delayed.
            if !limits || self.outstanding(segment + 1, rules) <= self.quota() {
                return None;
            }
            count = count.min(DUPLICATES);
        }
        let full = self.end - 1 - segment;
        if rules.flavour.per_window && self.timed.is_none() {
            self.timed = Some((segment, now));
        }
        self.next += count;
        self.max = self.next;
        self.burst -= if self.burst == u32::MAX { 0 } else { count };
        let flown = self.outstanding(self.next, rules);
        if limits {
            let beyond = flown.saturating_sub(self.quota());
            self.limited += (beyond.div_ceil(SEGMENT) as u32).min(count);
        }
        if !self.is_plain
            && let Some(it) = &mut self.proportion
        {
            it.on_sent(count);
        }
        if flight == 0 || self.deadline == NEVER {
            self.arm(now, rules);
        }
        if rules.flavour.idle != Idle::Kept {
            self.last_sent = now;
            self.used = self.used.max(flown);
        }
        if !self.is_plain {
            self.note_departure(now, segment, count);
        }
        Some(Burst { segment, count, again: false, is_all: room < full })
    }
}
