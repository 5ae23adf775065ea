//! A sender's window: slow start and congestion avoidance (RFC 5681), `NewReno` (RFC 6582) or
//! selective acknowledgements (RFC 6675), limited transmit (RFC 3042), go-back-N after a timeout
//! (RFC 6298 §5). Segments are numbered from 1.

use crate::board::Board;
use crate::flavour::{Exit, Flavour, Halved, Idle, Repair};
use crate::hybrid::Hybrid;
use crate::packet::{NEVER, Ticks};
use crate::parts::{BITS, Parts, SEGMENT};
use crate::rto::{Bounds, Rto};

/// Number of duplicate ACKs that begins a fast retransmit (RFC 5681 §3.2).
pub(crate) const DUPLICATES: u32 = 3;

/// Minimum slow-start threshold (RFC 5681, equation 4).
const LEAST_WINDOW: Parts = 2 * SEGMENT;

/// The common rules of all senders of a read.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Difference of the last segment of an SRU from a full one.
    pub short: Parts,
    /// The receiver's window.
    pub most_window: Parts,
    /// Window of a connection that is new, or was idle.
    pub initial_window: Parts,
    /// Parameters of the timer.
    pub rto: Bounds,
    /// Properties of the stack.
    pub flavour: Flavour,
    /// Parameters of the end of slow start.
    pub hybrid: crate::hybrid::Spans,
}

/// Segments sent back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The first of them.
    pub segment: u32,
    /// Their number; above 1 only for full segments.
    pub count: u32,
    /// Whether it is a retransmission.
    pub again: bool,
    /// Whether nothing can follow now.
    pub is_all: bool,
}

/// An ACK at the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckInfo {
    /// The next segment expected.
    pub next: u32,
    /// The segment that caused it.
    pub segment: u32,
    /// When that segment was sent, if it was sent once.
    pub sent: Ticks,
}

/// The state of a recovery with SACK (RFC 6675 §2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Selective {
    pub board: Board,
    /// Whether a timeout is being repaired.
    pub repairs_timeout: bool,
    /// Whether a partial ACK must be answered.
    pub owes_partial: bool,
    /// One past the highest segment retransmitted in this recovery.
    pub high_resent: u32,
    /// Whether the rescue of this recovery was sent.
    pub rescued: bool,
}

/// One connection's sender.
#[derive(Clone, Debug)]
pub struct Sender {
    /// First unacknowledged segment.
    pub(crate) una: u32,
    /// Next segment to send.
    pub(crate) next: u32,
    /// One past the highest segment ever sent.
    pub(crate) max: u32,
    /// One past the last requested segment.
    pub end: u32,
    pub(crate) window: Parts,
    pub(crate) threshold: Parts,
    /// Segments that have left the network according to duplicate ACKs, minus those deducted by
    /// partial ACKs.
    pub(crate) inflation: Parts,
    /// Segments deducted by partial ACKs beyond the inflation.
    pub(crate) deficit: Parts,
    /// When the timer expires.
    pub deadline: Ticks,
    pub(crate) rto: Rto,
    /// Segments sent beyond the window by limited transmit.
    pub(crate) limited: u32,
    pub(crate) dupacks: u32,
    /// New segments that may be sent before the next ACK.
    pub(crate) burst: u32,
    /// `max` at the last loss.
    pub(crate) recover: u32,
    /// One past the highest retransmitted segment.
    pub(crate) resent: u32,
    timed_out_at: u32,
    /// The timed segment, if one per window is timed, and when it was sent.
    pub(crate) timed: Option<(u32, Ticks)>,
    /// When data was last sent, when the use of the window was last checked, and its used part.
    pub(crate) last_sent: Ticks,
    validated: Ticks,
    pub(crate) used: Parts,
    pub(crate) in_recovery: bool,
    /// Whether a partial ACK of this recovery has restarted the timer.
    pub(crate) was_restarted: bool,
    pub(crate) owes_first: bool,
    pub(crate) selective: Option<Box<Selective>>,
    hybrid: Option<Box<Hybrid>>,
    /// Timeouts so far.
    pub timeouts: u32,
}

impl Sender {
    /// A new connection; `first` is the number of its first segment.
    pub fn new(first: u32, threshold: Parts, rto: Rto, rules: &Rules) -> Self {
        let has_board = rules.flavour.repair == Repair::Sack;
        let selective = || Box::new(Selective { board: Board::new(first), ..Selective::default() });
        Self {
            una: first,
            next: first,
            max: first,
            end: first,
            window: rules.initial_window,
            threshold,
            inflation: 0,
            deficit: 0,
            deadline: NEVER,
            rto,
            limited: 0,
            dupacks: 0,
            burst: u32::MAX,
            recover: 0,
            resent: 0,
            timed_out_at: 0,
            timed: None,
            last_sent: 0,
            validated: 0,
            used: 0,
            in_recovery: false,
            was_restarted: false,
            owes_first: false,
            selective: has_board.then(selective),
            hybrid: rules.flavour.watches.then(Box::default),
            timeouts: 0,
        }
    }

