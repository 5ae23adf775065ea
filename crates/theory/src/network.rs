//! Simulates a run, in which packets meet in the queue at the client's link.
//!
//! Only this queue can overflow. On its server's link, a packet takes its transmission time. One
//! `round_trip` after the packet has left the switch, its ACK or the next request reaches the
//! server. This `round_trip` includes all delays between the switch and the hosts, so all times are
//! times at the switch.

mod client;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_engine::Stream;

use crate::connection::Connection;
use crate::links::Links;
use crate::packet::{Kind, NEVER, PACKET, Packet, Ticks, ticks};
use crate::parts::parts;
use crate::queue::{Queue, Size};
use crate::read::Read;
use crate::rto::Rto;
use crate::sender::{AckInfo, Rules, Sender};
use crate::timeline::Timeline;
use crate::wheel;

/// An ACK in the network, or the client's answer to a SYN-ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    next: u32,
    segment: u32,
    sent: Ticks,
    who: u32,
    twice: bool,
    ece: bool,
}

impl Ack {
    fn new(who: u32, ack: AckInfo) -> Self {
        let AckInfo { next, segment, sent, twice, ece } = ack;
        Self { next, segment, sent, who, twice, ece }
    }
}

const ESTABLISHED: u32 = 0;

/// The result of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Timeouts.
    pub timeouts: f64,
    /// Timeouts of SYNs and SYN-ACKs, which are part of `timeouts`.
    pub handshakes: f64,
    /// Duration, packet times.
    pub duration: f64,
}

/// The state of a run.
#[derive(Debug)]
pub struct Network<'a> {
    read: &'a Read,
    rules: Rules,
    /// Buffer space of a full packet, of the last packet of an SRU, and of a packet without
    /// payload.
    sizes: [Size; 3],
    /// The transmission times of these packets on a server's link.
    times: [Ticks; 3],
    /// Time from the switch to the client, to a server and back to the switch.
    round_trip: Ticks,
    queue: Queue,
    links: Links,
    acks: Timeline<Ack>,
    connections: Vec<Connection>,
    /// Deadlines, earliest first.
    timers: BinaryHeap<Reverse<(Ticks, u32)>>,
    /// Times at which hosts release data, earliest first.
    gates: BinaryHeap<Reverse<(Ticks, u32)>>,
    /// Maximum delay of data by a host.
    jitter: Ticks,
    /// Whether ACKs report more than the next expected segment.
    has_options: bool,
    /// Whether senders use marks.
    reads_marks: bool,
    /// Whether the receivers report segments that arrive out of order or twice.
    is_selective: bool,
    /// Additional time of an ACK, by the number of its blocks.
    blocks: [Ticks; 4],
    /// When the last ACK reaches its server. ACKs do not overtake each other on the client's link.
    last_ack: Ticks,
    hosts: Stream,
    /// Delayed ACKs, sorted by the time at which they are due.
    delayed: BinaryHeap<Reverse<(Ticks, u32)>>,
    /// Parameters of delayed ACKs: number of segments per ACK, number of segments that are
    /// acknowledged at once at first, and maximum delay, which is zero without delayed ACKs.
    delay: (u32, u32, Ticks),
    /// Times and servers of the current block's requests.
    requests: Vec<(Ticks, u32)>,
    asked: usize,
    /// The time of the next timer, release of data, delayed ACK or request.
    rare: Ticks,
    /// Number of servers whose data is incomplete at the client.
    missing: usize,
    /// One past the last segment of the block, and the first segment of the block.
    end: u32,
    first: u32,
    has_lost: bool,
    has_lost_handshakes: bool,
    /// Timeouts of handshakes.
    handshakes: u64,
    now: Ticks,
    /// When the last packet of the block left the switch.
    done: Ticks,
    events: u64,
}

