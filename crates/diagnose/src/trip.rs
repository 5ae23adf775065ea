//! The times that the ends take to answer, as seen from the vantage point.

use crate::time::Span;

/// Times from the point to an end and back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trip {
    least: Option<Span>,
    most: Span,
    /// Number of samples that were ignored.
    unusual: u32,
    /// The latest samples, for their median, and the number of samples so far.
    latest: [Span; LATEST],
    count: usize,
}

const LATEST: usize = 9;

/// A first sample of more than this many usual round trips probably comes from a lost packet,
/// unless further samples confirm it.
const UNUSUAL: i64 = 8;
const CONFIRMED: u32 = 4;

/// A sample that is longer than the shortest one by more than this may include a delayed ACK (Linux
/// delays ACKs by at least 40 ms). Such a sample tells nothing about queues.
const HELD: Span = Span::from_millis(35);
/// A sample contains no pause if the connection was silent for less than this time plus half of the
/// sample.
const PROMPT: Span = Span::from_micros(25);
/// The longest time to an answer. If an answer seems to take more than an hour, the clock has
/// jumped.
const LONGEST: Span = Span::from_secs(3600);

/// A shorter silence than this is always ordinary, even if the usual round trip is shorter.
const LEAST_PATIENCE: Span = Span::from_micros(100);

impl Trip {
    /// Takes a sample that may be the wait for a timer. `usual` is the usual round trip.
    pub fn guess(&mut self, sample: Span, waited: Span, usual: Span) {
        if self.least.is_none() && sample > UNUSUAL * usual {
            self.unusual += 1;
            if self.unusual < CONFIRMED {
                return;
            }
        }
        self.take(sample, waited);
    }

    /// Takes a sample. The connection was silent for the part `waited` of this time.
    pub fn take(&mut self, sample: Span, waited: Span) {
        if sample > LONGEST {
            return;
        }
        let least = self.least.map_or(sample, |least| least.min(sample));
        self.least = Some(least);
        if sample < least + HELD {
            self.latest[self.count % LATEST] = sample;
            self.count += 1;
        }
        if self.most >= least + HELD {
            self.most = least; // earlier, longer samples contained pauses
        }
        if sample < least + HELD && waited < sample / 2 + PROMPT {
            self.most = self.most.max(sample);
        }
    }

    /// The shortest sample.
    pub fn least(&self) -> Option<Span> {
        self.least
    }

    /// The median of the latest samples, which includes the queues on the path.
    pub fn median(&self) -> Option<Span> {
        let mut latest = self.latest;
        let known = &mut latest[..self.count.min(LATEST)];
        known.sort_unstable();
        known.get(known.len() / 2).copied()
    }

    /// The longest sample that contains no pause.
    pub fn most(&self) -> Span {
        self.most.max(self.least.unwrap_or_default())
    }
}

/// The times that the two ends of a connection take to answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trips([Trip; 2]);

impl Trips {
    /// Records the time in which an endpoint answered, as [`Trip::take`] does.
    pub fn take(&mut self, side: usize, sample: Span, waited: Span) {
        self.0[side].take(sample, waited);
    }

    /// The times after one more sample, as [`Trip::take`] takes it.
    #[must_use]
    pub fn with(mut self, side: usize, sample: Span, waited: Span) -> Self {
        self.take(side, sample, waited);
        self
    }

    /// Records the time in which an endpoint answered, as [`Trip::guess`] does. The end may have
    /// waited for a timer.
    pub fn guess(&mut self, side: usize, sample: Span, waited: Span, usual: Span) {
        self.0[side].guess(sample, waited, usual);
    }

    /// The shortest time that an end took to answer.
    pub fn least(&self, side: usize) -> Option<Span> {
        self.0[side].least()
    }

    /// The shortest round trip seen, which is the sum of its two parts.
    pub fn round(&self) -> Option<Span> {
        Some(self.0[0].least()? + self.0[1].least()?)
    }

    /// The longest silence that may be an ordinary round trip. `usual` is the round-trip time that
    /// is assumed until one has been measured.
    pub fn patience(&self, usual: Span) -> Span {
        match self.round() {
            Some(trip) => (2 * trip).max((self.0[0].most() + self.0[1].most()) * 3 / 2),
            None => 3 * usual,
        }
        .max(LEAST_PATIENCE)
    }

    /// Whether the point is at the end `side`, so that answers of the other end may be lost before
    /// the point.
    pub fn near(&self, side: usize) -> bool {
        self.0[side].least().unwrap_or_default() * 4
            < self.0[1 - side].least().unwrap_or(Span::from_nanos(1))
    }

    /// The time for which packets to an end are in queues behind the point.
    pub fn queued(&self, side: usize) -> Span {
        let trip = &self.0[side];
        if self.near(side) { Span::ZERO } else { trip.most() - trip.least().unwrap_or_default() }
    }

