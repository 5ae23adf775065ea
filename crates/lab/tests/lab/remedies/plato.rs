//! PLATO: no heartbeat is lost while the switch has reserved space for it.

use incast_lab::Row;
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{lay, run};

/// The paper's star (§V): 1 Gbps, 25 us, packets of 1500 bytes, a timer of 200 ms.
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

/// Shukla et al. §V: 30 % of 64 KiB are reserved. Each sender uses at most 2 · 1500 bytes of them,
/// for a heartbeat and a retransmission. The text concludes: "at least 6 senders can be supported
/// by this switch in the worst case".
///
/// The paper's naive switch, which pushes packets out, is also sufficient (§IV.B).
#[test]
fn six_senders_are_safe_in_the_worst_case() {
    let kept = 64 * 1024 - 64 * 1024 * 7 / 10;
    let senders = kept / (2 * 1500);
    assert_eq!(senders, 6);
    for (queue, sru) in switches().into_iter().flat_map(|it| [(it.clone(), "100KiB"), (it, "1MiB")])
    {
        let row = star(&json!({
            "network": { "queue": queue },
            "workload": { "servers": senders, "sru": sru },
        }));
        assert!(row.drops > 0, "{queue}, {sru}: no loss, no proof");
        assert_eq!(row.timeouts, 0, "{queue}, {sru}");
    }
}

/// PLATO's threshold, and the alternatives to it.
fn switches() -> [Value; 3] {
    [
        json!({ "name": "label-threshold" }),
        json!({ "name": "push-out", "victim": "oldest" }),
        json!({ "name": "push-out", "victim": "newest" }),
    ]
}

/// A switch that pushes packets out reserves its whole buffer for priority packets. With 256 KiB
/// and twice as many servers as a threshold of 30 % supports, there is no timeout of 200 ms if
/// handshakes have priority. Without this priority, a switch that pushes out the oldest packet
/// often drops a SYN-ACK.
#[test]
fn pushing_out_protects_as_the_threshold_does() {
    let ninety = |queue: &Value, label_handshake: bool| {
        star(&json!({
            "network": { "buffer": "256KiB", "queue": queue },
            "workload": { "servers": 90, "request_jitter": "20us" },
            "transport": {
                "name": null,
                "remedies": [{ "name": "plato", "label_handshake": label_handshake }],
            },
        }))
    };
    for queue in switches() {
        let row = ninety(&queue, true);
        // At line rate, 9.2 MB take 76 ms. Every timeout is an early timeout.
        assert!(row.drops > 0 && row.completion_s < Some(0.08), "{queue}");
        assert_eq!(row.measures["plato.early_timeouts"], Some(row.timeouts as f64), "{queue}");
    }
    let [threshold, oldest, newest] = switches().map(|queue| ninety(&queue, false));
    assert_eq!([threshold.timeouts_handshake, newest.timeouts_handshake], [0, 0]);
    assert!(oldest.timeouts_handshake > 0 && oldest.completion_s > Some(1.0));
}

/// 30 servers send 100 KiB each, so most windows are lost almost completely.
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
    // At line rate, 3.1 MB take 25 ms. Each timeout is an early timeout after three dummies.
    assert!(plato.drops > newreno.drops && plato.timeouts > 0);
    assert!(plato.completion_s < Some(0.03));
    assert_eq!(plato.measures["plato.early_timeouts"], Some(plato.timeouts as f64));
    assert!(plato.measures["plato.dummies"] >= Some(3.0 * plato.timeouts as f64));
    assert!(newreno.measures.is_empty());
}

/// In the paper, the packets of the handshake have no labels. If the queue has reached the
/// threshold, the switch drops a late SYN-ACK.
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
