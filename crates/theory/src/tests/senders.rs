//! The segments that a sender sends, and when it sends them, for each flavour.

use crate::bbr;
use crate::flavour::{Exit, Flavour, Halved, Idle, Repair, Style};
use crate::hybrid::Spans;
use crate::packet::{NEVER, Ticks};
use crate::parts::{SEGMENT, parts};
use crate::rto::{Bounds, Rto};
use crate::sender::defer;
use crate::sender::rack;
use crate::sender::{AckInfo, Burst, Rules, Sender};

pub(super) const RULES: Rules = Rules {
    short: 0,
    last: 1.0,
    most_window: 1000 * SEGMENT,
    initial_window: 2 * SEGMENT,
    rto: Bounds { least: 1000, most: 1_000_000, granularity: 0, style: Style::Rfc, is_least: true },
    flavour: Flavour::LAB,
    hybrid: Spans { spacing: 2, least: 4, most: 16, allowance: 1, divisor: 8, train: 2 },
    rack: rack::Spans { first: 900, margin: 20, ack_delay: 400 },
    bbr: bbr::Spans {
        millisecond: 1e3,
        burst: 0.0,
        round_trip: 1 << 40,
        probe: 1 << 30,
        segment: 1460.0,
    },
    defer: defer::Bounds { segment: 1460, short: 0, soon: 1000 },
    tick: 0,
    second: 1e6,
};

/// A sender with many segments to send and a round-trip sample.
pub(super) fn sender(window: f64, threshold: f64) -> Sender {
    sender_by(window, threshold, &RULES)
}

pub(super) fn sender_by(window: f64, threshold: f64, rules: &Rules) -> Sender {
    let rules = Rules { initial_window: parts(window), ..*rules };
    let mut sender = Sender::new(1, parts(threshold), Rto::new(1000), &rules);
    sender.open(10, true, &rules);
    sender.end = 1000;
    sender
}

/// The segments that the sender sends now, and whether they are retransmissions.
pub(super) fn sent(sender: &mut Sender, now: Ticks) -> Vec<(u32, bool)> {
    sent_by(sender, now, &RULES)
}

pub(super) fn sent_by(sender: &mut Sender, now: Ticks, rules: &Rules) -> Vec<(u32, bool)> {
    let bursts: Vec<Burst> = std::iter::from_fn(|| sender.poll(now, true, rules)).collect();
    let each = |it: Burst| (it.segment..it.segment + it.count).map(move |at| (at, it.again));
    bursts.into_iter().flat_map(each).collect()
}

pub(super) fn new(segments: impl IntoIterator<Item = u32>) -> Vec<(u32, bool)> {
    segments.into_iter().map(|segment| (segment, false)).collect()
}

#[test]
fn rfc5681_slow_start_sends_two_segments_per_ack_and_then_one() {
    let mut it = sender(2.0, 4.0);
    assert_eq!(sent(&mut it, 0), new(1..3));
    for (ack, expected) in [(2, 3..5), (3, 5..7), (4, 7..8), (5, 8..9), (6, 9..10), (7, 10..11)] {
        it.acknowledge(10, ack, 0, &RULES);
        assert_eq!(sent(&mut it, 10), new(expected), "ACK {ack}");
    }
    it.acknowledge(20, 8, 10, &RULES);
    it.acknowledge(20, 9, 10, &RULES);
    assert_eq!(sent(&mut it, 20), new(11..14), "one segment more per window");
}

/// A sender with ten outstanding segments, after `count` duplicate ACKs.
fn duplicates(count: u32) -> (Sender, Vec<Vec<(u32, bool)>>) {
    let mut it = sender(10.0, 5.0);
    assert_eq!(sent(&mut it, 0), new(1..11));
    let each = (0..count).map(|_| {
        it.acknowledge(50, 1, NEVER, &RULES);
        sent(&mut it, 50)
    });
    let each = each.collect();
    (it, each)
}

#[test]
fn rfc3042_and_6582_two_duplicates_release_new_segments_and_the_third_a_retransmission() {
    let (mut it, each) = duplicates(9);
    assert_eq!(each[..3], [new([11]), new([12]), vec![(1, true)]]);
    // The window is half of ten segments, because the two segments of limited transmit do not
    // count. From the eighth duplicate on, the inflated window of 5 + 8 segments exceeds the 12
    // outstanding segments.
    assert_eq!(each[3..], [vec![], vec![], vec![], vec![], new([13]), new([14])]);
    it.acknowledge(90, 15, NEVER, &RULES);
    assert_eq!(sent(&mut it, 90), new(15..20), "recovery ends with the threshold as window");
}

