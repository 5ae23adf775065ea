//! The rounds of a block: everybody sends a window per round trip.
//!
//! All connections together have at most B + P packets under way: those that wait and those that
//! the path holds. A packet that an ACK clocks takes the place that a departure has left. What a
//! sender sends beyond that is *extra*: a window that grows, a request that comes late, a timer
//! that has expired. With X extra packets of which the network can hold all but D, a share D / X of
//! them is lost; a late request's burst wins or loses its places as a whole (`burst`). A connection
//! that loses
//!
//! - all of a window, or so much of it that fewer than three duplicate ACKs come, waits for its
//!   timer;
//! - else halves its window and repairs one hole per round trip, without growing meanwhile
//!   (RFC 6582 §3.2), unless the retransmission is lost or its timer expires first: only
//!   the first partial ACK restarts it (§4);
//! - packets that it sends a second time after a timer, waits again: duplicate ACKs for them start
//!   no fast retransmit (RFC 6582 §3.2, `recover`).
//!
//! A timer doubles until new data are acknowledged (RFC 6298 §5, Karn's rule). Who wakes has no ACK
//! clock: if the queue is full at times in that round trip, its packets find no place, as those that
//! are clocked take every place that a departure leaves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::draws::Draw;
use crate::read::Read;
use crate::sender::{AT_ONCE, DUPLICATES, LEAST_WINDOW, Sender, whole};

const RTT_TO_RTO: f64 = 1.2; // SRTT + 4 RTTVAR over the round trip where the queue is nearly constant
const MOST_DOUBLINGS: u32 = 6;

/// A block under way.
#[derive(Debug)]
pub struct Rounds<'a> {
    read: &'a Read,
    senders: &'a mut [Sender],
    /// Packet times since the first request.
    pub clock: f64,
    /// Timers that have been started.
    pub timeouts: f64,
    /// How often a sender has sent.
    pub work: u64,
    /// Who may send.
    awake: Vec<usize>,
    /// Who waits: until when, in the order of which the bits of positive numbers are, and who.
    asleep: BinaryHeap<Reverse<(u64, usize)>>,
    /// What each who is awake sends in this round.
    sends: Vec<Sends>,
}

/// What a sender sends in a round, and what becomes of it.
#[derive(Clone, Copy, Debug)]
struct Sends {
    who: usize,
    sent: f64,
    gone: f64,
    extra: f64,
    /// Packets at stake where a late burst meets the queue.
    clash: f64,
    /// Without a clock: after a timer, all that is extra.
    loose: bool,
    joins: bool,
}

impl<'a> Rounds<'a> {
    /// The senders as the first windows have left them.
    pub fn new(read: &'a Read, senders: &'a mut [Sender], clock: f64) -> Self {
        let room = senders.len();
        let mut rounds = Self {
            read,
            senders,
            clock,
            timeouts: 0.0,
            work: 0,
            awake: Vec::with_capacity(room),
            asleep: BinaryHeap::with_capacity(room),
            sends: Vec::with_capacity(room),
        };
        (0..room).for_each(|who| rounds.enlist(who));
        rounds
    }

    /// By how much longer all takes than what has been played.
    pub fn pace(&self) -> f64 {
        let left: f64 = self.senders.iter().map(|it| it.left).sum();
        self.read.work() / (self.read.work() - left).max(1.0)
    }

    /// Plays one round trip; returns how many packets have arrived, or nothing where all is done.
    pub fn play(&mut self, draws: &[Draw]) -> Option<f64> {
        if self.awake.is_empty() {
            let Reverse((until, _)) = self.asleep.peek()?;
            self.clock = self.clock.max(f64::from_bits(*until));
        }
        let total = self.send();
        let over = (total - self.read.room()).max(0.0);
        let span = self.read.pipe.max(total - over);
        if over > 0.0 {
            self.lose(over, draws);
        }
        let mut arrived = total;
        self.awake.clear();
        for number in 0..self.sends.len() {
            let it = self.sends[number];
            arrived -= it.gone;
            self.arrive(it, span, draws[it.who]);
            self.enlist(it.who);
        }
        self.work += self.sends.len() as u64;
        self.clock += span;
        Some(arrived)
    }

    /// Notes whether a sender goes on, waits, or is done.
    fn enlist(&mut self, who: usize) {
        let Sender { left, pause, .. } = self.senders[who];
        if left > 0.0 {
            if pause > AT_ONCE {
                self.asleep.push(Reverse((pause.to_bits(), who)));
            } else {
                self.awake.push(who);
            }
        }
    }

    /// Wakes whose time has come, and collects what everybody sends; returns how much.
    fn send(&mut self) -> f64 {
        let now = self.clock.to_bits();
        while let Some(&Reverse((until, who))) = self.asleep.peek()
            && until <= now
        {
            self.asleep.pop();
            self.awake.push(who);
        }
        self.sends.clear();
        let mut total = 0.0;
        for &who in &self.awake {
            let it = &mut self.senders[who];
            let mut sent = it.ready();
            if it.holes > 0.0 {
                // One hole, and new data as far as the halved window goes.
                let quota = (whole(it.threshold) - it.holes).max(0.0);
                let new = quota.min(it.left - it.holes).max(0.0);
                sent = 1.0 + new;
                it.ahead += new - it.spacing;
            }
            let woken = it.pause > AT_ONCE && !it.fresh;
            let clocked = if woken { 0.0 } else { it.clocked };
            total += sent;
            self.sends.push(Sends {
                who,
                sent,
                gone: 0.0,
                extra: (sent - clocked).max(0.0),
                clash: 0.0,
                loose: (woken || it.again > 0.0) && it.holes <= 0.0,
                joins: it.fresh,
            });
        }
        total
    }

