//! The event queue: a calendar of 4-ary heaps ordered by `(time, sequence)`.
//!
//! Links schedule microseconds ahead, timers hundreds of milliseconds. The next millisecond is
//! divided into days of four microseconds, each with a heap that seldom holds more than a few
//! events; what lies further ahead waits in one more heap until its day comes into sight.
//!
//! The caller owns the sequence numbers, so that a packet keeps the place among equals that it
//! got when it was admitted to its link, although only the head of a link is in the queue
//! (`docs/adr/0004-one-event-per-link.md`). There is no cancellation: stale entries are for the
//! owner to recognise.

use crate::time::Time;

const ARITY: usize = 4;
/// A day is 2^22 ps, about 4 us.
const DAY_BITS: u32 = 22;
/// Days in sight.
const DAYS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    const fn day(&self) -> u64 {
        self.time.as_picos() >> DAY_BITS
    }

    /// One comparison of 128 bits orders by time first and sequence second.
    fn key(&self) -> u128 {
        (u128::from(self.time.as_picos()) << 64) | u128::from(self.sequence)
    }
}

/// Pending events, earliest first; equal times in the order of their sequence numbers.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// The days in sight, by the low bits of their number.
    days: Vec<Heap<E>>,
    /// Which of them hold events.
    busy: [u64; DAYS / 64],
    /// Number of the day at hand; the days in sight begin with it.
    today: u64,
    /// Events beyond the days in sight.
    far: Heap<E>,
    len: usize,
    now: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            days: (0..DAYS).map(|_| Heap::new()).collect(),
            busy: [0; DAYS / 64],
            today: 0,
            far: Heap::new(),
            len: 0,
            now: Time::ZERO,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the event that was popped last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Schedules an event. `sequence` decides among events of the same time.
    ///
    /// # Panics
    /// In debug builds if `time` lies in the past.
    #[inline]
    pub fn push(&mut self, time: Time, sequence: u64, event: E) {
        debug_assert!(time >= self.now, "event at {time} scheduled at {}", self.now);
        self.len += 1;
        self.insert(Entry { time, sequence, event });
    }

    #[inline]
    fn insert(&mut self, entry: Entry<E>) {
        let day = entry.day();
        if day < self.today + DAYS as u64 {
            let slot = day as usize % DAYS;
            self.busy[slot / 64] |= 1 << (slot % 64);
            self.days[slot].push(entry);
        } else {
            self.far.push(entry);
        }
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        let mut slot = self.today as usize % DAYS;
        if self.busy[slot / 64] & (1 << (slot % 64)) == 0 {
            slot = self.next_day();
        }
        let heap = &mut self.days[slot];
        let first = heap.pop()?;
        if heap.len() == 0 {
            heap.clear();
            self.busy[slot / 64] &= !(1 << (slot % 64));
        }
        self.now = first.time;
        Some((first.time, first.event))
    }

    /// Moves on to the next day that holds an event, and brings the days that come into sight
    /// with it; returns its slot.
    fn next_day(&mut self) -> usize {
        let ahead = self.days_ahead();
        let far = self.far.first().map(Entry::day);
        let near = ahead.map(|days| self.today + days);
        self.today = near.into_iter().chain(far).min().unwrap_or(self.today);
        while let Some(entry) = self.far.pop_if(|entry| entry.day() < self.today + DAYS as u64) {
            self.insert(entry);
        }
        self.today as usize % DAYS
    }

    /// Days until the next busy one among those in sight.
    fn days_ahead(&self) -> Option<u64> {
        let today = self.today as usize % DAYS;
        let rest = self.busy[today / 64] >> (today % 64);
        if rest != 0 {
            return Some(u64::from(rest.trailing_zeros()));
        }
        let words = self.busy.len();
        // The word at hand comes last again, for the days before today in it.
        (1..=words).map(|step| (today / 64 + step) % words).find(|word| self.busy[*word] != 0).map(
            |word| {
                let slot = word * 64 + self.busy[word].trailing_zeros() as usize;
                ((slot + DAYS - today) % DAYS) as u64
            },
        )
    }
}

