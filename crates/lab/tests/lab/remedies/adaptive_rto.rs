//! A timeout that rises with the queue, so that packets that wait in a deep buffer are not
//! retransmitted.

use incast_lab::Row;
use serde_json::{Value, json};

use crate::harness::{MSS, run, scenario};

/// Sixteen servers answer over persistent connections. The buffer is so large that no packet is
/// lost, and the retransmission timer suits an idle network.
fn row(remedies: &Value, changes: &Value) -> Row {
    let mut document = json!({
        "network": { "buffer": "auto" },
        "workload": {
            "servers": 16, "sru": 100 * MSS, "blocks": 6, "connections": "persistent",
            "request_jitter": "20us",
        },
        "transport": { "rto_min": null, "receive_window": 50, "remedies": remedies },
    });
    crate::harness::lay(&mut document, changes);
    let outcome = run(&scenario(&document), vec![]);
    assert_eq!((outcome.row().status, outcome.row().drops), ("ok", 0));
    outcome.row().clone()
}

#[test]
fn it_reduces_needless_retransmissions() {
    let fine = row(&json!(["fine-rto"]), &json!({}));
    assert!(fine.timeouts_spurious >= 16, "{}", fine.timeouts_spurious);
    assert_eq!(fine.timeouts, fine.timeouts_spurious);
    for remedy in [
        json!({ "name": "adaptive-rto" }),
        json!({ "name": "adaptive-rto", "samples": "all" }),
        json!({ "name": "adaptive-rto", "by": "timeouts" }),
    ] {
        let adaptive = row(&json!(["fine-rto", remedy]), &json!({}));
        let told = format!("{remedy}: {} of {}", adaptive.timeouts, fine.timeouts);
        assert!(2 * adaptive.timeouts < fine.timeouts, "{told}");
        assert!(2 * adaptive.retransmitted_packets < fine.retransmitted_packets, "{told}");
    }
}

/// A new connection knows nothing about the queue, except if its host remembers the last
/// connection.
#[test]
fn a_server_may_remember_its_last_connection() {
    let of = |carry: bool| {
        let remedies = json!(["fine-rto", { "name": "adaptive-rto", "carry": carry }]);
        let changes = json!({ "workload": { "connections": "fresh" } });
        row(&remedies, &changes).timeouts
    };
    let (fresh, remembered) = (of(false), of(true));
    assert!(2 * remembered < fresh, "{remembered} of {fresh}");
}
