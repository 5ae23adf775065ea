//! The remedy modelled on adaptive pacing: losses are fewer with it than without it.

use incast_lab::Row;
use serde_json::{Value, json};

use crate::harness::{MSS, run, scenario};

/// Servers that answer together with twenty segments each, and a buffer of 40 packets.
fn read(servers: u32, remedies: &Value, more: &Value) -> Row {
    let mut changes = json!({
        "network": { "buffer": "40pkt" },
        "workload": { "servers": servers, "sru": 20 * MSS, "blocks": 5 },
        "transport": { "remedies": remedies, "initial_window": 2 },
    });
    crate::harness::lay(&mut changes, more);
    let outcome = run(&scenario(&changes), Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

#[test]
fn at_equal_n_fewer_packets_are_lost_and_fewer_wait() {
    for servers in [32, 64, 128] {
        let given = json!([{ "name": "adaptive-pacing", "flows": "given" }]);
        let plain = read(servers, &json!([]), &json!({}));
        let paced = read(servers, &given, &json!({}));
        assert!(plain.drops > 0, "{servers}");
        assert!(paced.drops * 2 < plain.drops, "{servers}: {} of {}", paced.drops, plain.drops);
        assert!(paced.timeouts < plain.timeouts, "{servers}");
        let deep = json!({ "network": { "buffer": "10000pkt" } });
        let (plain, paced) = (read(servers, &json!([]), &deep), read(servers, &given, &deep));
        let queues = (paced.queue_max_packets, plain.queue_max_packets);
        assert!(queues.0 * 2 < queues.1, "{servers}: {queues:?}");
    }
}

#[test]
fn a_server_that_estimates_needs_to_have_met_congestion() {
    let estimated = |carry: bool| {
        let remedy = json!([{ "name": "adaptive-pacing", "carry": carry }]);
        read(64, &remedy, &json!({ "workload": { "blocks": 20 } }))
    };
    let plain = read(64, &json!([]), &json!({ "workload": { "blocks": 20 } }));
    let (fresh, carried) = (estimated(false), estimated(true));
    assert!(carried.drops < fresh.drops, "{} of {}", carried.drops, fresh.drops);
    assert!(carried.drops < plain.drops, "{} of {}", carried.drops, plain.drops);
}
