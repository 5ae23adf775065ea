//! The event queue: a calendar whose days are ordered by `(time, sequence)`.
//!
//! Links schedule microseconds ahead, timers hundreds of milliseconds. The next millisecond is
//! divided into days of 17 microseconds; what lies further ahead waits in a heap until its day
//! comes into sight. A day seldom holds more than a few events, which mostly come in the order in
//! which they will leave: it is a sorted list as long as it is short. A sorted list is a heap, so
//! a crowded day goes on as one.
//!
//! The caller owns the sequence numbers, so that a packet keeps the place among equals that it
//! got when it was admitted to its link, although only the head of a link is in the queue
//! (`docs/adr/0004-one-event-per-link.md`). There is no cancellation: stale entries are for the
//! owner to recognise.

use crate::time::Time;

const ARITY: usize = 4;
/// A day is 2^24 ps, about 17 us.
const DAY_BITS: u32 = 24;
/// Days in sight: few enough to stay in the cache and to find the next busy one at one look.
const DAYS: usize = 64;
/// Length from which a day's list is tidied up or becomes a heap.
const CROWD: usize = 64;

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
    days: Box<[Day<E>; DAYS]>,
    /// Which of them hold events, a bit each.
    busy: u64,
    /// Number of the day at hand; the days in sight begin with it.
    today: u64,
    /// The day on which the earliest event beyond the days in sight falls.
    far_day: u64,
    /// Events beyond the days in sight.
    far: Heap<E>,
    len: usize,
    now: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            days: Box::new(std::array::from_fn(|_| Day::new())),
            busy: 0,
            today: 0,
            far_day: u64::MAX,
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
        let day = time.as_picos() >> DAY_BITS;
        if day < self.today + DAYS as u64 {
            self.insert(day, time, sequence, event);
        } else {
            self.far.push(Entry { time, sequence, event });
            self.far_day = self.far_day.min(day);
        }
    }

    #[inline]
    fn insert(&mut self, day: u64, time: Time, sequence: u64, event: E) {
        let slot = day as usize % DAYS;
        self.busy |= 1 << slot;
        self.days[slot].push(time, sequence, event);
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let ahead = self.busy.rotate_right((self.today % DAYS as u64) as u32).trailing_zeros();
        if self.busy != 0 {
            self.today += u64::from(ahead);
        } else if self.far_day < u64::MAX {
            self.today = self.far_day;
        } else {
            return None;
        }
        if self.far_day < self.today + DAYS as u64 {
            self.bring_into_sight();
        }
        let slot = self.today as usize % DAYS;
        let day = &mut self.days[slot];
        let (time, event) = day.pop()?;
        if day.is_empty() {
            self.busy ^= 1 << slot;
        }
        self.len -= 1;
        self.now = time;
        Some((time, event))
    }

    #[cold]
    fn bring_into_sight(&mut self) {
        let horizon = self.today + DAYS as u64;
        while let Some(entry) = self.far.pop_if(|entry| entry.day() < horizon) {
            self.insert(entry.day(), entry.time, entry.sequence, entry.event);
        }
        self.far_day = self.far.first().map_or(u64::MAX, Entry::day);
    }
}

/// The events of one day: in order from `head` on, or, once there were many, a heap.
#[derive(Clone, Debug)]
struct Day<E> {
    heap: Heap<E>,
    head: usize,
    is_heap: bool,
}

impl<E: Copy> Day<E> {
    const fn new() -> Self {
        Self { heap: Heap::new(), head: 0, is_heap: false }
    }

    fn is_empty(&self) -> bool {
        self.heap.len() == 0
    }

    #[inline]
    fn push(&mut self, time: Time, sequence: u64, event: E) {
        if self.is_heap || self.heap.entries.len() >= CROWD {
            return self.push_to_crowd(Entry { time, sequence, event });
        }
        let entries = &mut self.heap.entries;
        let in_order =
            entries.last().is_none_or(|last| (last.time, last.sequence) < (time, sequence));
        entries.push(Entry { time, sequence, event });
        if !in_order {
            self.move_forward();
        }
    }

    /// Moves the last entry to its place in the list.
    fn move_forward(&mut self) {
        let entries = &mut self.heap.entries[self.head..];
        let mut hole = entries.len() - 1;
        let entry = entries[hole];
        while let Some(before) = hole.checked_sub(1)
            && entries[before].key() > entry.key()
        {
            entries[hole] = entries[before];
            hole = before;
        }
        entries[hole] = entry;
    }

    /// Makes room in the list, or takes it for the heap that it is.
    #[cold]
    fn push_to_crowd(&mut self, entry: Entry<E>) {
        if !self.is_heap {
            self.heap.entries.drain(..self.head);
            self.head = 0;
            if self.heap.entries.len() < CROWD / 2 {
                return self.push(entry.time, entry.sequence, entry.event);
            }
            self.is_heap = true;
        }
        self.heap.push(entry);
    }

    #[inline]
    fn pop(&mut self) -> Option<(Time, E)> {
        if self.is_heap {
            return self.pop_from_crowd();
        }
        let first = self.heap.entries.get(self.head)?;
        let (time, event) = (first.time, first.event);
        self.head += 1;
        if self.head == self.heap.entries.len() {
            self.heap.entries.clear();
            self.head = 0;
        }
        Some((time, event))
    }

    #[cold]
    fn pop_from_crowd(&mut self) -> Option<(Time, E)> {
        let first = self.heap.pop()?;
        if self.heap.len() == 0 {
            self.heap.clear();
            self.is_heap = false;
        }
        Some((first.time, first.event))
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