    /// The handshake is complete. After a lost SYN-ACK the window is one segment (RFC 5681 §3.1),
    /// and there is no sample.
    pub fn open(&mut self, rtt: Ticks, at_once: bool, rules: &Rules) {
        if at_once {
            self.rto.sample(rtt, &rules.rto);
        } else {
            self.window = SEGMENT;
        }
    }

    #[inline]
    pub(crate) fn arm(&mut self, now: Ticks) {
        self.deadline = now + self.rto.wait;
    }

    /// Nothing is outstanding.
    #[inline]
    fn rest(&mut self, now: Ticks, rules: &Rules) {
        self.deadline = if rules.flavour.runs_idle { now + self.rto.wait } else { NEVER };
    }

    /// The outstanding segments below `next`.
    pub(crate) fn outstanding(&self, next: u32, rules: &Rules) -> Parts {
        let all = Parts::from(next - self.una) << BITS;
        if next == self.end && next > self.una { all - rules.short } else { all }
    }

    /// Handles an ACK.
    #[inline]
    pub fn on_ack(&mut self, now: Ticks, ack: &AckInfo, rules: &Rules) {
        if self.selective.is_some() {
            self.on_selective_ack(now, ack, rules);
        } else {
            self.acknowledge(now, ack.next, ack.sent, rules);
        }
    }

    /// Handles an ACK of everything before `ack`. `sent` is when the segment that caused it was
    /// sent, if it was sent once.
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
        self.time(now, ack, sent, rules);
        self.burst = u32::MAX;
        let mut restarts = true;
        if !self.in_recovery {
            self.dupacks = 0;
            self.grow(now, ack, sent, rules);
        } else if ack >= self.recover {
            self.end_recovery(now, ack, sent, rules);
        } else {
            restarts = self.acknowledge_part(self.outstanding(ack, rules));
            restarts |= !rules.flavour.impatient;
            self.burst = rules.flavour.burst;
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.max = self.max.max(ack);
        self.limited = 0;
        if self.una == self.max {
            self.rest(now, rules);
        } else if restarts {
            self.arm(now);
        }
    }

    /// Karn's rule: retransmitted segments give no sample.
    #[inline]
    pub(crate) fn time(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        if rules.flavour.per_window {
            if let Some((_, at)) = self.timed.take_if(|it| ack > it.0) {
                self.rto.sample(now - at, &rules.rto);
            }
        } else if sent != NEVER && self.una >= self.resent {
            self.rto.sample(now - sent, &rules.rto);
        }
        self.rto.progress(&rules.rto);
    }

    #[inline]
    pub(crate) fn grow(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        if rules.flavour.watches {
            return self.grow_watched(now, ack, sent, rules);
        }
        let starts = self.window < self.threshold;
        self.window += if starts { SEGMENT } else { (SEGMENT << BITS) / self.window };
    }

    /// As Linux's CUBIC in its first milliseconds: growth by the acknowledged data, in slow start
    /// up to the threshold, then as Reno (RFC 9438 §4.3), and only if the window is used (§5.8).
    #[inline(never)]
    fn grow_watched(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        let flight = self.outstanding(self.max, rules);
        let acked = Parts::from(ack - self.una) << BITS;
        let is_used = flight + SEGMENT > self.window;
        if !is_used && (self.max >= self.end || flight + SEGMENT > rules.most_window) {
            return;
        }
        if self.window >= self.threshold {
            self.window += (acked << BITS) / self.window;
            return;
        }
        let rtt = (sent != NEVER).then(|| now - sent);
        let state = crate::hybrid::State {
            una: ack,
            max: self.max,
            window: self.window,
            threshold: self.threshold,
            srtt: self.rto.smoothed(),
        };
        let hybrid = self.hybrid.get_or_insert_with(Box::default);
        if rtt.is_some_and(|rtt| hybrid.ends(now, rtt, &state, &rules.hybrid)) {
            self.threshold = self.window;
            return;
        }
        self.window += acked.min(self.threshold.saturating_sub(self.window).max(SEGMENT));
    }

    fn end_recovery(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        let deficit = self.deficit;
        self.leave();
        match rules.flavour.exit {
            Exit::Threshold => self.window = self.threshold,
            Exit::Flight => {
                let flight = Parts::from(self.next.max(ack) - ack) << BITS;
                self.window = self.threshold.min(flight.max(SEGMENT) + SEGMENT);
            }
            Exit::Keep => {
                self.window = self.window.saturating_sub(deficit).max(SEGMENT);
                self.grow(now, ack, sent, rules);
            }
        }
    }

    /// A partial ACK (RFC 6582 §3.2, step 3): retransmits the next hole, and deflates the window by
    /// the acknowledged data. Returns whether the timer restarts: with `impatient` only for the
    /// first one (§4).
    fn acknowledge_part(&mut self, acked: Parts) -> bool {
        let back = if acked >= SEGMENT { SEGMENT } else { 0 };
        if self.inflation > acked {
            self.inflation = self.inflation - acked + back;
        } else {
            let most = self.window.saturating_sub(SEGMENT);
            self.deficit = (self.deficit + acked - self.inflation).min(most);
            self.inflation = back;
        }
        self.owes_first = true;
        !std::mem::replace(&mut self.was_restarted, true)
    }

