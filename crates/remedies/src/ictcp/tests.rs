//! The card by itself, and a connection on it.

use super::card::Card;
use super::*;
use incast_engine::Rate;

const RTT: Span = Span::from_micros(100);

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// 1 Gb/s: 12 500 bytes in a round trip.
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
    // α·C - 5000 B in 100 us = 0.9 - 0.4 of the link.
    assert!((card.left_share() - 0.5).abs() < 1e-9, "{}", card.left_share());
    assert!(card.take(40e6) && !card.take(40e6) && card.take(22e6));
    card.receive(at(200), 0, 1000);
    assert!(!card.may_raise());
    card.receive(at(300), 0, 1000);
    // The measurement begins anew with every slot.
    assert!((card.left_share() - 0.82).abs() < 1e-9, "{}", card.left_share());
}

#[test]
fn half_a_slot_is_the_mean_round_trip_by_traffic() {
    let mut card = card();
    card.open(1, 2000, Span::from_micros(300));
    card.receive(at(0), 0, 1000);
    card.receive(at(0), 1, 3000);
    card.receive(at(200), 0, 1000);
    // From 200 us on, (100 + 3·300)/4 = 250 us each.
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

/// A receiver with segments of 1000 bytes, and what its windows are after rounds in which it gets
/// so many segments each, 8 us apart at the end of the round.
fn windows(params: Params, rounds: &[u64]) -> Vec<u64> {
    let mut card = Card::new(Rate(1_000_000_000), RTT, params.alpha);
    card.open(0, 2000, RTT);
    let card = Arc::new(Mutex::new(card));
    let mut receiver = Receiver {
        params,
        card,
        index: 0,
        segment: 1000,
        tick: None,
        window: 2000,
        slow_start: true,
        rtt: RTT,
        timing: None,
        round: None,
        measured: 0.0,
        low: 0,
        raised: None,
        heard: Time::ZERO,
    };
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
    // The first doubling takes 2000 B/RTT of 11 250, the second 4000 of what is left by then; the
    // third finds too little, and growth goes on by segments.
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
    assert!(windows.is_sorted_by(|one, next| next + 1 >= *one), "one at a time: {windows:?}");
    assert!(windows[windows.len() - 4..].contains(&2), "{windows:?}");
}

#[test]
fn without_a_usable_link_nothing_grows() {
    assert_eq!(windows(Params { alpha: 0.0, ..params() }, &[2, 2, 2, 4, 4]), [2; 5]);
}