#[test]
fn rfc6582_a_partial_ack_repairs_the_next_hole_and_only_the_first_restarts_the_timer() {
    let (mut it, _) = duplicates(5);
    assert_eq!(it.deadline, 1050);
    it.acknowledge(100, 4, NEVER, &RULES);
    assert_eq!((sent(&mut it, 100)[0], it.deadline), ((4, true), 1100));
    it.acknowledge(200, 6, NEVER, &RULES);
    assert_eq!((sent(&mut it, 200)[0], it.deadline), ((6, true), 1100));
}

#[test]
fn rfc5681_after_a_timeout_all_is_sent_again_from_one_segment_on() {
    let (mut it, _) = duplicates(1);
    it.expire(1000, &RULES);
    assert_eq!((sent(&mut it, 1000), it.deadline), (vec![(1, true)], 3000));
    it.expire(3000, &RULES);
    assert_eq!((sent(&mut it, 3000), it.deadline, it.timeouts), (vec![(1, true)], 7000, 2));
    it.acknowledge(3100, 2, NEVER, &RULES);
    assert_eq!(sent(&mut it, 3100), [(2, true), (3, true)]);
    (0..3).for_each(|_| it.acknowledge(3200, 2, NEVER, &RULES));
    assert_eq!(sent(&mut it, 3200), [], "duplicates of data sent twice start no repair");
    // The threshold is half of the eleven outstanding segments, also after the second timeout.
    for ack in 3..7 {
        it.acknowledge(3300, ack, NEVER, &RULES);
    }
    let out = sent(&mut it, 3300).last().map(|it| it.0);
    assert_eq!(out, Some(11), "six segments from segment 6 on");
}

#[test]
fn rfc6298_an_ack_of_what_was_sent_twice_is_no_sample() {
    let (mut it, _) = duplicates(0);
    it.expire(1000, &RULES);
    sent(&mut it, 1000);
    // The first transmissions arrive late, and the timer stays doubled.
    it.acknowledge(1010, 2, 0, &RULES);
    assert_eq!(it.deadline, 3010);
    sent(&mut it, 1010);
    it.acknowledge(1020, 5, NEVER, &RULES);
    sent(&mut it, 1020);
    it.acknowledge(1030, 11, NEVER, &RULES);
    assert_eq!(sent(&mut it, 1030)[0], (11, false));
    it.acknowledge(1040, 12, 1030, &RULES);
    assert_eq!(it.deadline, 2040);
}

#[test]
fn a_last_segment_is_small_and_a_window_smaller_than_it_lets_it_go_alone() {
    let rules = Rules { short: SEGMENT / 2, initial_window: parts(2.5), ..RULES };
    let mut it = Sender::new(1, parts(9.0), Rto::new(1000), &rules);
    it.end = 4;
    let bursts: Vec<_> =
        std::iter::from_fn(|| it.poll(0, true, &rules)).map(|it| it.count).collect();
    assert_eq!(bursts, [2, 1]);
    let rules = Rules { initial_window: parts(0.3), ..rules };
    let mut it = Sender::new(1, parts(9.0), Rto::new(1000), &rules);
    it.end = 2;
    assert!(it.poll(0, true, &rules).is_some_and(|burst| burst.count == 1));
}

/// Rules of a sender with a scoreboard.
pub(super) fn sack(flavour: Flavour) -> Rules {
    Rules { flavour: Flavour { repair: Repair::Sack, ..flavour }, ..RULES }
}

#[test]
fn rfc6675_three_segments_above_a_hole_repair_it_and_the_pipe_governs_the_rest() {
    let rules = sack(Flavour { rescues: false, ..Flavour::LAB });
    let mut it = sender_by(10.0, 5.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules), new(1..11));
    let on_ack = |it: &mut Sender, next, segment| {
        it.on_ack(50, &AckInfo { next, segment, sent: 0, twice: false, ece: false }, &rules);
        sent_by(it, 50, &rules)
    };
    // Segments 1 and 4 are lost.
    assert_eq!(on_ack(&mut it, 1, 2), new([11]));
    assert_eq!(on_ack(&mut it, 1, 3), new([12]));
    assert_eq!(on_ack(&mut it, 1, 5), [(1, true)]);
    let more: Vec<_> = (6..11).flat_map(|segment| on_ack(&mut it, 1, segment)).collect();
    assert_eq!(more, [(4, true), (13, false)], "five segments are in the pipe");
    assert_eq!(on_ack(&mut it, 4, 1), new([14]));
    assert_eq!(on_ack(&mut it, 13, 4), new(15..18), "the threshold is five");
    assert_eq!(it.timeouts, 0);
}

