//! What transports promise at the scale of a network.

use incast_lab::probe::TraceRequest;
use incast_lab::{Control, Row, Scenario, world};
use serde_json::{Value, json};

use super::harness::lay;

fn run(changes: &Value, seed: u64) -> Row {
    let mut document = json!({
        "workload": { "servers": 1, "sru": "64KiB" },
        "network": { "rate": "1Gbps", "delay": "25us" },
        "run": { "time_limit": "20s" },
    });
    lay(&mut document, changes);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let run = world::run(&scenario, seed, &TraceRequest::default(), &Control::default());
    let rows = run.unwrap_or_else(|error| panic!("{error}")).rows;
    rows.into_iter().find(|row| row.group == "all").expect("all groups have a row")
}

/// With cwnd below a segment and segments a round trip / cwnd apart, four times as many senders
/// as the buffer holds packets are no reason for a loss.
#[test]
fn swift_passes_more_senders_than_the_buffer_holds_packets() {
    for seed in 1..=3 {
        let row = run(
            &json!({
                "network": { "buffer": "32pkt" },
                "workload": { "servers": 128 },
                "transport": { "name": "swift" },
            }),
            seed,
        );
        assert_eq!((row.status, row.drops, row.timeouts), ("ok", 0, 0), "seed {seed}");
        assert!(row.goodput_bps > 0.5e9, "seed {seed}: {} bps", row.goodput_bps);
    }
}

/// `NewReno` and DCTCP cannot: two segments each are more than the buffer.
#[test]
fn a_floor_of_a_segment_loses_where_swift_does_not() {
    for name in ["newreno", "dctcp"] {
        let row = run(
            &json!({
                "network": { "buffer": "32pkt" },
                "workload": { "servers": 128 },
                "transport": { "name": name },
            }),
            1,
        );
        assert!(row.drops > 100, "{name}: {} drops", row.drops);
    }
}
