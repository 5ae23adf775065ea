//! BBR: its model of the path, its pacer, and the effect of a loss.

use super::read;
use super::senders::{RULES, sender_by, sent_by};
use crate::bbr::{Ack, Bbr, Spans};
use crate::flavour::{self, Flavour, Growth, Repair};
use crate::packet::{NEVER, Ticks};
use crate::parts::parts;
use crate::sender::{AckInfo, Rules};
use crate::{Read, follow};

const SPANS: Spans =
    Spans { millisecond: 1e3, burst: 0.0, round_trip: 1 << 40, probe: 1 << 30, segment: 1460.0 };

/// Sends `count` segments at the pacer's rate and returns the state. A segment arrives at least
/// `gap` ticks after the previous segment, and at least a round trip of 1000 ticks after it was
/// sent.
fn on_a_path(gap: Ticks, count: u32) -> Bbr {
    on_a_path_by(Flavour::LAB.bbr, gap, count)
}

fn on_a_path_by(law: flavour::Bbr, gap: Ticks, count: u32) -> Bbr {
    let mut it = Bbr::new(1, 10.0, law, SPANS);
    let (mut sent, mut now, mut free) = (1, 0, 0);
    let mut flight: std::collections::VecDeque<(u32, Ticks, Ticks)> = [].into();
    for ack in 1..=count {
        while f64::from(sent - ack) < it.window().min(parts(1e3)) as f64 / 65_536.0 {
            let leaves = it.next_at.max(now);
            if flight.front().is_some_and(|first| first.2 < leaves) {
                break;
            }
            it.rates.on_sent(leaves, sent, 1);
            it.on_sent(leaves, 1.0, sent == 1, 0);
            free = (leaves + 1000).max(free + gap);
            flight.push_back((sent, leaves, free));
            sent += 1;
        }
        let (segment, left, at) = flight.pop_front().expect("something is outstanding");
        now = at;
        it.rates.time(at - left);
        it.rates.deliver(at, segment);
        it.rates.forget(segment + 1);
        it.on_ack(&Ack { now: at, una: segment + 1, rtt: Some(at - left), srtt: 1000 });
    }
    it
}

#[test]
fn it_finds_the_bandwidth_and_keeps_two_products_outstanding() {
    // One segment arrives every 20 ticks, so 50 segments fit into a round trip.
    let mut it = on_a_path(20, 4000);
    let window = it.window() as f64 / 65_536.0;
    assert!((100.0..110.0).contains(&window), "{window}, not 2 · 50 and three bursts");
    // The rate varies by a quarter around one segment in 20 ticks.
    let (before, now) = (it.next_at, it.next_at);
    it.on_sent(now, 1.0, false, 1000);
    assert!((15..28).contains(&(it.next_at - before)), "{}", it.next_at - before);
    assert!(!it.is_early(it.next_at) && it.is_early(it.next_at - 1));
    assert_eq!(it.due(), it.next_at);
}

#[test]
fn at_first_it_sends_an_initial_window_in_a_third_of_a_round_trip() {
    let mut it = Bbr::new(1, 10.0, Flavour::LAB.bbr, SPANS);
    it.on_sent(5, 1.0, true, 1000);
    assert_eq!(it.next_at, 5 + (1000.0 / 10.0 / 2.885) as Ticks);
    it.on_sent(5, 0.5, false, 1000);
    assert_eq!(it.next_at, 5 + 34 + 17);
    let mut it = Bbr::new(1, 10.0, Flavour::LAB.bbr, SPANS);
    it.on_sent(0, 1.0, true, 0);
    assert_eq!(it.next_at, (1e3 / 10.0 / 2.885) as Ticks, "a millisecond, without a round trip");
}

#[test]
fn a_loss_conserves_packets_and_its_repair_restores_the_window() {
    let mut it = on_a_path(20, 4000);
    let window = it.window();
    it.on_loss(Some(60.0), 5000);
    assert_eq!(it.window(), parts(60.0));
    it.end_repair();
    assert_eq!(it.window(), window);
    it.on_loss(None, 5000);
    assert_eq!(it.window(), parts(1.0), "a timeout");
    it.limit(0.5, true);
    assert_eq!(it.window(), parts(0.5));
}

fn bbr() -> Rules {
    Rules {
        flavour: Flavour { repair: Repair::Sack, growth: Growth::Bbr, ..Flavour::LAB },
        ..RULES
    }
}

