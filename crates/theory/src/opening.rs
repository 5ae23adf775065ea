//! The first window of every connection in a block, and all of slow start in the first block.
//!
//! Windows that have survived the block before arrive as bursts, spread by the requests' jitter only
//! (`burst`). In the first block windows double round trip by round trip until one loses; senders
//! do not know of a loss before a round trip has passed, and what the packets before it brought out
//! competes in the next one.

use crate::burst::{Guest, Terms, meet};
use crate::draws::Place;
use crate::read::Read;
use crate::sender::{AT_ONCE, DUPLICATES, LEAST_WINDOW, Sender, whole};

const MOST_ROUNDS: u32 = 12;

/// What the opening leaves behind besides the senders' state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opened {
    /// How many timers have been started.
    pub timeouts: f64,
    /// When the next windows begin.
    pub clock: f64,
}

/// Plays the opening of the block `place` for senders just asked.
pub fn open(read: &Read, senders: &mut [Sender], place: Place) -> Opened {
    let mut opening = Opening::new(read, senders, place.block == 0);
    let mut queue = 0.0;
    for meeting in 0..if place.block == 0 { MOST_ROUNDS } else { 1 } {
        let Some(next) = opening.meet(queue, place, meeting) else { break };
        queue = next;
    }
    opening.opened
}

struct Opening<'a> {
    read: &'a Read,
    senders: &'a mut [Sender],
    /// When each was asked, and whether it found the network empty.
    asked: Vec<(f64, bool)>,
    begin: Vec<f64>,
    /// Packets that senders who have lost send before they know.
    unaware: Vec<f64>,
    /// Whether nobody is asked later.
    alone: bool,
    opened: Opened,
}

impl<'a> Opening<'a> {
    fn new(read: &'a Read, senders: &'a mut [Sender], slow_start: bool) -> Self {
        // Later requests find the ACK clock running and join the rounds, unless they come so slowly
        // that the queue empties between them.
        let soon = match (read.sparse(), slow_start) {
            (true, _) => f64::INFINITY,
            (false, true) => read.pipe,
            (false, false) => read.room(),
        };
        let asked: Vec<_> = senders.iter().map(|it| (it.pause, it.pause <= soon)).collect();
        for (sender, _) in senders.iter_mut().zip(&asked).filter(|(_, asked)| asked.1) {
            sender.pause = AT_ONCE;
            sender.fresh = false;
        }
        Self {
            read,
            begin: asked.iter().map(|asked| asked.0).collect(),
            unaware: vec![0.0; senders.len()],
            alone: asked.iter().all(|asked| asked.1),
            senders,
            asked,
            opened: Opened::default(),
        }
    }

    /// Lets windows meet; returns what waits afterwards, or nothing once nobody sends any more.
    fn meet(&mut self, queue: f64, place: Place, meeting: u32) -> Option<f64> {
        let goes = self.who_goes(meeting == 0);
        let any = goes.iter().any(|goes| *goes);
        if !any && self.unaware.iter().all(|unaware| *unaware <= 0.0) {
            return None;
        }
        let mut phases = place.phases(meeting);
        let mut guests: Vec<_> = self
            .senders
            .iter()
            .enumerate()
            .map(|(who, it)| {
                let sent = if goes[who] { it.ready() } else { self.unaware[who] };
                Guest::new(self.begin[who], sent, sent < it.left, phases.unit())
            })
            .collect();
        let terms = Terms { read: self.read, queue, first: meeting == 0 };
        meet(&mut guests, terms, &mut place.events(meeting));
        let arrived: f64 = sum(&guests, |_, guest| guest.packets - guest.lost);
        let own: f64 =
            sum(&guests, |who, guest| if goes[who] { guest.packets - guest.lost } else { 0.0 });
        let repaired = self.opened.clock + 2.0 * own.max(self.read.pipe);
        for (who, guest) in guests.iter().enumerate() {
            if goes[who] {
                self.react(who, guest, repaired);
            } else {
                self.lose_more(who, guest);
            }
        }
        self.serve(&guests);
        if any {
            self.opened.clock += arrived.max(self.read.pipe);
        }
        let sent: f64 = sum(&guests, |_, guest| guest.packets);
        Some((sent - self.read.pipe).clamp(0.0, self.read.places))
    }

    fn who_goes(&self, first: bool) -> Vec<bool> {
        let goes = |(it, asked): (&Sender, &(f64, bool))| {
            let ready = asked.1 && it.pause == AT_ONCE && it.holes <= 0.0 && it.left > 0.0;
            ready && (first || (it.slow() && self.alone))
        };
        self.senders.iter().zip(&self.asked).map(goes).collect()
    }

    /// Adds what is lost of those who did not know yet that they had lost.
    fn lose_more(&mut self, who: usize, guest: &Guest) {
        if self.unaware[who] <= 0.0 {
            return;
        }
        let it = &mut self.senders[who];
        let arrived = guest.packets - guest.lost;
        it.left -= arrived;
        it.holes += guest.lost;
        it.left = it.left.max(it.holes);
        it.clocked = arrived;
        self.unaware[who] = 0.0;
    }

    /// Lets a sender learn what its window and the ACK-clocked clump after it lost.
    fn react(&mut self, who: usize, guest: &Guest, repaired: f64) {
        let it = &mut self.senders[who];
        let sent = guest.packets;
        let arrived = sent - guest.lost;
        let unsent = (it.left - sent).max(0.0);
        let hit = guest.lost >= 1.0;
        let all = hit && arrived < 1.0;
        let clump_gone = !hit && guest.clump >= 1.0 && guest.clump >= sent;
        let too_few = hit && !all && unsent + guest.later < DUPLICATES;
        let new = unsent.min(guest.before * if it.slow() { 2.0 } else { 1.0 });
        // RFC 5681, equation 4: half of what is outstanding.
        let flight = if hit && !all { sent - guest.before + new } else { sent };
        let half = (flight / 2.0).max(LEAST_WINDOW);
        it.left -= arrived;
        if all || clump_gone || too_few {
            // The timer runs from when the window was sent.
            let since = self.asked[who].0.max(self.opened.clock);
            it.pause = since + self.read.timer.max(self.read.room());
            (it.window, it.threshold) = (1.0, half);
            it.left = it.left.max(1.0);
            (it.clocked, it.again, it.backoff) = (0.0, guest.lost.max(1.0), 1);
            self.opened.timeouts += 1.0;
            return;
        }
        it.clocked = arrived;
        if hit || guest.clump > 0.0 {
            (it.window, it.threshold) = (half, half);
            it.left = it.left.max(1.0);
            it.holes = if hit { guest.lost } else { guest.clump }.min(it.left);
            it.ahead = flight;
            it.spacing = flight / it.holes.max(1.0);
            it.since = repaired;
            self.unaware[who] = if hit { whole(new) } else { 0.0 };
            return;
        }
        let gain = if it.slow() {
            arrived.min(it.threshold - it.window)
        } else {
            arrived / it.window.max(1.0)
        };
        it.window = (it.window + gain).min(self.read.most_window);
    }

    /// Sets when each sender's next packets come: when these leave, one sender after the other.
    fn serve(&mut self, guests: &[Guest]) {
        let mut free = 0.0_f64;
        for (begin, guest) in self.begin.iter_mut().zip(guests) {
            free = free.max(*begin);
            *begin = free;
            free += guest.packets - guest.lost;
        }
    }
}

fn sum(guests: &[Guest], of: impl Fn(usize, &Guest) -> f64) -> f64 {
    guests.iter().enumerate().map(|(who, guest)| of(who, guest)).sum()
}
