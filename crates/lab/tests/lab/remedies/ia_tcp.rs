//! The remedy modelled on IA-TCP. For any number of servers, the queue is at most the number of
//! packets that the path holds, plus a deviation caused by random start times.

use incast_lab::Row;
use serde_json::{Value, json};

use crate::harness::{MSS, run, scenario};

/// Servers that answer together with twenty segments each. The path holds 14 packets.
fn read(servers: u32, remedy: &Value, buffer: &str) -> Row {
    let changes = json!({
        "network": { "buffer": buffer },
        "workload": { "servers": servers, "sru": 20 * MSS, "request_size": 1 },
        "transport": {
            "remedies": [remedy],
            "initial_window": 2,
            "handshake": "none",
            "rto_min": "200ms",
        },
    });
    let outcome = run(&scenario(&changes), Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

#[test]
fn nothing_is_lost_however_many_servers_there_are() {
    for servers in [2, 4, 8, 14, 15, 20, 40, 80, 160, 320, 640] {
        let row = read(servers, &json!({ "name": "ia-tcp" }), "60pkt");
        assert_eq!((row.drops, row.timeouts), (0, 0), "{servers} servers");
        // n packets are sent at random times in a period of n packet times. The number of packets
        // sent up to any time exceeds that of equally spaced packets by at most 1.5 √n, except with
        // probability exp(-2·1.5²), about one percent (Kolmogorov & Smirnov).
        let bound = 14.0 + 1.5 * f64::from(servers).sqrt();
        let queue = row.queue_max_packets;
        assert!(queue as f64 <= bound, "{servers} servers: {queue} of {bound}");
    }
    for servers in [40, 640] {
        let row = read(servers, &json!({ "name": "adaptive-rto" }), "60pkt");
        assert!(row.drops > 0 && row.timeouts > 0, "{servers} servers need it");
    }
}

#[test]
fn servers_that_begin_in_turn_keep_the_queue_empty_and_the_link_busy() {
    for servers in [20, 160, 640] {
        let row = read(servers, &json!({ "name": "ia-tcp", "start": "in-turn" }), "40pkt");
        assert!(row.queue_max_packets <= 14, "{servers}: {}", row.queue_max_packets);
        // Of the 1040 bytes of a packet, 1000 are payload.
        assert!(row.goodput_bps > 0.85e9, "{servers}: {:?}", row.goodput_bps);
    }
}

#[test]
fn those_that_begin_together_meet_again_in_every_round() {
    let row = read(160, &json!({ "name": "ia-tcp", "start": "together" }), "1000pkt");
    assert!(row.queue_max_packets > 140, "{}", row.queue_max_packets);
}
