//! Request staggering: the queue does not depend on the number of servers.

use incast_engine::{Span, Time};
use incast_host::milestone::EventKind;
use serde_json::{Value, json};

use crate::harness::{MSS, Outcome, lay, run, scenario};

fn staggered(parameters: &Value, servers: u32, changes: &Value) -> Outcome {
    let mut remedy = json!({ "name": "staggering" });
    lay(&mut remedy, parameters);
    let mut document = json!({
        "network": { "buffer": "60pkt" },
        "workload": { "servers": servers, "sru": 50 * MSS },
        "transport": { "remedies": [remedy] },
    });
    lay(&mut document, changes);
    run(&scenario(&document), vec![])
}

fn asked(outcome: &Outcome) -> Vec<Time> {
    outcome.events_of(EventKind::Request).map(|row| row.time).collect()
}

#[test]
fn the_queue_stays_short_however_many_servers_there_are() {
    let peak = |servers| {
        let outcome = staggered(&json!({}), servers, &json!({}));
        let row = outcome.row();
        assert_eq!((row.drops, row.timeouts, row.status), (0, 0, "ok"), "{servers} servers");
        row.queue_max_packets
    };
    let peaks = [4, 32, 128].map(peak);
    // The queue is shorter than half an SRU. The interval does not account for SYN-ACKs, so the 96
    // further servers add 96 · 40 bytes to the queue, which are less than four packets.
    assert!(peaks[1] < 25 && peaks[2] <= peaks[1] + 4, "{peaks:?}");
    let plain = json!({ "transport": { "remedies": [] } });
    assert!(staggered(&json!({}), 32, &plain).row().drops > 0);
}

/// The interval is the time in which a link of 1 Gbps sends 50 packets of 1040 bytes.
#[test]
fn requests_are_what_the_link_takes_for_an_sru_apart() {
    let outcome = staggered(&json!({}), 10, &json!({}));
    let times = asked(&outcome);
    assert_eq!(times.len(), 10);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == Span::from_micros(416)));
    let idle = run_time(&json!({ "interval": "2ms" }));
    let full = run_time(&json!({}));
    assert!((idle - 9.0 * 0.002).abs() < 0.001 && (full - 9.0 * 0.000_416).abs() < 0.001);
}

fn run_time(parameters: &Value) -> f64 {
    staggered(parameters, 10, &json!({})).row().elapsed_s
}

/// If data arrive faster than the link sends them, the queue grows.
#[test]
fn half_the_interval_fills_the_buffer() {
    let outcome = staggered(&json!({ "interval": "208us" }), 32, &json!({}));
    assert_eq!(outcome.row().queue_max_packets, 60);
    assert!(outcome.row().drops > 0);
}

#[test]
fn random_intervals_are_drawn_anew_for_every_block() {
    let blocks = json!({ "workload": { "blocks": 2 } });
    let outcome = staggered(&json!({ "spread": 0.2 }), 6, &blocks);
    let times = asked(&outcome);
    let gaps =
        |block: &[Time]| -> Vec<Span> { block.windows(2).map(|pair| pair[1] - pair[0]).collect() };
    let (first, second) = (gaps(&times[..6]), gaps(&times[6..]));
    assert_ne!(first, second);
    let bounds = Span::from_nanos(416_000 * 8 / 10)..Span::from_nanos(416_000 * 12 / 10);
    assert!(first.iter().chain(&second).all(|gap| bounds.contains(gap)), "{first:?} {second:?}");
    assert_eq!(asked(&staggered(&json!({ "spread": 0.2 }), 6, &blocks)), times, "one seed");
}
