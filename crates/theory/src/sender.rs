//! A sender: its window, its timer, and the segments that it must send. Segments are numbered from
//! 1.
//!
//! `duplicates` handles ACKs without SACK, `selective` handles ACKs with SACK, `growth` changes the
//! window, and `transmit` and `resend` choose the segments to send.

pub(crate) mod cubic;
pub(crate) mod defer;
mod duplicates;
mod growth;
mod marks;
pub(crate) mod rack;
mod resend;
mod selective;
mod transmit;
mod undo;

use crate::bbr::{self, Bbr};
use crate::board::Board;
use crate::flavour::{Examine, Flavour, Growth, Idle, Repair};
use crate::hybrid::Spans;
use crate::packet::{NEVER, PACKET, Ticks, ticks};
use crate::parts::{BITS, Parts, SEGMENT, parts};
use crate::proportion::Proportion;
use crate::read::Read;
use crate::rto::{Bounds, Rto};
use crate::wheel;
use cubic::Cubic;
use defer::Deferral;
use growth::Loss;
use marks::Marks;
use rack::Rack;
use undo::Undo;

/// Number of duplicate ACKs that begins a fast retransmit (RFC 5681 §3.2).
pub(crate) const DUPLICATES: u32 = 3;

/// The common rules of all senders of a read.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Payload by which the last segment of an SRU is shorter than a full segment.
    pub short: Parts,
    /// Payload of the last segment of an SRU, as a share of a full segment.
    pub last: f64,
    /// The receiver's window.
    pub most_window: Parts,
    /// Window of a connection that is new or was idle.
    pub initial_window: Parts,
    /// Parameters of the timer.
    pub rto: Bounds,
    /// Properties of the stack.
    pub flavour: Flavour,
    /// Parameters of the end of slow start.
    pub hybrid: Spans,
    /// Time parameters of RACK-TLP.
    pub rack: rack::Spans,
    /// Time parameters of BBR.
    pub bbr: bbr::Spans,
    /// Parameters of the deferral of small bursts.
    pub defer: defer::Bounds,
    /// Tick of the timers; 0 for exact timers.
    pub tick: Ticks,
    /// Ticks per second.
    pub second: f64,
}

impl Rules {
    /// The rules of a read.
    pub fn new(read: &Read) -> Self {
        let tick = ticks(read.flavour.tick);
        Self {
            short: if read.flavour.counts_packets { 0 } else { SEGMENT - parts(read.last) },
            last: read.last,
            most_window: parts(read.most_window),
            initial_window: parts(read.initial_window),
            rto: Bounds {
                least: wheel::rounded_up(ticks(read.least_rto), tick),
                most: ticks(read.most_rto),
                granularity: ticks(read.flavour.granularity),
                style: read.flavour.style,
                is_least: read.rto_is_least(),
            },
            flavour: read.flavour,
            hybrid: Spans::of(read.flavour.cubic.watch, read.second),
            rack: rack::Spans::new(&read.flavour.rack),
            bbr: bbr::Spans {
                millisecond: 1e-3 * read.second * PACKET as f64,
                burst: read.flavour.bbr.burst_time * PACKET as f64,
                round_trip: ticks(read.flavour.bbr.round_trip_time),
                probe: ticks(read.flavour.bbr.probe_time),
                segment: read.packet - read.header,
            },
            defer: defer::Bounds::new(read, ticks(1e-3 * read.second)),
            tick,
            second: read.second * PACKET as f64,
        }
    }
}

/// Segments sent back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The first segment.
    pub segment: u32,
    /// The number of segments; above 1 only for full segments.
    pub count: u32,
    /// Whether the burst is a retransmission.
    pub again: bool,
    /// Whether no further segment can be sent now.
    pub is_all: bool,
}

