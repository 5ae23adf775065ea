//! Small bursts that wait (Linux's `tcp_tso_should_defer`).

use super::senders::{RULES, new, sender_by, sent_by};
use crate::flavour::{Flavour, Rack, Repair};
use crate::rto;
use crate::sender::defer::{Bounds, Deferral};
use crate::sender::{AckInfo, Rules, Sender};

fn by(repair: Repair, closes: bool) -> Rules {
    let rack = Rack { probes: 0, ..Flavour::LAB.rack };
    let flavour =
        Flavour { repair, closes, rack, defers: true, counts_packets: true, ..Flavour::LAB };
    let rto = rto::Bounds { is_least: false, ..RULES.rto };
    Rules { flavour, rto, defer: Bounds { segment: 1000, short: 0, soon: 1000 }, ..RULES }
}

/// A sender of `all` segments with a full window of `window` segments outstanding since time 0.
fn full(window: f64, all: u32, rules: &Rules) -> Sender {
    let mut it = sender_by(window, 2.0, rules);
    it.end = 1 + all;
    assert_eq!(sent_by(&mut it, 0, rules), new(1..=window as u32));
    it
}

#[test]
fn linux_duplicate_acks_defer() {
    let rules = by(Repair::Rack, false);
    let mut it = full(5.0, 100, &rules);
    let mut after = |segment| {
        it.on_ack(10, &AckInfo { next: 1, segment, ..AckInfo::default() }, &rules);
        let sent = sent_by(&mut it, 10, &rules);
        (sent, it.is_ready(&rules))
    };
    assert_eq!(after(2), (vec![], false));
    assert_eq!(after(3).0, new(6..8), "a third of the window");
}

#[test]
fn linux_a_pause_ends_the_deferral() {
    for repair in [Repair::NewReno, Repair::Rack] {
        let rules = by(repair, false);
        let mut it = full(9.0, 100, &rules);
        let mut after = |now, next| {
            it.on_ack(now, &AckInfo { next, segment: next - 1, ..AckInfo::default() }, &rules);
            sent_by(&mut it, now, &rules)
        };
        assert_eq!(after(10, 2), []);
        assert_eq!(after(1001, 3), new(10..12), "{repair:?}");
    }
}

#[test]
fn linux_the_last_segments_wait_unless_a_fin_ends_them() {
    for (closes, expected) in [(false, vec![]), (true, new(13..15))] {
        let rules = by(Repair::NewReno, closes);
        let mut it = full(12.0, 14, &rules);
        it.acknowledge(10, 4, 0, &rules);
        assert_eq!(sent_by(&mut it, 10, &rules), expected);
    }
}

/// After 64 segments of 1000 bytes, one more segment fits into a piece of 65 536 bytes. After 65
/// segments, no segment fits.
#[test]
fn linux_a_full_piece_of_the_send_queue_does_not_wait() {
    for (outstanding, expected) in [(64, vec![]), (65, new([66]))] {
        let rules = by(Repair::NewReno, false);
        let mut it = full(f64::from(outstanding), 1000, &rules);
        it.acknowledge(10, 2, 0, &rules);
        assert_eq!(sent_by(&mut it, 10, &rules), expected);
    }
}

#[test]
fn linux_a_far_ack_is_not_waited_for() {
    let rules = by(Repair::NewReno, false);
    let mut it = full(9.0, 100, &rules);
    // The round trip is 10, so the next ACK is expected after 6, which is more than half a round
    // trip.
    it.acknowledge(4, 2, 0, &rules);
    assert_eq!(sent_by(&mut it, 4, &rules).len(), 1);
}

#[test]
fn linux_the_repair_of_a_timeout_does_not_defer() {
    let rules = by(Repair::NewReno, false);
    let mut it = full(9.0, 100, &rules);
    it.expire(it.deadline, &rules);
    let now = it.deadline;
    assert_eq!(sent_by(&mut it, now, &rules), [(1, true)]);
    let mut deferral = Deferral::default();
    deferral.note(5, 1, 1, 3);
    deferral.note(7, 2, 4, 1);
    assert!(deferral.was_limited(0) && !deferral.was_limited(1));
}
