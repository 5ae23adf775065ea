//! Connection serialisation: the results of Osada et al., and the remedies' options.

use incast_engine::Time;
use incast_host::milestone::EventKind;
use incast_lab::{Control, Row, TraceRequest};
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{self, Loss, lay};

const KIB: u64 = 1024;

/// The paper's network at 1 or 10 Gbps, with SRUs of 32 and 512 KB.
fn figure(gigabits: u64, servers: u32, transport: &Value) -> Value {
    let (servers_there, sru, buffer) = match gigabits {
        1 => (64, 32 * KIB, "40pkt"),
        _ => (256, 512 * KIB, "200pkt"),
    };
    // Together, the servers send background traffic at 0.1 % of the link's rate.
    let background = gigabits * 1_000_000 / servers_there;
    json!({
        "network": { "rate": format!("{gigabits}Gbps"), "base_rtt": "100us", "buffer": buffer },
        "workload": { "name": "barrier-read", "servers": servers, "sru": sru },
        "transport": transport,
        "background": [{
            "name": "cbr", "from": "servers", "rate": format!("{background}bps"),
        }],
    })
}

fn run(document: &Value) -> Row {
    let scenario = Scenario::from_document(document).unwrap_or_else(|error| panic!("{error}"));
    let run = incast_lab::run(&scenario, 1, &TraceRequest::default(), &Control::default());
    let row = run.unwrap_or_else(|error| panic!("{error}")).rows.swap_remove(0);
    assert_eq!(row.status, "ok", "{document}");
    row
}

/// Runs the paper's network with a remedy and `changes`.
fn with(gigabits: u64, servers: u32, remedy: &Value, changes: &Value) -> Row {
    let mut document = figure(gigabits, servers, &json!({ "remedies": [remedy] }));
    lay(&mut document, changes);
    run(&document)
}

fn links_of_25_us() -> Value {
    json!({ "network": { "base_rtt": null, "delay": "25us" } })
}

fn megabits(row: &Row) -> f64 {
    row.goodput_bps / 1e6
}

/// Figure 9 shows about 450 Mbps. The equations give 440 to 460 Mbps if the round trip is 100 us.
/// With links of 25 us, the round trip is 124.64 us and the goodput is 377 Mbps.
#[test]
fn figure_9_ccs_reaches_450_mbps() {
    for servers in [1, 8, 32, 64] {
        let row = with(1, servers, &json!("ccs"), &json!({}));
        assert!((440.0 * 0.97..460.0 * 1.03).contains(&megabits(&row)), "{}", megabits(&row));
        assert!(row.queue_max_packets <= 2, "its own packets never wait");
        let row = with(1, servers, &json!("ccs"), &links_of_25_us());
        assert!((377.0 * 0.97..377.0 * 1.03).contains(&megabits(&row)), "{}", megabits(&row));
    }
}

/// The peaks follow equation (11) with a B that is not rounded, because the queue alternates
/// between two lengths. With ⌈B⌉, the peaks would be 15 and 84 packets, or 13 and 90 packets with
/// links of 25 us.
#[test]
fn equation_11_is_the_peak_of_the_queue_for_srus_of_whole_segments() {
    for (gigabits, segments, peaks) in [(1, 23, [16, 14]), (10, 360, [85, 91])] {
        for (network, peak) in [json!({}), links_of_25_us()].iter().zip(peaks) {
            let mut changes = json!({ "background": null, "workload": { "sru": segments * 1460 } });
            lay(&mut changes, network);
            let row = with(gigabits, 32, &json!("ocs"), &changes);
            assert_eq!(row.queue_max_packets, peak, "{gigabits} Gbps, {network}");
        }
    }
}

/// The last segment of 32 KiB is shorter than the others, so it arrives earlier than a full segment
/// would. This adds one packet to the queue, and the background traffic adds another.
#[test]
fn figures_10_and_14_the_queue_of_ocs_stays_at_its_bound() {
    for (gigabits, bounds) in [(1, [15, 13]), (10, [84, 90])] {
        for servers in [8, 32, 64] {
            for (network, bound) in [json!({}), links_of_25_us()].iter().zip(bounds) {
                let row = with(gigabits, servers, &json!("ocs"), network);
                let peak = row.queue_max_packets;
                assert!((bound..=bound + 2).contains(&peak), "{peak} instead of {bound}");
                assert_eq!((row.drops, row.timeouts), (0, 0));
            }
        }
    }
}

#[test]
fn figure_9_ocs_beats_nccs_and_nccs_ccs_and_tcp_collapses() {
    for servers in [16, 32, 64] {
        let goodput = |remedy: Value| megabits(&with(1, servers, &remedy, &json!({})));
        let ccs = goodput(json!("ccs"));
        let nccs = [2, 4].map(|k| goodput(json!({ "name": "nccs", "k": k })));
        let ocs = goodput(json!("ocs"));
        assert!(ccs < nccs[0] && nccs[0] < nccs[1] && nccs[1] < ocs, "{ccs} {nccs:?} {ocs}");
        assert!(ocs > 900.0 && ocs < 972.4, "{ocs}");
        let tcp = run(&figure(1, servers, &json!("newreno")));
        assert!(megabits(&tcp) < 0.5 * ccs, "{}", megabits(&tcp));
    }
}