#[derive(Clone, Debug)]
struct Heap<E> {
    entries: Vec<Entry<E>>,
    /// The root was popped and nothing has taken its place yet: a link that reschedules its next
    /// packet, the usual case, then costs one sift instead of two.
    vacant_root: bool,
}

impl<E: Copy> Heap<E> {
    const fn new() -> Self {
        Self { entries: Vec::new(), vacant_root: false }
    }

    fn len(&self) -> usize {
        self.entries.len() - usize::from(self.vacant_root)
    }

    #[inline]
    fn push(&mut self, entry: Entry<E>) {
        if self.vacant_root {
            self.vacant_root = false;
            self.sift_down(entry);
        } else {
            self.entries.push(entry);
            self.sift_up(entry);
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry<E>> {
        self.fill_root();
        let first = *self.entries.first()?;
        self.vacant_root = true;
        Some(first)
    }

    /// The earliest entry.
    fn first(&mut self) -> Option<&Entry<E>> {
        self.fill_root();
        self.entries.first()
    }

    /// Removes the earliest entry if `condition` holds of it.
    fn pop_if(&mut self, condition: impl FnOnce(&Entry<E>) -> bool) -> Option<Entry<E>> {
        if condition(self.first()?) { self.pop() } else { None }
    }

    /// Forgets the vacant root of an empty heap.
    fn clear(&mut self) {
        self.entries.clear();
        self.vacant_root = false;
    }

    #[inline]
    fn fill_root(&mut self) {
        if self.vacant_root {
            self.vacant_root = false;
            if let Some(last) = self.entries.pop()
                && !self.entries.is_empty()
            {
                self.sift_down(last);
            }
        }
    }

    fn sift_up(&mut self, entry: Entry<E>) {
        let key = entry.key();
        let mut hole = self.entries.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.entries[parent].key() <= key {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Sinks `entry` from the root, which is a hole.
    fn sift_down(&mut self, entry: Entry<E>) {
        let entries = &mut self.entries[..];
        let key = entry.key();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let Some(children) = entries.get(first..entries.len().min(first + ARITY)) else {
                break;
            };
            let Some((head, rest)) = children.split_first() else {
                break;
            };
            let (mut least, mut least_key) = (0, head.key());
            for (i, child) in rest.iter().enumerate() {
                let child_key = child.key();
                if child_key < least_key {
                    (least, least_key) = (i + 1, child_key);
                }
            }
            if key <= least_key {
                break;
            }
            entries[hole] = children[least];
            hole = first + least;
        }
        entries[hole] = entry;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_times_come_in_sequence_order() {
        let mut queue = EventQueue::new();
        for (sequence, event) in [(3, 'c'), (1, 'a'), (2, 'b')] {
            queue.push(Time::from_picos(5), sequence, event);
        }
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, event)| event)).collect();
        assert_eq!(order, "abc");
    }

    /// Near and far, with ties.
    fn delay() -> impl Strategy<Value = u64> {
        let sight = (DAYS as u64) << DAY_BITS;
        prop_oneof![0_u64..50, Just(1 << DAY_BITS), Just(sight), 0..3 * sight]
    }

    proptest! {
        /// Against a sorted vector, with pushes between the pops and the clock never running back.
        #[test]
        fn agrees_with_a_sorted_vector(
            steps in prop::collection::vec((delay(), any::<bool>()), 1..200),
        ) {
            let mut queue = EventQueue::new();
            let mut model: Vec<(Time, u64)> = Vec::new();
            let mut now = Time::ZERO;
            for (sequence, &(delay, pop)) in steps.iter().enumerate() {
                let sequence = sequence as u64;
                let time = Time::from_picos(now.as_picos() + delay);
                queue.push(time, sequence, sequence);
                model.push((time, sequence));
                if pop {
                    model.sort_unstable();
                    let (time, sequence) = model.remove(0);
                    prop_assert_eq!(queue.pop(), Some((time, sequence)));
                    prop_assert!(time >= now);
                    now = time;
                }
                prop_assert_eq!(queue.len(), model.len());
            }
            model.sort_unstable();
            for (time, sequence) in model {
                prop_assert_eq!(queue.pop(), Some((time, sequence)));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