/// An ACK at the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckInfo {
    /// The next segment expected.
    pub next: u32,
    /// The segment that caused the ACK.
    pub segment: u32,
    /// When this segment was sent, if it was sent once. With timestamps, the echoed timestamp.
    pub sent: Ticks,
    /// Whether the segment had arrived before; with SACK only.
    pub twice: bool,
    /// Whether the ACK echoes a mark (RFC 8257 §3.2).
    pub ece: bool,
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
    /// With `Sack1`: the first segment that was outstanding when recovery began.
    pub began: u32,
    /// With `Sack1`: number of segments sent again in this recovery, without the first segment.
    pub resent: u32,
    /// With `Sack1`: number of segments that ACKs have removed from the pipe.
    pub freed: u32,
    pub is_first_copy: bool,
    /// The state of RACK-TLP, if it is used.
    pub rack: Option<Rack>,
}

/// One connection's sender. Fields that every ACK needs are first.
#[derive(Clone, Debug)]
#[repr(C)]
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
    /// When the timer expires.
    pub deadline: Ticks,
    /// Segments sent beyond the window by limited transmit.
    pub(crate) limited: u32,
    pub(crate) dupacks: u32,
    /// New segments that may be sent before the next ACK.
    pub(crate) burst: u32,
    /// `max` at the last loss.
    pub(crate) recover: u32,
    /// One past the highest retransmitted segment.
    pub(crate) resent: u32,
    /// Whether the sender has none of the optional parts below except SACK, so that an ACK need not
    /// check them.
    pub(crate) is_plain: bool,
    pub(crate) in_recovery: bool,
    pub(crate) owes_first: bool,
    /// Whether the first segment is lost, and its retransmission waits until rate reduction allows
    /// it.
    pub(crate) has_hole: bool,
    pub(crate) rto: Rto,
    /// Segments that have left the network according to duplicate ACKs, minus those that partial
    /// ACKs deducted.
    pub(crate) inflation: Parts,
    /// Segments that partial ACKs deducted beyond the inflation.
    pub(crate) deficit: Parts,
    pub(crate) selective: Option<Box<Selective>>,
    /// When data was sent last, and the largest used part of the window since `validated`.
    pub(crate) last_sent: Ticks,
    pub(crate) used: Parts,
    /// The timed segment, if only one segment per window is timed, and when this segment was sent.
    pub(crate) timed: Option<(u32, Ticks)>,
    /// When the use of the window was last checked.
    validated: Ticks,
    /// Time from the start of the host's clock, by which its timers run, to time 0.
    pub phase: Ticks,
    /// Acknowledged data that has not grown the window yet ([`Growth::Data`]).
    pub(crate) counted: Parts,
    pub(crate) timed_out_at: u32,
    /// The first segment of the block.
    pub(crate) block: u32,
    /// Whether a partial ACK of this recovery has restarted the timer.
    pub(crate) was_restarted: bool,
    pub(crate) owes_probe: bool,
    /// Whether the current ACK echoes a mark.
    pub(crate) is_marked: bool,
    /// The rate reduction of this recovery.
    pub(crate) proportion: Option<Proportion>,
    pub(crate) cubic: Option<Box<Cubic>>,
    pub(crate) bbr: Option<Box<Bbr>>,
    /// The state of DCTCP, if it is used.
    pub(crate) marks: Option<Box<Marks>>,
    pub(crate) undo: Option<Box<Undo>>,
    pub(crate) deferral: Option<Box<Deferral>>,
    /// Timeouts so far.
    pub timeouts: u32,
}

