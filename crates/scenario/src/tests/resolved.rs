//! The resolved document loads back to an identical scenario.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{OfTcp, Scenario};

fn returns(document: &Value) {
    let scenario = Scenario::from_document(document).unwrap_or_else(|error| panic!("{error}"));
    let resolved = scenario.resolved();
    let again = Scenario::from_document(&resolved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(format!("{again:?}"), format!("{scenario:?}"));
    assert_eq!(again.resolved(), resolved);
}

#[test]
fn buffers_are_echoed_as_what_they_are() {
    let echoed = |buffer: Value| {
        let keys = [("network.buffer", buffer), ("network.buffer_cell", json!("208B"))];
        super::load(&keys).resolved()["network"].take()
    };
    assert_eq!(echoed(json!({ "name": "static", "limit": "100KiB" }))["buffer"], 102_400);
    let dynamic = echoed(json!({ "name": "dynamic", "total": "4MB", "alpha": 0.125 }));
    assert_eq!(
        dynamic["buffer"],
        json!({ "name": "dynamic", "total": 4_000_000, "alpha": "2^-3" })
    );
    assert_eq!((&dynamic["buffer_cell"], dynamic.get("reorder")), (&json!(208), None));
    let shared = json!({ "name": "shared", "total": "4MB", "limit": "1MB" });
    assert_eq!(echoed(shared)["buffer"]["limit"], 1_000_000);
}

#[test]
fn a_buffer_for_all_windows_is_echoed_as_its_size() {
    let echoed = |keys: &[(&str, Value)]| {
        let auto = ("network.buffer", json!("auto"));
        let keys = [&[auto][..], keys].concat();
        super::load(&keys).resolved()["network"]["buffer"].take()
    };
    // Four servers send 64 KiB each, which are 44.9 segments of 1460 bytes.
    assert_eq!(echoed(&[]), "180pkt");
    assert_eq!(echoed(&[("transport.receive_window", json!(10))]), "40pkt");
    assert_eq!(echoed(&[("workload.servers", json!(100))]), "4500pkt");
    // Khalid et al.: a window of 64 KB in packets of 600 bytes.
    let text = [
        ("transport.receive_window", json!("64KiB")),
        ("transport.mss", json!(600)),
        ("workload.sru", json!("10MB")),
        ("workload.servers", json!(100)),
    ];
    assert_eq!(echoed(&text), "11000pkt");
    let own = json!({ "name": "auto", "window": 7 });
    assert_eq!(echoed(&[("network.buffer", own)]), "28pkt");
    // The first servers send the remainder of a block.
    let block = json!({ "servers": 4, "block": 4 * 1460 + 1 });
    assert_eq!(echoed(&[("workload", block)]), "8pkt");
    let flows = json!([
        { "name": "long-flow", "count": 3, "transport": { "receive_window": 20, "mss": 500 } },
        { "name": "cbr", "rate": "1Mbps" },
    ]);
    assert_eq!(echoed(&[("background", flows)]), "240pkt");
}

#[test]
fn pacing_and_bursts_are_echoed_as_they_were_given() {
    let keys = [
        ("transport.pacing", json!({ "gain": 1.25, "slow_start_gain": 2.5 })),
        ("transport.segmentation_offload", json!("64KB")),
    ];
    let scenario = super::load(&keys);
    let tcp = &scenario.transport.of_tcp();
    let gains = tcp.pacing.map(|it| (it.slow_start_permille, it.permille));
    assert_eq!((gains, tcp.segmentation_offload), (Some((2500, 1250)), Some(64_000)));
    let transport = scenario.resolved()["transport"].take();
    assert_eq!(transport["pacing"], json!({ "slow_start_gain": 2.5, "gain": 1.25 }));
    assert_eq!(transport["segmentation_offload"], 64_000);
    let linux = super::load(&[("transport.pacing", json!(true))]).resolved()["transport"].take();
    assert_eq!(linux["pacing"], json!({ "slow_start_gain": 2.0, "gain": 1.2 }));
    let off = super::load(&[]);
    assert_eq!(
        (off.transport.of_tcp().pacing, off.transport.of_tcp().segmentation_offload),
        (None, None)
    );
}

#[test]
fn quantities_are_echoed_in_base_units() {
    let resolved =
        super::load(&[("title", json!("T")), ("network.buffer", json!("40pkt"))]).resolved();
    for (place, value) in [
        ("/title", json!("T")),
        ("/profile", json!("lab")),
        ("/network/rate", json!("1000000000bps")),
        ("/network/delay", json!("0.000025s")),
        ("/network/server_delay", json!("0.000025s")),
        ("/network/buffer", json!("40pkt")),
        ("/network/layer2_overhead", json!(0)),
        ("/network/queue", json!({ "name": "drop-tail" })),
        ("/workload/sru", json!(65_536)),
        ("/workload/request_jitter", json!("0s")),
        ("/transport/initial_window", json!("2920B")),
        ("/transport/rto_min", json!("0.2s")),
        ("/transport/recovery_burst", json!("unlimited")),
        ("/transport/delayed_ack", json!(false)),
        ("/background", json!([])),
        ("/run/seeds", json!(5)),
        ("/run/time_limit", json!("1000s")),
    ] {
        assert_eq!(resolved.pointer(place), Some(&value), "{place}");
    }
}

/// A value for a key, or nothing.
fn maybe(value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop_oneof![Just(Value::Null), value].boxed()
}

fn one_of(values: &[Value]) -> BoxedStrategy<Value> {
    maybe(prop::sample::select(values.to_vec()))
}

fn time() -> BoxedStrategy<Value> {
    maybe((1_u64..10_000_000_000_000).prop_map(|picos| json!(format!("{picos}ps"))))
}

fn rate() -> BoxedStrategy<Value> {
    maybe((1_u64..400_000).prop_map(|megabits| json!(format!("{megabits}Mbps"))))
}

fn whole(range: std::ops::Range<u32>) -> BoxedStrategy<Value> {
    maybe(range.prop_map(|value| json!(value)))
}

fn window() -> BoxedStrategy<Value> {
    maybe(prop_oneof![
        (1_u32..1000).prop_map(|segments| json!(segments)),
        (1_u64..1 << 20).prop_map(|bytes| json!(format!("{bytes}B"))),
    ])
}

/// A table with the given keys. Each key may be set or missing.
macro_rules! table {
    ($($key:literal: $value:expr),+ $(,)?) => {
        vec![$(($key, $value)),+]
            .into_iter()
            .map(|(key, value)| value.prop_map(move |value| (key.to_owned(), value)))
            .collect::<Vec<_>>()
            .prop_map(|keys| Value::Object(keys.into_iter().collect()))
    };
}

fn transport() -> impl Strategy<Value = Value> {
    table! {
        "mss": whole(1..9001),
        "header_size": whole(0..61),
        "ack_size": whole(1..100),
        "initial_window": prop_oneof![window(), one_of(&[json!("rfc5681"), json!("rfc6928")])].boxed(),
        "initial_ssthresh": prop_oneof![window(), one_of(&[json!("receive_window")])].boxed(),
        "receive_window": window(),
        "handshake": one_of(&[json!("three-way"), json!("syn-only"), json!("none")]),
        "opener": one_of(&[json!("client"), json!("server")]),
        "request_on_wire": maybe(any::<bool>().prop_map(Value::Bool)),
        "fin": maybe(any::<bool>().prop_map(Value::Bool)),
        "rto_min": one_of(&[json!("0s"), json!("200us"), json!("0.3s")]),
        "rto_initial": time(),
        "rto_granularity": time(),
        "rto_max_doublings": whole(0..64),
        "rto_jitter": maybe((0.0..4.0).prop_map(|ratio| json!(ratio))),
        "rto_style": one_of(&[json!("rfc"), json!("linux"), json!("ns2")]),
        "syn_rto": time(),
        "syn_loss_is_timeout": maybe(any::<bool>().prop_map(Value::Bool)),
        "rtt_sampling": one_of(&[json!("per-ack"), json!("per-window")]),
        "timestamps": maybe(any::<bool>().prop_map(Value::Bool)),
        "timestamp_granularity": time(),
        "delayed_ack": one_of(&[json!(true), json!(false), json!({ "segments": 3 })]),
        "idle_restart": one_of(&[json!("none"), json!("5681"), json!("2861"), json!("7661")]),
        "send_jitter": time(),
        "sack": maybe(any::<bool>().prop_map(Value::Bool)),
        "dsack": maybe(any::<bool>().prop_map(Value::Bool)),
        "sack_option_bytes": maybe(any::<bool>().prop_map(Value::Bool)),
        "recovery_burst": prop_oneof![whole(1..9), one_of(&[json!("unlimited")])].boxed(),
        "recovery": one_of(&[json!("newreno"), json!({ "name": "newreno", "careful": false })]),
        "congestion_control": one_of(&[json!({ "byte_counting": true }), json!("reno")]),
    }
}

fn network() -> impl Strategy<Value = Value> {
    let delays = prop_oneof![
        table! { "delay": time(), "server_delay": time() },
        table! { "base_rtt": maybe(Just(json!("10s"))), "server_delay": one_of(&[json!("1us")]) },
    ];
    let rest = table! {
        "rate": rate(),
        "server_rate": rate(),
        "client_rate": rate(),
        "buffer": one_of(&[
            json!("40pkt"),
            json!("1MiB"),
            json!(20_000),
            json!({ "name": "static", "limit": "1MiB" }),
            json!({ "name": "shared", "total": "4MiB", "limit": "100pkt" }),
            json!({ "name": "dynamic", "total": "400pkt" }),
            json!({ "name": "dynamic", "total": "4MB", "alpha": "2^-3" }),
        ]),
        "reorder": one_of(&[
            json!({ "p": 0.01, "delay": "100us" }),
            json!({ "p": 0.125, "delay": "1ms", "links": "client" }),
        ]),
        "buffer_counts_in_service": maybe(any::<bool>().prop_map(Value::Bool)),
        "layer2_overhead": one_of(&[json!("ethernet"), json!(20)]),
        "clock_noise": one_of(&[json!("1ns"), json!("0s")]),
        "ties": one_of(&[json!("arrival-first"), json!("departure-first"), json!("scheduled")]),
        "arrival_order": one_of(&[json!("source"), json!("drawn")]),
        "queue": one_of(&[json!("drop-tail"), json!({ "name": "bernoulli", "p": 0.125 }),
            json!("red"), json!({ "name": "wred", "classes": [{ "label": 2 }] }),
            json!({ "name": "codel", "ecn": true }), json!("priority"), json!("ecn-threshold"),
            json!({ "name": "label-threshold", "threshold": "7KiB" })]),
    };
    (delays, rest).prop_map(|(delays, mut network)| {
        network.as_object_mut().unwrap().extend(delays.as_object().unwrap().clone());
        network
    })
}

/// A network and a workload on several switches.
fn fabric() -> impl Strategy<Value = Value> {
    let network = table! {
        "topology": one_of(&[json!("chain"), json!({ "name": "two-tier", "racks": 3 }),
            json!({ "name": "leaf-spine", "spines": 3 }), json!("parallel")]),
        "clients": whole(1..4),
        "client_at": one_of(&[json!(1), json!([0, 1])]),
        "core": one_of(&[json!({}), json!({ "rate": "10Gbps", "queue": "red" }),
            json!({ "delay": "1us", "buffer": "50pkt" })]),
    };
    network.prop_map(|mut network| {
        // The other keys need a topology of several switches.
        if network["topology"].is_null() {
            network["topology"] = json!("chain");
        }
        json!({
            "network": network,
            "workload": { "servers": 7, "sru": 1000, "servers_at": [0, 1] },
            "background": [
                { "name": "long-flow", "at": 1, "flows": 2, "group": "set 2" },
                { "name": "cbr", "rate": "1Mbps" },
                { "name": "on-off", "rate": "1Mbps", "to": 0 },
                { "name": "poisson-flows", "interval": "1ms",
                    "size": { "name": "pareto", "min": 1000, "max": "1MB" } },
            ],
        })
    })
}

fn workload() -> impl Strategy<Value = Value> {
    let how_much = prop_oneof![
        (1_u64..1 << 30).prop_map(|bytes| ("sru", json!(bytes))),
        (10_000_u64..1 << 30).prop_map(|bytes| ("block", json!(bytes))),
    ];
    let how_long = prop_oneof![
        whole(1..9).prop_map(|it| ("blocks", it)),
        time().prop_map(|it| ("duration", it))
    ];
    let rest = table! {
        "connections": one_of(&[json!("fresh"), json!("persistent")]),
        "request_jitter": time(),
        "start_spread": time(),
        "request_size": whole(0..1500),
    };
    (1_u32..10_000, how_much, how_long, rest).prop_map(|(servers, much, long, mut workload)| {
        workload["servers"] = json!(servers);
        workload[much.0] = much.1;
        workload[long.0] = long.1;
        workload
    })
}

fn background() -> impl Strategy<Value = Value> {
    let datagrams = |name: &'static str| {
        let keys = table! {
            "packet_size": whole(1..9001),
            "from": one_of(&[json!("host"), json!("servers")]),
            "start": time(),
        };
        keys.prop_map(move |mut traffic| {
            traffic["name"] = json!(name);
            traffic["rate"] = json!("3Mbps");
            traffic
        })
    };
    let flow = (1_u32..9, transport()).prop_map(
        |(count, transport)| json!({ "name": "long-flow", "count": count, "transport": transport }),
    );
    prop::collection::vec(prop_oneof![datagrams("cbr"), datagrams("poisson"), flow], 0..4)
        .prop_map(Value::Array)
}

#[test]
fn bulk_transfers_and_parts_of_servers_are_echoed_as_what_they_are() {
    let workloads = [
        json!({ "name": "long-flows", "servers": 3, "flows": 2, "to": [1, 0], "duration": "1s",
            "bursts": { "rate": "1Mbps" } }),
        json!({ "servers": 9, "active": 4, "client": 1, "sru": 7, "interval": "2ms" }),
    ];
    for workload in workloads {
        returns(&json!({ "network": { "clients": 2 }, "workload": workload }));
    }
}

proptest! {
    #[test]
    fn a_resolved_network_of_several_switches_loads_back_to_itself(document in fabric()) {
        returns(&document);
    }

    #[test]
    fn a_resolved_scenario_loads_back_to_itself(
        profile in one_of(&[json!("lab"), json!("ns2"), json!("rfc")]),
        network in network(),
        workload in workload(),
        transport in transport(),
        background in background(),
        seeds in prop_oneof![whole(1..30), Just(json!([3, 1, 2]))],
    ) {
        returns(&json!({
            "title": "random",
            "profile": profile,
            "network": network,
            "workload": workload,
            "transport": transport,
            "background": background,
            "run": { "seeds": seeds },
        }));
    }
}
