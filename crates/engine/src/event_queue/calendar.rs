//! A calendar whose days are ordered by `(time, sequence)`.
//!
//! The current month and the next month each last half a millisecond, and are divided into days of
//! 17 microseconds. Further months cover the next 34 milliseconds, and years cover the 2.2 seconds
//! after these months. Months and years keep their events unsorted. When a year or a month is near,
//! its events are distributed to months or days. Later events wait in a heap. A day rarely has more
//! than a few events, which mostly arrive in order. A day with many events is divided into 64 hours
//! when its first event is removed.

use super::bucket::{Bucket, reuse};
use super::heap::Heap;
use super::{Entry, NOTHING};
use crate::time::Time;

/// A day is 2^24 ps, about 17 us.
pub(super) const DAY_BITS: u32 = 24;
/// Number of days in sight: the days of the current month and of the next month. They are few, so
/// that they stay in the cache, and the `busy` bits of the days fit into a word.
pub(super) const DAYS: usize = 64;
/// An hour is 2^18 ps, about 262 ns.
pub(super) const HOUR_BITS: u32 = DAY_BITS - HOURS.ilog2();
const HOURS: usize = 64;
/// A month has half of the days in sight.
pub(super) const MONTH_BITS: u32 = DAY_BITS + DAYS.ilog2() - 1;
/// Number of months with a list of their own.
pub(super) const MONTHS: usize = 64;
/// Number of years with a list of their own.
pub(super) const YEARS: usize = 64;
const MONTHS_BITS: u32 = MONTHS.ilog2();

/// Events, earliest first.
#[derive(Clone, Debug)]
pub(super) struct Calendar<E> {
    /// The days in sight, by the low bits of their number.
    days: Box<[Bucket<E>; DAYS]>,
    /// Bit mask of the days that have events.
    busy: u64,
    /// Number of the current month. The days in sight are those of this month and of the next
    /// month.
    month: u64,
    /// Slot of the day that is divided into hours; `DAYS` if no day is divided.
    divided: usize,
    hours: Box<[Bucket<E>; HOURS]>,
    busy_hours: u64,
    /// The months after the months in sight.
    months: Lists<E>,
    /// The years after the year that contains the last day in sight.
    years: Lists<E>,
    /// Number of the year that contains the last day in sight.
    year: u64,
    /// The month of the earliest event in `far`.
    far_month: u64,
    /// Events after the last of these years.
    far: Heap<E>,
}

impl<E: Copy> Calendar<E> {
    pub(super) fn new() -> Self {
        Self {
            days: Box::new(std::array::from_fn(|_| Bucket::new())),
            busy: 0,
            month: 0,
            divided: DAYS,
            hours: Box::new(std::array::from_fn(|_| Bucket::new())),
            busy_hours: 0,
            months: Lists::new(),
            years: Lists::new(),
            year: 0,
            far_month: u64::MAX,
            far: Heap::new(),
        }
    }

    /// Adds an event, which is not earlier than `now`.
    #[inline]
    pub(super) fn push(&mut self, now: Time, entry: Entry<E>) {
        let today = month_at(now);
        if today != self.month {
            self.turn_to(today);
        }
        self.place(entry);
    }

    #[inline]
    fn place(&mut self, entry: Entry<E>) {
        let month = month_at(entry.time);
        let ahead = month - self.month;
        if ahead <= 1 {
            self.insert(entry);
        } else if ahead < 2 + MONTHS as u64 {
            self.months.push(month, entry);
        } else {
            self.place_beyond(month, entry);
        }
    }

    fn place_beyond(&mut self, month: u64, entry: Entry<E>) {
        let year = year_of(month);
        if year - self.year <= YEARS as u64 {
            self.years.push(year, entry);
        } else {
            self.far_month = self.far_month.min(month);
            self.far.push(entry);
        }
    }

    #[inline]
    fn insert(&mut self, entry: Entry<E>) {
        let slot = day_at(entry.time) as usize % DAYS;
        self.busy |= 1 << slot;
        if slot == self.divided {
            self.insert_hour(entry);
        } else {
            self.days[slot].push(entry);
        }
    }

    fn insert_hour(&mut self, entry: Entry<E>) {
        let hour = hour_at(entry.time) as usize % HOURS;
        self.busy_hours |= 1 << hour;
        self.hours[hour].push(entry);
    }

