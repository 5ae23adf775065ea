//! A minimal event-driven simulation of a star: links in FIFO order, a heap of busy links,
//! an ACK per segment, and a fixed window. There is no TCP, and there are no losses and no checks.
//!
//! `probe SENDERS BYTES` prints the packet-hops and the seconds that they took. To compare times
//! per hop between machines or between days, give them as multiples of the probe's time.
//! `probe SENDERS BYTES fused` simulates the same star with fewer events (`fused.rs`).

use std::collections::VecDeque;
use std::time::Instant;

mod fused;

const SEGMENT: u32 = 1500;
const ACK: u32 = 40;
const PAYLOAD: u64 = 1460;
const WINDOW: u32 = 24;
/// Picoseconds per byte at 1 Gbit/s.
const PACE: u64 = 8_000;
/// Delay of a link in picoseconds: 25 us.
const DELAY: u64 = 25_000_000;
/// Bytes of a buffer. No queue fills the buffer, but this limit is checked for every packet.
const BUFFER: u64 = 1 << 40;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Packet {
    arrives: u64,
    flow: u32,
    /// Number of a segment; in an ACK, the number of the next segment.
    number: u32,
    size: u32,
}

/// A link and the queue before it.
#[derive(Default)]
struct Link {
    packets: VecDeque<Packet>,
    free_at: u64,
    /// Departure times of the queued packets, and their sizes.
    queued: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Link {
    /// Takes a packet; returns whether it is the only packet on the link.
    fn offer(&mut self, now: u64, mut packet: Packet) -> bool {
        while let Some(&(departs, size)) = self.queued.front()
            && departs <= now
        {
            self.queued.pop_front();
            self.bytes -= u64::from(size);
        }
        if self.bytes + u64::from(packet.size) > BUFFER {
            return false;
        }
        let departs = self.free_at.max(now) + u64::from(packet.size) * PACE;
        self.free_at = departs;
        self.queued.push_back((departs, packet.size));
        self.bytes += u64::from(packet.size);
        packet.arrives = departs + DELAY;
        self.packets.push_back(packet);
        self.packets.len() == 1
    }
}

/// The busy links, ordered by the time of their next arrival: a heap with four children per node.
#[derive(Default)]
struct Heap(Vec<(u64, u32)>);

impl Heap {
    fn push(&mut self, entry: (u64, u32)) {
        let mut place = self.0.len();
        self.0.push(entry);
        while place > 0 && self.0[(place - 1) / 4] > entry {
            self.0[place] = self.0[(place - 1) / 4];
            place = (place - 1) / 4;
        }
        self.0[place] = entry;
    }

    fn replace_first(&mut self, entry: (u64, u32)) {
        let mut place = 0;
        loop {
            let children = 4 * place + 1..(4 * place + 5).min(self.0.len());
            let Some(least) = children.min_by_key(|&child| self.0[child]) else { break };
            if self.0[least] >= entry {
                break;
            }
            self.0[place] = self.0[least];
            place = least;
        }
        self.0[place] = entry;
    }

    fn pop(&mut self) {
        if let Some(last) = self.0.pop()
            && !self.0.is_empty()
        {
            self.replace_first(last);
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Flow {
    sent: u32,
    acked: u32,
    received: u32,
}

/// A star of n senders: links 0 to n - 1 lead from the senders to the switch, link n leads from the
/// switch to the client, link n + 1 from the client to the switch, and all others from the switch
/// to the senders.
struct Star {
    links: Vec<Link>,
    heap: Heap,
}

impl Star {
    fn offer(&mut self, now: u64, link: usize, packet: Packet) {
        if self.links[link].offer(now, packet) {
            self.heap.push((self.links[link].packets[0].arrives, link as u32));
        }
    }
}

fn run(senders: usize, segments: u32) -> u64 {
    let links = (0..2 * senders + 2).map(|_| Link::default()).collect();
    let mut star = Star { links, heap: Heap::default() };
    let mut flows = vec![Flow::default(); senders];
    for (flow, state) in flows.iter_mut().enumerate() {
        for number in 0..2 {
            let packet = Packet { arrives: 0, flow: flow as u32, number, size: SEGMENT };
            star.offer(0, flow, packet);
        }
        state.sent = 2;
    }
    let (mut hops, mut done) = (0, 0);
    while let Some(&(now, id)) = star.heap.0.first() {
        let link = &mut star.links[id as usize];
        let packet = link.packets.pop_front().expect("a link in the heap has a packet");
        match link.packets.front() {
            Some(next) => star.heap.replace_first((next.arrives, id)),
            None => star.heap.pop(),
        }
        hops += 1;
        let state = &mut flows[packet.flow as usize];
        match id as usize {
            id if id < senders => star.offer(now, senders, packet),
            id if id == senders => {
                state.received = packet.number + 1;
                let ack = Packet { number: state.received, size: ACK, ..packet };
                star.offer(now, senders + 1, ack);
            }
            id if id == senders + 1 => star.offer(now, senders + 2 + packet.flow as usize, packet),
            _ => {
                state.acked = packet.number;
                done += usize::from(state.acked == segments);
                if done == senders {
                    break;
                }
                while state.sent < segments
                    && state.sent - state.acked < WINDOW.min(2 + state.acked)
                {
                    let segment = Packet { number: state.sent, size: SEGMENT, ..packet };
                    state.sent += 1;
                    star.offer(now, packet.flow as usize, segment);
                }
            }
        }
    }
    hops
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let (senders, bytes) = (number(), number());
    let simulate = match words.next().as_deref() {
        None => Some(run as fn(usize, u32) -> u64),
        Some("fused") => Some(fused::run as fn(usize, u32) -> u64),
        Some(_) => None,
    };
    let (Some(senders), Some(bytes), Some(simulate)) = (senders, bytes, simulate) else {
        eprintln!("probe SENDERS BYTES [fused]");
        std::process::exit(2);
    };
    let started = Instant::now();
    let hops = simulate(senders as usize, (bytes / PAYLOAD) as u32);
    println!("{hops} {}", started.elapsed().as_secs_f64());
}
