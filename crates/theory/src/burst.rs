//! A burst into a finite buffer: which senders lose, and how much.
//!
//! A fluid of whole senders. While k senders send at the rate of the link that drains the buffer,
//! the queue grows by k - 1 packets per packet time. Once all places are taken a place becomes free
//! every packet time at the same phase of it, and senders of the same rate keep their phases:
//! whoever comes first after the departure gets every place, and all others lose everything that
//! they send until it has finished. Who opened the busy period defines the departures' phase and is
//! always first; the order of the others is random.
//!
//! Packets that ACKs of the burst's first packets bring out compete for the same places. They are
//! clumps of one connection, so that they, too, win or lose as a whole.

use incast_engine::Stream;

use crate::read::Read;

const EPS: f64 = 1e-9;
const EITHER: f64 = 0.5; // clumps and first windows win alike

/// What one sender brings to the meeting, and what becomes of it; packets and packet times.
#[derive(Clone, Debug)]
pub struct Guest {
    /// When it begins to send.
    pub begin: f64,
    /// How many packets it sends back to back; none where it does not take part.
    pub packets: f64,
    /// Whether it has more to send when ACKs arrive.
    pub goes_on: bool,
    /// Its place in the order of phases, uniform.
    pub phase: f64,
    /// Packets lost.
    pub lost: f64,
    /// Packets that arrived before the first that was lost.
    pub before: f64,
    /// Packets of the burst that arrived after it.
    pub later: f64,
    /// Packets lost of those that ACKs of the burst brought out.
    pub clump: f64,
    when: f64,
    tail: bool,
}

impl Guest {
    /// Someone who has not met the others yet.
    pub fn new(begin: f64, packets: f64, goes_on: bool, phase: f64) -> Self {
        Self {
            begin,
            packets,
            goes_on,
            phase,
            lost: 0.0,
            before: 0.0,
            later: 0.0,
            clump: 0.0,
            when: f64::INFINITY,
            tail: false,
        }
    }

    fn end(&self) -> f64 {
        self.begin + self.packets
    }

    /// Sums up, in whole packets.
    fn settle(&mut self) {
        let whole = self.lost.round_ties_even().min(self.packets);
        let before = if self.lost > 0.0 { self.when.min(self.end()) - self.begin } else { 0.0 };
        self.clump = self.clump.round_ties_even().min(self.packets);
        (self.lost, self.before) = if self.tail && whole < 1.0 {
            (1.0, self.packets - 1.0)
        } else {
            (whole, before.clamp(0.0, self.packets - whole))
        };
        if self.lost >= 1.0 {
            self.later = (self.packets - self.before - self.lost).max(0.0);
        }
    }
}

/// Where and how senders meet.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The network.
    pub read: &'a Read,
    /// Packets waiting at the beginning.
    pub queue: f64,
    /// Whether it is the first window of a block: then phases differ and ACKs bring out clumps.
    /// Later windows are clocked by departures and have no phase of their own: they share the loss,
    /// as each ACK brings two packets and frees one place.
    pub first: bool,
}

/// Lets senders meet in front of the buffer; `chances` decides who wins and which clump is hit.
pub fn meet(guests: &mut [Guest], terms: Terms<'_>, chances: &mut Stream) {
    let mut events: Vec<(f64, bool, usize)> = Vec::with_capacity(2 * guests.len());
    for (who, guest) in guests.iter().enumerate().filter(|(_, guest)| guest.packets > 0.0) {
        events.push((guest.begin, false, who));
        events.push((guest.end(), true, who));
    }
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let Some(&(start, ..)) = events.first() else { return };
    let mut meeting = Meeting::new(guests, terms, start);
    for (moment, ends, who) in events {
        let draws = [chances.unit(), chances.unit()];
        meeting.advance(moment, draws);
        if ends {
            meeting.leave(who);
        } else {
            meeting.enter(who);
        }
    }
    guests.iter_mut().for_each(Guest::settle);
}

/// The fluid between its events: a sender begins or ends.
struct Meeting<'a> {
    guests: &'a mut [Guest],
    terms: Terms<'a>,
    now: f64,
    queue: f64,
    served: f64,
    overflows: bool,
    leader: Option<usize>,
    sending: Vec<usize>,
    /// Those of them that have not lost anything yet.
    unhurt: Vec<usize>,
    /// Those that have sent their window and have more.
    returned: Vec<usize>,
    begun: usize,
    /// What everybody who sent all the time has lost.
    toll: f64,
}

