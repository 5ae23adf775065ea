//! A calendar whose days are ordered by `(time, sequence)`.
//!
//! This month and the next, half a millisecond each, are divided into days of 17 microseconds. The
//! months after them, 34 milliseconds in all, keep their events unsorted and distribute them to
//! their days when they are near; later events wait in a heap. A day rarely has more than a few
//! events, which mostly arrive in order: it is a sorted list while it is short. A sorted list is a
//! heap, so a long one continues as a heap.

use super::{Entry, NOTHING};
use crate::time::Time;

const ARITY: usize = 4;
/// A day is 2^24 ps, about 17 us.
pub(super) const DAY_BITS: u32 = 24;
/// Days in sight. They are few, so that they stay in the cache and their `busy` bits fit into a
/// word.
pub(super) const DAYS: usize = 64;
/// A month is half of them.
pub(super) const MONTH_BITS: u32 = DAY_BITS + DAYS.ilog2() - 1;
/// Months with a list of their own.
pub(super) const MONTHS: usize = 64;
/// Length at which a day's list is compacted or becomes a heap.
const CROWD: usize = 64;

/// Events, earliest first.
#[derive(Clone, Debug)]
pub(super) struct Calendar<E> {
    /// The days in sight, by the low bits of their number.
    days: Box<[Day<E>; DAYS]>,
    /// Bit mask of the days that have events.
    busy: u64,
    /// Number of the current month; the days in sight are its own and those of the next.
    month: u64,
    /// The months after these, by the low bits of their number, and a bit mask of those with
    /// events.
    months: Box<[Month<E>; MONTHS]>,
    busy_months: u64,
    /// The month of the earliest event in `far`.
    far_month: u64,
    /// Events after all these months.
    far: Heap<E>,
}

/// Events in no particular order.
#[derive(Clone, Debug)]
struct Month<E> {
    events: Vec<Entry<E>>,
    /// Key of the earliest.
    first: u128,
}

impl<E: Copy> Calendar<E> {
    pub(super) fn new() -> Self {
        let month = |_| Month { events: Vec::new(), first: NOTHING };
        Self {
            days: Box::new(std::array::from_fn(|_| Day::new())),
            busy: 0,
            month: 0,
            months: Box::new(std::array::from_fn(month)),
            busy_months: 0,
            far_month: u64::MAX,
            far: Heap::new(),
        }
    }

    /// Adds an event. Like all events, it is not earlier than `now`.
    #[inline]
    pub(super) fn push(&mut self, now: Time, entry: Entry<E>) {
        let today = month_at(now);
        if today != self.month {
            self.turn_to(today);
        }
        let month = month_at(entry.time);
        match month - today {
            0 | 1 => self.insert(entry),
            ahead if ahead < MONTHS as u64 => {
                let slot = month as usize % MONTHS;
                self.busy_months |= 1 << slot;
                let month = &mut self.months[slot];
                month.first = month.first.min(entry.key());
                month.events.push(entry);
            }
            _ => {
                self.far_month = self.far_month.min(month);
                self.far.push(entry);
            }
        }
    }

    #[inline]
    fn insert(&mut self, entry: Entry<E>) {
        let slot = day_at(entry.time) as usize % DAYS;
        self.busy |= 1 << slot;
        self.days[slot].push(entry);
    }

    /// Makes a later `month` the current one. No earlier event may be left.
    #[cold]
    fn turn_to(&mut self, month: u64) {
        let in_sight = self.month + 1;
        self.month = month;
        for next in [month, month + 1] {
            let slot = next as usize % MONTHS;
            if next > in_sight && self.busy_months & 1 << slot != 0 {
                self.busy_months ^= 1 << slot;
                self.months[slot].first = NOTHING;
                let mut events = std::mem::take(&mut self.months[slot].events);
                events.drain(..).for_each(|entry| self.insert(entry));
                self.months[slot].events = events;
            }
        }
        if self.far_month <= month + 1 {
            while let Some(entry) = self.far.pop_if(|entry| month_at(entry.time) <= month + 1) {
                self.insert(entry);
            }
            self.far_month = self.far.first().map_or(u64::MAX, |entry| month_at(entry.time));
        }
    }

