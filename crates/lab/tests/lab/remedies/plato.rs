//! PLATO: the heartbeat is not lost while the switch keeps room for it.

use incast_lab::{Row, Scenario};
use serde_json::{Value, json};

use crate::harness::{lay, run};

/// The text's star (§V): 1 Gbps, 25 us, packets of 1500 bytes, a timer of 200 ms.
fn star(changes: &Value) -> Row {
    let mut document = json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": "64KiB" },
        "workload": { "name": "barrier-read", "servers": 6, "sru": "100KiB" },
        "transport": { "name": "plato", "mss": 1460, "initial_window": 1, "rto_min": "200ms" },
    });
    lay(&mut document, changes);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

/// Shukla et al. §V: of 64 KiB, 30 % are kept; a sender has at most a heartbeat and a retransmission
/// of 1500 bytes there; "at least 6 senders can be supported by this switch in the worst case".
#[test]
fn six_senders_are_safe_in_the_worst_case() {
    let kept = 64 * 1024 - 64 * 1024 * 7 / 10;
    let senders = kept / (2 * 1500);
    assert_eq!(senders, 6);
    for sru in ["100KiB", "1MiB"] {
        let row = star(&json!({ "workload": { "servers": senders, "sru": sru } }));
        assert!(row.drops > 0, "{sru}: no loss, no proof");
        assert_eq!(row.timeouts, 0, "{sru}");
    }
}

/// 30 servers send 100 KiB each: most windows are lost to the last segment, or nearly.
#[test]
fn losses_that_cost_newreno_a_timeout_cost_round_trips() {
    let thirty = |transport: &str| {
        star(&json!({
            "workload": { "servers": 30, "request_jitter": "20us" },
            "transport": { "name": transport },
        }))
    };
    let (newreno, plato) = (thirty("newreno"), thirty("plato"));
    assert!(newreno.timeouts > 0 && newreno.completion_s > Some(0.2));
    // 3.1 MB take 25 ms at line rate. The timeouts are those after three dummies.
    assert!(plato.drops > newreno.drops && plato.timeouts > 0);
    assert!(plato.completion_s < Some(0.03));
    assert_eq!(plato.measures["plato.early_timeouts"], Some(plato.timeouts as f64));
    assert!(plato.measures["plato.dummies"] >= Some(3.0 * plato.timeouts as f64));
    assert!(newreno.measures.is_empty());
}

/// The text labels nothing before the data: a SYN-ACK that comes late finds the queue at the
/// threshold.
#[test]
fn handshakes_are_lost_unless_they_have_priority() {
    let handshakes = |label_handshake: bool| {
        star(&json!({
            "network": { "buffer": "256KiB" },
            "workload": { "servers": 45, "request_jitter": "20us" },
            "transport": {
                "name": null,
                "remedies": [{ "name": "plato", "label_handshake": label_handshake }],
                "initial_window": 10,
            },
        }))
        .timeouts_handshake
    };
    assert!(handshakes(false) > 0);
    assert_eq!(handshakes(true), 0);
}