    /// Shares what does not fit.
    fn lose(&mut self, mut over: f64, draws: &[Draw]) {
        let (mut alone, mut growing, mut sent) = (0.0, 0.0, 0.0);
        for it in &mut self.sends {
            if it.loose {
                it.gone = it.extra;
                alone += it.gone;
            } else {
                growing += it.extra;
                sent += it.sent;
            }
        }
        over = (over - alone).max(0.0);
        if self.sends.iter().any(|it| it.joins) {
            over -= self.clash(over, draws);
        }
        let share = (over / growing.max(1.0)).min(1.0);
        let rest = (over - growing).max(0.0) / sent.max(1.0);
        for it in self.sends.iter_mut().filter(|it| !it.loose) {
            let lost = it.extra * share + it.sent * rest + it.clash;
            it.gone = whole(lost + f64::from(draws[it.who].chance)).min(it.sent);
        }
    }

    /// Lets bursts of late requests meet what the queue holds: whoever loses loses all.
    fn clash(&mut self, over: f64, draws: &[Draw]) -> f64 {
        let burst: f64 = self.sends.iter().filter(|it| it.joins).map(|it| it.sent).sum();
        let total: f64 = self.sends.iter().map(|it| it.sent).sum();
        let mut order: Vec<usize> = (0..self.sends.len()).collect();
        let lottery = |number: &usize| draws[self.sends[*number].who].lottery;
        order.sort_unstable_by(|a, b| lottery(a).total_cmp(&lottery(b)));
        let mut rest = over.min(burst);
        let all = rest;
        for number in order {
            if rest <= 0.0 {
                break;
            }
            let it = &mut self.sends[number];
            // Any part of a clump that the clock sends may meet a burst.
            let met = (1.0 - f64::from(draws[it.who].chance) * total / burst).max(0.0);
            let at_stake = if it.joins { it.sent } else { whole(met * it.sent) };
            it.clash = at_stake.min(rest);
            rest -= it.clash;
        }
        all - rest
    }

    /// Lets what a sender sent arrive, as far as it does: its window grows, or it learns of a loss.
    fn arrive(&mut self, it: Sends, span: f64, draw: Draw) {
        let sender = &mut self.senders[it.who];
        let (before, resent) = (sender.window, sender.again > 0.0);
        // RFC 5681 §3.1: a segment per ACK up to the threshold, then one per window.
        sender.window += if sender.slow() {
            it.sent.min(sender.threshold - sender.window + 1.0)
        } else {
            it.sent / sender.window
        };
        sender.window = sender.window.min(self.read.most_window);
        sender.left -= it.sent;
        sender.clocked = it.sent;
        sender.pause = AT_ONCE;
        sender.fresh = false;
        if sender.backoff > 0 {
            if sender.again <= 0.0 {
                sender.backoff = 0;
            }
            sender.again = (sender.again - it.sent).max(0.0);
        }
        if it.gone > 0.0 || sender.holes > 0.0 {
            sender.window = before;
            self.recover(it, resent, span, f64::from(draw.place));
        }
    }

    /// Decides for one that lost or repairs whether it waits, repairs on, or is done.
    fn recover(
        &mut self,
        Sends { who, sent, gone, .. }: Sends,
        resent: bool,
        span: f64,
        place: f64,
    ) {
        let it = &mut self.senders[who];
        let arrived = sent - gone;
        it.left += gone;
        it.clocked = arrived;
        let timer = self.read.timer.max(RTT_TO_RTO * span);
        let mends = it.holes > 0.0;
        // Every packet before the first lost one brings out another; so does each of the first two
        // duplicate ACKs (limited transmit, RFC 3042).
        let unsent = (it.left - gone).max(0.0);
        let mut after = whole(place * (arrived + 1.0));
        after += (arrived - after).min(unsent);
        let waits = if mends {
            let late = it.holes > 1.0 && self.clock + span - it.since > timer;
            late || place * sent < gone || (gone > 0.0 && resent)
        } else {
            arrived < 1.0 || unsent < DUPLICATES - after || resent
        };
        let outstanding = if mends { it.ahead } else { sent };
        let half = whole(outstanding / 2.0).max(LEAST_WINDOW);
        if waits {
            (it.window, it.threshold) = (1.0, half);
            it.holes = 0.0;
            it.left = it.left.max(1.0);
            // A timer runs from the beginning of the round.
            it.pause = self.clock + timer * f64::from(1_u32 << it.backoff.min(MOST_DOUBLINGS));
            it.backoff += 1;
            it.again = gone.max(1.0);
            it.clocked = 0.0;
            self.timeouts += 1.0;
        } else if mends {
            it.holes = (it.holes - 1.0 + gone).max(0.0);
            if it.holes <= 0.0 {
                it.window = it.threshold;
            }
            it.left = it.left.max(it.holes);
        } else {
            (it.window, it.threshold) = (half, half);
            it.holes = gone;
            it.since = self.clock + 2.0 * span;
            it.ahead = sent;
            it.spacing = sent / gone;
        }
    }
}
