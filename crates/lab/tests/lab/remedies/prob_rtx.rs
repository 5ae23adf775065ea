//! Probabilistic retransmission: a lost window without a timeout.

use incast_host::cause::Cause;
use serde_json::{Value, json};

use crate::harness::{Loss, run, scenario};

fn with(remedies: &Value) -> incast_scenario::Scenario {
    scenario(&json!({ "transport": { "remedies": remedies, "rto_min": "200ms" } }))
}

fn often(copy: &str) -> Value {
    json!([{ "name": "prob-rtx", "p": 0.1, "copy": copy }])
}

#[test]
fn a_lost_window_is_repaired_without_a_timeout() {
    let window = || Loss::of_segments(0, 0, 3);
    let plain = run(&with(&json!([])), window());
    assert_eq!(plain.expiries(), [(0, Cause::FullWindow, true, 4)]);
    let copied = run(&with(&often("highest")), window());
    assert_eq!((copied.expiries(), copied.row().fast_retransmits), (vec![], 1));
    // Recovery retransmits four segments. Copies are also counted as retransmissions.
    assert!(copied.row().retransmitted_packets >= 4);
    // The first copy is sent after τ/p = 200 us on average, and the repair of each hole takes a
    // round trip.
    assert!(copied.row().elapsed_s < 0.01, "{} s", copied.row().elapsed_s);
}

/// In the other reading of the paper ("head"), copies repair the first lost segment and then the
/// next one.
#[test]
fn copies_of_the_head_repair_it_themselves() {
    let copied = run(&with(&often("head")), Loss::of_segments(0, 0, 3));
    assert_eq!(copied.expiries(), []);
}

/// If a copied segment has already arrived, the copy's mark has no effect, but its normal ACK is
/// another duplicate ACK. If the tail arrives but a segment before it is lost, the literal reading
/// ("highest") needs one copy for each missing duplicate ACK. The other reading ("head") needs a
/// single copy.
#[test]
fn a_hole_before_the_last_segment_takes_more_copies() {
    let cost = |remedies: &Value| {
        let outcome = run(&with(remedies), Loss::of_segments(0, 8, 8));
        (outcome.expiries(), outcome.row().elapsed_s)
    };
    let (plain, slow) = cost(&json!([]));
    assert_eq!(plain, [(0, Cause::Tail, false, 1)]);
    let (highest, late) = cost(&often("highest"));
    let (head, early) = cost(&often("head"));
    assert_eq!((highest, head), (vec![], vec![]));
    assert!(early <= late && late < slow / 10.0, "{early} {late} {slow}");
}

#[test]
fn copies_without_a_loss_change_nothing_for_tcp() {
    let outcome = run(&with(&json!([{ "name": "prob-rtx", "p": 0.5 }])), vec![]);
    let row = outcome.row();
    assert!(row.retransmitted_packets > 0, "copies were sent");
    assert_eq!((row.timeouts, row.fast_retransmits, row.status), (0, 0, "ok"));
}

/// The remedy's thread of a connection starts with the connection, not with the simulation.
#[test]
fn every_block_has_threads_of_its_own() {
    let changes = json!({
        "workload": { "servers": 4, "blocks": 3 },
        "transport": { "remedies": often("highest"), "rto_min": "200ms" },
    });
    let row = run(&scenario(&changes), vec![]).row().clone();
    assert_eq!((row.status, row.blocks, row.timeouts), ("ok", 3, 0));
}
