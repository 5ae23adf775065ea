//! Properties of transports in a network.

use incast_engine::{Span, Time};
use incast_lab::probe::TraceRequest;
use incast_lab::{Control, Row};
use incast_scenario::{Entry, Scenario, entries};
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
    let run = incast_lab::run(&scenario, seed, &TraceRequest::default(), &Control::default());
    let rows = run.unwrap_or_else(|error| panic!("{error}")).rows;
    rows.into_iter().find(|row| row.group == "all").expect("all groups have a row")
}

/// A read from 128 senders, with a buffer of 32 packets: there are four times as many senders as
/// packets in the buffer.
fn crowd(transport: &Value, seed: u64) -> Row {
    let changes = json!({
        "network": { "buffer": "32pkt" },
        "workload": { "servers": 128 },
        "transport": transport,
    });
    run(&changes, seed)
}

/// Swift can reduce its cwnd below one segment; it then sends one segment every round trip / cwnd.
/// With such windows, 128 senders cause no losses.
#[test]
fn swift_passes_more_senders_than_the_buffer_holds_packets() {
    for seed in 1..=3 {
        let row = crowd(&json!({ "name": "swift" }), seed);
        assert_eq!((row.status, row.drops, row.timeouts), ("ok", 0, 0), "seed {seed}");
        assert!(row.goodput_bps > 0.5e9, "seed {seed}: {} bps", row.goodput_bps);
    }
}

/// Swift with a minimum window of one segment, `NewReno` and DCTCP lose packets, because the
/// smallest windows of all senders add up to four times the buffer.
#[test]
fn a_floor_of_a_segment_loses_where_swift_does_not() {
    let swift = crowd(&json!({ "name": "swift" }), 1);
    let floor = json!({ "name": "swift", "congestion_control": { "least_window": 1.0 } });
    for transport in [floor, json!({ "name": "newreno" }), json!({ "name": "dctcp" })] {
        let row = crowd(&transport, 1);
        // Of the 128 first segments, the buffer holds 32, and one more is being sent.
        assert!(row.drops >= 128 - 33 && row.timeouts >= 64, "{transport}: {} drops", row.drops);
        assert!(row.goodput_bps < swift.goodput_bps / 4.0, "{transport}: {} bps", row.goodput_bps);
    }
}

/// The queue of `flows` long DCTCP flows at 10 Gb/s in the steady state: its 5 % quantile and its
/// maximum, in packets, and the utilisation of the link.
fn dctcp_queue(flows: u32, threshold: u32, react_at: &str) -> (f64, f64, f64) {
    dctcp_queue_over(25, flows, threshold, react_at)
}

/// [`dctcp_queue`] with links of `delay` microseconds, measured for 800 round trips after the first
/// 200.
fn dctcp_queue_over(delay: u64, flows: u32, threshold: u32, react_at: &str) -> (f64, f64, f64) {
    let round_trip = Span::from_micros(4 * delay);
    let document = json!({
        "workload": { "servers": flows, "sru": 2_000_000_000 / u64::from(flows) },
        "network": {
            "rate": "10Gbps", "delay": Span::from_micros(delay), "buffer": "1000pkt",
            "queue": { "name": "ecn-threshold", "threshold": format!("{threshold}pkt") },
        },
        "transport": { "name": "dctcp", "congestion_control": { "react_at": react_at } },
        "run": { "time_limit": round_trip * 1000 },
    });
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let request = TraceRequest::parse(["queue:full"]).expect("there is a queue trace");
    let run = incast_lab::run(&scenario, 1, &request, &Control::default());
    let trace = run.unwrap_or_else(|error| panic!("{error}")).trace;
    let queues = trace.queue.expect("it was asked for");
    let queue = queues.iter().next().expect("a star has one");
    let from = Time::ZERO + round_trip * 200;
    let settled: Vec<_> =
        queue.iter().filter(|(at, _)| *at >= from).map(|(_, summary)| *summary).collect();
    let mut lows: Vec<u32> = settled.iter().map(|summary| summary.packets[0]).collect();
    lows.sort_unstable();
    let greatest = settled.iter().map(|summary| summary.packets[1]).max().expect("it is busy");
    let sending = settled.iter().fold(Span::ZERO, |sum, summary| sum + summary.sending);
    (
        lows[lows.len() / 20].into(),
        greatest.into(),
        sending.as_secs_f64() / (round_trip * 800).as_secs_f64(),
    )
}

