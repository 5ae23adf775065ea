//! Fine-grained timeouts: losses are repaired quickly, premature timeouts are reported as spurious,
//! and jitter prevents synchronised retransmissions.

use incast_engine::{Span, Time};
use incast_host::cause::Cause;
use incast_host::milestone::EventKind;
use serde_json::{Value, json};

use crate::harness::{Loss, MSS, run, scenario};

#[test]
fn a_lost_window_costs_microseconds() {
    let changes = json!({ "transport": { "name": "fine-rto", "rto_min": null } });
    let outcome = run(&scenario(&changes), Loss::of_segments(0, 0, 3));
    assert!(outcome.row().timeouts > 0);
    assert!(outcome.row().elapsed_s < 0.005, "{} s", outcome.row().elapsed_s);
}

/// A read whose round trip has been measured as 0.1 ms, and twenty long flows that begin with ten
/// segments each. The buffer holds all these segments. A sender whose segments wait longer than its
/// timeout retransmits unnecessarily.
#[test]
fn premature_timeouts_are_spurious() {
    let of = |min: &str| {
        let changes = json!({
            "workload": { "sru": 2000 * MSS },
            "network": { "buffer": "100000pkt" },
            "transport": {
                "rto_min": null, "receive_window": 10,
                "remedies": [{ "name": "fine-rto", "min": min }],
            },
            "background": [{
                "name": "long-flow", "count": 20, "start": "5ms",
                "transport": { "initial_window": 10, "receive_window": 10 },
            }],
        });
        let outcome = run(&scenario(&changes), vec![]);
        let row = outcome.row();
        assert_eq!((row.status, row.drops), ("ok", 0));
        assert_eq!(row.timeouts, row.timeouts_spurious);
        row.timeouts_spurious
    };
    assert!(of("200us") > 0);
    assert_eq!(of("10ms"), 0);
}

/// Kulkarni & Agrawal §4.1.3: late ACKs cause timeouts, even if they are late only because the
/// client delays ACKs. The last segment of the first server is not followed by another segment,
/// because the block still waits for the second server.
#[test]
fn delayed_acks_make_more_of_them() {
    let of = |delayed_ack: Value| {
        let changes = json!({
            "workload": { "servers": 2, "sru": 5 * MSS },
            "transport": { "name": "fine-rto", "rto_min": null, "delayed_ack": delayed_ack },
        });
        let outcome = run(&scenario(&changes), vec![Loss::of_copies(1, 4, 8)]);
        outcome.expiries().iter().filter(|(flow, ..)| *flow == 0).count()
    };
    assert_eq!(of(json!(false)), 0);
    assert_eq!(of(json!(true)), 1);
}

/// Eight servers lose their first windows in the same burst, before they have a round-trip sample.
#[test]
fn jitter_spreads_the_retransmissions() {
    let spread = |jitter: f64| {
        let changes = json!({
            "workload": { "servers": 8 },
            "transport": {
                "handshake": "none", "rto_min": null,
                "remedies": [{ "name": "fine-rto", "jitter": jitter }],
            },
        });
        let losses = (0..8).flat_map(|flow| Loss::of_segments(flow, 0, 3)).collect();
        let outcome = run(&scenario(&changes), losses);
        let lost = outcome.events_of(EventKind::Timeout);
        // The timers of the client's requests, which have no jitter, are not counted.
        let lost = lost.filter(|row| row.cause == Some(Cause::FullWindow) && row.flight > 0);
        let lost = lost.map(|row| row.time);
        let times: Vec<Time> = lost.collect();
        assert_eq!(times.len(), 8);
        times[7] - times[0]
    };
    // The initial timeout is one second.
    assert!(spread(0.0) < Span::from_micros(50));
    assert!(spread(0.5) > Span::from_millis(200));
}
