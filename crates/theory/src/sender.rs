//! A sender's window: slow start and congestion avoidance (RFC 5681), `NewReno` (RFC 6582), limited
//! transmit (RFC 3042), go-back-N after a timeout (RFC 6298 §5). Segments are numbered from 1.

use crate::packet::{NEVER, Ticks};
use crate::rto::{Bounds, Rto};

/// A window or another number of segments, in parts of a segment of which this is one.
pub type Parts = u64;

/// Parts of a segment.
pub const SEGMENT: Parts = 1 << BITS;
const BITS: u32 = 16;

/// Segments as parts.
pub fn parts(segments: f64) -> Parts {
    (segments * SEGMENT as f64) as Parts
}

/// Duplicate ACKs that make a fast retransmit (RFC 5681 §3.2).
const DUPLICATES: u32 = 3;

/// Slow-start threshold at least (RFC 5681, equation 4).
const LEAST_WINDOW: Parts = 2 * SEGMENT;

/// What all senders of a read have in common.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// By how much the last segment of an SRU is smaller.
    pub short: Parts,
    /// The receiver's window.
    pub most_window: Parts,
    /// Of the timer.
    pub rto: Bounds,
}

/// Segments that leave back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The first of them.
    pub segment: u32,
    /// How many; only full ones come in numbers.
    pub count: u32,
    /// Whether it has been sent before.
    pub again: bool,
    /// Whether nothing can follow now.
    pub is_all: bool,
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    /// First segment that is not acknowledged.
    una: u32,
    /// Segment to be sent next.
    next: u32,
    /// One past the highest that was ever sent.
    max: u32,
    /// One past the last segment that was asked for.
    pub end: u32,
    window: Parts,
    threshold: Parts,
    /// What duplicate ACKs say has left the network, less what partial ACKs took.
    inflation: Parts,
    /// What partial ACKs took beyond the inflation.
    deficit: Parts,
    /// When the timer expires.
    pub deadline: Ticks,
    rto: Rto,
    /// Segments sent beyond the window by limited transmit.
    limited: u32,
    dupacks: u32,
    /// `max` at the last loss.
    recover: u32,
    /// One past the highest segment that was sent twice.
    resent: u32,
    timed_out_at: u32,
    in_recovery: bool,
    /// Whether a partial ACK of this recovery has restarted the timer.
    was_restarted: bool,
    owes_first: bool,
    /// Timeouts so far.
    pub timeouts: u32,
}

impl Sender {
    /// A connection that opens.
    pub fn new(window: Parts, threshold: Parts, rto: Rto) -> Self {
        Self {
            una: 1,
            next: 1,
            max: 1,
            end: 1,
            window,
            threshold,
            inflation: 0,
            deficit: 0,
            deadline: NEVER,
            rto,
            limited: 0,
            dupacks: 0,
            recover: 0,
            resent: 0,
            timed_out_at: 0,
            in_recovery: false,
            was_restarted: false,
            owes_first: false,
            timeouts: 0,
        }
    }

    /// The handshake is over; a SYN-ACK that was lost leaves a window of one segment (RFC 5681
    /// §3.1) and no sample.
    pub fn open(&mut self, rtt: Ticks, at_once: bool, rules: &Rules) {
        if at_once {
            self.rto.sample(rtt, &rules.rto);
        } else {
            self.window = SEGMENT;
        }
    }

    #[inline]
    fn arm(&mut self, now: Ticks) {
        self.deadline = now + self.rto.wait;
    }

    /// What is outstanding up to `next`.
    fn outstanding(&self, next: u32, rules: &Rules) -> Parts {
        let all = Parts::from(next - self.una) << BITS;
        if next == self.end && next > self.una { all - rules.short } else { all }
    }

    /// Hears an ACK of everything before `ack`; `sent` is when the segment left that brought it
    /// about, if that left once.
    #[inline]
    pub fn acknowledge(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        if ack > self.una {
            self.acknowledge_new(now, ack, sent, rules);
        } else if ack == self.una && self.una < self.max {
            self.acknowledge_again(now, rules);
        }
    }