impl<'a> Meeting<'a> {
    fn new(guests: &'a mut [Guest], terms: Terms<'a>, now: f64) -> Self {
        let room = guests.len();
        Self {
            guests,
            terms,
            now,
            queue: terms.queue,
            served: 0.0,
            overflows: false,
            leader: None,
            sending: Vec::with_capacity(room),
            unhurt: Vec::with_capacity(room),
            returned: Vec::with_capacity(room),
            begun: 0,
            toll: 0.0,
        }
    }

    /// Lets the fluid flow until the moment.
    fn advance(&mut self, moment: f64, draws: [f64; 2]) {
        let span = moment - self.now;
        if span <= 0.0 {
            return;
        }
        let Read { places, pipe, .. } = *self.terms.read;
        let count = self.sending.len() as f64;
        // Once a round trip of service is over, departures bring out new packets, as far as those
        // who sent them have any.
        let returning = self.terms.first && self.served > pipe && self.begun > 0;
        let echo = if returning { self.returned.len() as f64 / self.begun as f64 } else { 0.0 };
        let rate = count + echo - 1.0;
        let filled = self.queue + span * rate;
        let busy = self.queue > 0.0 || count + echo >= 1.0;
        self.served += if busy { span } else { span * count };
        self.overflows = filled > places + EPS;
        if self.overflows && rate > EPS {
            let full = ((filled - places) / rate).min(span);
            if self.terms.first {
                self.shut_out(moment - full, full, echo, draws);
            } else {
                self.toll += full * (count - 1.0) / count;
                self.hurt(moment - full, None);
            }
        }
        self.queue = filled.clamp(0.0, places);
        self.now = moment;
    }

    /// Lets all but one lose for the time `full` for which no place is free.
    fn shut_out(&mut self, since: f64, full: f64, echo: f64, [wins, hit]: [f64; 2]) {
        let echo_wins = wins < EITHER;
        let leader = self.leader.filter(|&who| self.guests[who].end() > self.now);
        let by_phase =
            |a: &&usize, b: &&usize| self.guests[**a].phase.total_cmp(&self.guests[**b].phase);
        let room = if leader.is_none() && echo_wins { (1.0 - echo).max(0.0) } else { 1.0 };
        let winner = leader.or_else(|| self.sending.iter().min_by(by_phase).copied());
        self.toll += full;
        if let Some(winner) = winner {
            self.guests[winner].lost -= full * room;
        }
        self.hurt(since, winner.filter(|_| room >= 1.0));
        if !echo_wins && echo > 0.0 {
            let nth = (hit * self.returned.len() as f64) as usize;
            let excess = self.sending.len() as f64 + echo - 1.0;
            self.guests[self.returned[nth]].clump += full * echo.min(excess);
        }
    }

    /// Notes when everybody but one has lost for the first time.
    fn hurt(&mut self, since: f64, spared: Option<usize>) {
        for &who in self.unhurt.iter().filter(|&&who| Some(who) != spared) {
            self.guests[who].when = since;
        }
        self.unhurt.retain(|&who| Some(who) == spared);
    }

    fn enter(&mut self, who: usize) {
        let leads = self.leader.is_some_and(|leader| self.guests[leader].end() > self.now + EPS);
        if self.terms.first && !leads && self.queue <= EPS && self.sending.is_empty() {
            self.leader = Some(who);
        }
        self.guests[who].lost -= self.toll;
        self.sending.push(who);
        self.unhurt.push(who);
        self.begun += 1;
    }

    fn leave(&mut self, who: usize) {
        self.sending.retain(|&other| other != who);
        self.unhurt.retain(|&other| other != who);
        let guest = &mut self.guests[who];
        guest.lost = (guest.lost + self.toll).max(0.0);
        if guest.lost < EPS {
            guest.lost = 0.0;
        }
        let Terms { read, first, .. } = self.terms;
        guest.tail = first && read.short_tail && !guest.goes_on && self.overflows;
        if guest.goes_on {
            self.returned.push(who);
        }
    }
}
