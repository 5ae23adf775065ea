//! The events of a short time.

use super::Entry;
use super::heap::Heap;

/// Number of events up to which a bucket is sorted with each event that it gets.
pub(super) const CROWD: usize = 64;
/// Capacity that an empty list keeps.
const KEPT: usize = 1 << 10;

/// The order of a bucket's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Sorted, and few.
    Sorted,
    /// None, except that the earliest is the first.
    Crowd,
    /// Sorted, any number.
    Long,
    /// A heap.
    Heap,
}

/// The events of a short time: a list that is sorted while it is short. A crowd is not sorted until
/// its first event is removed.
#[derive(Clone, Debug)]
pub(super) struct Bucket<E> {
    events: Heap<E>,
    /// Index of the earliest event, unless they are a heap.
    head: usize,
    order: Order,
}

impl<E: Copy> Bucket<E> {
    pub(super) const fn new() -> Self {
        Self { events: Heap::new(), head: 0, order: Order::Sorted }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.events.len() == 0
    }

    /// Whether its events are a short sorted list.
    #[inline]
    pub(super) fn is_sorted(&self) -> bool {
        self.order == Order::Sorted
    }

    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<E>) {
        if !self.is_sorted() || self.events.entries.len() >= CROWD {
            return self.push_to_crowd(entry);
        }
        let in_order = self.events.entries.last().is_none_or(|last| last.key() < entry.key());
        self.events.entries.push(entry);
        if !in_order {
            self.move_forward(usize::MAX);
        }
    }

    /// The earliest event.
    #[inline]
    pub(super) fn first(&mut self) -> Option<&Entry<E>> {
        if self.order == Order::Heap {
            return self.events.first();
        }
        self.events.entries.get(self.head)
    }

    /// Removes the earliest event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        if !self.is_sorted() {
            return self.pop_from_crowd();
        }
        self.pop_head()
    }

    /// Removes all events of a crowd, in no particular order.
    pub(super) fn take_crowd(&mut self) -> Vec<Entry<E>> {
        self.order = Order::Sorted;
        self.head = 0;
        std::mem::take(&mut self.events.entries)
    }

    /// Returns the space of the events taken.
    pub(super) fn give_back(&mut self, events: Vec<Entry<E>>) {
        reuse(&mut self.events.entries, events);
    }

    #[inline]
    fn pop_head(&mut self) -> Option<Entry<E>> {
        let first = *self.events.entries.get(self.head)?;
        self.head += 1;
        if self.head == self.events.entries.len() {
            self.clear();
        }
        Some(first)
    }

    #[inline]
    fn clear(&mut self) {
        self.events.clear();
        self.head = 0;
        self.order = Order::Sorted;
    }

    /// Moves the last event to its place in the list, by `most` places at most. Returns whether
    /// it is there.
    fn move_forward(&mut self, most: usize) -> bool {
        let entries = &mut self.events.entries[self.head..];
        let last = entries.len() - 1;
        let end = last.saturating_sub(most);
        let (mut hole, entry) = (last, entries[last]);
        while hole > end && entries[hole - 1].key() > entry.key() {
            entries[hole] = entries[hole - 1];
            hole -= 1;
        }
        entries[hole] = entry;
        hole == 0 || entries[hole - 1].key() < entry.key()
    }

    #[cold]
    fn push_to_crowd(&mut self, entry: Entry<E>) {
        match self.order {
            Order::Sorted => {
                self.events.entries.drain(..self.head);
                self.head = 0;
                if self.events.entries.len() >= CROWD / 2 {
                    self.order = Order::Crowd;
                }
                self.push(entry);
            }
            Order::Crowd => {
                self.events.entries.push(entry);
                let last = self.events.entries.len() - 1;
                if entry.key() < self.events.entries[0].key() {
                    self.events.entries.swap(0, last);
                }
            }
            Order::Long => {
                self.events.entries.push(entry);
                if !self.move_forward(CROWD) {
                    self.make_heap();
                }
            }
            Order::Heap => self.events.push(entry),
        }
    }

    #[cold]
    fn pop_from_crowd(&mut self) -> Option<Entry<E>> {
        if self.order == Order::Crowd {
            self.events.entries.sort_unstable_by_key(Entry::key);
            self.order = Order::Long;
        }
        if self.order == Order::Long {
            return self.pop_head();
        }
        let first = self.events.pop();
        if self.is_empty() {
            self.clear();
        }
        first
    }

    /// Makes a heap of a long list, whose events are in order apart from one.
    fn make_heap(&mut self) {
        self.events.entries.drain(..self.head);
        self.head = 0;
        self.events.entries.sort_unstable_by_key(Entry::key);
        self.order = Order::Heap;
    }
}

/// Gives an empty list the space of another, unless it is large.
pub(super) fn reuse<E>(list: &mut Vec<Entry<E>>, mut space: Vec<Entry<E>>) {
    if list.is_empty() && space.capacity() <= KEPT {
        space.clear();
        *list = space;
    }
}
