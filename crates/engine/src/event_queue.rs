//! The event queue: a 4-ary heap ordered by `(time, sequence)`.
//!
//! The caller owns the sequence numbers, so that a packet keeps the place among equals that it
//! got when it was admitted to its link, although only the head of a link is in the queue
//! (`docs/adr/0004-one-event-per-link.md`). There is no cancellation: stale entries are for the
//! owner to recognise.

use crate::time::Time;

const ARITY: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    /// One comparison of 128 bits orders by time first and sequence second.
    fn key(&self) -> u128 {
        (u128::from(self.time.as_picos()) << 64) | u128::from(self.sequence)
    }
}

/// Pending events, earliest first; equal times in the order of their sequence numbers.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: Vec<Entry<E>>,
    /// The root was popped and nothing has taken its place yet: a link that reschedules its next
    /// packet, the usual case, then costs one sift instead of two.
    vacant_root: bool,
    now: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: Vec::new(), vacant_root: false, now: Time::ZERO }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the event that was popped last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.vacant_root)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Schedules an event. `sequence` decides among events of the same time.
    ///
    /// # Panics
    /// In debug builds if `time` lies in the past.
    pub fn push(&mut self, time: Time, sequence: u64, event: E) {
        debug_assert!(time >= self.now, "event at {time} scheduled at {}", self.now);
        let entry = Entry { time, sequence, event };
        if self.vacant_root {
            self.vacant_root = false;
            self.sift_down(entry);
        } else {
            self.heap.push(entry);
            self.sift_up(entry);
        }
    }

    /// Removes the earliest event.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.fill_root();
        let first = *self.heap.first()?;
        self.vacant_root = true;
        self.now = first.time;
        Some((first.time, first.event))
    }

    /// The time of the earliest event.
    pub fn next_time(&mut self) -> Option<Time> {
        self.fill_root();
        self.heap.first().map(|entry| entry.time)
    }

    fn fill_root(&mut self) {
        if self.vacant_root {
            self.vacant_root = false;
            if let Some(last) = self.heap.pop()
                && !self.heap.is_empty()
            {
                self.sift_down(last);
            }
        }
    }

    fn sift_up(&mut self, entry: Entry<E>) {
        let mut hole = self.heap.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent].key() <= entry.key() {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = entry;
    }

    /// Sinks `entry` from the root, which is a hole.
    fn sift_down(&mut self, entry: Entry<E>) {
        let len = self.heap.len();
        let key = entry.key();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            if first >= len {
                break;
            }
            let children = &self.heap[first..len.min(first + ARITY)];
            let mut least = 0;
            let mut least_key = children[0].key();
            for (i, child) in children.iter().enumerate().skip(1) {
                let child_key = child.key();
                if child_key < least_key {
                    (least, least_key) = (i, child_key);
                }
            }
            if key <= least_key {
                break;
            }
            self.heap[hole] = children[least];
            hole = first + least;
        }
        self.heap[hole] = entry;
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

    proptest! {
        /// Against a sorted vector, with pushes between the pops and the clock never running back.
        #[test]
        fn agrees_with_a_sorted_vector(steps in prop::collection::vec((0_u64..50, any::<bool>()), 1..200)) {
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
                model.sort_unstable();
                prop_assert_eq!(queue.next_time(), model.first().map(|&(time, _)| time));
            }
            model.sort_unstable();
            for (time, sequence) in model {
                prop_assert_eq!(queue.pop(), Some((time, sequence)));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
