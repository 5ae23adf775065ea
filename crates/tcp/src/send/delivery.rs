//! The delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02), for congestion controls that
//! need it.

use std::collections::VecDeque;

use incast_engine::time::{PICOS_PER_SEC, mul_div};
use incast_engine::{Rate, Span, Time};

use crate::congestion::Delivery;

/// The sender's state when a segment was sent (§3.2: the fields of P).
#[derive(Clone, Copy, Debug)]
struct Record {
    end: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    sent_at: Time,
    len: u32,
    app_limited: bool,
    /// Whether the segment has been counted as delivered.
    arrived: bool,
}

/// The sender's count of delivered data.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct DeliveryRate {
    records: VecDeque<Record>,
    /// The draft's `C.delivered`, `C.delivered_time` and `C.first_sent_time`, in this order.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Samples are application-limited until this many bytes are delivered; 0 if samples are not
    /// limited.
    app_limited: u64,
    in_flight: u64,
    /// The segment that was sent last, among the segments that the current ACK delivered.
    youngest: Option<Record>,
    newly: u64,
    /// Number of losses before the current ACK.
    losses: u64,
    /// Number of losses that the scoreboard does not count: all such losses, and those that the
    /// current ACK has shown.
    silent: u64,
    shown: u64,
    /// Whether duplicate ACKs report that data have arrived, but not which data (without SACK).
    unnamed: bool,
}

