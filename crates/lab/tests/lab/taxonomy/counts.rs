//! Compares the columns of a row with the timeouts of its run.

use incast_host::cause::Cause;
use incast_host::milestone::EventKind;
use incast_lab::Row;
use serde_json::json;

use super::finished;
use crate::harness::Loss;

/// The columns of a row: handshake, spurious, `ack_loss`, `lost_retransmission`, `full_window`,
/// `lack_of_dupacks`, tail.
fn columns(row: &Row) -> [u64; 7] {
    [
        row.timeouts_handshake,
        row.timeouts_spurious,
        row.timeouts_ack_loss,
        row.timeouts_lost_retransmission,
        row.timeouts_full_window,
        row.timeouts_lack_of_dupacks,
        row.timeouts_tail,
    ]
}

/// Every server has a timeout with a different cause.
#[test]
fn the_causes_sum_to_the_timeouts_and_tails_are_among_the_lacks() {
    let changes = json!({
        "workload": { "servers": 7 },
        "transport": { "initial_window": 2, "limited_transmit": false },
    });
    let losses = [
        vec![Loss::of_syn(0, false)],
        Loss::of_segments(1, 0, 1),
        Loss::of_segments(2, 8, 8),
        Loss::of_segments(3, 2, 3),
        vec![Loss::of_copies(4, 2, 2)],
        vec![Loss::of_acks(5, 3, 6)],
    ];
    let outcome = finished(&changes, losses.into_iter().flatten());
    let row = outcome.row();
    assert_eq!(columns(row), [1, 0, 1, 1, 1, 2, 1]);
    assert_eq!((row.timeouts, row.timeouts_block_head), (6, 2));

    let mut causes: Vec<_> = outcome.expiries().iter().map(|expiry| (expiry.0, expiry.1)).collect();
    causes.sort_unstable_by_key(|cause| cause.0);
    let expected = [
        Cause::Handshake,
        Cause::FullWindow,
        Cause::Tail,
        Cause::LackOfDupacks,
        Cause::LostRetransmission,
        Cause::AckLoss,
    ];
    assert_eq!(causes, (0..).zip(expected).collect::<Vec<_>>());
    assert_eq!(outcome.events_of(EventKind::Drop).count() as u64, row.drops);
}

#[test]
fn a_background_flow_has_its_timeouts_in_a_row_of_its_own() {
    let changes = json!({
        "workload": { "sru": "4MB" },
        "background": [{ "name": "long-flow", "transport": {
            "mss": 1000, "initial_window": 4, "rto_min": "10ms",
        } }],
    });
    let outcome = finished(&changes, Loss::of_segments(1, 0, 3));
    let [workload, background] = &outcome.rows[..] else { panic!("two groups, two rows") };
    assert_eq!((workload.group.as_str(), workload.timeouts), ("all", 0));
    assert_eq!(background.group, "background.0.long-flow");
    assert_eq!(columns(background), [0, 0, 0, 0, 1, 0, 0]);
}