    /// The share of the usual round trip that lies between the point and an end. The share is
    /// computed from medians, because the shortest times include no wait in a queue, and this wait
    /// shows on which side of the queue the point is.
    pub fn share(&self, side: usize) -> Option<f64> {
        let (own, other) = (self.0[side].median()?, self.0[1 - side].median()?);
        Some(own.share_of(own + other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{MS, ns};

    #[test]
    fn a_first_sample_of_many_round_trips_needs_others_that_agree() {
        let mut trip = Trip::default();
        (0..3).for_each(|_| trip.guess(9 * MS, Span::ZERO, MS));
        assert_eq!(trip.least(), None);
        trip.guess(9 * MS, Span::ZERO, MS);
        assert_eq!(trip.least(), Some(9 * MS));
        let mut usual = Trip::default();
        usual.guess(8 * MS, Span::ZERO, MS);
        assert_eq!(usual.least(), Some(8 * MS));
    }

    #[test]
    fn a_held_ack_and_a_jump_of_the_clock_are_no_round_trips() {
        let mut trip = Trip::default();
        trip.take(LONGEST + ns(1), Span::ZERO);
        assert_eq!(trip.least(), None);
        trip.take(MS, Span::ZERO);
        trip.take(MS + HELD, Span::ZERO);
        assert_eq!((trip.most(), trip.median()), (MS, Some(MS)));
        trip.take(MS + HELD - ns(1), Span::ZERO);
        assert_eq!(trip.most(), MS + HELD - ns(1), "a queue");
    }

    #[test]
    fn what_came_before_the_first_short_one_was_a_pause() {
        let mut trip = Trip::default();
        trip.take(40 * MS, Span::ZERO);
        assert_eq!(trip.most(), 40 * MS);
        trip.take(MS, Span::ZERO);
        assert_eq!(trip.most(), MS);
    }

    #[test]
    fn the_longest_is_one_in_which_the_connection_was_busy() {
        let mut trip = Trip::default();
        trip.take(MS, MS);
        trip.take(3 * MS, 2 * MS);
        assert_eq!(trip.most(), MS);
        trip.take(3 * MS, MS);
        assert_eq!(trip.most(), 3 * MS);
    }

    #[test]
    fn the_median_is_of_the_latest() {
        let mut trip = Trip::default();
        assert_eq!(trip.median(), None);
        (1..=20).for_each(|sample| trip.take(sample * MS, Span::ZERO));
        assert_eq!(trip.median(), Some(16 * MS));
    }

    fn trips(one: Span, other: Span) -> Trips {
        let mut trips = Trips::default();
        trips.take(0, one, Span::ZERO);
        trips.take(1, other, Span::ZERO);
        trips
    }

    #[test]
    fn patience_is_two_round_trips_or_half_more_than_the_longest() {
        assert_eq!(Trips::default().patience(MS), 3 * MS);
        assert_eq!(Trips::default().patience(ns(1)), LEAST_PATIENCE);
        let mut both = trips(MS, 3 * MS);
        assert_eq!(both.patience(MS), 8 * MS);
        both.take(1, 7 * MS, Span::ZERO);
        assert_eq!(both.patience(MS), 12 * MS);
    }

    #[test]
    fn the_point_is_near_an_end_that_answers_in_a_quarter_of_the_time() {
        let near = |one, other| trips(ns(one), ns(other)).near(0);
        assert!(near(9, 37) && !near(9, 36));
        assert!(Trips::default().near(0), "nothing is known");
    }

    #[test]
    fn queues_behind_the_point_show_unless_it_is_at_the_end() {
        let mut both = trips(2 * MS, 3 * MS);
        both.take(0, 5 * MS, Span::ZERO);
        assert_eq!(both.queued(0), 3 * MS);
        both.take(0, MS / 2, Span::ZERO);
        assert_eq!(both.queued(0), Span::ZERO);
    }

    #[test]
    fn limits_of_samples_are_kept_exactly() {
        let most = |sample: Span, waited: Span| {
            let mut trip = Trip::default();
            trip.take(MS, Span::ZERO);
            trip.take(sample, waited);
            (trip.most(), trip.count)
        };
        assert_eq!(most(LONGEST, Span::ZERO), (MS, 1), "it is no queue");
        assert_eq!(most(HELD, Span::ZERO), (HELD, 2));
        assert_eq!(most(MS + HELD - ns(1), Span::ZERO).1, 2);
        assert_eq!(most(MS + HELD, Span::ZERO).1, 1);
        assert_eq!(most(4 * MS, 2 * MS + PROMPT), (MS, 2));
        assert_eq!(most(4 * MS, 2 * MS + PROMPT - ns(1)), (4 * MS, 2));
        let mut far = Trip::default();
        far.take(LONGEST, Span::ZERO);
        assert_eq!(far.least(), Some(LONGEST));
        let mut pause = Trip::default();
        pause.take(MS + HELD - ns(1), Span::ZERO);
        pause.take(MS, Span::ZERO);
        assert_eq!(pause.most(), MS + HELD - ns(1), "a queue");
    }
}
