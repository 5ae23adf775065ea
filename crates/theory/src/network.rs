//! A run: packets that meet in the queue in front of the client's link.
//!
//! Only that queue can fill. A packet needs its own time on its server's link, and what has left
//! the switch brings its ACK back, or the next request, after a round trip. The clock runs at the
//! switch: that servers and the client are behind it, by as much as they are away, cancels out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_engine::Stream;

use crate::links::Links;
use crate::packet::{Kind, NEVER, PACKET, Packet, Ticks, ticks};
use crate::queue::{Queue, Size};
use crate::read::Read;
use crate::receiver::Receiver;
use crate::rto::{Bounds, Rto};
use crate::sender::{Rules, SEGMENT, Sender, parts};
use crate::timeline::Timeline;

/// An ACK on its way, or the client's answer to a SYN-ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    sent: Ticks,
    /// The segment expected next.
    next: u32,
    who: u32,
}

const ESTABLISHED: u32 = 0;

/// A server, and the client's end of its connection.
#[derive(Clone, Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// The earliest of its entries among the timers; others are void.
    alarm: Ticks,
    /// SYN-ACKs sent.
    tries: u32,
}

/// What a block was like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Timeouts.
    pub timeouts: f64,
    /// Duration, packet times.
    pub duration: f64,
}

/// Everything between the servers and the client.
#[derive(Debug)]
pub struct Network<'a> {
    read: &'a Read,
    rules: Rules,
    /// Of a full packet, the last of an SRU, and one without payload.
    sizes: [Size; 3],
    /// From the switch to the client, to a server and back to the switch.
    round_trip: Ticks,
    queue: Queue,
    links: Links,
    acks: Timeline<Ack>,
    connections: Vec<Connection>,
    /// Deadlines, earliest first.
    timers: BinaryHeap<Reverse<(Ticks, u32)>>,
    /// When the requests of the block at hand come.
    requests: Vec<Ticks>,
    asked: usize,
    /// The first of timers and requests.
    rare: Ticks,
    /// Servers of which the client lacks something.
    missing: usize,
    /// One past the last segment of the block.
    end: u32,
    now: Ticks,
    /// When the last packet left that the client was waiting for.
    done: Ticks,
    events: u64,
}

impl<'a> Network<'a> {
    /// Before the first block.
    pub fn new(read: &'a Read) -> Self {
        let bare = read.header / read.packet;
        let last = bare + (1.0 - bare) * read.last;
        let sizes = [1.0, last, bare].map(|share| Size {
            time: ticks(share),
            space: if read.counts_packets { 1 } else { (share * read.packet).round() as u64 },
        });
        let rto = Bounds {
            least: ticks(read.least_rto),
            most: ticks(read.most_rto),
            is_least: read.rto_is_least(),
        };
        let (window, threshold) = (parts(read.initial_window), parts(read.initial_threshold));
        let connection = Connection {
            sender: Sender::new(window, threshold, Rto::new(ticks(read.first_rto))),
            receiver: Receiver::new(read.segments),
            alarm: NEVER,
            tries: 0,
        };
        Self {
            read,
            rules: Rules {
                short: SEGMENT - parts(read.last),
                most_window: parts(read.most_window),
                rto,
            },
            sizes,
            round_trip: ticks(read.propagation + 2.0 * bare),
            queue: Queue::new(read.buffer as u64, sizes[Kind::Full as usize]),
            links: Links::new(read.servers),
            acks: Timeline::new(),
            connections: vec![connection; read.servers],
            timers: BinaryHeap::new(),
            requests: Vec::with_capacity(read.servers),
            asked: 0,
            rare: NEVER,
            missing: 0,
            end: 1,
            now: 0,
            done: 0,
            events: 0,
        }
    }

