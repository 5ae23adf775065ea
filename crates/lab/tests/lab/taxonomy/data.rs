//! Single losses in a window of known size. With an initial window of two segments, the head of a
//! block is segments 0 and 1, and the next window is segments 2 to 5.

use incast_host::cause::Cause::{
    AckLoss, FullWindow, LackOfDupacks, LostRetransmission, Spurious, Tail,
};
use serde_json::{Value, json};

use super::{HEAD, INSIDE, expiries, finished};
use crate::harness::{Loss, MSS};

/// An initial window of two segments. Duplicate ACKs release new data only if `limited_transmit` is
/// true.
fn two_at_first(limited_transmit: bool) -> Value {
    json!({ "transport": { "initial_window": 2, "limited_transmit": limited_transmit } })
}

#[test]
fn what_fast_retransmit_repairs_is_no_timeout() {
    for segment in [0, 3] {
        let outcome = finished(&two_at_first(true), Loss::of_segments(0, segment, segment));
        assert_eq!(outcome.expiries(), []);
        assert_eq!((outcome.row().fast_retransmits, outcome.row().retransmitted_packets), (1, 1));
    }
}

#[test]
fn full_window() {
    let two = two_at_first(true);
    assert_eq!(expiries(&two, Loss::of_segments(0, 0, 1)), [(0, FullWindow, HEAD, 2)]);
    assert_eq!(expiries(&two, Loss::of_segments(0, 2, 5)), [(0, FullWindow, INSIDE, 4)]);
}

#[test]
fn tail_of_a_block_that_fits_into_its_head() {
    let four = json!({ "workload": { "sru": 4 * MSS } });
    assert_eq!(expiries(&four, Loss::of_segments(0, 2, 2)), [(0, Tail, HEAD, 1)]);
    assert_eq!(expiries(&four, Loss::of_segments(0, 1, 2)), [(0, Tail, HEAD, 2)]);
}

#[test]
fn tail_inside_a_block() {
    assert_eq!(expiries(&json!({}), Loss::of_segments(0, 7, 7)), [(0, Tail, INSIDE, 1)]);
    assert_eq!(expiries(&json!({}), Loss::of_segments(0, 8, 8)), [(0, Tail, INSIDE, 1)]);
}

#[test]
fn a_short_last_segment_counts_among_those_that_follow() {
    let short = json!({ "workload": { "sru": 9 * MSS + 500 } });
    assert_eq!(expiries(&short, Loss::of_segments(0, 7, 7)), [(0, Tail, INSIDE, 1)]);
    let scattered = Loss::of_segments(0, 6, 6).into_iter().chain(Loss::of_segments(0, 9, 9));
    assert_eq!(expiries(&short, scattered), [(0, LackOfDupacks, INSIDE, 2)]);
}

#[test]
fn scattered_losses_leave_too_few_duplicate_acks() {
    let two = two_at_first(false);
    assert_eq!(expiries(&two, Loss::of_segments(0, 0, 0)), [(0, LackOfDupacks, HEAD, 1)]);
    assert_eq!(expiries(&two, Loss::of_segments(0, 2, 3)), [(0, LackOfDupacks, INSIDE, 2)]);
    let gaps = Loss::of_segments(0, 2, 2).into_iter().chain(Loss::of_segments(0, 4, 4));
    assert_eq!(expiries(&two, gaps), [(0, LackOfDupacks, INSIDE, 2)]);
}

#[test]
fn lost_retransmission() {
    let four = json!({});
    assert_eq!(expiries(&four, [Loss::of_copies(0, 0, 2)]), [(0, LostRetransmission, HEAD, 1)]);
    let two = two_at_first(true);
    assert_eq!(expiries(&two, [Loss::of_copies(0, 2, 2)]), [(0, LostRetransmission, INSIDE, 1)]);
}

#[test]
fn ack_loss() {
    let two = two_at_first(true);
    assert_eq!(expiries(&two, [Loss::of_acks(0, 1, 2)]), [(0, AckLoss, HEAD, 0)]);
    assert_eq!(expiries(&two, [Loss::of_acks(0, 3, 6)]), [(0, AckLoss, INSIDE, 0)]);
}

#[test]
fn one_ack_that_gets_through_stands_for_those_before_it() {
    assert_eq!(expiries(&two_at_first(true), [Loss::of_acks(0, 3, 5)]), []);
}

/// The client's link sends a segment in 0.8 ms, and the timer expires earlier.
#[test]
fn spurious_while_the_segment_is_on_the_way() {
    let slow = json!({
        "network": { "client_rate": "10Mbps" },
        "workload": { "sru": MSS },
        "transport": { "handshake": "none", "rto_initial": "500us" },
    });
    assert_eq!(expiries(&slow, []), [(0, Spurious, HEAD, 0)]);
}

/// The segment reaches the client after 8.38 ms, and its ACK takes another 0.37 ms. The timer
/// expires while the ACK is in the network.
#[test]
fn spurious_while_the_ack_is_on_the_way() {
    let slow = json!({
        "network": { "server_rate": "1Mbps" },
        "transport": { "handshake": "none", "rto_initial": "8600us", "initial_window": 1 },
    });
    let outcome = finished(&slow, []);
    assert_eq!(outcome.expiries()[0], (0, Spurious, HEAD, 0));
}

#[test]
fn spurious_while_a_delayed_ack_is_held_at_the_head() {
    let late = json!({ "transport": {
        "initial_window": 1, "delayed_ack": { "segments": 2, "timeout": "40ms" },
    } });
    assert_eq!(expiries(&late, []), [(0, Spurious, HEAD, 0)]);
}

/// Server 0 lacks only the ACK of its third segment. The block is not complete, because server 1
/// has not finished.
#[test]
fn spurious_while_a_delayed_ack_is_held_inside() {
    let late = json!({
        "workload": { "servers": 2, "sru": 3 * MSS },
        "transport": {
            "initial_window": 2, "delayed_ack": { "segments": 2, "timeout": "40ms" },
            "syn_rto": "20ms",
        },
    });
    let outcome = finished(&late, [Loss::of_syn(1, false)]);
    assert_eq!(outcome.expiries()[0], (0, Spurious, INSIDE, 0));
}

/// A datagram occupies the client's link for 52 ms. The link sends four segments in 3.3 ms, and the
/// timer expires after 10 ms.
#[test]
fn spurious_while_the_queue_is_longer_than_the_timer_inside() {
    let crowded = json!({
        "network": { "client_rate": "10Mbps" },
        "workload": { "sru": 100 * MSS },
        "transport": { "initial_window": 2, "receive_window": 4 },
        "background": [{ "name": "cbr", "rate": "10Mbps", "packet_size": 65_535 }],
    });
    let outcome = finished(&crowded, []);
    assert_eq!(outcome.row().drops, 0);
    assert_eq!(outcome.expiries()[0], (0, Spurious, INSIDE, 0));
}

#[test]
fn a_window_that_survived_its_block_makes_all_of_the_next_one_its_head() {
    let warm = json!({ "workload": { "blocks": 2, "connections": "persistent" } });
    assert_eq!(expiries(&warm, Loss::of_segments(0, 8, 8)), [(0, Tail, INSIDE, 1)]);
    assert_eq!(expiries(&warm, Loss::of_segments(0, 18, 18)), [(0, Tail, HEAD, 1)]);
    assert_eq!(expiries(&warm, Loss::of_segments(0, 10, 19)), [(0, FullWindow, HEAD, 10)]);
}
