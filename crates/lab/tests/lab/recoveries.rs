//! Each loss recovery with the same losses. A block has ten segments, and the initial window is two
//! segments.

use serde_json::json;

use crate::harness::{Loss, MSS, run, scenario};

/// Number of timeouts and of retransmitted segments in a block of `segments` segments.
fn cost_of(segments: u64, name: &str, losses: Vec<Loss>) -> (u64, u64) {
    let changes = json!({
        "transport": { "name": name, "initial_window": 2 },
        "workload": { "sru": segments * MSS },
    });
    let outcome = run(&scenario(&changes), losses);
    assert_eq!(outcome.row().status, "ok", "{name}");
    (outcome.row().timeouts, outcome.row().retransmitted_packets)
}

fn cost(name: &str, losses: Vec<Loss>) -> (u64, u64) {
    cost_of(10, name, losses)
}

#[test]
fn one_loss_with_enough_behind_it_costs_one_segment_whatever_the_recovery() {
    for name in ["reno", "newreno", "sack", "rack-tlp"] {
        assert_eq!(cost(name, Loss::of_segments(0, 3, 3)), (0, 1), "{name}");
    }
}

#[test]
fn a_lost_tail_needs_the_timer_unless_it_is_probed() {
    for name in ["tahoe", "reno", "newreno", "sack"] {
        assert_eq!(cost(name, Loss::of_segments(0, 9, 9)).0, 1, "{name}");
    }
    assert_eq!(cost("rack-tlp", Loss::of_segments(0, 9, 9)), (0, 1));
    assert_eq!(cost("rack-tlp", Loss::of_segments(0, 8, 9)), (0, 2));
}

#[test]
fn a_lost_retransmission_needs_the_timer_unless_time_tells() {
    let twice = || vec![Loss::of_copies(0, 8, 2)];
    for name in ["newreno", "sack"] {
        assert_eq!(cost_of(40, name, twice()).0, 1, "{name}");
    }
    assert_eq!(cost_of(40, "rack-tlp", twice()), (0, 2));
    // RACK detects the loss of a retransmission by the ACK of a segment sent after it. Here, no
    // segment is sent after it.
    assert_eq!(cost("rack-tlp", vec![Loss::of_copies(0, 3, 2)]).0, 1);
}

#[test]
fn a_whole_window_lost_needs_the_timer_whatever_the_recovery() {
    for name in ["tahoe", "reno", "newreno", "sack"] {
        assert_eq!(cost(name, Loss::of_segments(0, 0, 1)).0, 1, "{name}");
    }
    // The tail loss probe sends new data, and the ACK of these data shows the loss.
    assert_eq!(cost("rack-tlp", Loss::of_segments(0, 0, 1)).0, 0);
}