/// If K windows of ⌈B⌉ packets are sent at once, K·⌈B⌉ - B packets wait at the port: 28 packets for
/// K = 4 and 64 packets for K = 8.
#[test]
fn figure_9_k_connections_at_once_fit_into_40_places_with_k_4_and_not_with_k_8() {
    let at_once = |k| json!({ "name": "nccs", "k": k, "trigger_from": "request" });
    let row = with(1, 32, &at_once(4), &json!({}));
    assert_eq!((row.queue_max_packets, row.drops), (29, 0));
    let row = with(1, 32, &at_once(8), &json!({}));
    assert!(row.queue_max_packets == 40 && row.drops > 0);
}

/// According to §5.1 of the text, there is no incast "even with larger K".
#[test]
fn figure_9_with_k_8_connections_wait_until_the_newest_is_established() {
    let row = with(1, 64, &json!({ "name": "nccs", "k": 8 }), &json!({}));
    assert_eq!((row.timeouts, row.drops), (0, 0));
    assert!(megabits(&row) > 940.0, "{}", megabits(&row));
    let request = json!({ "name": "nccs", "k": 8, "trigger_from": "request" });
    assert!(with(1, 64, &request, &json!({})).timeouts > 0);
}

/// Without a handshake, and on persistent connections, no request waits for a connection to be
/// established.
#[test]
fn connections_that_are_established_when_they_are_asked_do_not_wait() {
    let changes = json!({
        "workload": { "blocks": 3, "connections": "persistent" },
        "transport": { "handshake": "none" },
    });
    let from = |from: &str| {
        with(1, 16, &json!({ "name": "nccs", "k": 4, "trigger_from": from }), &changes)
    };
    let (request, established) = (from("request"), from("established"));
    assert_eq!((request.blocks, established.blocks), (3, 3));
    assert_eq!(established.goodput_bps.to_bits(), request.goodput_bps.to_bits());
}

/// If S - T₁V is positive, NCCS never serves more connections at a time than the link needs.
#[test]
fn section_4_3_a_long_sru_needs_no_more_than_two_connections() {
    let long = json!({ "workload": { "sru": 1024 * KIB, "servers": 8 }, "background": null });
    let row = with(1, 8, &json!({ "name": "nccs", "k": 8 }), &long);
    assert!(row.queue_max_packets <= 18 - 8, "{}", row.queue_max_packets);
    assert!(megabits(&row) > 940.0, "{}", megabits(&row));
}

/// A small SRU is read repeatedly over every kind of connection.
#[test]
fn every_handshake_and_every_life_of_a_connection_will_do() {
    let kinds = [
        json!({}),
        json!({ "workload": { "connections": "persistent" } }),
        json!({ "workload": { "request_size": 100 } }),
        json!({ "workload": { "request_jitter": "20us" } }),
        json!({ "transport": { "handshake": "syn-only" } }),
        json!({ "transport": { "handshake": "none" } }),
        json!({ "transport": { "opener": "server" } }),
    ];
    for remedy in ["ccs", "nccs", "ocs"] {
        for kind in &kinds {
            let mut changes = json!({ "workload": { "blocks": 4 } });
            lay(&mut changes, kind);
            let row = with(1, 10, &json!(remedy), &changes);
            assert_eq!((row.blocks, row.timeouts, row.drops), (4, 0, 0), "{remedy} {kind}");
            assert_eq!(row.bytes, 4 * 10 * 32 * KIB);
        }
    }
}

#[test]
fn figure_8_every_request_leaves_at_the_beginning_and_no_set_before_its_time() {
    let scenario = harness::scenario(&json!({
        "network": { "base_rtt": "100us", "delay": null },
        "workload": { "servers": 9, "sru": 32_000 },
        "transport": { "remedies": ["ocs"], "initial_window": 2 },
    }));
    let outcome = harness::run(&scenario, Vec::new());
    let requests: Vec<Time> =
        outcome.events_of(EventKind::Request).map(|request| request.time).collect();
    assert_eq!(requests, [Time::ZERO; 9]);
    let done: Vec<u32> =
        outcome.events_of(EventKind::FlowDone).filter_map(|done| done.flow).collect();
    // A set has ⌈12.02/4⌉ = 4 servers. The first set is complete before the third set begins.
    assert!(done[..4].iter().all(|flow| *flow < 4), "{done:?}");
    assert_eq!(done[8], 8);
}