    /// Plays the next block. If more than `most` events do not complete it, it goes on at the same
    /// pace, and must be the last.
    pub fn block(&mut self, gaps: &mut Stream, most: u64) -> Block {
        let (start, timeouts, last) = (self.done, self.timeouts(), self.events + most);
        let mut at = start + self.round_trip;
        self.requests.clear();
        for _ in 0..self.read.servers {
            self.requests.push(at);
            at += ticks(gaps.unit() * 2.0 * self.read.gap);
        }
        self.asked = 0;
        self.plan_rare();
        self.missing = self.read.servers;
        self.end += self.read.segments;
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
            duration: (end - start) as f64 / PACKET as f64 * longer,
        }
    }

    /// Whether the client has all of the block.
    pub fn is_idle(&self) -> bool {
        self.missing == 0
    }

    /// Whether a SYN-ACK has been sent twice.
    pub fn has_lost_handshakes(&self) -> bool {
        self.connections.iter().any(|it| it.tries > 1)
    }

    /// Packets, ACKs, requests and timers so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn timeouts(&self) -> u64 {
        self.connections.iter().map(|it| u64::from(it.sender.timeouts)).sum()
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
            self.hear();
        }
    }

    /// A packet comes to the switch.
    #[inline]
    fn arrive(&mut self) {
        let Packet { sent, segment, who, kind } = self.links.pop();
        let departure = self.queue.offer(self.now, self.sizes[kind as usize]);
        let connection = &mut self.connections[who as usize];
        let next = match (departure, kind) {
            (None, Kind::Bare) => {
                connection.alarm = sent + ticks(self.read.syn_rto);
                self.timers.push(Reverse((connection.alarm, who)));
                return self.plan_rare();
            }
            (None, _) => return,
            (Some(_), Kind::Bare) => ESTABLISHED,
            (Some(departure), _) => {
                let before = connection.receiver.next;
                let next = connection.receiver.take(segment);
                if next == self.end && before < next {
                    self.missing -= 1;
                    self.done = departure;
                }
                next
            }
        };
        if let Some(departure) = departure {
            self.acks.push(departure + self.round_trip, Ack { sent, next, who });
        }
    }

    /// An ACK comes to its server; the one that ends the handshake brings the first request.
    #[inline]
    fn hear(&mut self) {
        let Ack { sent, next, who } = self.acks.pop();
        let Connection { sender, tries, .. } = &mut self.connections[who as usize];
        if next == ESTABLISHED {
            sender.open(self.now - sent, *tries == 1, &self.rules);
            sender.end += self.read.segments;
        } else {
            sender.acknowledge(self.now, next, sent, &self.rules);
        }
        self.send(who);
    }

    /// A request comes to its server, or a timer expires.
    #[inline(never)]
    fn do_rare(&mut self) {
        self.now = self.rare;
        if self.requests.get(self.asked) == Some(&self.rare) {
            self.ask();
        } else {
            self.expire();
        }
        self.plan_rare();
    }

    fn plan_rare(&mut self) {
        let timer = self.timers.peek().map_or(NEVER, |it| it.0.0);
        let request = self.requests.get(self.asked).copied().unwrap_or(NEVER);
        self.rare = timer.min(request);
    }

    /// In the first block the handshake comes before the request.
    fn ask(&mut self) {
        let who = self.asked as u32;
        self.asked += 1;
        let is_first = self.end == 1 + self.read.segments;
        if is_first && self.read.handshakes {
            self.open(who);
        } else {
            self.connections[who as usize].sender.end += self.read.segments;
            self.send(who);
        }
    }

    /// Sends a SYN-ACK.
    fn open(&mut self, who: u32) {
        self.connections[who as usize].tries += 1;
        let packet = Packet { sent: self.now, segment: 0, who, kind: Kind::Bare };
        self.links.send(self.now, packet, 1, self.sizes[Kind::Bare as usize].time);
    }

    fn expire(&mut self) {
        let Some(Reverse((at, who))) = self.timers.pop() else { return };
        let Connection { sender, alarm, .. } = &mut self.connections[who as usize];
        if *alarm != at {
            return;
        }
        *alarm = NEVER;
        if sender.end == 1 {
            return self.open(who);
        }
        // ACKs put the deadline off without a new entry.
        if sender.deadline <= self.now {
            sender.expire(self.now, &self.rules);
        }
        self.send(who);
    }

    /// Sends what a server may send.
    #[expect(clippy::inline_always, reason = "4 % of the time of all")]
    #[inline(always)]
    fn send(&mut self, who: u32) {
        let Connection { sender, alarm, .. } = &mut self.connections[who as usize];
        while let Some(burst) = sender.poll(self.now, &self.rules) {
            let kind = if burst.segment + 1 == sender.end { Kind::Last } else { Kind::Full };
            let sent = if burst.again { NEVER } else { self.now };
            let packet = Packet { sent, segment: burst.segment, who, kind };
            self.links.send(self.now, packet, burst.count, self.sizes[kind as usize].time);
            if burst.is_all {
                break;
            }
        }
        if sender.deadline < *alarm {
            *alarm = sender.deadline;
            self.timers.push(Reverse((*alarm, who)));
            self.rare = self.rare.min(*alarm);
        }
    }
}
