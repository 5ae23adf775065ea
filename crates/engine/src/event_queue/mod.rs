//! The event queue: lanes for events in order, and a calendar for the rest.
//!
//! Most events of a network are scheduled a fixed time ahead: the time that a packet takes to cross
//! the next link, or that an ACK takes to reach the sender. Such events arrive in order, so a few
//! FIFO lanes hold them, and the earliest event is the first of one lane. A lane accepts events
//! that are not earlier than its last event. All other events, and distant timers, go to a
//! calendar.
//!
//! The caller chooses the sequence numbers; [`EventQueue::number`] counts. A packet therefore gets
//! its position among simultaneous events when it is admitted to its link, and keeps this position,
//! although only the first packet of a link is in the queue
//! (`docs/adr/0004-one-event-per-link.md`). Events cannot be cancelled; the owner must recognise
//! stale events.

mod bucket;
mod calendar;
mod heap;

use std::collections::VecDeque;

use crate::time::{Span, Time};
use calendar::Calendar;

/// Number of lanes that are always in use: one lane per usual delay on a star, and one more lane.
const USUAL: usize = 3;
/// Number of lanes. A network with links of several kinds has several usual delays.
const LANES: usize = 5;
/// After this number of near events that no lane accepted, one more lane is used, if such events
/// were frequent: at least one in `RARE` sequence numbers.
const MISFITS: u32 = 256;
const RARE: u64 = 2;
/// Events further ahead do not enter a lane, because the lane could then not accept nearer events.
const NEAR: Span = Span::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    sequence: u64,
    event: E,
}

impl<E> Entry<E> {
    #[inline]
    fn key(&self) -> u128 {
        key(self.time, self.sequence)
    }
}

/// The key of an event: one 128-bit comparison orders events by time, then by sequence number.
#[inline]
const fn key(time: Time, sequence: u64) -> u128 {
    (time.as_picos() as u128) << 64 | sequence as u128
}

const fn time_of(key: u128) -> Time {
    Time::from_picos((key >> 64) as u64)
}

/// Key of an empty lane, later than all events.
const NOTHING: u128 = u128::MAX;

