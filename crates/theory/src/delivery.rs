//! The delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02), in segments.

use std::collections::VecDeque;

use crate::packet::Ticks;

/// A sample (§3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Segments delivered since the start of the connection, and by this ACK.
    pub delivered: u64,
    /// See `delivered`.
    pub newly: u32,
    /// The value of `delivered` when the youngest delivered segment was sent.
    pub prior: u64,
    /// Segments sent and not delivered.
    pub flight: u32,
    /// Segments per tick since the youngest delivered segment was sent; `None` if unknown.
    pub rate: Option<f64>,
    /// Whether the application limited the rate.
    pub is_short: bool,
}

/// The state when a segment was sent (§3.2).
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    delivered: u64,
    delivered_at: Ticks,
    first_at: Ticks,
    at: Ticks,
    is_short: bool,
    has_arrived: bool,
}

/// The sender's count of delivered segments.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// The first segment with a record.
    first: u32,
    records: VecDeque<Record>,
    delivered: u64,
    delivered_at: Ticks,
    first_at: Ticks,
    /// Samples are limited by the application until more than this number of segments are
    /// delivered.
    short_until: Option<u64>,
    flight: u32,
    newly: u32,
    /// Of the segments that the current ACK delivers, the segment that was sent last.
    youngest: Option<Record>,
    /// The smallest round trip.
    smallest: Option<Ticks>,
}

impl Rates {
    /// The counts before the first segment, `first`, is sent.
    pub fn new(first: u32) -> Self {
        Self { first, ..Self::default() }
    }

    /// Updates the smallest round trip.
    pub fn time(&mut self, rtt: Ticks) {
        self.smallest = Some(self.smallest.map_or(rtt, |it| it.min(rtt)));
    }

    /// Records that `count` segments are sent, for the first time or again.
    pub fn on_sent(&mut self, now: Ticks, segment: u32, count: u32) {
        if self.flight == 0 {
            (self.first_at, self.delivered_at) = (now, now);
        }
        let record = Record {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            at: now,
            is_short: self.short_until.is_some(),
            has_arrived: false,
        };
        for segment in segment..segment + count {
            let Some(index) = segment.checked_sub(self.first) else { continue };
            match self.records.get_mut(index as usize) {
                None => {
                    self.records.push_back(record);
                    self.flight += 1;
                }
                Some(known) if !known.has_arrived => *known = record,
                Some(_) => {}
            }
        }
    }

    /// Records that a segment has arrived (`UpdateRateSample`).
    pub fn deliver(&mut self, now: Ticks, segment: u32) {
        let Some(index) = segment.checked_sub(self.first) else { return };
        let Some(record) = self.records.get_mut(index as usize) else { return };
        if std::mem::replace(&mut record.has_arrived, true) {
            return;
        }
        let record = *record;
        self.delivered += 1;
        self.newly += 1;
        self.flight -= 1;
        self.delivered_at = now;
        let key = |it: &Record| (it.delivered, it.at);
        if self.youngest.is_none_or(|it| key(&record) >= key(&it)) {
            self.youngest = Some(record);
            self.first_at = record.at;
        }
    }

    /// Forgets the segments before `una`, which are acknowledged and were delivered before.
    pub fn forget(&mut self, una: u32) {
        let count = una.saturating_sub(self.first).min(self.records.len() as u32);
        self.records.drain(..count as usize);
        self.first += count;
    }

    /// Notes that the application has nothing to send although the window allows more data (§3.4).
    pub fn note_short(&mut self) {
        self.short_until = Some(self.delivered + u64::from(self.flight));
    }

    /// The sample of the current ACK, or `None` if the ACK has delivered nothing.
    pub fn sample(&mut self) -> Option<Delivery> {
        self.short_until.take_if(|until| self.delivered > *until);
        let newly = std::mem::take(&mut self.newly);
        let record = self.youngest.take()?;
        let sending = record.at.saturating_sub(record.first_at);
        let acking = self.delivered_at.saturating_sub(record.delivered_at);
        let interval = sending.max(acking);
        let amount = (self.delivered - record.delivered) as f64;
        // Intervals below the smallest round trip result from compressed ACKs.
        let is_usable = interval > 0 && self.smallest.is_some_and(|it| interval >= it);
        Some(Delivery {
            delivered: self.delivered,
            newly,
            prior: record.delivered,
            flight: self.flight,
            rate: is_usable.then(|| amount / interval as f64),
            is_short: record.is_short,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments are sent, one every 10 ticks. The round trip is 100 ticks.
    fn ten() -> Rates {
        let mut rates = Rates::new(1);
        rates.time(100);
        (0..10).for_each(|it| rates.on_sent(10 * it, 1 + it as u32, 1));
        rates
    }

    #[test]
    fn a_flight_without_history_is_measured_by_its_acks() {
        let mut rates = ten();
        rates.deliver(100, 1);
        let expected = Delivery {
            delivered: 1,
            newly: 1,
            prior: 0,
            flight: 9,
            rate: Some(0.01),
            is_short: false,
        };
        assert_eq!(rates.sample(), Some(expected));
        assert_eq!(rates.sample(), None, "nothing was delivered since");
        rates.deliver(190, 2);
        rates.deliver(190, 2);
        assert_eq!(rates.sample().map(|it| (it.delivered, it.rate)), Some((2, Some(2.0 / 190.0))));
    }

    #[test]
    fn an_interval_below_the_smallest_round_trip_is_no_sample() {
        let mut rates = ten();
        (1..11).for_each(|segment| rates.deliver(91, segment));
        rates.forget(11);
        assert_eq!(rates.sample().map(|it| (it.newly, it.rate)), Some((10, None)));
    }

    #[test]
    fn samples_after_an_idle_time_say_so_and_a_copy_has_its_own_time() {
        let mut rates = ten();
        rates.deliver(100, 1);
        assert_eq!(rates.sample().map(|it| it.is_short), Some(false));
        rates.note_short();
        rates.on_sent(150, 2, 1);
        rates.deliver(260, 2);
        // One more segment has arrived in the 160 ticks since the first arrival.
        let found = rates.sample().map(|it| (it.prior, it.rate, it.is_short));
        assert_eq!(found, Some((1, Some(1.0 / 160.0), true)));
    }
}