impl Sender {
    /// A new connection. `first` is the number of its first segment.
    pub fn new(first: u32, threshold: Parts, rto: Rto, rules: &Rules) -> Self {
        let flavour = &rules.flavour;
        let has_board = flavour.is_selective();
        let is_timed = flavour.repair == Repair::Rack;
        let board = || if is_timed { Board::with_copies(first) } else { Board::new(first) };
        let selective = || {
            let rack = is_timed.then(Rack::new);
            Box::new(Selective { board: board(), rack, ..Selective::default() })
        };
        let is_modelled = flavour.growth == Growth::Bbr && has_board;
        let bbr = || {
            let window = rules.initial_window as f64 / SEGMENT as f64;
            Box::new(Bbr::new(first, window, flavour.bbr, rules.bbr))
        };
        let is_cubic = flavour.growth == Growth::Cubic;
        let is_plain = flavour.is_plain();
        Self {
            is_plain,
            una: first,
            next: first,
            max: first,
            end: first,
            window: rules.initial_window,
            threshold,
            counted: 0,
            inflation: 0,
            deficit: 0,
            deadline: NEVER,
            phase: 0,
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
            owes_probe: false,
            has_hole: false,
            proportion: None,
            selective: has_board.then(selective),
            cubic: is_cubic.then(|| Box::new(Cubic::new(&flavour.cubic))),
            marks: flavour.marks.are_used.then(|| Box::new(Marks::new(&flavour.marks))),
            is_marked: false,
            bbr: is_modelled.then(bbr),
            block: first,
            undo: (flavour.examine != Examine::Never).then(Box::default),
            deferral: flavour.defers.then(Box::default),
            timeouts: 0,
        }
    }

    /// Completes the handshake. After a lost SYN-ACK, the window is one segment (RFC 5681 §3.1),
    /// and there is no round-trip sample.
    pub fn open(&mut self, rtt: Ticks, at_once: bool, rules: &Rules) {
        if !at_once {
            self.window = SEGMENT;
            if let Some(bbr) = &mut self.bbr {
                bbr.limit(1.0, true);
            }
            return;
        }
        self.rto.sample(rtt, (self.una, self.next), &rules.rto);
        if let Some(bbr) = &mut self.bbr {
            bbr.rates.time(rtt);
        }
        if let Some(rack) = self.selective.as_deref_mut().and_then(|it| it.rack.as_mut()) {
            rack.open(rtt);
        }
    }

    #[inline]
    pub(crate) fn arm(&mut self, now: Ticks, rules: &Rules) {
        self.deadline = wheel::after(now, self.rto.wait, rules.tick, self.phase);
    }

    /// The next deadline of the timer or of loss detection by time.
    #[inline]
    pub fn due(&self) -> Ticks {
        let rack = self.selective.as_deref().and_then(|it| it.rack.as_ref());
        let due = rack.map_or(self.deadline, |rack| self.deadline.min(rack.due()));
        self.bbr.as_deref().map_or(due, |bbr| due.min(bbr.due()))
    }

    /// Handles a request of the client for the next `count` segments.
    pub fn request(&mut self, count: u32) {
        if self.una == self.max && self.max == self.end {
            self.block = self.end;
        }
        if let Some(bbr) = &mut self.bbr
            && self.max == self.end
            && Parts::from(self.max - self.una) << BITS < self.window
        {
            bbr.rates.note_short();
        }
        self.end += count;
    }

    /// Stops the timer when nothing is outstanding, or restarts it.
    #[inline]
    fn rest(&mut self, now: Ticks, rules: &Rules) {
        if rules.flavour.runs_idle {
            self.arm(now, rules);
        } else {
            self.deadline = NEVER;
        }
    }

    /// The outstanding segments below `next`.
    pub(crate) fn outstanding(&self, next: u32, rules: &Rules) -> Parts {
        let all = Parts::from(next - self.una) << BITS;
        if next == self.end && next > self.una { all - rules.short } else { all }
    }

    /// Handles an ACK.
    #[inline]
    pub fn on_ack(&mut self, now: Ticks, ack: &AckInfo, rules: &Rules) {
        if !self.is_plain {
            self.is_marked = ack.ece;
        }
        if self.selective.is_some() {
            self.on_selective_ack(now, ack, rules);
        } else {
            self.acknowledge(now, ack.next, ack.sent, rules);
        }
    }

    /// Karn's rule: without timestamps, retransmitted segments give no sample.
    #[inline]
    pub(crate) fn time(&mut self, now: Ticks, ack: u32, sent: Ticks, rules: &Rules) {
        let window = (ack, self.next.max(ack));
        if rules.flavour.per_window {
            if let Some((_, at)) = self.timed.take_if(|it| ack > it.0) {
                self.rto.sample(now - at, window, &rules.rto);
            }
        } else if sent != NEVER && (self.una >= self.resent || rules.flavour.timestamps) {
            self.rto.sample(now - sent, window, &rules.rto);
        }
        self.rto.progress(&rules.rto);
    }