impl DeliveryRate {
    /// A count before any data are delivered. `unnamed` says whether duplicate ACKs report that
    /// data have arrived, but not which data.
    pub fn new(unnamed: bool) -> Self {
        Self {
            records: VecDeque::new(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            app_limited: 0,
            in_flight: 0,
            youngest: None,
            newly: 0,
            losses: 0,
            silent: 0,
            shown: 0,
            unnamed,
        }
    }

    /// Records that the bytes from `seq` to `end` are sent, for the first time or again (§3.2).
    pub fn on_sent(&mut self, now: Time, seq: u64, end: u64) {
        if self.in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let record = Record {
            end,
            len: (end - seq) as u32,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            sent_at: now,
            app_limited: self.app_limited > 0,
            arrived: false,
        };
        if self.records.back().is_none_or(|last| last.end <= seq) {
            self.records.push_back(record);
            self.in_flight += end - seq;
            return;
        }
        let at = self.records.partition_point(|known| known.end <= seq);
        // The length of a retransmission was already counted.
        if let Some(known) = self.records.get_mut(at).filter(|known| !known.arrived) {
            *known = Record { end: known.end, len: known.len, ..record };
        }
    }

    /// Prepares for an ACK. Segments were declared lost `losses` times before this ACK.
    pub fn on_ack(&mut self, losses: u64) {
        self.losses = losses + self.silent;
        self.shown = 0;
    }

    /// Counts lost segments that were found without selective acknowledgements.
    pub fn on_silent_losses(&mut self, segments: u64) {
        self.silent += segments;
        self.shown += segments;
    }

    /// Number of segments that the current ACK showed to be lost and that the scoreboard does not
    /// count.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// Counts the bytes that a duplicate ACK without SACK reports for the first time.
    pub fn on_reported(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.newly += bytes;
        self.delivered_at = now;
    }

    /// Whether the current ACK reports data.
    pub fn has_news(&self) -> bool {
        self.newly > 0
    }

    /// Records that all data below `una` are acknowledged. Earlier duplicate ACKs have reported
    /// `reported` bytes. The first segment is not among them (Linux, `tcp_remove_reno_sacks()`).
    pub fn on_cumulative(&mut self, now: Time, una: u64, reported: u64) {
        let (delivered, newly) = (self.delivered, self.newly);
        let first = self.records.front().map_or(0, |record| u64::from(record.len));
        while let Some(&record) = self.records.front().filter(|record| record.end <= una) {
            self.records.pop_front();
            if !record.arrived {
                self.deliver(now, record);
            }
        }
        if reported > 0 {
            let covered = self.delivered - delivered;
            let news = covered.saturating_sub(reported).max(first.min(covered));
            self.delivered = delivered + news;
            self.newly = newly + news;
        }
    }

    /// Records that the segment that starts at `seq` is acknowledged selectively.
    pub fn on_selective(&mut self, now: Time, seq: u64) {
        let at = self.records.partition_point(|record| record.end <= seq);
        if let Some(record) = self.records.get_mut(at).filter(|record| !record.arrived) {
            record.arrived = true;
            let record = *record;
            self.deliver(now, record);
        }
    }

    /// §3.3: `UpdateRateSample`.
    fn deliver(&mut self, now: Time, record: Record) {
        let len = u64::from(record.len);
        self.delivered += len;
        self.newly += len;
        self.in_flight -= len;
        self.delivered_at = now;
        let is_younger = self.youngest.is_none_or(|youngest| {
            (record.delivered, record.sent_at) >= (youngest.delivered, youngest.sent_at)
        });
        if is_younger {
            self.youngest = Some(record);
            self.first_sent_at = record.sent_at;
        }
    }

    /// Notes that the application has nothing to send although the window allows more data (§3.4).
    pub fn note_app_limited(&mut self) {
        self.app_limited = (self.delivered + self.in_flight).max(1);
    }

    /// The sample of the current ACK (§3.3, `GenerateRateSample`); `None` if the ACK delivered
    /// nothing. `pipe` bytes are in the network, and segments were declared lost `losses` times so
    /// far.
    pub fn sample(&mut self, min_rtt: Option<Span>, pipe: u64, losses: u64) -> Option<Delivery> {
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newly = std::mem::take(&mut self.newly);
        let lost = losses + self.silent;
        let all = Delivery {
            delivered: self.delivered,
            newly,
            prior_delivered: None,
            in_flight: pipe,
            losses: lost - self.losses,
            lost,
            rate: None,
            app_limited: false,
            unnamed: self.unnamed,
        };
        let Some(record) = self.youngest.take() else {
            return (newly > 0).then_some(all);
        };
        let sending = record.sent_at.saturating_since(record.first_sent_at);
        let acking = self.delivered_at.saturating_since(record.delivered_at);
        let interval = sending.max(acking);
        let amount = self.delivered - record.delivered;
        // Intervals below the smallest round trip result from compressed ACKs.
        let is_usable = !interval.is_zero() && min_rtt.is_some_and(|min_rtt| interval >= min_rtt);
        let rate = is_usable.then(|| Rate(mul_div(amount, 8 * PICOS_PER_SEC, interval.as_picos())));
        let (prior_delivered, app_limited) = (Some(record.delivered), record.app_limited);
        Some(Delivery { prior_delivered, rate, app_limited, ..all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(1);
    const PIPE: u64 = 3000;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Ten segments of 1000 bytes, one every 100 us from 0 on.
    fn ten() -> DeliveryRate {
        let mut rate = DeliveryRate::new(false);
        (0..10).for_each(|i| rate.on_sent(at(100 * i), 1 + 1000 * i, 1001 + 1000 * i));
        rate
    }

    #[test]
    fn a_flight_without_history_is_measured_by_its_acks() {
        let mut rate = ten();
        rate.on_cumulative(at(1000), 1001, 0);
        let sample = rate.sample(Some(RTT), PIPE, 0).unwrap();
        // 1000 bytes in the millisecond since the first segment left.
        assert_eq!((sample.delivered, sample.prior_delivered), (1000, Some(0)));
        assert_eq!(sample.rate, Some(Rate(8_000_000)));
        assert_eq!((sample.newly, sample.in_flight), (1000, PIPE));
    }

    #[test]
    fn section_3_3_the_rate_between_two_acks_of_a_round() {
        let mut rate = ten();
        for i in 1..=10 {
            rate.on_cumulative(at(900 + 100 * i), 1 + 1000 * i, 0);
            rate.sample(Some(RTT), PIPE, 0);
        }
        // These segments are sent after 10 000 bytes were delivered, and acknowledged a millisecond
        // later.
        for i in 10..20 {
            rate.on_sent(at(1900 + 100 * (i - 10)), 1 + 1000 * i, 1001 + 1000 * i);
        }
        rate.on_cumulative(at(2900), 11_001, 0);
        rate.sample(Some(RTT), PIPE, 0);
        for i in 12..=20 {
            rate.on_cumulative(at(2900 + 100 * (i - 11)), 1 + 1000 * i, 0);
        }
        let sample = rate.sample(Some(RTT), PIPE, 0).unwrap();
        assert_eq!(sample.newly, 9000);
        assert_eq!(sample.rate, Some(Rate(10_000 * 8 * 1_000_000 / 1900)));
    }

    #[test]
    fn section_3_3_a_clump_of_acks_is_bounded_by_the_sending_rate() {
        let mut rate = ten();
        rate.on_cumulative(at(1000), 1001, 0);
        rate.sample(Some(RTT), PIPE, 0);
        for i in 10..30 {
            rate.on_sent(at(1000 + 100 * (i - 10)), 1 + 1000 * i, 1001 + 1000 * i);
        }
        // At 3 ms, one ACK covers all outstanding segments. The youngest segment left 2.9 ms after
        // the segment that the previous ACK covered.
        rate.on_cumulative(at(3000), 30_001, 0);
        let sample = rate.sample(Some(RTT), PIPE, 0).unwrap();
        assert!(sample.rate.unwrap().0 <= 29_000 * 8 * 1_000_000 / 1900, "{sample:?}");
    }

    #[test]
    fn section_3_3_an_interval_below_the_smallest_round_trip_is_no_sample() {
        let mut rate = ten();
        rate.on_cumulative(at(900), 10_001, 0);
        assert_eq!(rate.sample(Some(RTT), PIPE, 0).unwrap().rate, None);
        assert_eq!(rate.sample(Some(RTT), PIPE, 0), None, "nothing was delivered since");
    }

    #[test]
    fn section_3_4_samples_of_an_idle_application_say_so() {
        let mut rate = ten();
        rate.note_app_limited();
        rate.on_sent(at(1000), 10_001, 11_001);
        rate.on_cumulative(at(1000), 10_001, 0);
        assert!(!rate.sample(Some(RTT), PIPE, 0).unwrap().app_limited, "sent before");
        rate.on_cumulative(at(2000), 11_001, 0);
        assert!(rate.sample(Some(RTT), PIPE, 0).unwrap().app_limited);
        rate.on_sent(at(2000), 11_001, 12_001);
        rate.on_cumulative(at(3000), 12_001, 0);
        assert!(!rate.sample(Some(RTT), PIPE, 0).unwrap().app_limited, "the limit has passed");
    }

    /// Linux's `tcp_add_reno_sack()` and `tcp_remove_reno_sacks()`.
    #[test]
    fn linux_what_duplicate_acks_reported_is_not_counted_again() {
        let mut rate = ten();
        let told = |rate: &mut DeliveryRate| {
            rate.sample(Some(RTT), PIPE, 0).map(|it| (it.delivered, it.newly))
        };
        rate.on_reported(at(1000), 1000);
        let sample = rate.sample(Some(RTT), PIPE, 0).unwrap();
        assert_eq!((sample.delivered, sample.newly), (1000, 1000));
        assert_eq!((sample.rate, sample.prior_delivered), (None, None));
        rate.on_reported(at(1100), 1000);
        assert_eq!(told(&mut rate), Some((2000, 1000)));
        // Two of the four covered segments are new.
        rate.on_cumulative(at(2000), 4001, 2000);
        assert_eq!(told(&mut rate), Some((4000, 2000)));
        // Duplicate ACKs have reported three segments. The ACK covers two segments, of which only
        // the first is new.
        rate.on_cumulative(at(2400), 6001, 3000);
        assert_eq!(told(&mut rate), Some((5000, 1000)));
        assert_eq!(told(&mut rate), None);
    }

    #[test]
    fn a_selective_acknowledgement_counts_once() {
        let mut rate = ten();
        rate.on_selective(at(1200), 2001);
        rate.on_selective(at(1200), 2001);
        assert_eq!(rate.sample(Some(RTT), PIPE, 0).unwrap().delivered, 1000);
        rate.on_sent(at(1200), 1, 1001);
        rate.on_cumulative(at(2200), 3001, 0);
        let sample = rate.sample(Some(RTT), PIPE, 0).unwrap();
        assert_eq!((sample.delivered, sample.newly, sample.in_flight), (3000, 2000, PIPE));
    }

    #[test]
    fn losses_without_a_scoreboard_are_shown_until_the_next_ack() {
        let mut rate = ten();
        rate.on_ack(0);
        assert_eq!(rate.shown(), 0);
        rate.on_silent_losses(2);
        rate.on_silent_losses(1);
        assert_eq!(rate.shown(), 3);
        rate.on_cumulative(at(1000), 1001, 0);
        assert_eq!(rate.sample(Some(RTT), PIPE, 0).unwrap().losses, 3);
        rate.on_ack(0);
        assert_eq!(rate.shown(), 0);
    }
}
