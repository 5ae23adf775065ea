//! Events in the order in which they were scheduled.

use crate::packet::{NEVER, Ticks};

/// A ring of scheduled events, with their times.
#[derive(Debug)]
pub struct Timeline<T> {
    /// Time of the first event, or [`NEVER`] if there is none.
    pub due: Ticks,
    /// The events. The length is a power of two.
    ring: Vec<(Ticks, T)>,
    first: usize,
    past: usize,
}

impl<T: Copy + Default> Timeline<T> {
    /// An empty ring.
    pub fn new() -> Self {
        Self { due: NEVER, ring: vec![(NEVER, T::default()); 64], first: 0, past: 0 }
    }

    /// Schedules an event that is not earlier than any scheduled event.
    #[inline]
    pub fn push(&mut self, at: Ticks, what: T) {
        if self.past - self.first == self.ring.len() {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[self.past & mask] = (at, what);
        self.past += 1;
        self.due = self.due.min(at);
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.past - self.first
    }

    /// Removes the first event, which must exist.
    #[inline]
    pub fn pop(&mut self) -> T {
        let mask = self.ring.len() - 1;
        let (_, what) = self.ring[self.first & mask];
        self.first += 1;
        let next = self.ring[self.first & mask].0;
        self.due = if self.first == self.past { NEVER } else { next };
        what
    }

    #[cold]
    fn grow(&mut self) {
        let mask = self.ring.len() - 1;
        let planned = self.past - self.first;
        let mut ring: Vec<_> = (self.first..self.past).map(|at| self.ring[at & mask]).collect();
        ring.resize(2 * planned, (NEVER, T::default()));
        (self.ring, self.first, self.past) = (ring, 0, planned);
    }
}
