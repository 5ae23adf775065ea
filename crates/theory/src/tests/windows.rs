//! Growth of a window as a function of its use, and the segments that the window allows.

use super::read;
use super::senders::{RULES, new, sack, sender, sender_by, sent, sent_by};
use crate::Read;
use crate::flavour::{Cubic, Flavour, Growth, Watch};
use crate::packet::NEVER;
use crate::parts::{Parts, SEGMENT, parts};
use crate::sender::Rules;

/// CUBIC with hybrid slow start.
fn linux() -> Flavour {
    let cubic = Cubic { watch: Watch::Linux, ..Flavour::LAB.cubic };
    Flavour { growth: Growth::Cubic, cubic, ..Flavour::LAB }
}

/// The window after an ACK of the first `acked` segments. The segments before `end` were sent with
/// a window of `sent`, and give no round-trip samples.
fn grown(window: f64, threshold: f64, acked: u32, (sent, end): (f64, u32), rules: &Rules) -> Parts {
    let mut it = sender_by(sent, threshold, rules);
    it.end = end;
    sent_by(&mut it, 0, rules);
    it.window = parts(window);
    it.acknowledge(10, 1 + acked, NEVER, rules);
    it.window
}

#[test]
fn rfc9438_5_8_a_window_grows_where_it_is_used_or_would_be() {
    let flavour = linux();
    let rules = Rules { flavour, most_window: parts(20.0), ..RULES };
    // Above the threshold, the window grows by a segment per window of acknowledged data.
    assert_eq!(grown(8.0, 4.0, 2, (8.0, 1000), &rules), parts(8.25));
    // A window that is almost full counts as used.
    assert_eq!(grown(8.5, 4.0, 2, (8.0, 1000), &rules), parts(8.5) + parts(2.0 / 8.5));
    // The window does not grow without more data to send. With one more segment to send, it grows.
    assert_eq!(grown(16.0, 4.0, 2, (16.0, 9), &rules), parts(16.0));
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 10), &rules), parts(16.125));
    // The window does not grow if the receiver allows no further segment. If the receiver allows
    // one more segment, it grows.
    let most = |window| Rules { most_window: parts(window), ..rules };
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 1000), &most(8.9)), parts(16.0));
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 1000), &most(9.0)), parts(16.125));
}

#[test]
fn rfc9438_4_10_slow_start_grows_by_what_is_acknowledged_up_to_the_threshold() {
    let flavour = linux();
    let rules = Rules { flavour, most_window: parts(20.0), ..RULES };
    assert_eq!(grown(8.0, 20.0, 3, (8.0, 1000), &rules), parts(11.0));
    assert_eq!(grown(8.0, 10.0, 3, (8.0, 1000), &rules), parts(10.0));
    assert_eq!(grown(8.0, 8.5, 3, (8.0, 1000), &rules), parts(9.0), "at least a segment");
    assert_eq!(grown(8.0, 20.0, 3, (4.0, 5), &rules), parts(8.0), "but not if unused");
}

#[test]
fn what_partial_acks_took_beyond_the_inflation_does_not_leave() {
    let mut it = sender(10.0, 5.0);
    (it.inflation, it.deficit) = (2 * SEGMENT, 5 * SEGMENT);
    assert_eq!(sent(&mut it, 0), new(1..8));
}

#[test]
fn the_last_segment_leaves_alone_with_a_scoreboard_too() {
    let rules = sack(Flavour::LAB);
    let mut it = sender_by(10.0, 5.0, &rules);
    it.end = 5;
    let counts: Vec<u32> =
        std::iter::from_fn(|| it.poll(0, true, &rules)).map(|burst| burst.count).collect();
    assert_eq!(counts, [3, 1]);
}

/// The longest possible RTO is five times a sum: the propagation delay, a delayed ACK, a tick, and
/// the transmission times of ten buffered packets, of 45 segments at a quarter of the rate, and of
/// four packets.
#[test]
fn a_timer_never_moves_that_is_longer_than_all_that_a_packet_may_wait_for() {
    let is_least = |ack_every, least_rto| {
        let flavour = Flavour { ack_every, ack_timeout: 50.0, granularity: 2.0, ..Flavour::LAB };
        Read { slower: 4.0, flavour, least_rto, ..read(1, 10.0) }.rto_is_least()
    };
    let longest = 5.0 * (20.0 + 10.0 + 180.0 + 2.0 + 4.0);
    assert!(is_least(1, longest + 0.1) && !is_least(1, longest - 0.1));
    assert!(is_least(2, longest + 250.1) && !is_least(2, longest + 249.9));
}