#[test]
fn after_a_timeout_a_scoreboard_remembers_what_has_arrived() {
    let rules = sack(Flavour::LAB);
    let mut it = sender_by(4.0, 9.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules), new(1..5));
    it.on_ack(5, &AckInfo { next: 1, segment: 3, sent: 0, twice: false, ece: false }, &rules);
    sent_by(&mut it, 5, &rules);
    it.expire(1000, &rules);
    assert_eq!(sent_by(&mut it, 1000, &rules), [(1, true)]);
    it.on_ack(
        1010,
        &AckInfo { next: 2, segment: 1, sent: NEVER, twice: false, ece: false },
        &rules,
    );
    assert_eq!(sent_by(&mut it, 1010, &rules), [(2, true), (4, true)]);
}

#[test]
fn ns2_halves_the_window_and_keeps_it_at_the_end_and_releases_two() {
    let flavour = Flavour { halved: Halved::Window, exit: Exit::Keep, burst: 2, ..Flavour::LAB };
    let rules = Rules { flavour, ..RULES };
    let mut it = sender_by(10.0, 5.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules).len(), 10);
    it.window = parts(30.0);
    for _ in 0..3 {
        it.acknowledge(50, 1, NEVER, &rules);
    }
    assert_eq!((it.window, it.threshold), (parts(15.0), parts(15.0)));
    assert_eq!(sent_by(&mut it, 50, &rules), [(1, true), (11, false), (12, false)]);
    it.acknowledge(90, 13, NEVER, &rules);
    assert!(it.window > parts(15.0), "the last ACK grows the window");
}

#[test]
fn rfc5681_4_1_an_idle_window_restarts_and_2861_halves_it() {
    for (idle, expected) in [(Idle::Kept, 9), (Idle::Restarts, 2), (Idle::Validates, 4)] {
        let rules = Rules { flavour: Flavour { idle, ..Flavour::LAB }, ..RULES };
        let mut it = sender_by(2.0, 50.0, &rules);
        it.end = 3;
        sent_by(&mut it, 0, &rules);
        it.acknowledge(10, 2, 0, &rules);
        it.acknowledge(10, 3, 0, &rules);
        (it.window, it.end) = (parts(9.0), 100);
        assert_eq!(sent_by(&mut it, 1500, &rules).len(), expected, "{idle:?}");
    }
}

/// RFC 2861 §3: the use of a window is checked when data is sent.
#[test]
fn a_sender_with_nothing_to_send_does_not_validate_its_window() {
    let rules = sack(Flavour { idle: Idle::Validates, ..Flavour::LAB });
    let mut it = sender_by(8.0, 50.0, &rules);
    it.end = 3;
    sent_by(&mut it, 0, &rules);
    assert_eq!((sent_by(&mut it, 1500, &rules), it.window), (vec![], parts(8.0)));
    it.end = 4;
    sent_by(&mut it, 1500, &rules);
    assert_eq!(it.window, parts(5.0), "two of eight segments were used");
}

#[test]
fn one_segment_of_a_window_is_timed_in_ticks() {
    let rules = Rules {
        flavour: Flavour { per_window: true, ..Flavour::LAB },
        rto: Bounds { least: 1, granularity: 100, style: Style::Ns2, is_least: false, ..RULES.rto },
        ..RULES
    };
    let mut it = sender_by(2.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    it.rto = Rto::new(9999);
    it.acknowledge(240, 2, 0, &rules);
    assert_eq!(it.rto.wait, 200 + 4 * 100);
    it.acknowledge(940, 3, 0, &rules);
    assert_eq!(it.rto.wait, 600, "the second segment is not timed");
}

#[test]
fn a_host_that_waits_sends_at_once_what_recovery_owes() {
    let mut it = sender(4.0, 9.0);
    assert!(it.is_ready(&RULES) && it.poll(0, false, &RULES).is_none());
    assert_eq!(sent(&mut it, 0).len(), 4);
    assert!(!it.is_ready(&RULES));
    it.acknowledge(9, 1, NEVER, &RULES);
    assert!(it.poll(9, false, &RULES).is_some_and(|it| it.segment == 5), "limited transmit");
    it.acknowledge(9, 1, NEVER, &RULES);
    it.acknowledge(9, 1, NEVER, &RULES);
    while let Some(burst) = it.poll(9, false, &RULES) {
        assert!(burst.again || burst.segment == 6);
    }
}
