//! PAC: the triggered packets never occupy more of the switch than the threshold.

use incast_lab::Row;
use serde_json::{Value, json};

use crate::harness::{MSS, lay, run, scenario};

/// Servers that answer together with forty segments each.
fn read(servers: u32, changes: &Value) -> Row {
    let mut document = json!({
        "network": { "buffer": "40pkt" },
        "workload": { "servers": servers, "sru": 40 * MSS, "request_size": 1 },
        "transport": {
            "remedies": [{ "name": "pac", "threshold": "30pkt" }],
            "initial_window": 4,
            "handshake": "none",
            "rto_min": "200ms",
        },
    });
    lay(&mut document, changes);
    let outcome = run(&scenario(&document), Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

#[test]
fn the_queue_is_bounded_by_the_threshold_and_the_link_is_busy() {
    for servers in [1, 2, 8, 32, 128, 512] {
        for connections in ["fresh", "persistent"] {
            let changes = json!({ "workload": { "connections": connections, "blocks": 2 } });
            let row = read(servers, &changes);
            assert_eq!((row.drops, row.timeouts), (0, 0), "{servers} servers, {connections}");
            let queue = row.queue_max_packets;
            assert!(queue <= 30, "{servers} servers, {connections}: {queue}");
            // Of the 1040 bytes of a packet, 1000 are payload. With few servers, the link is not
            // busy until their windows have grown.
            let busy = servers < 8 || row.goodput_bps > 0.85e9;
            assert!(busy, "{servers} servers, {connections}: {:?}", row.goodput_bps);
        }
    }
    let auto = json!([{ "name": "pac", "threshold": "auto" }]);
    let row = read(128, &json!({ "transport": { "remedies": auto } }));
    assert_eq!((row.drops, row.timeouts), (0, 0));
    assert!((31..=40).contains(&row.queue_max_packets), "{}", row.queue_max_packets);
    let without = read(32, &json!({ "transport": { "remedies": [] } }));
    assert!(without.drops > 0 && without.timeouts > 0);
}

#[test]
fn who_does_not_know_where_an_sru_ends_keeps_acks_for_nothing() {
    let unknown = json!({ "name": "pac", "threshold": "30pkt", "sru": "unknown" });
    let row = read(32, &json!({ "transport": { "remedies": [unknown] } }));
    assert_eq!((row.drops, row.timeouts), (0, 0));
    assert!(row.queue_max_packets <= 30);
    assert!(row.goodput_bps < 0.75e9, "{:?}", row.goodput_bps);
}

/// One threshold applies to both classes together. Four servers send 4 MB each, and their
/// connections change to the second class one after the other.
#[test]
fn the_threshold_is_one_for_both_classes() {
    for priority in ["0B", "1MiB", "8MB"] {
        let changes = json!({
            "workload": { "sru": "4MB" },
            "transport": {
                "remedies": [{ "name": "pac", "threshold": "30pkt", "priority": priority }],
            },
        });
        let row = read(4, &changes);
        assert_eq!((row.drops, row.timeouts), (0, 0), "{priority}");
        assert!(row.queue_max_packets <= 30, "{priority}: {}", row.queue_max_packets);
    }
}
