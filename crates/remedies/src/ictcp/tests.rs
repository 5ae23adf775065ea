//! Tests of the card alone, and of connections with a card.

use super::card::Card;
use super::*;
use incast_engine::Rate;

const RTT: Span = Span::from_micros(100);

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// A card of 1 Gb/s, which can receive 12 500 bytes in a round trip.
fn card() -> Card {
    let mut card = Card::new(Rate(1_000_000_000), RTT, 0.9);
    card.open(0, 2000, RTT);
    card
}

#[test]
fn the_first_half_measures_and_the_second_hands_out() {
    let mut card = card();
    card.receive(at(0), 0, 2500);
    assert!(!card.may_raise());
    card.receive(at(99), 0, 2500);
    assert!(!card.may_raise());
    card.receive(at(100), 0, 1000);
    assert!(card.may_raise());
    // α·C is 0.9 of the link. 5000 bytes in 100 us use 0.4 of it, so 0.5 is left.
    assert!((card.left_share() - 0.5).abs() < 1e-9, "{}", card.left_share());
    assert!(card.take(40e6) && !card.take(40e6) && card.take(22e6));
    card.receive(at(200), 0, 1000);
    assert!(!card.may_raise());
    card.receive(at(300), 0, 1000);
    // Every slot has a new measurement: 1000 bytes use 0.08 of the link, so 0.82 is left.
    assert!((card.left_share() - 0.82).abs() < 1e-9, "{}", card.left_share());
}

#[test]
fn half_a_slot_is_the_mean_round_trip_by_traffic() {
    let mut card = card();
    card.open(1, 2000, Span::from_micros(300));
    card.receive(at(0), 0, 1000);
    card.receive(at(0), 1, 3000);
    card.receive(at(200), 0, 1000);
    // From 200 us on, each half lasts (100 + 3·300)/4 = 250 us.
    card.receive(at(449), 0, 1000);
    assert!(!card.may_raise());
    card.receive(at(450), 0, 1000);
    assert!(card.may_raise());
}

#[test]
fn after_a_silence_the_link_is_measured_again() {
    let mut card = card();
    card.receive(at(0), 0, 1000);
    card.receive(at(100), 0, 1000);
    assert!(card.may_raise());
    card.receive(at(5000), 0, 1000);
    assert!(!card.may_raise());
}

#[test]
fn the_mean_is_that_of_connections_that_receive() {
    let mut card = card();
    card.open(1, 6000, RTT);
    card.open(2, 9000, RTT);
    assert_eq!(card.mean_window(), u64::MAX);
    card.receive(at(0), 0, 1000);
    card.receive(at(0), 1, 1000);
    assert_eq!(card.mean_window(), 4000);
}

/// A receiver with segments of 1000 bytes and a window of `window` bytes.
fn receiver(params: Params, card: Card, window: u64) -> Receiver {
    Receiver {
        params,
        card: Arc::new(Mutex::new(card)),
        index: 0,
        segment: 1000,
        tick: None,
        window,
        slow_start: true,
        rtt: RTT,
        timing: None,
        round: None,
        measured: 0.0,
        low: 0,
        raised: None,
        heard: Time::ZERO,
    }
}

/// The windows, in segments of 1000 bytes, of a receiver after each round. `rounds` contains the
/// number of segments in each round. They arrive 8 us apart at the end of the round.
fn windows(params: Params, rounds: &[u64]) -> Vec<u64> {
    let mut card = Card::new(Rate(1_000_000_000), RTT, params.alpha);
    card.open(0, 2000, RTT);
    let mut receiver = receiver(params, card, 2000);
    let mut next = 1;
    let mut windows = Vec::new();
    for (round, segments) in (0..).zip(rounds) {
        for segment in 0..*segments {
            let packet = Packet { seq: next, payload: 1000, header: 0, ..Packet::default() };
            next += 1000;
            let now = at(round * 100 + 100 - 8 * (segments - 1 - segment));
            receiver.on_segment(&packet, &ReceiveView { now, next, duplicate: false });
        }
        windows.push(receiver.window / 1000);
    }
    windows
}

fn params() -> Params {
    Params { rtt: Source::Base, ..Params::default() }
}

#[test]
fn a_window_that_is_used_grows_every_second_round_trip_at_most_and_doubles_while_all_goes_well() {
    // A quota is about 11 250 bytes per round trip less the measured traffic. The first two
    // doublings need 2000 and 4000 bytes per round trip. For the third, too little is left, so the
    // window then grows by single segments.
    let windows = windows(params(), &[2, 2, 4, 4, 8, 8, 8, 8, 8, 8]);
    assert_eq!(windows[..3], [2, 4, 4]);
    assert!(windows.windows(2).all(|pair| pair[1] >= pair[0]), "{windows:?}");
    assert!((8..=10).contains(&windows[9]), "{windows:?}");
}

#[test]
fn a_window_that_is_not_used_shrinks_by_a_segment_to_the_floor() {
    let used = [2, 2, 2, 4, 4, 8, 8];
    let idle = [1; 12];
    let all: Vec<u64> = used.iter().chain(&idle).copied().collect();
    let windows = windows(params(), &all);
    assert!(windows.is_sorted_by(|one, next| next + 1 >= *one), "one by one: {windows:?}");
    assert!(windows[windows.len() - 4..].contains(&2), "{windows:?}");
}

