//! Compares the event queue with other queues, on the events of a star. Every event schedules its
//! successor one link delay later, and each connection has a timer 200 ms ahead.
//!
//! `cargo bench -p incast-engine` prints nanoseconds per event.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hint::black_box;

use incast_engine::{EventQueue, Stream, Time};

trait Queue: Default {
    const NAME: &'static str;
    fn push(&mut self, time: u64, sequence: u64, event: u32);
    fn pop(&mut self) -> (u64, u32);
}

#[derive(Default)]
struct Ours(EventQueue<u32>);

impl Queue for Ours {
    const NAME: &'static str = "calendar of 4-ary heaps";
    fn push(&mut self, time: u64, sequence: u64, event: u32) {
        self.0.push(Time::from_picos(time), sequence, event);
    }
    fn pop(&mut self) -> (u64, u32) {
        let (time, event) = self.0.pop().expect("never empty");
        (time.as_picos(), event)
    }
}

#[derive(Default)]
struct Binary(BinaryHeap<Reverse<(u64, u64, u32)>>);

impl Queue for Binary {
    const NAME: &'static str = "binary heap (std)";
    fn push(&mut self, time: u64, sequence: u64, event: u32) {
        self.0.push(Reverse((time, sequence, event)));
    }
    fn pop(&mut self) -> (u64, u32) {
        let Reverse((time, _, event)) = self.0.pop().expect("never empty");
        (time, event)
    }
}

#[derive(Default)]
struct Ordered(BTreeMap<(u64, u64), u32>);

impl Queue for Ordered {
    const NAME: &'static str = "ordered map (std)";
    fn push(&mut self, time: u64, sequence: u64, event: u32) {
        self.0.insert((time, sequence), event);
    }
    fn pop(&mut self) -> (u64, u32) {
        let ((time, _), event) = self.0.pop_first().expect("never empty");
        (time, event)
    }
}

/// One 4-ary heap for all events.
#[derive(Default)]
struct Flat(Vec<(u64, u64, u32)>);

impl Queue for Flat {
    const NAME: &'static str = "one 4-ary heap";
    fn push(&mut self, time: u64, sequence: u64, event: u32) {
        self.0.push((time, sequence, event));
        let mut hole = self.0.len() - 1;
        while hole > 0 && self.0[(hole - 1) / 4] > self.0[hole] {
            self.0.swap(hole, (hole - 1) / 4);
            hole = (hole - 1) / 4;
        }
    }
    fn pop(&mut self) -> (u64, u32) {
        let (time, _, event) = self.0.swap_remove(0);
        let mut hole = 0;
        loop {
            let children = 4 * hole + 1..(4 * hole + 5).min(self.0.len());
            match children.min_by_key(|child| self.0[*child]) {
                Some(least) if self.0[least] < self.0[hole] => {
                    self.0.swap(hole, least);
                    hole = least;
                }
                _ => return (time, event),
            }
        }
    }
}

/// A monotone radix heap: bucket `b` holds the times that differ from the last time in bit `b - 1`,
/// but in no higher bit.
struct Radix {
    buckets: Vec<Vec<(u64, u64, u32)>>,
    last: u64,
}

impl Default for Radix {
    fn default() -> Self {
        Self { buckets: vec![Vec::new(); 65], last: 0 }
    }
}

impl Radix {
    fn bucket(&self, time: u64) -> usize {
        64 - (time ^ self.last).leading_zeros() as usize
    }
}

impl Queue for Radix {
    const NAME: &'static str = "radix heap";
    fn push(&mut self, time: u64, sequence: u64, event: u32) {
        let bucket = self.bucket(time);
        self.buckets[bucket].push((time, sequence, event));
    }
    fn pop(&mut self) -> (u64, u32) {
        if self.buckets[0].is_empty() {
            let next = self.buckets.iter().position(|it| !it.is_empty()).expect("never empty");
            let entries = std::mem::take(&mut self.buckets[next]);
            self.last = entries.iter().map(|entry| entry.0).min().expect("not empty");
            for entry in entries {
                self.push(entry.0, entry.1, entry.2);
            }
            self.buckets[0].sort_unstable_by_key(|entry| Reverse(entry.1));
        }
        let (time, _, event) = self.buckets[0].pop().expect("just filled");
        (time, event)
    }
}

const EVENTS: u64 = 2_000_000;
/// The delay of one link: serialisation and propagation, ps.
const LINK: u64 = 37_000_000;
const TIMER: u64 = 200_000_000_000;

/// Nanoseconds per event with `links` busy links, and ten times as many timers.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the wall clock")]
fn hold<Q: Queue>(links: u32) -> f64 {
    let mut queue = Q::default();
    let mut random = Stream::named(1, "hold", u64::from(links));
    let mut sequence = 0;
    for link in 0..links {
        queue.push(random.below(LINK), u64::from(link), link);
    }
    for timer in links..11 * links {
        queue.push(TIMER + random.below(TIMER), u64::from(timer), timer);
    }
    let started = std::time::Instant::now();
    for _ in 0..EVENTS {
        let (time, event) = queue.pop();
        sequence += 1;
        let ahead = if event < links { LINK + random.below(1 << 20) } else { TIMER };
        queue.push(time + ahead, u64::from(11 * links) + sequence, black_box(event));
    }
    started.elapsed().as_secs_f64() * 1e9 / EVENTS as f64
}

fn row<Q: Queue>() {
    let columns = [4, 32, 256, 4096].map(hold::<Q>);
    println!(
        "{:<26}{:>8.1}{:>8.1}{:>8.1}{:>8.1}",
        Q::NAME,
        columns[0],
        columns[1],
        columns[2],
        columns[3]
    );
}

fn main() {
    println!("{:<26}{:>8}{:>8}{:>8}{:>8}", "ns per event, links:", 4, 32, 256, 4096);
    row::<Ours>();
    row::<Flat>();
    row::<Binary>();
    row::<Radix>();
    row::<Ordered>();
}