    /// Leaves recovery.
    pub(crate) fn leave(&mut self) {
        self.in_recovery = false;
        self.owes_first = false;
        self.has_hole = false;
        self.dupacks = 0;
        self.inflation = 0;
        self.deficit = 0;
        self.proportion = None;
    }

    /// Handles an expired deadline.
    pub fn expire(&mut self, now: Ticks, rules: &Rules) {
        if let Some(bbr) = &mut self.bbr {
            bbr.is_early(now);
        }
        if self.selective.as_deref().is_some_and(|it| it.rack.is_some()) {
            self.expire_rack(now, rules);
        }
        if self.deadline <= now && !self.owes_probe {
            self.time_out(now, rules);
        }
    }

    /// Handles an expiry of the timer. A repeated timeout does not change the threshold (RFC 5681
    /// §3.1).
    fn time_out(&mut self, now: Ticks, rules: &Rules) {
        if self.una == self.max {
            if rules.flavour.runs_idle {
                self.rest_idle(rules);
            }
            return self.rest(now, rules);
        }
        self.timeouts += 1;
        self.remember_timeout(now, rules);
        let repeated = self.timed_out_at == self.una;
        self.timed_out_at = self.una;
        let flight = self.outstanding(self.next, rules);
        self.reduce_for(Loss::Timeout { repeated }, flight, rules);
        self.recover = self.max;
        self.leave();
        if self.selective.is_some() {
            self.lose_selectively(now, rules);
            self.owes_first = true;
        } else {
            self.next = self.una;
        }
        if let Some(deferral) = &mut self.deferral {
            deferral.time_out(self.max);
        }
        self.limited = 0;
        self.timed = None;
        self.burst = u32::MAX;
        self.rto.back_off(&rules.rto);
        self.arm(now, rules);
    }

    /// Handles an expiry of the timer while nothing is outstanding (ns-2).
    fn rest_idle(&mut self, rules: &Rules) {
        match rules.flavour.repair {
            Repair::Tahoe | Repair::Sack | Repair::Rack => {}
            Repair::Reno | Repair::NewReno => {
                self.recover = self.max;
                self.leave();
            }
            Repair::Sack1 => {
                self.recover = self.max;
                self.leave();
                if let Some(it) = &mut self.selective {
                    it.repairs_timeout = true;
                }
            }
        }
    }

    /// Reduces the window before new data is sent, if the connection was idle or used little of its
    /// window.
    #[inline(never)]
    pub(crate) fn validate(&mut self, now: Ticks, rules: &Rules) {
        let quiet = now - self.last_sent;
        let is_idle = self.una == self.max;
        match rules.flavour.idle {
            Idle::Kept => {}
            Idle::Restarts => {
                if is_idle && quiet > self.rto.wait {
                    self.limit_window(rules.initial_window);
                }
            }
            Idle::Validates => {
                let threshold = self.threshold.max(self.window / 4 * 3);
                let most = if is_idle && quiet >= self.rto.wait {
                    let halvings = (quiet / self.rto.wait.max(1)).min(63);
                    let least = rules.initial_window.min(self.window);
                    self.last_sent = now;
                    (self.window >> halvings).max(least)
                } else if now - self.validated >= self.rto.wait {
                    if self.used >= self.window {
                        (self.validated, self.used) = (now, 0);
                        return;
                    }
                    u64::midpoint(self.window, self.used)
                } else {
                    return;
                };
                self.limit_window(most);
                self.threshold = threshold;
                (self.validated, self.used) = (now, 0);
            }
        }
    }

    /// Sets the timer after an ACK of new data.
    #[inline]
    pub(crate) fn retime(&mut self, now: Ticks, restarts: bool, rules: &Rules) {
        if self.una == self.max {
            self.rest(now, rules);
        } else if restarts {
            self.arm(now, rules);
        }
    }
}