    #[inline]
    fn acknowledge_new(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        // Karn's rule; an ACK of several segments fills a gap.
        if sent != NEVER && ack == self.una + 1 && ack > self.resent {
            self.rto.sample(now - sent, &rules.rto);
        }
        let mut restarts = true;
        if !self.in_recovery {
            self.dupacks = 0;
            let starts = self.window < self.threshold;
            self.window += if starts { SEGMENT } else { (SEGMENT << BITS) / self.window };
        } else if ack >= self.recover {
            self.leave();
            self.window = self.threshold;
        } else {
            restarts = self.acknowledge_part(self.outstanding(ack, rules));
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.max = self.max.max(ack);
        self.limited = 0;
        if self.una == self.max {
            self.deadline = NEVER;
        } else if restarts {
            self.arm(now);
        }
    }

    /// A partial ACK (RFC 6582 §3.2, step 3): the next hole is repaired, and the window deflated by
    /// what was acknowledged. Returns whether the timer starts anew: by the first one only (§4).
    fn acknowledge_part(&mut self, acked: Parts) -> bool {
        let back = if acked >= SEGMENT { SEGMENT } else { 0 };
        if self.inflation > acked {
            self.inflation = self.inflation - acked + back;
        } else {
            self.deficit = (self.deficit + acked - self.inflation).min(self.window - SEGMENT);
            self.inflation = back;
        }
        self.owes_first = true;
        !std::mem::replace(&mut self.was_restarted, true)
    }

    fn acknowledge_again(&mut self, now: Ticks, rules: &Rules) {
        self.dupacks += 1;
        if self.in_recovery {
            self.inflation += SEGMENT;
        } else if self.dupacks >= DUPLICATES && self.una > self.recover {
            self.recover = self.max;
            self.in_recovery = true;
            self.was_restarted = false;
            self.owes_first = true;
            self.inflation = Parts::from(self.dupacks) << BITS;
            self.deficit = 0;
            let limited = Parts::from(self.limited) << BITS;
            self.threshold = half(self.outstanding(self.next, rules).saturating_sub(limited));
            self.window = self.threshold;
            self.arm(now);
        }
    }

    fn leave(&mut self) {
        self.in_recovery = false;
        self.owes_first = false;
        self.dupacks = 0;
        self.inflation = 0;
        self.deficit = 0;
    }

    /// The timer has expired. A repeated timeout keeps the threshold (RFC 5681 §3.1).
    pub fn expire(&mut self, now: Ticks, rules: &Rules) {
        self.timeouts += 1;
        if self.timed_out_at != self.una {
            self.threshold = half(self.outstanding(self.next, rules));
        }
        self.timed_out_at = self.una;
        self.window = SEGMENT;
        self.recover = self.max;
        self.leave();
        self.next = self.una;
        self.limited = 0;
        self.rto.back_off(&rules.rto);
        self.arm(now);
    }

    /// What is to be sent next.
    #[inline]
    pub fn poll(&mut self, now: Ticks, rules: &Rules) -> Option<Burst> {
        if self.owes_first || self.next < self.max {
            return self.send_again(now, rules);
        }
        if self.next < self.end { self.send_new(now, rules) } else { None }
    }

    /// The window and what recovery adds to it.
    #[inline]
    fn quota(&self) -> Parts {
        self.window + self.inflation - self.deficit
    }

    #[inline(never)]
    fn send_again(&mut self, now: Ticks, rules: &Rules) -> Option<Burst> {
        let segment = if self.owes_first { self.una } else { self.next };
        let fits = self.outstanding(segment + 1, rules) <= self.quota().min(rules.most_window);
        if segment > self.una && !fits {
            return None;
        }
        self.owes_first = false;
        self.next = self.next.max(segment + 1);
        self.resent = self.resent.max(segment + 1);
        if self.deadline == NEVER {
            self.arm(now);
        }
        Some(Burst { segment, count: 1, again: true, is_all: false })
    }

    #[inline]
    fn send_new(&mut self, now: Ticks, rules: &Rules) -> Option<Burst> {
        let segment = self.next;
        let flight = segment - self.una;
        let quota = self.quota();
        let limits = self.dupacks > 0 && self.dupacks < DUPLICATES && !self.in_recovery;
        let more = if limits { Parts::from(self.dupacks) << BITS } else { 0 };
        let most = (quota + more).min(rules.most_window);
        let full = self.end - 1 - segment;
        let room = ((most >> BITS) as u32).saturating_sub(flight).max(u32::from(flight == 0));
        let mut count = room.min(full);
        if full == 0 && (flight == 0 || self.outstanding(self.end, rules) <= most) {
            count = 1;
        }
        if count == 0 {
            return None;
        }
        self.next += count;
        self.max = self.next;
        if limits {
            let beyond = self.outstanding(self.next, rules).saturating_sub(quota);
            self.limited += (beyond.div_ceil(SEGMENT) as u32).min(count);
        }
        if flight == 0 || self.deadline == NEVER {
            self.arm(now);
        }
        Some(Burst { segment, count, again: false, is_all: room < full })
    }
}

fn half(flight: Parts) -> Parts {
    (flight / 2).max(LEAST_WINDOW)
}