/// Pending events, earliest first; events at equal times are in the order of their sequence
/// numbers.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// Keys of the first events of the lanes and of the calendar.
    first: [u128; LANES + 1],
    /// Keys of the lanes' last events; 0 for an empty lane, which accepts any event.
    last: [u128; LANES],
    lanes: [VecDeque<Entry<E>>; LANES],
    calendar: Calendar<E>,
    /// Number of lanes in use.
    used: usize,
    /// Number of near events that no lane accepted since the sequence number `since`.
    misfits: u32,
    since: u64,
    now: Time,
    sequence: u64,
    /// The last number of [`Self::number`].
    numbered: u64,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self {
            first: [NOTHING; LANES + 1],
            last: [0; LANES],
            lanes: std::array::from_fn(|_| VecDeque::new()),
            calendar: Calendar::new(),
            used: USUAL,
            misfits: 0,
            since: 0,
            now: Time::ZERO,
            sequence: 0,
            numbered: 0,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time of the last popped event.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The sequence number of the last popped event.
    #[inline]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The number after the last one that this method returned, for a caller that orders
    /// simultaneous events by the order of its calls.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.numbered += 1;
        self.numbered
    }

    /// The time of the earliest pending event.
    pub fn next_time(&self) -> Option<Time> {
        let earliest = self.first.iter().copied().min().filter(|key| *key != NOTHING);
        earliest.map(time_of)
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.next_time().is_none()
    }

    /// Schedules an event. `sequence` orders simultaneous events.
    ///
    /// # Panics
    /// In debug builds, if `time` is in the past.
    #[inline]
    pub fn push(&mut self, time: Time, sequence: u64, event: E) {
        debug_assert!(time >= self.now, "event at {time} scheduled at {}", self.now);
        let key = key(time, sequence);
        // The search has no branches, because the lane differs from event to event. The event
        // enters the first lane that fits. Events with longer delays therefore use the earlier
        // lanes.
        let fits =
            (0..USUAL).fold(0, |fits, lane| fits | u32::from(self.last[lane] <= key) << lane);
        let lane = fits.trailing_zeros() as usize;
        if lane >= USUAL || time - self.now > NEAR {
            return self.push_to_others(time, sequence, event);
        }
        self.push_to_lane(lane, Entry { time, sequence, event });
    }

    #[inline]
    fn push_to_lane(&mut self, lane: usize, entry: Entry<E>) {
        let key = entry.key();
        if self.lanes[lane].is_empty() {
            self.first[lane] = key;
        }
        self.last[lane] = key;
        self.lanes[lane].push_back(entry);
    }

    /// Schedules an event that no usual lane accepts.
    #[inline(never)]
    fn push_to_others(&mut self, time: Time, sequence: u64, event: E) {
        if time - self.now <= NEAR {
            let key = key(time, sequence);
            if let Some(lane) = (USUAL..self.used).find(|lane| self.last[*lane] <= key) {
                return self.push_to_lane(lane, Entry { time, sequence, event });
            }
            self.misfits += 1;
            if self.misfits == MISFITS {
                let many = sequence.saturating_sub(self.since) < u64::from(MISFITS) * RARE;
                self.used = (self.used + usize::from(many)).min(LANES);
                (self.misfits, self.since) = (0, sequence);
            }
        }
        self.push_to_calendar(time, sequence, event);
    }

    /// Schedules a deadline, as [`Self::push`] does. Deadlines are not in order. In a lane, a
    /// deadline would block events that are in order.
    #[inline]
    pub fn push_deadline(&mut self, time: Time, sequence: u64, event: E) {
        debug_assert!(time >= self.now, "event at {time} scheduled at {}", self.now);
        self.push_to_calendar(time, sequence, event);
    }

    #[inline(never)]
    fn push_to_calendar(&mut self, time: Time, sequence: u64, event: E) {
        self.calendar.push(self.now, Entry { time, sequence, event });
        self.first[LANES] = self.first[LANES].min(key(time, sequence));
    }

    /// Removes the earliest event.
    #[expect(clippy::inline_always, reason = "its result would go through memory")]
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let first = &self.first;
        let (a, b, c, rest) = (first[0], first[1], first[2], first[LANES]);
        let left = if b < a { (b, 1) } else { (a, 0) };
        let right = (c, 2);
        let near = if right.0 < left.0 { right } else { left };
        let mut earliest = if rest < near.0 { (rest, LANES) } else { near };
        for lane in USUAL..self.used {
            if self.first[lane] < earliest.0 {
                earliest = (self.first[lane], lane);
            }
        }
        let (least, lane) = earliest;
        if least == NOTHING {
            return None;
        }
        let Entry { time, sequence, event } = if lane == LANES {
            self.pop_from_calendar()?
        } else {
            let entry = self.lanes[lane].pop_front()?;
            if let Some(next) = self.lanes[lane].front() {
                self.first[lane] = next.key();
            } else {
                self.first[lane] = NOTHING;
                self.last[lane] = 0;
            }
            entry
        };
        self.now = time;
        self.sequence = sequence;
        Some((time, event))
    }

    #[inline(never)]
    fn pop_from_calendar(&mut self) -> Option<Entry<E>> {
        let entry = self.calendar.pop()?;
        self.first[LANES] = self.calendar.first();
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::calendar::{DAY_BITS, DAYS, HOUR_BITS, MONTH_BITS, MONTHS, YEARS};
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

    /// Short and long delays, with ties.
    fn delay() -> impl Strategy<Value = u64> {
        let (sight, lists) = ((DAYS as u64) << DAY_BITS, (MONTHS as u64) << MONTH_BITS);
        let years = lists * YEARS as u64;
        let near = prop_oneof![0_u64..50, Just(1 << DAY_BITS), Just(sight), 0..3 * sight];
        let far = prop_oneof![Just(lists), 0..3 * lists, 0..3 * years];
        prop_oneof![4 => near, 1 => far]
    }

    /// Delays with which many events are in a few hours of the calendar.
    fn short_delay() -> impl Strategy<Value = u64> {
        prop_oneof![Just(5), 0_u64..1 << HOUR_BITS, 0_u64..2 << HOUR_BITS, 0_u64..2 << DAY_BITS]
    }

    /// Compares the queue with a sorted set, with pushes between pops. The clock never runs
    /// backwards. A step is a delay, a flag that tells whether the event is a deadline, and the
    /// number of pops after it.
    fn compare(steps: &[(u64, bool, usize)]) -> Result<(), TestCaseError> {
        let (mut queue, mut model) = (EventQueue::new(), BTreeSet::new());
        let mut now = Time::ZERO;
        for (sequence, &(delay, is_deadline, pops)) in (0_u64..).zip(steps) {
            let time = Time::from_picos(now.as_picos() + delay);
            if is_deadline {
                queue.push_deadline(time, sequence, sequence);
            } else {
                queue.push(time, sequence, sequence);
            }
            model.insert((time, sequence));
            for _ in 0..pops {
                prop_assert_eq!(queue.pop(), model.pop_first());
                prop_assert!(queue.now() >= now);
                now = queue.now();
            }
            prop_assert_eq!(queue.is_empty(), model.is_empty());
        }
        while let Some(earliest) = model.pop_first() {
            prop_assert_eq!(queue.pop(), Some(earliest));
        }
        prop_assert!(queue.is_empty());
        Ok(())
    }

    proptest! {
        #[test]
        fn agrees_with_a_sorted_set(
            steps in prop::collection::vec((delay(), any::<bool>(), 0_usize..2), 1..300),
        ) {
            compare(&steps)?;
        }

        #[test]
        fn agrees_with_a_sorted_set_where_events_crowd(
            first in prop::collection::vec((short_delay(), any::<bool>(), Just(0)), 1..400),
            then in prop::collection::vec((short_delay(), any::<bool>(), 0_usize..3), 1..400),
        ) {
            compare(&[first, then].concat())?;
        }
    }
}