    /// Makes a later `month` the current month. No event before this month may be left.
    #[cold]
    fn turn_to(&mut self, month: u64) {
        let in_sight = self.month + 1;
        self.month = month;
        for next in [month, month + 1] {
            if next > in_sight {
                let events = self.months.take(next);
                for entry in &events {
                    self.insert(*entry);
                }
                self.months.give_back(next, events);
            }
        }
        let year = year_of(month + 1);
        if year > self.year {
            // No event is earlier than `month`, so earlier years have no events any more.
            let years = year_of(month).max(self.year + 1)..=year;
            self.year = year;
            for next in years {
                let events = self.years.take(next);
                for entry in &events {
                    self.place(*entry);
                }
                self.years.give_back(next, events);
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
    /// earlier than this event, and events between the two can still be added.
    #[inline]
    pub(super) fn first(&mut self) -> u128 {
        if self.busy == 0 {
            return self.first_beyond();
        }
        let slot = self.next_busy();
        if slot == self.divided {
            return self.first_hour();
        }
        self.days[slot].first().map_or(NOTHING, Entry::key)
    }

    fn first_hour(&mut self) -> u128 {
        let hour = self.busy_hours.trailing_zeros() as usize % HOURS;
        self.hours[hour].first().map_or(NOTHING, Entry::key)
    }

    /// Key of the earliest event after the days in sight.
    #[cold]
    fn first_beyond(&mut self) -> u128 {
        let far = self.far.first().map_or(NOTHING, Entry::key);
        self.months.first(self.month + 2).min(self.years.first(self.year + 1)).min(far)
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
        if slot == self.divided || !day.is_sorted() {
            return self.pop_hour(slot);
        }
        let first = day.pop()?;
        if day.is_empty() {
            self.busy ^= 1 << slot;
        }
        Some(first)
    }

    /// Divides a day with many events into hours, and removes its earliest event.
    /// From now on, the clock is within this day, so no earlier day can get events.
    #[cold]
    fn pop_hour(&mut self, slot: usize) -> Option<Entry<E>> {
        if slot != self.divided {
            self.divided = slot;
            let events = self.days[slot].take_crowd();
            for entry in &events {
                self.insert_hour(*entry);
            }
            self.days[slot].give_back(events);
        }
        let hour = self.busy_hours.trailing_zeros() as usize % HOURS;
        let first = self.hours[hour].pop()?;
        if self.hours[hour].is_empty() {
            self.busy_hours ^= 1 << hour;
            if self.busy_hours == 0 {
                self.busy ^= 1 << slot;
                self.divided = DAYS;
            }
        }
        Some(first)
    }
}

const fn year_of(month: u64) -> u64 {
    month >> MONTHS_BITS
}

const fn month_at(time: Time) -> u64 {
    time.as_picos() >> MONTH_BITS
}

const fn day_at(time: Time) -> u64 {
    time.as_picos() >> DAY_BITS
}

const fn hour_at(time: Time) -> u64 {
    time.as_picos() >> HOUR_BITS
}

/// The events of 64 consecutive months or years. The events of a month or year are in no particular
/// order.
#[derive(Clone, Debug)]
struct Lists<E> {
    /// The lists, indexed by the low bits of the month's or year's number.
    lists: Box<[List<E>; MONTHS]>,
    /// Bit mask of the lists that have events.
    busy: u64,
}

#[derive(Clone, Debug)]
struct List<E> {
    events: Vec<Entry<E>>,
    /// Key of the earliest event.
    first: u128,
}

impl<E: Copy> Lists<E> {
    fn new() -> Self {
        let list = |_| List { events: Vec::new(), first: NOTHING };
        Self { lists: Box::new(std::array::from_fn(list)), busy: 0 }
    }

    #[inline]
    fn push(&mut self, number: u64, entry: Entry<E>) {
        let slot = number as usize % MONTHS;
        self.busy |= 1 << slot;
        let list = &mut self.lists[slot];
        list.first = list.first.min(entry.key());
        list.events.push(entry);
    }

    /// Key of the earliest of all events; `number` is the first month or year that can have events.
    fn first(&self, number: u64) -> u128 {
        if self.busy == 0 {
            return NOTHING;
        }
        let start = number as usize % MONTHS;
        let ahead = self.busy.rotate_right(start as u32).trailing_zeros();
        self.lists[(start + ahead as usize) % MONTHS].first
    }

    /// Removes the events of a month or year.
    fn take(&mut self, number: u64) -> Vec<Entry<E>> {
        let slot = number as usize % MONTHS;
        self.busy &= !(1 << slot);
        self.lists[slot].first = NOTHING;
        std::mem::take(&mut self.lists[slot].events)
    }

    /// Gives back the memory of the events that [`Self::take`] returned, for the next month or year
    /// in the same slot.
    fn give_back(&mut self, number: u64, events: Vec<Entry<E>>) {
        reuse(&mut self.lists[number as usize % MONTHS].events, events);
    }
}
