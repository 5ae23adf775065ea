//! If several causes apply to a timeout, the first one is reported.

use incast_host::cause::Cause::{AckLoss, FullWindow, LackOfDupacks, LostRetransmission, Spurious};
use incast_host::milestone::EventKind;
use serde_json::json;

use super::{HEAD, INSIDE, expiries, finished};
use crate::harness::{Loss, MSS};

#[test]
fn spurious_before_lost_retransmission() {
    let slow = json!({
        "network": { "client_rate": "1Mbps" },
        "workload": { "sru": MSS },
        "transport": { "handshake": "none", "rto_initial": "2ms", "rto_min": "2ms" },
    });
    // The link sends the segment in 8.3 ms. The timer expires after 2 ms, and again after 6 ms.
    let expired = finished(&slow, []);
    assert_eq!(expired.expiries(), [(0, Spurious, HEAD, 0); 2]);
    assert_eq!(expired.row().retransmitted_packets, 2);
}

#[test]
fn spurious_before_ack_loss() {
    // The first of two ACKs is lost. The second ACK is still on the slow reverse path when the
    // timer expires.
    let slow = json!({
        "network": { "server_rate": "1Mbps" },
        "transport": { "handshake": "none", "rto_initial": "17ms", "initial_window": 2 },
    });
    let outcome = finished(&slow, [Loss::of_acks(0, 1, 1)]);
    assert_eq!(outcome.expiries()[0], (0, Spurious, HEAD, 0));
}

/// The first segment arrived. The later segments were lost, but they are not the reason for the
/// expiry.
#[test]
fn ack_loss_before_full_window() {
    let losses = Loss::of_segments(0, 1, 3).into_iter().chain([Loss::of_acks(0, 1, 1)]);
    assert_eq!(expiries(&json!({}), losses), [(0, AckLoss, HEAD, 3)]);
}

/// The retransmission of the first segment arrived, but its ACK was lost, as was the first ACK.
#[test]
fn ack_loss_before_lost_retransmission() {
    let one = json!({ "transport": { "initial_window": 1 } });
    let outcome = finished(&one, [Loss::of_acks(0, 1, 2)]);
    assert_eq!(outcome.expiries(), [(0, AckLoss, HEAD, 0); 2]);
}

#[test]
fn lost_retransmission_before_full_window() {
    let two = json!({ "transport": { "initial_window": 2 } });
    let losses = [Loss::of_copies(0, 0, 3), Loss::of_copies(0, 1, 1)];
    let again = (0, LostRetransmission, HEAD, 2);
    assert_eq!(expiries(&two, losses), [(0, FullWindow, HEAD, 2), again, again]);
}

#[test]
fn full_window_before_tail() {
    let one = json!({ "workload": { "sru": MSS } });
    assert_eq!(expiries(&one, Loss::of_segments(0, 0, 0)), [(0, FullWindow, HEAD, 1)]);
    assert_eq!(expiries(&json!({}), Loss::of_segments(0, 9, 9)), [(0, FullWindow, INSIDE, 1)]);
    let last_two = Loss::of_segments(0, 8, 9);
    assert_eq!(expiries(&json!({}), last_two), [(0, FullWindow, INSIDE, 2)]);
}

/// Data that arrived beyond a gap, and data added by limited transmit, belong to the window, but
/// not to the loss.
#[test]
fn what_is_lost_in_the_window_is_counted_in_segments() {
    let six = json!({ "transport": { "initial_window": 6, "dupack_threshold": 9 } });
    let losses = [0, 2, 3, 5].map(|segment| Loss::of_copies(0, segment, 1));
    let outcome = finished(&six, losses);
    assert_eq!(outcome.expiries(), [(0, LackOfDupacks, HEAD, 4)]);
    let row = outcome.events_of(EventKind::Timeout).next().expect("there is one");
    // Segments 1, 4, 6 and 7 each caused a duplicate ACK; limited transmit sent the last two.
    assert_eq!((row.seq, row.dupacks, row.flight, row.cwnd), (1, 4, 8 * MSS, 6 * MSS));
}

/// The report contains the state of the sender before it reacts to the timeout.
#[test]
fn a_timeout_is_reported_as_it_was_found() {
    let two = json!({ "transport": { "initial_window": 2, "initial_ssthresh": 64 } });
    let outcome = finished(&two, Loss::of_segments(0, 2, 5));
    let row = outcome.events_of(EventKind::Timeout).next().expect("there is one");
    assert_eq!((row.seq, row.flight, row.cwnd), (1 + 2 * MSS, 4 * MSS, 4 * MSS));
    assert_eq!((row.ssthresh, row.dupacks, row.block), (64 * MSS, 0, 0));
}