/// The bandwidth-delay product of [`dctcp_queue`], in packets of 1500 bytes; the round trip on the
/// links is 100 us.
const PRODUCT: f64 = 84.0;

/// Alizadeh et al. 2010 §3.3: the queue of N synchronised flows is between Qmax = K + N (equation
/// 10) and Qmax - A, with A = √(2N(C·RTT + K))/2 (equation 8). In this analysis, a sender reacts
/// one round trip after the mark, as with `first-ece`.
#[test]
fn dctcp_keeps_the_queue_around_its_threshold() {
    for (flows, threshold, tolerance) in [(2, 65, 3.0), (2, 20, 3.0), (20, 65, 8.0), (20, 40, 8.0)]
    {
        let (n, k) = (f64::from(flows), f64::from(threshold));
        let top = k + n;
        let bottom = top - (2.0 * n * (PRODUCT + k)).sqrt() / 2.0;
        let (low, high, utilisation) = dctcp_queue(flows, threshold, "first-ece");
        let case = format!("{flows} flows, K = {threshold}: {low} to {high}, {utilisation}");
        assert!((high - top).abs() <= 3.0, "{case}; theory {top:.1}");
        assert!((low - bottom).abs() <= tolerance, "{case}; theory {bottom:.1}");
        assert!(utilisation > 0.999, "{case}");
    }
}

/// The RFC evaluates a window's marks at the end of the window (RFC 8257 §3.3, step 4), up to a
/// round trip later. The queue's minimum is therefore lower. The queue's maximum is not higher,
/// because ACKs that echo a mark do not increase the window.
#[test]
fn reacting_when_the_window_ends_lets_the_queue_swing_further() {
    let (early_low, early_high, _) = dctcp_queue(2, 65, "first-ece");
    let (late_low, late_high, utilisation) = dctcp_queue(2, 65, "window-end");
    assert!(late_low + 5.0 <= early_low, "{late_low}, {early_low}");
    assert!((late_high - early_high).abs() <= 3.0, "{late_high}, {early_high}");
    assert!(utilisation > 0.999, "{utilisation}");
}

/// According to equation 13, the queue does not become empty if K is above C·RTT/7, which is 12
/// packets here. The analysis uses a fluid model. Real windows change by whole segments, so 20
/// flows with windows of five segments leave two to four per cent of the link unused.
#[test]
fn dctcp_fills_the_link_above_a_seventh_of_the_product() {
    assert!(f64::from(12) >= PRODUCT / 7.0);
    for (flows, threshold, least) in [(2, 12, 0.99), (20, 20, 0.99), (20, 12, 0.96)] {
        for react_at in ["first-ece", "window-end"] {
            let (.., utilisation) = dctcp_queue(flows, threshold, react_at);
            assert!(utilisation > least, "{flows} flows, K = {threshold}: {utilisation}");
        }
    }
}

/// Equation 13 also holds for 20 flows if their windows have 24 segments instead of five. To obtain
/// such windows, the links' delay is five times as long; K = C·RTT/7 is then 60 packets.
#[test]
fn dctcp_s_bound_holds_for_many_flows_whose_windows_are_large() {
    assert!(f64::from(60) >= 5.0 * PRODUCT / 7.0);
    for flows in [2, 20] {
        for react_at in ["first-ece", "window-end"] {
            let (.., utilisation) = dctcp_queue_over(125, flows, 60, react_at);
            assert!(utilisation >= 0.99, "{flows} flows, {react_at}: {utilisation}");
        }
    }
}

