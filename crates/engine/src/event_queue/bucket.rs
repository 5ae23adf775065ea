//! The events of a short time.

use super::Entry;
use super::heap::Heap;

/// Largest number of positions by which a new event is moved to keep the list in order.
const NEAR: usize = 64;
/// Largest capacity that an empty list keeps.
const KEPT: usize = 1 << 10;

/// The order of a bucket's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Sorted from `head` on.
    Sorted,
    /// Unsorted, except that the earliest event is the first.
    Crowd,
    /// A heap.
    Heap,
}

/// The events of a short time. As long as the events are nearly in order, they are a sorted list.
/// Otherwise the events are a crowd, which is sorted only when its first event is removed, and only
/// once.
#[derive(Clone, Debug)]
pub(super) struct Bucket<E> {
    events: Heap<E>,
    /// Index of the earliest event, unless the events are a heap.
    head: usize,
    order: Order,
    /// Whether the events were a crowd that has been sorted.
    was_crowd: bool,
}

impl<E: Copy> Bucket<E> {
    pub(super) const fn new() -> Self {
        Self { events: Heap::new(), head: 0, order: Order::Sorted, was_crowd: false }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.events.len() == 0
    }

    /// Whether the bucket's events are a sorted list.
    #[inline]
    pub(super) fn is_sorted(&self) -> bool {
        self.order == Order::Sorted
    }

    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<E>) {
        if !self.is_sorted() {
            return self.push_to_crowd(entry);
        }
        let in_order = self.events.entries.last().is_none_or(|last| last.key() < entry.key());
        self.events.entries.push(entry);
        if !in_order && !self.move_forward() {
            self.make_crowd();
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

    /// Gives back the memory of the events that [`Self::take_crowd`] returned.
    pub(super) fn give_back(&mut self, events: Vec<Entry<E>>) {
        reuse(&mut self.events.entries, events);
    }

    #[inline]
    fn pop_head(&mut self) -> Option<Entry<E>> {
        let first = *self.events.entries.get(self.head)?;
        self.head += 1;
        let len = self.events.entries.len();
        if self.head == len {
            self.clear();
        } else if self.head >= KEPT && 2 * self.head >= len {
            self.compact();
        }
        Some(first)
    }

    #[inline]
    fn clear(&mut self) {
        self.events.clear();
        self.head = 0;
        self.order = Order::Sorted;
        self.was_crowd = false;
    }

    #[cold]
    fn compact(&mut self) {
        self.events.entries.drain(..self.head);
        self.head = 0;
    }

    /// Moves the last event to its position in the list, unless this position is far away. Returns
    /// whether the event is at its position.
    fn move_forward(&mut self) -> bool {
        let entries = &mut self.events.entries[self.head..];
        let last = entries.len() - 1;
        let end = last.saturating_sub(NEAR);
        let (mut hole, entry) = (last, entries[last]);
        while hole > end && entries[hole - 1].key() > entry.key() {
            entries[hole] = entries[hole - 1];
            hole -= 1;
        }
        entries[hole] = entry;
        hole == 0 || entries[hole - 1].key() < entry.key()
    }

    /// Turns a list into a crowd, or into a heap if it was a crowd before. All events except one
    /// are in order already.
    #[cold]
    fn make_crowd(&mut self) {
        self.compact();
        self.order = if self.was_crowd { Order::Heap } else { Order::Crowd };
        self.events.entries.sort_by_key(Entry::key);
    }

    #[cold]
    fn push_to_crowd(&mut self, entry: Entry<E>) {
        if self.order == Order::Heap {
            return self.events.push(entry);
        }
        self.events.entries.push(entry);
        let last = self.events.entries.len() - 1;
        if entry.key() < self.events.entries[0].key() {
            self.events.entries.swap(0, last);
        }
    }

    #[cold]
    fn pop_from_crowd(&mut self) -> Option<Entry<E>> {
        if self.order == Order::Crowd {
            self.events.entries.sort_by_key(Entry::key);
            (self.order, self.was_crowd) = (Order::Sorted, true);
            return self.pop_head();
        }
        let first = self.events.pop();
        if self.is_empty() {
            self.clear();
        }
        first
    }
}

/// Gives an empty list the memory of another list, unless this memory is large.
pub(super) fn reuse<E>(list: &mut Vec<Entry<E>>, mut space: Vec<Entry<E>>) {
    if list.is_empty() && space.capacity() <= KEPT {
        space.clear();
        *list = space;
    }
}
