//! Losses during the handshake, and losses of requests.

use incast_host::cause::Cause::{AckLoss, FullWindow, Handshake, LostRetransmission, Spurious};
use serde_json::{Value, json};

use super::{HEAD, expiries, finished};
use crate::harness::{Expiry, Loss};

const LOST: Expiry = (0, Handshake, HEAD, 0);

fn server_opens(handshake: &str) -> Value {
    json!({ "transport": { "opener": "server", "handshake": handshake } })
}

#[test]
fn a_lost_syn_is_missed_by_its_sender_alone() {
    assert_eq!(expiries(&json!({}), [Loss::of_syn(0, false)]), [LOST]);
}

#[test]
fn a_lost_syn_ack_is_missed_by_both_ends() {
    assert_eq!(expiries(&json!({}), [Loss::of_syn_ack(0, true)]), [LOST, LOST]);
    assert_eq!(expiries(&server_opens("three-way"), [Loss::of_syn_ack(0, false)]), [LOST, LOST]);
}

#[test]
fn a_lost_syn_of_the_server_is_missed_by_the_client_that_asked_too() {
    for handshake in ["three-way", "syn-only"] {
        let expiries = expiries(&server_opens(handshake), [Loss::of_syn(0, true)]);
        assert_eq!(expiries, [LOST, LOST], "{handshake}");
    }
}

#[test]
fn a_lost_answer_to_a_one_way_syn_is_missed_by_the_opener() {
    let one_way = json!({ "transport": { "handshake": "syn-only" } });
    let answer = Loss::of_bare_ack(0, true);
    assert_eq!(expiries(&one_way, [answer]), [LOST]);
}

#[test]
fn a_request_that_rides_on_the_last_ack_is_missed_by_the_server() {
    assert_eq!(expiries(&json!({}), [Loss::of_request(0, 1, 1, 1)]), [LOST]);
}

#[test]
fn a_request_apart_that_carries_the_last_ack_is_missed_by_both_ends() {
    let apart = json!({ "workload": { "request_size": 100 } });
    assert_eq!(expiries(&apart, [Loss::of_request(0, 1, 1, 1)]), [LOST, LOST]);
}

#[test]
fn a_request_without_a_handshake_is_missed_by_the_client() {
    let none = json!({ "transport": { "handshake": "none" } });
    assert_eq!(expiries(&none, [Loss::of_request(0, 1, 1, 1)]), [LOST]);
    let request = Loss::of_request(0, 1, 1, 1);
    assert_eq!(expiries(&server_opens("syn-only"), [request]), [LOST]);
}

#[test]
fn a_request_lost_again_is_missed_again() {
    let none = json!({ "transport": { "handshake": "none" } });
    let outcome = finished(&none, [Loss::of_request(0, 1, 1, 2)]);
    assert_eq!(outcome.expiries(), [LOST, LOST]);
    let seconds = outcome.row().elapsed_s;
    assert!((3.0..3.001).contains(&seconds), "1 s, and 2 s after the backoff: {seconds}");
}

/// The request also carries the last ACK of the previous block. If this request is lost, the server
/// retransmits old data. Old data do not answer the request.
#[test]
fn a_lost_request_for_the_next_block_is_repeated_although_old_data_come_again() {
    let two = json!({ "workload": { "blocks": 2, "connections": "persistent" } });
    let outcome = finished(&two, [Loss::of_request(0, 2, 1, 1)]);
    assert_eq!(outcome.expiries(), [(0, AckLoss, false, 0), LOST]);
    assert_eq!(outcome.row().blocks, 2);
}

#[test]
fn a_syn_that_is_only_late_is_spurious() {
    let hasty = json!({ "transport": { "syn_rto": "30us" } });
    let expiries = expiries(&hasty, []);
    assert!(expiries.contains(&(0, Spurious, HEAD, 0)), "{expiries:?}");
    assert!(expiries.iter().all(|expiry| expiry.1 == Spurious), "{expiries:?}");
}

#[test]
fn a_request_whose_answer_is_on_the_way_is_spurious() {
    let hasty = json!({ "transport": { "handshake": "none", "syn_rto": "80us" } });
    assert_eq!(expiries(&hasty, []), [(0, Spurious, HEAD, 0)]);
}

/// The server has to retransmit the data. Until then the client gets no answer to its request.
#[test]
fn a_request_whose_answer_was_lost_misses_a_full_window() {
    let silent = json!({ "transport": { "handshake": "none", "syn_rto": "5ms" } });
    let outcome = finished(&silent, Loss::of_segments(0, 0, 3));
    assert_eq!(outcome.expiries()[0], (0, FullWindow, HEAD, 0));
    assert_eq!(outcome.row().timeouts_ack_loss, 0, "no ACK was sent");
}

#[test]
fn a_request_whose_answer_was_lost_again_misses_the_retransmission() {
    let silent = json!({ "transport": {
        "handshake": "none", "syn_rto": "15ms", "rto_initial": "10ms", "initial_window": 1,
    } });
    let outcome = finished(&silent, [Loss::of_copies(0, 0, 2)]);
    assert_eq!(
        outcome.expiries()[..2],
        [(0, FullWindow, HEAD, 1), (0, LostRetransmission, HEAD, 0)]
    );
}

#[test]
fn a_request_whose_answer_has_yet_to_leave_is_spurious() {
    let slow = json!({ "transport": {
        "handshake": "none", "syn_rto": "1ms", "send_jitter": "50ms",
    } });
    assert_eq!(finished(&slow, []).expiries()[0], (0, Spurious, HEAD, 0));
}