#[test]
fn without_a_usable_link_nothing_grows() {
    assert_eq!(windows(Params { alpha: 0.0, ..params() }, &[2, 2, 2, 4, 4]), [2; 5]);
}

/// The quota of 11 250 bytes per round trip is enough for one window to grow by 8000 bytes, but not
/// for two.
#[test]
fn a_quota_is_spent_by_all_together_or_compared_by_each() {
    let grown = |quota: Quota| {
        let mut card = Card::new(Rate(1_000_000_000), RTT, 0.9);
        card.open(0, 8000, RTT);
        card.open(1, 8000, RTT);
        card.receive(at(0), 0, 1);
        card.receive(at(100), 0, 1);
        assert!(card.may_raise());
        [0, 1].map(|index| {
            let params = Params { quota, ..params() };
            let mut receiver = receiver(params, Card::new(Rate(0), RTT, 0.0), 8000);
            receiver.index = index;
            receiver.raise(at(100), &mut card);
            receiver.window
        })
    };
    assert_eq!(grown(Quota::Shared), [16_000, 8000]);
    assert_eq!(grown(Quota::Each), [16_000, 16_000]);
}

/// The window, in segments, after `rounds` rounds whose throughput uses the share `used` of the
/// window. All rounds are in half-slots in which windows may grow.
fn after_rounds(window: u64, used: f64, rounds: u64) -> f64 {
    let mut card = card();
    card.receive(at(0), 0, 100);
    card.receive(at(100), 0, 100);
    assert!(card.may_raise());
    let mut receiver = receiver(params(), Card::new(Rate(0), RTT, 0.0), window);
    for round in 0..rounds {
        let sample = used * receiver.window as f64 / RTT.as_secs_f64();
        receiver.end_round(at(1000 * round + 1000), sample, &mut card);
    }
    receiver.window as f64 / 1000.0
}

/// The parameters are γ₁ = 0.1, γ₂ = 0.5 and three consecutive rounds. If the throughput is at most
/// one segment per round trip below the allowed throughput, the window counts as fully used.
#[test]
fn how_far_throughput_falls_short_decides() {
    let is = |after: f64, segments: f64| assert!((after - segments).abs() < 1e-9, "{after}");
    is(after_rounds(4000, 0.95, 1), 8.0);
    is(after_rounds(4000, 0.80, 1), 8.0);
    is(after_rounds(40_000, 0.80, 9), 40.0);
    is(after_rounds(40_000, 0.51, 9), 40.0);
    is(after_rounds(40_000, 0.45, 2), 40.0);
    is(after_rounds(40_000, 0.45, 3), 39.0);
}

#[test]
fn when_the_link_is_full_windows_above_the_mean_shrink() {
    for (window, other, received, expected) in [
        (40_000, 2000, 11_000, 39_000),
        (40_000, 60_000, 11_000, 40_000),
        (40_000, 2000, 5000, 40_000),
    ] {
        let mut card = card();
        card.open(0, window, RTT);
        card.open(1, other, RTT);
        card.receive(at(0), 0, received);
        card.receive(at(0), 1, 100);
        card.receive(at(100), 0, 100);
        let mut receiver = receiver(params(), Card::new(Rate(0), RTT, 0.0), window);
        receiver.end_round(at(1000), 0.7 * window as f64 / RTT.as_secs_f64(), &mut card);
        assert_eq!(receiver.window, expected, "{other}, {received}");
    }
}

#[test]
fn a_round_trip_is_timed_by_timestamps_or_by_the_window_s_edge() {
    let data = |seq, ts_echo| Packet { seq, payload: 1000, ts_echo, ..Packet::default() };
    let micros = |receiver: &Receiver| receiver.rtt.as_secs_f64() * 1e6;
    let mut stamped = receiver(params(), card(), 2000);
    stamped.tick = Some(Span::from_micros(10));
    stamped.measure(at(1000), &data(1, 0), 1001);
    assert!((micros(&stamped) - 100.0).abs() < 1e-6, "no timestamp is echoed");
    stamped.measure(at(1000), &data(1, 80), 1001);
    // The clock is at 100 ticks, and the echoed timestamp is 80, so the sample is 200 us. The mean
    // is 7/8 of 100 us plus 1/8 of 200 us.
    assert!((micros(&stamped) - 112.5).abs() < 1e-6, "{}", micros(&stamped));

    let mut plain = receiver(params(), card(), 2000);
    plain.measure(at(0), &data(1, 0), 1001);
    plain.measure(at(100), &data(2001, 0), 3001);
    assert!((micros(&plain) - 100.0).abs() < 1e-6, "the edge was 3001");
    plain.measure(at(300), &data(3001, 0), 4001);
    assert!((micros(&plain) - 125.0).abs() < 1e-6, "{}", micros(&plain));
    // The next edge is 6001, advertised at 300 us.
    plain.measure(at(340), &data(6001, 0), 7001);
    assert!((micros(&plain) - (125.0 * 7.0 + 40.0) / 8.0).abs() < 1e-6, "{}", micros(&plain));
}