    fn acknowledge_again(&mut self, now: Ticks, rules: &Rules) {
        self.dupacks += 1;
        if self.in_recovery {
            self.inflation += SEGMENT;
        } else if self.dupacks >= DUPLICATES && self.may_recover(rules) {
            self.recover = self.max;
            self.in_recovery = true;
            self.was_restarted = false;
            self.owes_first = true;
            self.inflation = Parts::from(self.dupacks) << BITS;
            self.deficit = 0;
            self.timed = None;
            let limited = Parts::from(self.limited) << BITS;
            let flight = self.outstanding(self.next, rules).saturating_sub(limited);
            self.reduce(flight, rules);
            if rules.flavour.restarts_timer {
                self.arm(now);
            }
        }
        if self.dupacks >= DUPLICATES {
            self.burst = rules.flavour.burst;
        }
    }

    /// Whether duplicate ACKs indicate a new loss (RFC 6582 §3.2, step 2).
    fn may_recover(&self, rules: &Rules) -> bool {
        self.una > self.recover || !rules.flavour.careful && self.una == self.recover
    }

    /// Reduces window and threshold for a loss. After a timeout, `expire` sets the window.
    pub(crate) fn reduce(&mut self, flight: Parts, rules: &Rules) {
        match rules.flavour.halved {
            Halved::Flight => (self.window, self.threshold) = (half(flight), half(flight)),
            Halved::Pipe => {
                let pipe = match &self.selective {
                    Some(it) => Parts::from(it.board.pipe()) << BITS,
                    None => self.outstanding(self.next, rules).saturating_sub(self.inflation),
                };
                (self.window, self.threshold) = (half(pipe), half(pipe));
            }
            Halved::Window => {
                let half = self.window.min(rules.most_window) / 2;
                self.window = half.max(SEGMENT);
                self.threshold = (half >> BITS << BITS).max(LEAST_WINDOW);
            }
        }
    }

    fn leave(&mut self) {
        self.in_recovery = false;
        self.owes_first = false;
        self.dupacks = 0;
        self.inflation = 0;
        self.deficit = 0;
    }

    /// The timer has expired. A repeated timeout does not change the threshold (RFC 5681 §3.1).
    pub fn expire(&mut self, now: Ticks, rules: &Rules) {
        if self.una == self.max {
            if rules.flavour.runs_idle {
                self.recover = self.max;
                self.leave();
            }
            return self.rest(now, rules);
        }
        self.timeouts += 1;
        if self.timed_out_at != self.una || rules.flavour.halved == Halved::Window {
            self.reduce(self.outstanding(self.next, rules), rules);
        }
        self.timed_out_at = self.una;
        self.window = SEGMENT;
        self.recover = self.max;
        self.leave();
        if let Some(it) = &mut self.selective {
            it.board.lose_all();
            (it.repairs_timeout, it.owes_partial) = (true, false);
            self.owes_first = true;
        } else {
            self.next = self.una;
        }
        self.limited = 0;
        self.timed = None;
        self.burst = u32::MAX;
        self.hybrid.take_if(|_| !rules.flavour.watches);
        self.rto.back_off(&rules.rto);
        self.arm(now);
    }

    /// Reduces the window after an idle time or a time of little use, before new data is sent.
    #[inline(never)]
    pub(crate) fn validate(&mut self, now: Ticks, rules: &Rules) {
        let quiet = now - self.last_sent;
        let is_idle = self.una == self.max;
        match rules.flavour.idle {
            Idle::Kept => {}
            Idle::Restarts => {
                if is_idle && quiet > self.rto.wait {
                    self.window = self.window.min(rules.initial_window);
                }
            }
            Idle::Validates => {
                let threshold = self.threshold.max(self.window / 4 * 3);
                if is_idle && quiet >= self.rto.wait {
                    let halvings = (quiet / self.rto.wait.max(1)).min(63);
                    let least = rules.initial_window.min(self.window);
                    self.window = (self.window >> halvings).max(least);
                } else if now - self.validated >= self.rto.wait {
                    if self.used >= self.window {
                        (self.validated, self.used) = (now, 0);
                        return;
                    }
                    self.window = u64::midpoint(self.window, self.used);
                } else {
                    return;
                }
                self.threshold = threshold;
                (self.validated, self.used) = (now, 0);
            }
        }
    }

    /// Sets the timer after an ACK that the scoreboard has handled.
    pub(crate) fn retime(&mut self, now: Ticks, restarts: bool, rules: &Rules) {
        if self.una == self.max {
            self.rest(now, rules);
        } else if restarts {
            self.arm(now);
        }
    }
}

fn half(flight: Parts) -> Parts {
    (flight / 2).max(LEAST_WINDOW)
}
