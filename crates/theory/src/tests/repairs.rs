//! Tahoe, Reno, ns-2's SACK, and windows that grow by acknowledged data.

use super::senders::{RULES, new, sender_by, sent_by};
use crate::flavour::{Cubic, Exit, Flavour, Growth, Halved, Repair};
use crate::packet::NEVER;
use crate::parts::{Parts, SEGMENT, parts};
use crate::sender::{AckInfo, Rules, Sender};

fn by(flavour: Flavour) -> Rules {
    Rules { flavour, ..RULES }
}

/// A sender with ten outstanding segments, the first of which is lost, after three duplicate ACKs.
fn tripled(rules: &Rules) -> Sender {
    let mut it = sender_by(10.0, 50.0, rules);
    assert_eq!(sent_by(&mut it, 0, rules), new(1..11));
    for expected in [new([11]), new([12])] {
        it.acknowledge(50, 1, NEVER, rules);
        assert_eq!(sent_by(&mut it, 50, rules), expected);
    }
    it.acknowledge(50, 1, NEVER, rules);
    it
}

#[test]
fn tahoe_begins_again_with_one_segment_from_the_loss_on() {
    let rules = by(Flavour { repair: Repair::Tahoe, ..Flavour::LAB });
    let mut it = tripled(&rules);
    assert_eq!(sent_by(&mut it, 50, &rules), [(1, true)]);
    // The threshold is half of the ten segments that the window allowed.
    assert_eq!((it.window, it.threshold, it.timeouts), (SEGMENT, parts(5.0), 0));
    for _ in 0..9 {
        it.acknowledge(60, 1, NEVER, &rules);
        assert_eq!(sent_by(&mut it, 60, &rules), [], "more duplicates have no effect");
    }
    it.acknowledge(100, 4, NEVER, &rules);
    assert_eq!(sent_by(&mut it, 100, &rules), [(4, true), (5, true)]);
    (0..3).for_each(|_| it.acknowledge(110, 4, NEVER, &rules));
    assert_eq!(it.window, parts(2.0), "these duplicates are no new loss");
    it.acknowledge(120, 13, NEVER, &rules);
    assert_eq!(sent_by(&mut it, 120, &rules), new(13..16));
}

#[test]
fn ns2s_tahoe_sends_the_loss_again_in_its_turn() {
    for (in_turn, expected) in [(false, Some(1)), (true, None)] {
        let rules = by(Flavour { repair: Repair::Tahoe, in_turn, ..Flavour::LAB });
        let mut it = tripled(&rules);
        let at_once = it.poll(50, false, &rules).map(|burst| burst.segment);
        assert_eq!(at_once, expected);
    }
}

#[test]
fn reno_ends_its_recovery_with_the_first_new_ack() {
    let rules = by(Flavour { repair: Repair::Reno, ..Flavour::LAB });
    let mut it = tripled(&rules);
    assert_eq!(sent_by(&mut it, 50, &rules), [(1, true)]);
    (0..6).for_each(|_| it.acknowledge(60, 1, NEVER, &rules));
    assert_eq!(sent_by(&mut it, 60, &rules), new(13..15), "5 + 9 segments");
    // Segment 4 is also lost.
    it.acknowledge(100, 4, NEVER, &rules);
    assert_eq!((it.window, it.in_recovery), (parts(5.0), false));
    (0..5).for_each(|_| it.acknowledge(110, 4, NEVER, &rules));
    assert_eq!(sent_by(&mut it, 110, &rules), [], "no second recovery for the same window");
    let careless = by(Flavour { careful: false, ..rules.flavour });
    let mut it = tripled(&careless);
    it.acknowledge(100, 4, NEVER, &careless);
    (0..3).for_each(|_| it.acknowledge(110, 4, NEVER, &careless));
    assert_eq!(sent_by(&mut it, 110, &careless), [(4, true)], "4.3BSD reduces again");
}

#[test]
fn ns2s_reno_keeps_its_window_and_grows_it() {
    let exit = Exit::Keep;
    let halved = Halved::Window;
    let rules = by(Flavour { repair: Repair::Reno, exit, halved, ..Flavour::LAB });
    let mut it = tripled(&rules);
    it.acknowledge(100, 13, NEVER, &rules);
    assert_eq!(it.window, parts(5.0) + SEGMENT / 5);
}

/// The segments sent after an ACK with SACK.
fn sacked(it: &mut Sender, (next, segment): (u32, u32), rules: &Rules) -> Vec<(u32, bool)> {
    it.on_ack(50, &AckInfo { next, segment, sent: 0, twice: false, ece: false }, rules);
    sent_by(it, 50, rules)
}