/// Two long flows at 10 Gb/s.
fn two_long_flows(name: &str, delay: &str, threshold: &str) -> Row {
    let row = run(
        &json!({
            "network": {
                "rate": "10Gbps", "delay": delay, "buffer": "1000pkt",
                "queue": { "name": "ecn-threshold", "threshold": threshold },
            },
            "workload": { "name": "long-flows", "servers": 2, "sru": null, "duration": "100ms" },
            "transport": { "name": name },
        }),
        1,
    );
    assert_eq!((row.status, row.drops), ("ok", 0));
    row
}

/// The authors of TDCTCP claim that it has more throughput than DCTCP if windows recover slowly.
/// Here, windows recover slowly, because the round trip is 1 ms, and the threshold is only about a
/// fortieth of the bandwidth-delay product.
#[test]
fn tdctcp_carries_more_where_the_way_is_long_and_the_threshold_low() {
    let [dctcp, tdctcp] =
        ["dctcp", "tdctcp"].map(|name| two_long_flows(name, "250us", "20pkt").goodput_bps);
    assert!(tdctcp > 1.15 * dctcp, "{tdctcp} against {dctcp}");
}

/// The authors of TCP-FITDC claim that it reacts to delay before packets are marked. Two flows that
/// keep about four segments each in the queue fill the link. The queue stays far below the
/// threshold of 65 packets, while DCTCP keeps the queue at this threshold.
#[test]
fn tcp_fitdc_fills_the_link_below_the_threshold() {
    let [dctcp, fitdc] = ["dctcp", "tcp-fitdc"].map(|name| two_long_flows(name, "25us", "65pkt"));
    assert!(dctcp.marks > 100 && fitdc.marks == 0, "{} and {}", dctcp.marks, fitdc.marks);
    assert!(fitdc.goodput_bps > 0.998 * dctcp.goodput_bps);
    let packets = |row: &Row| row.queue_mean_bytes / 1500.0;
    assert!(packets(&dctcp) > 50.0 && packets(&fitdc) < 12.0);
}

/// The names in a registry.
fn names(kind: &str) -> Vec<String> {
    entries(kind).expect("it is a kind").into_iter().map(|entry| entry.name).collect()
}

/// With every transport in every profile, an undisturbed read is completed, at more than 30 % of
/// the line rate. This also holds for frames of 9000 bytes on links with a delay of 1 us, although
/// such a frame takes much longer to send than to propagate. If a profile did not suit a transport,
/// the read would stall, for example because delayed ACKs disturb a transport that measures delays.
#[test]
fn every_transport_ends_a_small_read_in_every_profile() {
    for profile in names("profiles") {
        for Entry { name: transport, family, .. } in entries("transports").expect("it is a kind") {
            let [window, payload] = match family {
                Some("tcp") => ["receive_window", "mss"],
                _ => ["window", "mtu"],
            };
            let jumbo = json!({ "network": { "delay": "1us" }, "transport": { payload: 8900 } });
            for (frames, changes) in [("of the profile", &json!({})), ("of 9000 bytes", &jumbo)] {
                let mut document = json!({
                    "profile": profile,
                    "network": { "rate": "1Gbps", "delay": "25us", "buffer": "1MiB" },
                    "workload": { "servers": 2, "sru": "1MiB", "blocks": 2 },
                    "transport": { "name": transport, window: "128KiB" },
                });
                lay(&mut document, changes);
                // The transport counts marks, and refuses a switch that never marks.
                if let Err(error) = Scenario::from_document(&document) {
                    assert!(error.message.contains("never marks"), "{transport}: {error}");
                    assert_eq!(profile, "linux-dctcp", "{transport}");
                    continue;
                }
                let row = run(&document, 1);
                let case = format!("{transport} in {profile}, frames {frames}");
                assert_eq!(row.status, "ok", "{case}");
                assert!(row.goodput_bps > 3e8, "{case}: {} bps", row.goodput_bps);
            }
        }
    }
}
