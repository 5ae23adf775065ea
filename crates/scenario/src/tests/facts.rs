//! Numbers derived from a scenario.

use incast_engine::Cell;
use serde_json::json;

use super::load;
use crate::Facts;

fn facts(keys: &[(&str, serde_json::Value)]) -> Facts {
    load(keys).facts()
}

fn close(is: f64, due: f64) {
    assert!((is - due).abs() < 1e-12 * due.abs().max(1e-3), "{is}, not {due}");
}

#[test]
fn a_path_has_its_links_and_what_they_take() {
    let star = facts(&[]).network;
    assert_eq!((star.trunks, star.packet_bytes, star.wire_bytes), (0, 1500, 1500));
    close(star.propagation_s, 100e-6);
    close(star.base_rtt_s, 100e-6 + 2.0 * (12e-6 + 0.32e-6));
    close(star.bare_rtt_s, 100e-6 + 4.0 * 0.32e-6);
    let chain = facts(&[
        ("network.topology", json!({ "name": "chain", "switches": 3 })),
        ("network.core", json!({ "rate": "100Mbps", "delay": "70us" })),
        ("network.layer2_overhead", json!(38)),
    ])
    .network;
    assert_eq!((chain.trunks, chain.wire_bytes), (2, 1538));
    close(chain.propagation_s, 2.0 * (50e-6 + 2.0 * 70e-6));
    let bits = 8.0 * f64::from(1538 + 78);
    close(chain.base_rtt_s, chain.propagation_s + bits * (2.0 / 1e9 + 2.0 / 1e8));
}

#[test]
fn a_buffer_holds_full_packets_in_whole_cells() {
    let plain = facts(&[("network.buffer", json!("64KiB"))]).buffer;
    assert_eq!((plain.buffer_limit, plain.buffer_packets), (65_536, 43));
    let cells = facts(&[
        ("network.buffer", json!("64KiB")),
        ("network.buffer_cell", json!(208)),
        ("network.buffer_packet_overhead", json!(16)),
    ]);
    assert_eq!((cells.buffer.packet_space_bytes, cells.buffer.buffer_packets), (1664, 39));
    let packets = facts(&[("network.buffer", json!("40pkt"))]).buffer;
    assert!(packets.buffer_counts_packets);
    assert_eq!((packets.buffer_packets, packets.buffer_bytes), (40, 60_000));
}

#[test]
fn thresholds_are_told_in_the_unit_of_the_buffer() {
    let told = |buffer: &str, queue: serde_json::Value| {
        let queue = ("network.queue", queue);
        let facts = facts(&[("network.buffer", json!(buffer)), queue]).buffer;
        facts.thresholds.into_iter().zip(facts.threshold_lengths).collect::<Vec<_>>()
    };
    let one = |length: f64| vec![("threshold".to_owned(), length)];
    let threshold =
        |level: serde_json::Value| json!({ "name": "ecn-threshold", "threshold": level });
    assert_eq!(told("64KiB", threshold(json!("20pkt"))), one(30_000.0));
    assert_eq!(told("64KiB", threshold(json!("30KB"))), one(30_000.0));
    assert_eq!(told("64KiB", threshold(json!("50%"))), one(32_768.0));
    assert_eq!(told("40pkt", threshold(json!("30KB"))), one(20.0));
    assert_eq!(told("40pkt", threshold(json!("33%"))), one(14.0));
    let red = json!({ "name": "red", "min_th": "5pkt", "max_th": "15pkt" });
    let both = [("min_th".to_owned(), 5.0), ("max_th".to_owned(), 15.0)];
    assert_eq!(told("40pkt", red), both);
    // The `threshold` of `segregation` is not a queue length, and `rapid` does not use its
    // threshold by default.
    let segregation = json!({ "name": "segregation", "threshold": 2.0, "burst_limit": "10pkt" });
    assert_eq!(told("40pkt", segregation), [("burst_limit".to_owned(), 10.0)]);
    assert_eq!(told("40pkt", json!("rapid")), []);
}

/// At a switch with dynamic thresholds, a single queue uses α / (1 + α) of the buffer.
#[test]
fn a_port_alone_has_its_share_of_a_dynamic_buffer() {
    for (alpha, limit) in [(json!(1), 50), (json!("2^-1"), 33), (json!(8), 88)] {
        let buffer = json!({ "name": "dynamic", "total": "100pkt", "alpha": alpha });
        let facts = facts(&[("network.buffer", buffer)]).buffer;
        assert_eq!((facts.buffer_limit, facts.buffer_total), (limit, Some(100)), "{alpha}");
    }
    let shared = json!({ "name": "shared", "total": "1MiB", "limit": "30pkt" });
    let facts = facts(&[("network.buffer", shared)]).buffer;
    assert_eq!((facts.buffer_packets, facts.buffer_total), (30, Some(1 << 20)));
    assert!(facts.buffer_counts_packets && !facts.buffer_total_counts_packets);
    assert_eq!(facts.buffer_alpha, None);
}

#[test]
fn a_block_is_divided_among_those_that_are_active() {
    let traffic = facts(&[
        ("workload.sru", json!(null)),
        ("workload.block", json!(10_001)),
        ("workload.active", json!(2)),
    ])
    .traffic;
    assert_eq!((traffic.servers, traffic.flows, traffic.clients), (2, 2, 1));
    assert_eq!((traffic.sru_bytes, traffic.last_sru_bytes), (5001, 5000));
    assert_eq!((traffic.sru_segments, traffic.last_segment_bytes), (4, 5001 - 3 * 1460));
    let whole = facts(&[("workload.sru", json!(2920))]).traffic;
    assert_eq!((whole.sru_segments, whole.last_segment_bytes), (2, 1460));
}

#[test]
fn long_flows_have_no_blocks_and_datagrams_a_rate() {
    let traffic = facts(&[
        (
            "workload",
            json!({
                "name": "long-flows", "servers": 3, "flows": 2, "to": [1, 0, 1], "duration": "2s",
            }),
        ),
        ("network.clients", json!(2)),
        (
            "background",
            json!([
                { "name": "cbr", "rate": "1Mbps", "packet_size": 100, "from": "servers" },
                { "name": "long-flow", "group": "backup" },
            ]),
        ),
    ])
    .traffic;
    assert_eq!((traffic.servers, traffic.flows, traffic.clients), (3, 6, 2));
    assert_eq!((traffic.sru_bytes, traffic.duration_s), (0, Some(2.0)));
    assert_eq!(traffic.groups, ["all", "background.0.cbr", "backup"]);
    assert_eq!(traffic.background_rates_bps, [Some(3e6), None]);
    assert_eq!(traffic.background_space_bytes, [Some(100), None]);
}

/// A window of less than a segment counts as one segment, because a segment is still sent. The
/// names of facts are unique.
#[test]
fn windows_are_told_in_segments_and_names_are_single() {
    let all = facts(&[
        ("transport.initial_window", json!("15B")),
        ("transport.receive_window", json!(100)),
        ("transport.delayed_ack", json!(true)),
    ]);
    let transport = &all.transport;
    let windows = (transport.initial_window_segments, transport.receive_window_segments);
    assert_eq!(windows, (1, 100));
    close(transport.delayed_ack_s, 0.04);
    let mut names: Vec<_> = all.cells().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    assert!(all.cells().any(|cell| cell == ("rto_min_s", Cell::Number(0.2))));
}
