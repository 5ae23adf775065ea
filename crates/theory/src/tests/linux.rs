//! Rules of Linux: rate reduction, F-RTO, RACK-TLP, and timers with ticks.

use super::senders::{RULES, new, sender_by, sent_by};
use crate::flavour::{Examine, Flavour, Rack, Repair};
use crate::packet::NEVER;
use crate::parts::{SEGMENT, parts};
use crate::rto::{Bounds, Rto};
use crate::sender::{AckInfo, Rules, Sender};

fn by(flavour: Flavour) -> Rules {
    Rules { flavour, rto: Bounds { is_least: false, ..RULES.rto }, ..RULES }
}

/// A stack with windows in packets, rate reduction and F-RTO.
fn linux(repair: Repair) -> Flavour {
    Flavour {
        repair,
        counts_packets: true,
        proportional: true,
        examine: Examine::Data,
        timestamps: true,
        impatient: false,
        rack: Rack { probes: 1, reduces_again: false, ..Flavour::LAB.rack },
        ..Flavour::LAB
    }
}

fn ack(next: u32, segment: u32) -> AckInfo {
    AckInfo { next, segment, sent: 0, twice: false, ece: false }
}

/// 20 segments are outstanding, and the first is lost.
#[test]
fn rfc9937_a_segment_leaves_for_every_two_that_arrive() {
    let rules = by(linux(Repair::Rack));
    let mut it = sender_by(20.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    let sent: Vec<usize> = (2..21)
        .map(|segment| {
            it.on_ack(100, &ack(1, segment), &rules);
            sent_by(&mut it, 100, &rules).len()
        })
        .collect();
    assert!(it.in_recovery && it.window == parts(10.0));
    // The first two segments are limited transmit. Then half as many segments are sent as arrive,
    // until ten are in the pipe.
    assert_eq!((sent[..2].to_vec(), sent[2..].iter().sum::<usize>()), (vec![1, 1], 8));
    assert_eq!(it.selective.as_ref().map(|it| it.board.pipe()), Some(10));
}

#[test]
fn linux_answers_a_partial_ack_as_soon_as_rate_reduction_allows_it() {
    let rules = by(linux(Repair::NewReno));
    let mut it = sender_by(10.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    for _ in 0..3 {
        it.acknowledge(50, 1, 0, &rules);
        sent_by(&mut it, 50, &rules);
    }
    assert!(it.in_recovery);
    // Segments 1, 4 and 5 are lost. If rate reduction allows no segment, a partial ACK does not
    // repair the next hole.
    it.acknowledge(100, 4, 0, &rules);
    let at_once = sent_by(&mut it, 100, &rules);
    let later: Vec<_> = (0..4)
        .flat_map(|_| {
            it.acknowledge(110, 4, 0, &rules);
            sent_by(&mut it, 110, &rules)
        })
        .collect();
    assert_eq!(at_once.iter().chain(&later).find(|it| it.1), Some(&(4, true)));
    assert!(later.len() <= 3, "no more than arrives: {later:?}");
}

#[test]
fn rfc5682_new_data_after_a_timeout_tells_whether_it_was_premature() {
    for is_premature in [true, false] {
        let rules = by(linux(Repair::NewReno));
        let mut it = sender_by(6.0, 50.0, &rules);
        sent_by(&mut it, 0, &rules);
        it.expire(1010, &rules);
        assert_eq!(sent_by(&mut it, 1010, &rules), [(1, true)]);
        it.acknowledge(1020, 2, 0, &rules);
        assert_eq!(sent_by(&mut it, 1020, &rules), new(7..9), "new data, not segment 2");
        if is_premature {
            it.acknowledge(1030, 3, 0, &rules);
            // The window before the timeout is restored, but at most to the flight plus the data
            // that the ACK covered.
            assert_eq!((it.window, it.threshold), (parts(6.0), parts(50.0)));
            assert_eq!(sent_by(&mut it, 1030, &rules), []);
        } else {
            it.acknowledge(1030, 2, 0, &rules);
            assert_eq!(it.window, parts(2.0));
            assert_eq!(sent_by(&mut it, 1030, &rules)[0], (2, true));
        }
    }
}

#[test]
fn rfc5682_without_new_data_the_repair_goes_on() {
    let rules = by(linux(Repair::NewReno));
    let mut it = sender_by(6.0, 50.0, &rules);
    it.end = 7;
    sent_by(&mut it, 0, &rules);
    it.expire(1010, &rules);
    assert_eq!(sent_by(&mut it, 1010, &rules), [(1, true)]);
    it.acknowledge(1020, 2, 0, &rules);
    assert_eq!(sent_by(&mut it, 1020, &rules), [(2, true), (3, true)]);
}

/// RFC 5682 §2.1, step 3 a: a duplicate ACK after the new data shows that the timeout was genuine. In
/// the simulator, this holds with SACK as well if the ACK reports only a duplicate. Without such an
/// ACK, the arrival of segment 3, which was sent once, undoes the timeout.
#[test]
fn rfc5682_a_duplicate_after_new_data_tells_a_genuine_timeout() {
    for (twice, window) in [(false, 6.0), (true, 2.0)] {
        let rules = by(Flavour { examine: Examine::Linux, ..linux(Repair::Sack) });
        let mut it = sender_by(6.0, 50.0, &rules);
        sent_by(&mut it, 0, &rules);
        it.expire(1010, &rules);
        assert_eq!(sent_by(&mut it, 1010, &rules), [(1, true)]);
        it.on_ack(1020, &AckInfo { sent: 1010, ..ack(2, 1) }, &rules);
        assert_eq!(sent_by(&mut it, 1020, &rules), new(7..9));
        if twice {
            it.on_ack(1030, &AckInfo { sent: 1010, twice, ..ack(2, 1) }, &rules);
        }
        it.on_ack(1040, &AckInfo { sent: 1010, ..ack(2, 3) }, &rules);
        assert_eq!(it.window, parts(window));
    }
}

#[test]
fn rfc7323_a_timestamp_times_a_retransmission() {
    for (timestamps, expected) in [(true, 1010 + 10 + 3 * 10), (false, 1010 + 2 * 1000)] {
        let mut rules = by(Flavour { timestamps, ..Flavour::LAB });
        rules.rto.least = 1;
        let mut it = sender_by(2.0, 50.0, &rules);
        it.rto = Rto::new(1000);
        sent_by(&mut it, 0, &rules);
        it.expire(1010, &rules);
        sent_by(&mut it, 1010, &rules);
        assert_eq!(it.deadline, 3010);
        it.acknowledge(1020, 2, 1010, &rules);
        assert_eq!(it.deadline.min(3010), if timestamps { expected } else { 3010 });
    }
}

/// A sender whose probe is due 2 · 10 + 20 ticks after the last segment was sent.
fn tail() -> (Sender, Rules) {
    let rules = by(linux(Repair::Rack));
    let mut it = sender_by(4.0, 50.0, &rules);
    (it.rto, it.end) = (Rto::new(1000), 5);
    it.rto.sample(10, (1, 1), &rules.rto);
    sent_by(&mut it, 0, &rules);
    (it, rules)
}

#[test]
fn rfc8985_7_a_probe_finds_a_loss_at_the_tail() {
    let (mut it, rules) = tail();
    assert_eq!(it.due(), 40);
    it.expire(40, &rules);
    assert_eq!(sent_by(&mut it, 40, &rules), [(4, true)]);
    assert_eq!((it.due(), it.timeouts), (1040, 0), "the timer starts again, without a probe");
    // The probe arrives. The other segments are lost, because they were sent a round trip before
    // the probe.
    it.on_ack(51, &ack(1, 4), &rules);
    assert_eq!(sent_by(&mut it, 51, &rules)[0], (1, true));
    assert!(it.in_recovery);
}

#[test]
fn rfc8985_7_4_a_probe_that_repairs_a_loss_reduces_the_window() {
    let (mut it, rules) = tail();
    it.on_ack(20, &ack(4, 3), &rules);
    let due = it.due();
    assert_eq!(due, 20 + 2 * it.rto.smoothed() + 400, "a delayed ACK is allowed for");
    it.expire(due, &rules);
    assert_eq!(sent_by(&mut it, due, &rules), [(4, true)]);
    it.on_ack(due + 10, &ack(5, 4), &rules);
    let window = it.window;
    it.end = 9;
    sent_by(&mut it, due + 10, &rules);
    it.on_ack(due + 20, &ack(6, 5), &rules);
    assert!(it.window < window, "with the next ACK: {} {window}", it.window);
}

#[test]
fn rfc8985_6_2_few_segments_above_a_loss_wait_for_a_reordering_window() {
    let rules = by(linux(Repair::Rack));
    let mut it = sender_by(3.0, 50.0, &rules);
    it.end = 4;
    sent_by(&mut it, 0, &rules);
    it.on_ack(100, &ack(1, 2), &rules);
    assert_eq!(sent_by(&mut it, 100, &rules), []);
    // Segment 1 counts as lost 100 + 10 / 4 ticks after it was sent: a round trip, plus a quarter
    // of the smallest round trip. The timer adds a margin of 20.
    let wait = 100 + 10 / 4 - 100 + 20;
    assert_eq!(it.due(), 100 + wait);
    it.expire(100 + wait, &rules);
    assert_eq!(sent_by(&mut it, 100 + wait, &rules), [(1, true)]);
    assert_eq!(it.timeouts, 0);
}

#[test]
fn rfc8985_6_2_a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let rules = by(linux(Repair::Rack));
    let mut it = sender_by(10.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    let mut sent = Vec::new();
    for segment in 2..11 {
        it.on_ack(100, &ack(1, segment), &rules);
        sent.extend(sent_by(&mut it, 100, &rules));
    }
    assert_eq!(sent.iter().filter(|it| it.1).count(), 1);
    let last = sent.last().expect("new data").0;
    assert!(last > 10);
    // The segments that were sent after the copy arrive, but the copy does not.
    for segment in 11..=last {
        it.on_ack(210, &ack(1, segment), &rules);
    }
    assert_eq!(sent_by(&mut it, 210, &rules).first(), Some(&(1, true)));
}

#[test]
fn rfc8985_6_3_a_timeout_takes_only_what_is_old_for_lost() {
    let flavour = linux(Repair::Rack);
    let rules = by(Flavour { rack: Rack { probes: 0, ..flavour.rack }, ..flavour });
    let mut it = sender_by(4.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    it.on_ack(100, &ack(2, 1), &rules);
    sent_by(&mut it, 1050, &rules);
    it.expire(it.deadline, &rules);
    assert_eq!(it.window, SEGMENT);
    let out = sent_by(&mut it, 1100, &rules);
    assert_eq!(out, [(2, true)]);
}

#[test]
fn linux_a_timer_expires_at_a_tick_of_its_host() {
    let mut rules = by(linux(Repair::NewReno));
    rules.tick = 1 << 20;
    (rules.rto.least, rules.rto.most) = (3 << 20, NEVER);
    let mut it = sender_by(2.0, 50.0, &rules);
    it.phase = 1 << 18;
    sent_by(&mut it, 5, &rules);
    assert_eq!(it.deadline, (4 << 20) - (1 << 18));
    assert_eq!(it.due(), it.deadline, "no other deadline without RACK-TLP");
    it.acknowledge(10, 3, 5, &rules);
    assert_eq!(it.due(), NEVER);
}

/// Four segments have been outstanding since time 0, and the timer has expired at 1000.
#[test]
fn linux_a_duplicate_ack_of_new_blocks_is_timed_and_restarts_the_timer() {
    for (times_blocks, expected) in [(false, 3000), (true, 1005 + 134 + 4 * 252)] {
        let flavour = linux(Repair::Rack);
        let rack = Rack { probes: 0, ..flavour.rack };
        let rules = by(Flavour { rack, times_blocks, ..flavour });
        let mut it = sender_by(4.0, 50.0, &rules);
        sent_by(&mut it, 0, &rules);
        it.expire(1000, &rules);
        assert_eq!((sent_by(&mut it, 1000, &rules), it.deadline), (vec![(1, true)], 3000));
        it.on_ack(1005, &ack(1, 2), &rules);
        assert_eq!(it.deadline, expected);
    }
}

#[test]
fn linux_a_duplicate_widens_the_reordering_window_only_after_reordering() {
    for (needs_reordering, multiplier) in [(false, 2), (true, 1)] {
        let flavour = linux(Repair::Rack);
        let rack = Rack { probes: 0, needs_reordering, ..flavour.rack };
        let rules = by(Flavour { rack, ..flavour });
        let mut it = sender_by(4.0, 50.0, &rules);
        sent_by(&mut it, 0, &rules);
        it.on_ack(100, &AckInfo { twice: true, ..ack(2, 1) }, &rules);
        it.on_ack(110, &ack(2, 3), &rules);
        assert_eq!(it.due(), 110 + 10 / 4 * multiplier + 20);
    }
}

/// A sender with six segments outstanding since time 0, whose timer has expired at 1010.
fn late() -> (Sender, Rules) {
    let rules = by(Flavour { examine: Examine::Linux, ..linux(Repair::NewReno) });
    let mut it = sender_by(6.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    it.expire(1010, &rules);
    assert_eq!(sent_by(&mut it, 1010, &rules), [(1, true)]);
    (it, rules)
}

#[test]
fn linux_tcp_packet_delayed_undoes_at_the_first_ack() {
    let (mut it, rules) = late();
    it.acknowledge(1020, 2, 0, &rules);
    assert_eq!((it.window, it.threshold), (parts(6.0), parts(50.0)));
    assert_eq!(sent_by(&mut it, 1020, &rules), new(7..8));
}

#[test]
fn linux_tcp_process_loss_tries_new_data_after_the_echo_of_the_copy() {
    let (mut it, rules) = late();
    it.acknowledge(1020, 2, 1010, &rules);
    assert_eq!(sent_by(&mut it, 1020, &rules), new(7..9));
    it.acknowledge(1030, 2, 1010, &rules);
    assert_eq!(sent_by(&mut it, 1030, &rules)[0], (2, true));
}

#[test]
fn linux_tcp_enter_loss_examines_a_second_timeout() {
    for (echo, window) in [(0, 6.0), (1010, 2.0)] {
        let (mut it, rules) = late();
        it.expire(it.deadline, &rules);
        let now = it.deadline;
        sent_by(&mut it, now, &rules);
        it.acknowledge(now + 10, 2, echo, &rules);
        assert_eq!(it.window, parts(window), "{echo}");
    }
}

#[test]
fn linux_a_timeout_during_a_repair_is_not_examined() {
    let rules = by(Flavour { examine: Examine::Linux, ..linux(Repair::NewReno) });
    let mut it = sender_by(6.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    (0..3).for_each(|_| it.acknowledge(50, 1, 0, &rules));
    assert!(it.in_recovery);
    it.expire(it.deadline, &rules);
    it.acknowledge(2000, 2, 0, &rules);
    assert!(it.window < parts(3.0));
}