/// Of ten segments, 1 to 6 are lost. With RFC 6675, the sender retransmits as many segments as the
/// window allows, after three segments have arrived. `Sack1` counts lost segments as part of the
/// pipe.
#[test]
fn ns2s_sack_waits_where_more_than_half_of_a_window_is_lost() {
    let repaired = |repair| {
        let rules = by(Flavour { repair, rescues: false, ..Flavour::LAB });
        let mut it = sender_by(10.0, 50.0, &rules);
        it.end = 11;
        sent_by(&mut it, 0, &rules);
        let each = (7..11).map(|segment| sacked(&mut it, (1, segment), &rules));
        each.flatten().collect::<Vec<_>>()
    };
    // After the fourth duplicate ACK, 10 - 3 - 1 = 6 segments are in the pipe, and the window is 5.
    assert_eq!(repaired(Repair::Sack1), [(1, true)]);
    assert_eq!(repaired(Repair::Sack), [1, 2, 3, 4, 5].map(|segment| (segment, true)));
}

#[test]
fn ns2s_sack_takes_two_from_the_pipe_for_new_data_and_keeps_its_window() {
    let halved = Halved::Window;
    let rules = by(Flavour { repair: Repair::Sack1, halved, ..Flavour::LAB });
    let mut it = sender_by(10.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    // Segments 1 and 2 are lost.
    let sent: Vec<_> = (3..11).flat_map(|segment| sacked(&mut it, (1, segment), &rules)).collect();
    // Limited transmit sends 11 and 12. At first 12 - 3 segments are in the pipe, and the window is
    // 5.
    assert_eq!(sent, [(11, false), (12, false), (1, true), (2, true)]);
    assert_eq!(sacked(&mut it, (2, 1), &rules), new(13..15), "a segment and its copy arrived");
    it.on_ack(60, &AckInfo { next: 13, segment: 2, sent: NEVER, twice: false, ece: false }, &rules);
    assert_eq!((it.in_recovery, it.window), (false, parts(5.0)));
}

/// The limit of new segments per ACK also holds with a scoreboard.
#[test]
fn ns2s_sack_sends_two_new_segments_per_ack_of_its_recovery() {
    let rules = by(Flavour { repair: Repair::Sack1, burst: 2, ..Flavour::LAB });
    let mut it = sender_by(10.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    for segment in 2..5 {
        sacked(&mut it, (1, segment), &rules);
    }
    assert!(it.in_recovery);
    it.window = parts(30.0);
    assert_eq!(sacked(&mut it, (1, 5), &rules), new(13..15), "the window has room for many");
    assert_eq!(sacked(&mut it, (1, 6), &rules), new(15..17));
}

#[test]
fn in_a_recovery_without_anything_to_repair_or_to_send_nothing_is_ready() {
    let rules = by(Flavour { repair: Repair::Sack, rescues: false, ..Flavour::LAB });
    let mut it = sender_by(10.0, 50.0, &rules);
    it.end = 11;
    sent_by(&mut it, 0, &rules);
    for segment in 2..11 {
        sacked(&mut it, (1, segment), &rules);
    }
    assert!(it.in_recovery && !it.is_ready(&rules), "the copy of the first segment is on its way");
    it.end = 12;
    assert!(it.is_ready(&rules));
}

#[test]
fn ns2s_sack_forgets_at_a_timeout_what_has_arrived() {
    let rules = by(Flavour { repair: Repair::Sack1, ..Flavour::LAB });
    let mut it = sender_by(4.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    sacked(&mut it, (1, 3), &rules);
    it.expire(1010, &rules);
    assert_eq!(sent_by(&mut it, 1010, &rules), [(1, true)]);
    it.on_ack(
        1020,
        &AckInfo { next: 2, segment: 1, sent: NEVER, twice: false, ece: false },
        &rules,
    );
    assert_eq!(sent_by(&mut it, 1020, &rules), [(2, true), (3, true)], "3 is sent again");
}

/// The window after an ACK of `acked` of the eight outstanding segments.
fn grown(growth: Growth, (window, threshold): (f64, f64), acked: u32) -> Parts {
    let rules = by(Flavour { growth, ..Flavour::LAB });
    let mut it = sender_by(window, threshold, &rules);
    sent_by(&mut it, 0, &rules);
    it.acknowledge(10, 1 + acked, NEVER, &rules);
    it.window
}

#[test]
fn rfc3465_windows_grow_by_data_with_a_limit_or_without() {
    let each = [Growth::Acks, Growth::Data, Growth::AllData];
    assert_eq!(each.map(|it| grown(it, (8.0, 50.0), 3)), [9.0, 9.0, 11.0].map(parts));
    assert_eq!(each.map(|it| grown(it, (8.0, 10.0), 8)), [9.0, 9.0, 10.0].map(parts));
    // Congestion avoidance adds a segment per window.
    assert_eq!(each.map(|it| grown(it, (8.0, 4.0), 7)), [8.125, 8.0, 8.0].map(parts));
    assert_eq!(each.map(|it| grown(it, (8.0, 4.0), 8)), [8.125, 9.0, 9.0].map(parts));
}

#[test]
fn linux_halves_a_window_in_whole_segments_and_only_once() {
    let rules = by(Flavour { halved: Halved::Once, ..Flavour::LAB });
    let mut it = sender_by(9.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    it.window = parts(9.9);
    it.expire(1010, &rules);
    assert_eq!((it.window, it.threshold), (SEGMENT, parts(4.0)));
    it.window = parts(20.0);
    it.expire(4000, &rules);
    assert_eq!(it.threshold, parts(4.0), "a repeated timeout");
}

/// A sender with a window of 100 segments, which a loss has reduced to 70.
fn cubic(cubic: Cubic) -> (Sender, Rules) {
    let rules = by(Flavour { growth: Growth::Cubic, cubic, ..Flavour::LAB });
    let mut it = sender_by(100.0, 50.0, &rules);
    it.end = 10_000;
    sent_by(&mut it, 0, &rules);
    (0..3).for_each(|_| it.acknowledge(50, 1, NEVER, &rules));
    (it, rules)
}

#[test]
fn rfc9438_a_loss_leaves_seven_tenths_and_the_curve_returns() {
    let curve = Cubic { is_friendly: false, ..Flavour::LAB.cubic };
    let (mut it, rules) = cubic(curve);
    assert_eq!((it.window, it.threshold), (parts(70.0), parts(70.0)));
    it.acknowledge(60, 103, NEVER, &rules);
    sent_by(&mut it, 60, &rules);
    it.acknowledge(60, 104, NEVER, &rules);
    // K is cbrt(30 / 0.4) = 4.217 s, and a second has a million ticks.
    let mut last = 60;
    for at in [1.0, 2.0, 3.0, 4.217, 5.217] {
        last = 60 + (at * 1e6) as u64;
        for _ in 0..200 {
            let (una, max) = (it.una, it.max);
            sent_by(&mut it, last, &rules);
            it.acknowledge(last, una + 1, NEVER, &rules);
            assert!(it.max >= max);
        }
        let due = 0.4 * (at - 4.217_f64).powi(3) + 100.0;
        let is = it.window as f64 / SEGMENT as f64;
        assert!((is - due).abs() < 0.02 * due, "at {at}: {is}, not {due}");
    }
    it.expire(last + 10_000_000, &rules);
    assert_eq!(it.window, SEGMENT);
}

#[test]
fn rfc9438_4_7_a_window_below_its_last_maximum_yields() {
    for (yields, expected) in [(true, 70.0 * 0.85), (false, 70.0)] {
        let rules = by(Flavour {
            growth: Growth::Cubic,
            cubic: Cubic { yields, ..Flavour::LAB.cubic },
            ..Flavour::LAB
        });
        let mut it = crate::sender::cubic::Cubic::new(&rules.flavour.cubic);
        assert_eq!(it.reduce(parts(100.0), None, &rules), parts(70.0));
        assert_eq!(it.reduce(parts(70.0), Some(parts(60.0)), &rules), parts(42.0));
        assert!((it.maximum().unwrap_or_default() - expected).abs() < 1e-9);
    }
}

#[test]
fn rfc9438_4_3_it_is_no_slower_than_reno() {
    let (mut it, rules) = cubic(Flavour::LAB.cubic);
    it.acknowledge(60, 103, NEVER, &rules);
    // All ACKs arrive at the same time, so the curve does not move.
    for _ in 0..700 {
        sent_by(&mut it, 70, &rules);
        let una = it.una;
        it.acknowledge(70, una + 1, NEVER, &rules);
    }
    // There are ten windows of 70 segments, and the growth per window is 3 · 0.3 / 1.7 segments.
    let is = it.window as f64 / SEGMENT as f64;
    assert!((is - 75.1).abs() < 0.2, "{is}");
}