#[test]
fn a_sender_waits_for_its_pacer_but_not_with_what_recovery_owes() {
    let rules = bbr();
    let mut it = sender_by(10.0, 50.0, &rules);
    it.end = 11;
    let mut now = 0;
    for segment in 1..11 {
        assert_eq!(sent_by(&mut it, now, &rules), [(segment, false)]);
        assert!(!it.is_ready(&rules) || segment == 10);
        let due = it.due();
        assert!(segment == 10 || due > now && due < it.deadline);
        now = due.min(now + 1000);
    }
    for segment in 2..5 {
        it.on_ack(
            now,
            &AckInfo { next: 1, segment, sent: NEVER, twice: false, ece: false },
            &rules,
        );
    }
    assert!(it.in_recovery);
    assert_eq!(it.poll(now, false, &rules).map(|burst| burst.segment), Some(1));
}

#[test]
fn a_sender_that_fills_the_receivers_window_does_not_wait_for_its_pacer() {
    let rules = Rules { most_window: parts(2.0), ..bbr() };
    let mut it = sender_by(10.0, 50.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules), [(1, false)]);
    let due = it.due();
    assert!(due < it.deadline, "it waits for the pacer");
    assert_eq!(sent_by(&mut it, due, &rules), [(2, false)]);
    assert_eq!(it.due(), it.deadline);
}

/// At most 2.885 · 40 packets and three bursts are outstanding, so that a buffer of 100 packets is
/// enough. With a smaller buffer, the read loses packets in Startup.
#[test]
fn it_fills_a_path_and_no_buffer() {
    let on = |buffer| {
        let flavour = Flavour { repair: Repair::Sack, growth: Growth::Bbr, ..Flavour::LAB };
        let long = Read { flavour, segments: 2000, gap: 0.0, blocks: 5, ..read(1, buffer) };
        follow(&[Read { slower: 0.2, propagation: 40.0, ..long }], &super::EFFORT, 1)[0].duration
    };
    let [deep, shallow] = [100.0, 10.0].map(on);
    assert!((2000.0..2150.0).contains(&deep), "{deep}");
    assert!(shallow > deep + 20.0, "{shallow} {deep}");
}

#[test]
fn the_window_has_room_for_three_bursts_besides_the_products() {
    let window = |burst| {
        let it = on_a_path_by(flavour::Bbr { burst, ..Flavour::LAB.bbr }, 20, 4000);
        it.window() as f64 / 65_536.0
    };
    assert!((window(10) - window(1) - 27.0).abs() < 0.5, "{} {}", window(10), window(1));
}

/// A sender whose round trip takes 1000 ticks but is not measured.
struct Flight {
    it: Bbr,
    sent: u32,
    arrived: u32,
    now: Ticks,
}

impl Flight {
    fn new() -> Self {
        Self { it: Bbr::new(1, 10.0, Flavour::LAB.bbr, SPANS), sent: 1, arrived: 1, now: 0 }
    }

    fn send(&mut self, count: u32) {
        self.it.rates.on_sent(self.now, self.sent, count);
        self.sent += count;
    }

    /// Acknowledges the next `count` segments, without a sample of the round trip.
    fn acknowledge(&mut self, count: u32) {
        self.now += 1000;
        let una = self.arrived + count;
        (self.arrived..una).for_each(|segment| self.it.rates.deliver(self.now, segment));
        self.it.rates.forget(una);
        self.arrived = una;
        self.it.on_ack(&Ack { now: self.now, una, rtt: None, srtt: 1000 });
    }
}

#[test]
fn after_a_loss_the_window_is_what_is_outstanding_and_what_arrived() {
    let mut flight = Flight::new();
    flight.send(10);
    flight.acknowledge(1);
    flight.it.on_loss(Some(5.0), 11);
    flight.acknowledge(2);
    assert_eq!(flight.it.window(), parts(7.0 + 2.0));
}

#[test]
fn a_window_that_has_reached_its_target_does_not_grow() {
    let mut flight = Flight::new();
    flight.send(20);
    flight.acknowledge(9);
    assert_eq!(flight.it.window(), parts(19.0), "the first window grows in any case");
    // Without a measured round trip, the target is the initial window.
    flight.it.limit(10.0, false);
    flight.acknowledge(2);
    assert_eq!(flight.it.window(), parts(10.0));
    flight.it.limit(9.5, false);
    flight.acknowledge(2);
    assert_eq!(flight.it.window(), parts(11.5));
}