impl<'a> Network<'a> {
    /// The state before the first block. `hosts` draws the hosts' delays.
    pub fn new(read: &'a Read, mut hosts: Stream) -> Self {
        let last = read.header + (read.packet - read.header) * read.last;
        let bytes = [read.packet, last, read.bare];
        let sizes =
            bytes.map(|bytes| Size { time: ticks(read.share(bytes)), space: read.space(bytes) });
        let times = bytes.map(|bytes| ticks(read.share(bytes) * read.slower).max(1));
        let rules = Rules::new(read);
        let quick = read.flavour.quick;
        let mut connections = vec![Connection::new(read, &rules); read.servers];
        for it in &mut connections {
            let mut phase =
                || if rules.tick > 0 { hosts.below(rules.tick * wheel::CYCLE) } else { 0 };
            (it.phase, it.sender.phase) = (phase(), phase());
        }
        let bare = read.share(read.bare) * (1.0 + read.slower);
        let timeout = if read.flavour.ack_every > 1 { read.flavour.ack_timeout } else { 0.0 };
        Self {
            read,
            rules,
            sizes,
            times,
            round_trip: ticks(read.propagation + bare),
            queue: Queue::new(
                read.buffer as u64,
                sizes[Kind::Full as usize],
                read.flavour.arrival_first,
            )
            .marking(read.marking, read.packet),
            links: Links::new(read.servers, times[Kind::Full as usize]),
            acks: Timeline::new(),
            connections,
            timers: BinaryHeap::new(),
            gates: BinaryHeap::new(),
            jitter: ticks(read.jitter),
            has_options: read.flavour.has_options(),
            reads_marks: read.flavour.marks.are_used,
            is_selective: read.flavour.is_selective(),
            blocks: [0, 1, 2, 3].map(|count| ticks(read.blocks_time(count))),
            last_ack: 0,
            hosts,
            delayed: BinaryHeap::new(),
            delay: (read.flavour.ack_every, quick, ticks(timeout)),
            requests: Vec::with_capacity(read.servers),
            asked: 0,
            rare: NEVER,
            missing: 0,
            end: 1,
            first: 1,
            has_lost: false,
            has_lost_handshakes: false,
            handshakes: 0,
            now: 0,
            done: 0,
            events: 0,
        }
    }

    /// Simulates the next block. If the block is not complete after `most` events, its duration is
    /// extrapolated, and it must be the last block.
    pub fn block(&mut self, gaps: &mut Stream, most: u64) -> Block {
        let (start, last) = (self.done, self.events + most);
        let (timeouts, handshakes) = (self.timeouts(), self.handshakes);
        self.first = self.end;
        self.end += self.read.segments;
        self.plan_requests(start + self.round_trip, gaps);
        if self.first == 1 || self.read.fresh {
            self.renew();
        }
        self.plan_rare();
        self.missing = self.read.servers;
        while self.missing > 0 && self.events < last {
            self.step();
        }
        let (end, longer) = if self.is_idle() {
            (self.done, 1.0)
        } else {
            let lacking = |it: &Connection| u64::from(self.end - it.receiver.next);
            let lacks: u64 = self.connections.iter().map(lacking).sum();
            let all = self.read.packets();
            (self.now.max(self.done), all as f64 / all.saturating_sub(lacks).max(1) as f64)
        };
        Block {
            timeouts: (self.timeouts() - timeouts) as f64 * longer,
            handshakes: (self.handshakes - handshakes) as f64 * longer,
            duration: (end - start) as f64 / PACKET as f64 * longer,
        }
    }

    /// Draws the times of the requests, which all use the client's link.
    fn plan_requests(&mut self, mut at: Ticks, gaps: &mut Stream) {
        let (bare, spread) = (self.sizes[Kind::Bare as usize].time, self.read.spread);
        self.requests.clear();
        for who in 0..self.read.servers as u32 {
            let later = if spread > 0.0 { ticks(gaps.unit() * spread) } else { 0 };
            self.requests.push((at + later, who));
            at += ticks(gaps.unit() * 2.0 * self.read.gap);
        }
        if spread > 0.0 {
            self.requests.sort_unstable();
        }
        let mut free = 0;
        for (at, _) in &mut self.requests {
            *at = free.max(*at);
            free = *at + bare;
        }
        self.asked = 0;
    }

    /// Replaces all connections by new connections.
    fn renew(&mut self) {
        let read = self.read;
        let rto = if read.handshakes { read.later_rto } else { read.first_rto };
        let (threshold, rto) = (parts(read.initial_threshold), Rto::new(ticks(rto)));
        for it in &mut self.connections {
            let Sender { timeouts, phase, .. } = it.sender;
            it.sender = Sender::new(self.first, threshold, rto, &self.rules);
            (it.sender.timeouts, it.sender.phase) = (timeouts, phase);
            it.receiver.renew(read.flavour.quick);
            (it.alarm, it.gate, it.tries, it.opens) = (NEVER, NEVER, 0, read.handshakes);
        }
        self.timers.clear();
        self.gates.clear();
    }