    /// Slot of the first day in sight that has events.
    #[inline]
    fn next_busy(&self) -> usize {
        let today = (self.month as usize * (DAYS / 2)) % DAYS;
        let ahead = self.busy.rotate_right(today as u32).trailing_zeros();
        (today + ahead as usize) % DAYS
    }

    /// Key of the earliest event. The current month does not change, because the clock may be much
    /// earlier, and events added until then must find their day.
    #[inline]
    pub(super) fn first(&mut self) -> u128 {
        if self.busy == 0 {
            return self.first_beyond();
        }
        let slot = self.next_busy();
        self.days[slot].first().map_or(NOTHING, Entry::key)
    }

    /// Key of the earliest event after the days in sight.
    #[cold]
    fn first_beyond(&mut self) -> u128 {
        let far = self.far.first().map_or(NOTHING, Entry::key);
        if self.busy_months == 0 {
            return far;
        }
        let today = self.month as usize % MONTHS;
        let ahead = self.busy_months.rotate_right(today as u32).trailing_zeros();
        self.months[(today + ahead as usize) % MONTHS].first.min(far)
    }

    /// Removes the earliest event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        if self.busy == 0 {
            let first = self.first_beyond();
            if first == NOTHING {
                return None;
            }
            self.turn_to(month_at(super::time_of(first)));
        }
        let slot = self.next_busy();
        let day = &mut self.days[slot];
        let first = day.pop()?;
        if day.is_empty() {
            self.busy ^= 1 << slot;
        }
        Some(first)
    }
}

const fn month_at(time: Time) -> u64 {
    time.as_picos() >> MONTH_BITS
}

const fn day_at(time: Time) -> u64 {
    time.as_picos() >> DAY_BITS
}

/// The events of one day: a sorted list from `head` on, or a heap if there were many.
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
    fn push(&mut self, entry: Entry<E>) {
        if self.is_heap || self.heap.entries.len() >= CROWD {
            return self.push_to_crowd(entry);
        }
        let in_order = self.heap.entries.last().is_none_or(|last| last.key() < entry.key());
        self.heap.entries.push(entry);
        if !in_order {
            self.move_forward();
        }
    }

    fn first(&mut self) -> Option<&Entry<E>> {
        if self.is_heap { self.heap.first() } else { self.heap.entries.get(self.head) }
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

    /// Compacts the list, or turns it into a heap.
    #[cold]
    fn push_to_crowd(&mut self, entry: Entry<E>) {
        if !self.is_heap {
            self.heap.entries.drain(..self.head);
            self.head = 0;
            if self.heap.entries.len() < CROWD / 2 {
                return self.push(entry);
            }
            self.is_heap = true;
        }
        self.heap.push(entry);
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry<E>> {
        if self.is_heap {
            return self.pop_from_crowd();
        }
        let first = *self.heap.entries.get(self.head)?;
        self.head += 1;
        if self.head == self.heap.entries.len() {
            self.heap.entries.clear();
            self.head = 0;
        }
        Some(first)
    }

    #[cold]
    fn pop_from_crowd(&mut self) -> Option<Entry<E>> {
        let first = self.heap.pop()?;
        if self.heap.len() == 0 {
            self.heap.clear();
            self.is_heap = false;
        }
        Some(first)
    }
}

#[derive(Clone, Debug)]
struct Heap<E> {
    entries: Vec<Entry<E>>,
    /// The root was popped and not replaced yet. If the next operation is a push, the usual case,
    /// one sift is enough instead of two.
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

    /// Removes the earliest entry if `condition` is true for it.
    fn pop_if(&mut self, condition: impl FnOnce(&Entry<E>) -> bool) -> Option<Entry<E>> {
        if condition(self.first()?) { self.pop() } else { None }
    }

    /// Resets an empty heap with a vacant root.
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
