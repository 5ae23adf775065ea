//! TCP-EFR: if ACKs echo marks, lost tails are repaired without timeouts.

use incast_lab::{Control, TraceRequest, run};
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::lay;

/// Number of timeouts for lack of duplicate ACKs, and number of fast retransmissions, on the
/// paper's star (§5.2). In the paper, segments have 1 KB, the buffer has 100 KB, and each server
/// sends 64 KB. Here, each server sends four segments at once.
fn lack_and_repairs(transport: &Value) -> (u64, u64) {
    let mut document = json!({
        "network": {
            "rate": "1Gbps", "delay": "25us", "buffer": "100KB",
            "queue": { "name": "ecn-threshold", "threshold": "20pkt" },
        },
        "workload": {
            "name": "barrier-read", "servers": 60, "sru": "64KB", "request_jitter": "20us",
        },
        "transport": {
            "mss": 1000, "rto_min": "10ms", "initial_window": 4, "limited_transmit": false,
        },
    });
    lay(&mut document["transport"], transport);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let rows = (1..=5).map(|seed| {
        let run = run(&scenario, seed, &TraceRequest::default(), &Control::default());
        run.expect("nobody cancels").rows.remove(0)
    });
    rows.fold((0, 0), |(lack, repairs), row| {
        if let Some(Some(accuracy)) = row.measures.get("efr.accuracy") {
            let tails = row.measures["efr.tail_repairs"].unwrap_or_default();
            assert!(tails <= row.fast_retransmits as f64);
            let all = tails + row.timeouts_lack_of_dupacks as f64;
            assert!((accuracy - 100.0 * tails / all).abs() < 1e-9 && *accuracy > 0.0);
        }
        (lack + row.timeouts_lack_of_dupacks, repairs + row.fast_retransmits)
    })
}

#[test]
fn fewer_timeouts_for_lack_of_duplicates() {
    let (dctcp, few) = lack_and_repairs(&json!({ "name": "dctcp" }));
    let (efr, more) = lack_and_repairs(&json!({ "name": "efr" }));
    let (other, most) = lack_and_repairs(&json!({
        "remedies": [{ "name": "efr", "outstanding": "less-duplicates" }],
    }));
    assert!(efr < dctcp && few < more);
    assert!(10 * other < dctcp && more < most);
}