    /// Whether the block is complete.
    pub fn is_idle(&self) -> bool {
        self.missing == 0
    }

    /// Whether a SYN-ACK was sent again.
    pub fn has_lost_handshakes(&self) -> bool {
        self.has_lost_handshakes
    }

    /// Whether a packet was lost.
    pub fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// Number of packets, ACKs, requests and timers so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn timeouts(&self) -> u64 {
        let of_data = self.connections.iter().map(|it| u64::from(it.sender.timeouts)).sum::<u64>();
        of_data + self.handshakes
    }

    #[inline]
    fn step(&mut self) {
        self.events += 1;
        let (arrival, ack) = (self.links.due, self.acks.due);
        if arrival.min(ack) >= self.rare {
            self.do_rare();
        } else if arrival <= ack {
            self.now = arrival;
            self.arrive();
        } else {
            self.now = ack;
            self.on_ack();
        }
    }

    /// Handles the arrival of a packet at the switch.
    #[inline]
    fn arrive(&mut self) {
        let Packet { sent, segment, who, kind } = self.links.pop();
        if segment < self.first && kind != Kind::Bare && self.read.fresh {
            // The connection is closed. The packet still takes space and time.
            self.queue.offer(self.now, self.sizes[kind as usize]);
            return;
        }
        let Some(departure) = self.queue.offer(self.now, self.sizes[kind as usize]) else {
            return self.lose(who, kind, sent);
        };
        let at = departure + self.round_trip;
        let mut ack = AckInfo { next: ESTABLISHED, segment, sent, twice: false, ece: false };
        if kind != Kind::Bare {
            if self.has_options {
                return self.arrive_with_options(departure, who, ack);
            }
            let receiver = &mut self.connections[who as usize].receiver;
            let before = receiver.next;
            let (every, quick, wait) = self.delay;
            receiver.hear(departure, quick);
            let is_due = wait == 0 || receiver.is_due(segment, every, quick);
            ack.next = receiver.take(segment);
            if ack.next == self.end && before < ack.next {
                self.missing -= 1;
                self.done = departure;
            }
            if !is_due {
                return self.delay(who, sent, at, wait);
            }
        }
        self.acks.push(at, Ack::new(who, ack));
    }

    #[inline(never)]
    fn lose(&mut self, who: u32, kind: Kind, sent: Ticks) {
        self.has_lost = true;
        if kind == Kind::Bare {
            let connection = &mut self.connections[who as usize];
            self.has_lost_handshakes = true;
            let doublings = (connection.tries - 1).min(16);
            let wait = ticks(self.read.syn_rto).saturating_mul(1 << doublings);
            let wait = wait.min(self.rules.rto.most);
            connection.alarm = wheel::after(sent, wait, self.rules.tick, connection.phase);
            self.timers.push(Reverse((connection.alarm, who)));
            self.plan_rare();
        }
    }

    /// Handles the arrival of an ACK at its server. The ACK that completes the handshake carries
    /// the first request.
    #[inline]
    fn on_ack(&mut self) {
        let Ack { next, segment, sent, who, twice, ece } = self.acks.pop();
        let ack = AckInfo { next, segment, sent, twice, ece };
        let Connection { sender, receiver, tries, opens, .. } = &mut self.connections[who as usize];
        if ack.next == ESTABLISHED {
            *opens = false;
            let at_once = *tries == 1;
            sender.open(self.now - ack.sent, at_once, &self.rules);
            // The client's timeout equals the server's, because both have measured the same round
            // trip.
            receiver.know_timeout(sender.rto.wait);
            sender.request(self.read.segments);
        } else {
            sender.on_ack(self.now, &ack, &self.rules);
        }
        self.send(who);
    }

    /// Handles rare events: a request arrives at its server, a timer expires, a host releases data,
    /// or a delayed ACK is due.
    #[inline(never)]
    fn do_rare(&mut self) {
        self.now = self.rare;
        if self.requests.get(self.asked).is_some_and(|it| it.0 == self.rare) {
            self.ask();
        } else if self.delayed.peek().is_some_and(|it| it.0.0 == self.rare) {
            self.hear_delayed();
        } else if self.gates.peek().is_some_and(|it| it.0.0 == self.rare) {
            self.pass();
        } else {
            self.expire();
        }
        self.plan_rare();
    }

    fn plan_rare(&mut self) {
        let timer = self.timers.peek().map_or(NEVER, |it| it.0.0);
        let gate = self.gates.peek().map_or(NEVER, |it| it.0.0);
        let request = self.requests.get(self.asked).map_or(NEVER, |it| it.0);
        let delayed = self.delayed.peek().map_or(NEVER, |it| it.0.0);
        self.rare = timer.min(request).min(gate).min(delayed);
    }

    /// Handles the arrival of a request, which carries the delayed ACK. If the block opens
    /// connections, the handshake comes first.
    fn ask(&mut self) {
        let who = self.requests[self.asked].1;
        self.asked += 1;
        if self.connections[who as usize].opens {
            return self.open(who);
        }
        self.release(who);
        self.connections[who as usize].sender.request(self.read.segments);
        self.send(who);
    }

    /// Handles the release of data by a host.
    fn pass(&mut self) {
        let Some(Reverse((at, who))) = self.gates.pop() else { return };
        let connection = &mut self.connections[who as usize];
        if connection.gate == at {
            connection.gate = NEVER;
            connection.sender.burst = u32::MAX;
            self.transmit(who, true);
        }
    }

    /// Sends a SYN-ACK.
    fn open(&mut self, who: u32) {
        self.connections[who as usize].tries += 1;
        let packet = Packet { sent: self.now, segment: 0, who, kind: Kind::Bare };
        self.links.send(self.now, packet, 1, self.times[Kind::Bare as usize]);
    }

    fn expire(&mut self) {
        let Some(Reverse((at, who))) = self.timers.pop() else { return };
        let Connection { sender, alarm, opens, .. } = &mut self.connections[who as usize];
        if *alarm != at {
            return;
        }
        *alarm = NEVER;
        if *opens {
            self.handshakes += 1;
            return self.open(who);
        }
        // ACKs may have moved the deadline without a new timer entry.
        if sender.due() <= self.now {
            sender.expire(self.now, &self.rules);
        } else if self.rules.flavour.defers {
            // Only an ACK or a deadline ends a deferral.
            return self.watch(who);
        }
        self.send(who);
    }

    /// Sends what a server may send now, and schedules the release of the rest.
    #[expect(clippy::inline_always, reason = "4 % of the total time")]
    #[inline(always)]
    fn send(&mut self, who: u32) {
        if self.jitter == 0 {
            return self.transmit(who, true);
        }
        self.transmit(who, false);
        let connection = &mut self.connections[who as usize];
        if connection.gate == NEVER && connection.sender.is_ready(&self.rules) {
            connection.gate = self.now + self.hosts.below(self.jitter);
            self.gates.push(Reverse((connection.gate, who)));
            self.rare = self.rare.min(connection.gate);
        }
    }

    #[inline]
    fn transmit(&mut self, who: u32, is_open: bool) {
        let sender = &mut self.connections[who as usize].sender;
        while let Some(burst) = sender.poll(self.now, is_open, &self.rules) {
            let is_last = burst.segment + burst.count == sender.end;
            let kind = if is_last { Kind::Last } else { Kind::Full };
            let is_known = !burst.again || self.rules.flavour.timestamps;
            let sent = if is_known { self.now } else { NEVER };
            let packet = Packet { sent, segment: burst.segment, who, kind };
            self.links.send(self.now, packet, burst.count, self.times[kind as usize]);
            if burst.is_all {
                break;
            }
        }
        self.watch(who);
    }

    /// Schedules the next deadline of a server.
    #[inline]
    fn watch(&mut self, who: u32) {
        let Connection { sender, alarm, .. } = &mut self.connections[who as usize];
        let due = if sender.is_plain { sender.deadline } else { sender.due() };
        if due < *alarm {
            *alarm = due;
            self.timers.push(Reverse((*alarm, who)));
            self.rare = self.rare.min(*alarm);
        }
    }
}