/// The window update is a pure ACK and is not retransmitted. The server's probe finds the window
/// open.
#[test]
fn section_4_4_a_lost_window_update_waits_for_the_servers_probe() {
    let scenario = harness::scenario(&json!({
        "network": { "base_rtt": "100us", "delay": null },
        "workload": { "servers": 8, "sru": 32_000 },
        "transport": { "remedies": ["ocs"], "initial_window": 2, "rto_min": "200ms" },
    }));
    let whole = harness::run(&scenario, Vec::new());
    let stalled = harness::run(&scenario, vec![Loss::of_bare_ack(7, false)]);
    let seconds = |outcome: &harness::Outcome| outcome.row().completion_s.unwrap();
    assert!(seconds(&whole) < 0.01);
    assert!((0.2..0.21).contains(&seconds(&stalled)), "{}", seconds(&stalled));
    assert_eq!(stalled.row().timeouts, 0, "a probe is no retransmission");
}

/// §6: a client that has to learn the parameters loses time only on the first connections.
#[test]
fn section_6_what_is_learned_is_what_would_have_been_given() {
    let given = with(1, 32, &json!("ocs"), &json!({}));
    for learned in [
        json!({ "name": "ocs", "base_rtt": "learned" }),
        json!({ "name": "ocs", "sru": "learned" }),
        json!({ "name": "ocs", "base_rtt": "learned", "sru": "learned", "observed": 2 }),
    ] {
        let row = with(1, 32, &learned, &json!({}));
        assert_eq!(row.queue_max_packets, given.queue_max_packets, "{learned}");
        let share = row.goodput_bps / given.goodput_bps;
        assert!((0.92..1.0).contains(&share), "{learned}: {share}");
    }
}

#[test]
fn section_6_an_inferred_group_is_as_good_as_a_given_one_if_the_gap_is_long_enough() {
    let jitter = json!({ "workload": { "request_jitter": "5us" } });
    let given = with(1, 32, &json!("ocs"), &jitter);
    let inferred = with(1, 32, &json!({ "name": "ocs", "group_gap": "50us" }), &jitter);
    assert_eq!(inferred.goodput_bps.to_bits(), given.goodput_bps.to_bits());
    // With this gap, the client regards every server as a separate group, so all servers send at
    // once.
    let alone = with(1, 32, &json!({ "name": "ocs", "group_gap": "1ns" }), &jitter);
    assert!(alone.drops > 0);
}

/// §6: if the servers' links are slower than the client's link, OCS leaves the client's link partly
/// idle.
#[test]
fn section_6_adaptive_ocs_fills_the_link_of_a_faster_client() {
    let ocs = json!("ocs");
    let adaptive = json!({ "name": "ocs", "adaptive": true });
    let slow = |rate: &str| {
        let mut changes = links_of_25_us();
        let servers = json!({
            "network": { "server_rate": rate }, "workload": { "sru": 256 * KIB, "blocks": 2 },
        });
        lay(&mut changes, &servers);
        changes
    };
    for (rate, gain) in [("250Mbps", 1.4), ("500Mbps", 1.08)] {
        let plain = megabits(&with(10, 64, &ocs, &slow(rate)));
        let adapted = megabits(&with(10, 64, &adaptive, &slow(rate)));
        assert!(adapted > gain * plain, "{rate}: {adapted} after {plain}");
    }
    let plain = megabits(&with(10, 64, &ocs, &slow("10Gbps")));
    let adapted = megabits(&with(10, 64, &adaptive, &slow("10Gbps")));
    assert!((adapted / plain - 1.0).abs() < 0.002, "{adapted} after {plain}");
}

/// With any losses and delays, every block is read completely.
#[test]
fn no_order_is_forgotten_on_a_bad_network() {
    let remedies = [
        json!("ccs"),
        json!({ "name": "ccs", "base_rtt": "learned", "sru": "learned" }),
        json!({ "name": "nccs", "k": 1 }),
        json!({ "name": "nccs", "k": 3, "trigger_from": "request" }),
        json!({ "name": "nccs", "k": 3, "trigger": "scaled", "group_gap": "30us" }),
        json!("ocs"),
        json!({ "name": "ocs", "reached": "any", "sru": "learned", "observed": 3 }),
        json!({ "name": "ocs", "trigger": "printed", "group_gap": "5us" }),
        json!({ "name": "ocs", "adaptive": true, "base_rtt": "learned", "group_gap": "20us" }),
    ];
    for (index, remedy) in remedies.iter().cycle().take(96).enumerate() {
        let number = index as u64;
        let handshake = ["three-way", "syn-only", "none"][index / 8 % 3];
        let changes = json!({
            "network": {
                "buffer": format!("{}pkt", 4 + number % 7),
                "queue": { "name": "bernoulli", "p": 0.02 },
            },
            "workload": {
                "servers": 1 + number % 13, "sru": 1 + 977 * (number % 29), "blocks": 3,
                "connections": if number.is_multiple_of(3) { "persistent" } else { "fresh" },
                "request_jitter": if number % 5 < 3 { "10us" } else { "0us" },
                "request_size": if number.is_multiple_of(4) { 0 } else { 100 },
            },
            "transport": { "syn_rto": "10ms", "handshake": handshake },
            "background": null,
        });
        let row = with(1, 1, remedy, &changes);
        let bytes = 3 * (1 + number % 13) * (1 + 977 * (number % 29));
        assert_eq!((row.blocks, row.bytes), (3, bytes), "{remedy} {changes}");
    }
}
