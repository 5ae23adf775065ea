//! Random scenarios. They use every key of a document, with very small, usual and unusual values.

use incast_scenario::Scenario;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fabrics::shapes;
use super::switches::{reorder, switch};

/// One key of a table, or its absence.
type Key = BoxedStrategy<Option<(&'static str, Value)>>;

/// A key that is given with probability `p`, with any of these values.
fn sometimes(p: f64, key: &'static str, values: Vec<Value>) -> Key {
    let value = prop::sample::select(values).prop_map(move |value| (key, value));
    prop::option::weighted(p, value).boxed()
}

/// A key that is given with probability 0.4.
fn maybe(key: &'static str, values: Vec<Value>) -> Key {
    sometimes(0.4, key, values)
}

/// A key that is always given.
fn always(key: &'static str, value: impl Strategy<Value = Value> + 'static) -> Key {
    value.prop_map(move |value| Some((key, value))).boxed()
}

/// One of two keys; the first with probability 3/4.
fn either(one: Key, other: Key) -> Key {
    prop_oneof![3 => one, 1 => other].boxed()
}

fn table(keys: Vec<Key>) -> BoxedStrategy<Value> {
    keys.prop_map(|keys| {
        let pairs = keys.into_iter().flatten();
        Value::Object(pairs.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
    })
    .boxed()
}

/// A list of JSON values.
macro_rules! any_of {
    ($($value:tt),+ $(,)?) => { vec![$(json!($value)),+] };
}

const RATES: [&str; 5] = ["100Mbps", "1Gbps", "7Gbps", "10Gbps", "100Gbps"];

fn rates() -> Vec<Value> {
    RATES.map(Value::from).to_vec()
}

fn micros(range: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Value> {
    range.prop_map(|micros| json!(format!("{micros}us")))
}

/// A network that can carry packets of up to `packet` bytes.
fn network(packet: u64) -> BoxedStrategy<Value> {
    let links = table(vec![
        always("rate", prop::sample::select(rates())),
        maybe("server_rate", rates()),
        maybe("client_rate", rates()),
        // At the lowest rate, it takes 1.6 ms to send full packets and their ACKs.
        either(always("delay", micros(5..=200)), always("base_rtt", micros(2500..=5000))),
        prop::option::weighted(0.3, micros(0..=200).prop_map(|delay| ("server_delay", delay)))
            .boxed(),
        maybe("layer2_overhead", any_of![0, 1, "ethernet"]),
        maybe("clock_noise", any_of!["0s", "1ps", "50ns", "2us", "10us", "100us", "1ms"]),
        maybe("ties", any_of!["departure-first", "arrival-first", "scheduled"]),
        prop::option::weighted(0.2, reorder().prop_map(|it| ("reorder", it))).boxed(),
    ]);
    (links, switch(packet))
        .prop_map(|(mut network, switch)| {
            for (key, value) in switch {
                network[key] = value;
            }
            network
        })
        .boxed()
}

/// A workload, or a list of them.
fn workload() -> BoxedStrategy<Value> {
    let others = prop_oneof![barrier_read(), long_flows(), all_to_all(), empirical_flows()];
    let several = (barrier_read(), others).prop_map(|(first, mut second)| {
        second["group"] = json!("second");
        json!([first, second])
    });
    prop_oneof![
        12 => barrier_read(),
        2 => long_flows(),
        1 => all_to_all(),
        1 => empirical_flows(),
        2 => several,
    ]
    .boxed()
}

fn all_to_all() -> BoxedStrategy<Value> {
    table(vec![
        always("name", Just(json!("all-to-all"))),
        always("message", prop::sample::select(any_of![1, "2KiB", 20_000])),
        maybe("rounds", any_of![1, 2, 3]),
        maybe("among", any_of![[0, 1], [2, 0]]),
        maybe("start_spread", any_of!["10us", "1ms"]),
    ])
}

fn empirical_flows() -> BoxedStrategy<Value> {
    table(vec![
        always("name", Just(json!("empirical-flows"))),
        always("servers", (1_u32..=6).prop_map(Value::from)),
        always("sizes", prop::sample::select(any_of!["storage.csv", [[1, 0.5], [3000, 1]]])),
        always("flows", (1_u32..=20).prop_map(Value::from)),
        maybe("load", any_of![0.1, 0.5, 2]),
        maybe("to", any_of![0, [0, 1]]),
    ])
}

fn bursts() -> Vec<Value> {
    any_of![
        { "rate": "10Mbps", "burst": "1ms", "idle": "1ms" },
        { "rate": "1Gbps", "burst": "10us", "idle": "300us" },
    ]
}

fn long_flows() -> BoxedStrategy<Value> {
    table(vec![
        always("name", Just(json!("long-flows"))),
        always("servers", (1_u32..=6).prop_map(Value::from)),
        maybe("flows", any_of![1, 2, 3]),
        maybe("to", any_of![0, [0, 1], [1, 0, 1]]),
        always("duration", micros(100..=20_000)),
        maybe("bursts", bursts()),
    ])
}

fn barrier_read() -> BoxedStrategy<Value> {
    let size = prop_oneof![1_u64..=200, 1_u64..=20_000, 20_000_u64..=200_000];
    let jitter = |key| prop::option::weighted(0.3, micros(1..=1000).prop_map(move |it| (key, it)));
    table(vec![
        always("name", Just(json!("barrier-read"))),
        always("servers", (1_u32..=24).prop_map(Value::from)),
        either(
            always("sru", size.prop_map(Value::from)),
            always("block", (24_u64..=2_000_000).prop_map(Value::from)),
        ),
        either(
            always("blocks", (1_u32..=3).prop_map(Value::from)),
            always("duration", micros(1..=20_000)),
        ),
        maybe("connections", any_of!["fresh", "persistent"]),
        jitter("request_jitter").boxed(),
        jitter("start_spread").boxed(),
        jitter("request_spread").boxed(),
        maybe("handshakes", any_of!["with-request", "before"]),
        jitter("interval").boxed(),
        sometimes(0.2, "active", any_of![1, 2, 5]),
        sometimes(0.2, "client", any_of![0, 1]),
        maybe("request_size", any_of![0, 1, 100, 500]),
    ])
}

fn recovery() -> BoxedStrategy<Value> {
    let restart = || maybe("restart_timer_on_entry", any_of![true, false]);
    let tahoe =
        table(vec![always("name", Just(json!("tahoe"))), maybe("careful", any_of![true, false])]);
    let reno = table(vec![
        always("name", Just(json!("reno"))),
        maybe("careful", any_of![true, false]),
        maybe("exit", any_of!["ssthresh", "keep"]),
        restart(),
    ]);
    let newreno = table(vec![
        always("name", Just(json!("newreno"))),
        maybe("careful", any_of![true, false]),
        maybe("impatient", any_of![true, false]),
        maybe("exit", any_of!["ssthresh", "flight", "keep"]),
        restart(),
    ]);
    let sack = table(vec![
        always("name", Just(json!("sack"))),
        maybe("retransmit_holes", any_of![true, false]),
        maybe("rescue", any_of![true, false]),
        restart(),
    ]);
    let rack_tlp = table(vec![
        always("name", Just(json!("rack-tlp"))),
        maybe("reordering_divisor", any_of![1, 4]),
        maybe("dupack_threshold", any_of![true, false]),
        maybe("dsack_adaptation", any_of![true, false]),
        maybe("dsack_persistence", any_of![0, 16]),
        maybe("min_rtt_window", any_of!["0s", "1ms", "300s"]),
        maybe("timestamp_check", any_of![true, false]),
        maybe("reduce_for_lost_retransmission", any_of![true, false]),
        maybe("probes", any_of![0, 1, 3]),
        maybe("timer_margin", any_of!["0s", "1ms"]),
        maybe("max_ack_delay", any_of!["0s", "2ms"]),
        restart(),
    ]);
    prop_oneof![1 => tahoe, 1 => reno, 2 => newreno, 2 => sack, 3 => rack_tlp].boxed()
}

/// A congestion control that reacts to losses. The others are drawn separately, because a
/// congestion control that counts marks also needs a switch that marks.
fn by_losses() -> BoxedStrategy<Value> {
    let hystart = || {
        maybe(
            "hystart",
            any_of!["off", "rfc9406", "linux", { "name": "rfc9406", "min_thresh": "0s", "samples": 2 }],
        )
    };
    let reno = table(vec![
        always("name", Just(json!("reno"))),
        maybe("byte_counting", any_of![true, false]),
        maybe("reduce_from", any_of!["flight", "cwnd"]),
        hystart(),
    ]);
    let cubic = table(vec![
        always("name", Just(json!("cubic"))),
        maybe("c", any_of![0.4, 1e9]),
        maybe("reno_friendly", any_of![true, false]),
        maybe("reduce_from", any_of!["flight", "cwnd"]),
        hystart(),
    ]);
    let bic = table(vec![
        always("name", Just(json!("bic"))),
        maybe("low_window", any_of![0, 14]),
        maybe("smooth_part", any_of![1.0, 20.0]),
        hystart(),
    ]);
    let westwood = table(vec![
        always("name", Just(json!("westwood"))),
        maybe("min_interval", any_of!["0s", "1ms", "50ms"]),
        maybe("memory", any_of![0.0, 0.875]),
        hystart(),
    ]);
    prop_oneof![3 => reno, 2 => cubic, 1 => bic, 1 => westwood].boxed()
}

fn congestion_control() -> BoxedStrategy<Value> {
    let vegas = table(vec![
        always("name", Just(json!("vegas"))),
        maybe("alpha", any_of![0, 1]),
        maybe("beta", any_of![3, 4]),
        maybe("loss_window", any_of![1, 2]),
    ]);
    let marks = table(vec![
        always("name", prop::sample::select(MARKED.map(|name| json!(name)).to_vec())),
        maybe("alpha", any_of![0.0, 0.5]),
        maybe("floor", any_of![1, 2]),
        maybe("react_at", any_of!["window-end", "first-ece"]),
        maybe("ce_change", any_of!["two-acks", "one-ack", "flush"]),
    ]);
    let swift = table(vec![
        always("name", Just(json!("swift"))),
        maybe("base_target", any_of!["1us", "200us", "1s"]),
        maybe("increase", any_of![0.01, 1.0]),
        maybe("least_window", any_of![0.001, 1.0]),
        maybe("timeout_reset", any_of![1, 5]),
    ]);
    let bbr = table(vec![
        always("name", Just(json!("bbr"))),
        maybe("bandwidth_rounds", any_of![1, 10]),
        sometimes(0.8, "round_trip_time", any_of!["0s", "5ms", "10s"]),
        sometimes(0.8, "probe_rtt_time", any_of!["0s", "1ms"]),
        maybe("least_window", any_of![1, 4]),
    ]);
    prop_oneof![7 => by_losses(), 2 => vegas, 2 => marks, 2 => swift, 2 => bbr].boxed()
}

/// Congestion controls that count marks.
const MARKED: [&str; 5] = ["dctcp", "d2tcp", "l2dct", "tdctcp", "tcp-fitdc"];

/// Lets a transport that counts marks determine the queue discipline.
fn with_marks(mut document: Value) -> Value {
    let counts = document["transport"]["congestion_control"]
        .get("name")
        .and_then(Value::as_str)
        .is_some_and(|name| MARKED.contains(&name));
    if counts && let Some(network) = document["network"].as_object_mut() {
        network.remove("queue");
    }
    document
}

/// A transport with segments of `mss` bytes. Timers start low, so that runs are short.
fn transport(mss: u64) -> BoxedStrategy<Value> {
    let delayed = any_of![
        true,
        false,
        { "segments": 2, "timeout": "500us" },
        { "segments": 1, "timeout": "1ms" },
        { "segments": 8, "timeout": "200ms" },
    ];
    let timer = any_of!["300us", "1ms", "10ms", "100ms"];
    table(vec![
        always("mss", Just(json!(mss))),
        maybe("header_size", any_of![0, 40, 52]),
        maybe("ack_size", any_of![1, 40, 52]),
        maybe("initial_window", any_of![1, 2, 10, "100B", "rfc5681", "rfc6928"]),
        maybe("initial_ssthresh", any_of![2, 8, 64, "receive_window"]),
        maybe("receive_window", any_of!["100B", 1, 2, 5, "32KiB"]),
        maybe("handshake", any_of!["three-way", "syn-only", "none"]),
        maybe("opener", any_of!["client", "server"]),
        maybe("fin", any_of![true, false]),
        sometimes(0.8, "rto_min", any_of!["0s", "200us", "1ms", "10ms", "200ms"]),
        sometimes(0.9, "rto_initial", timer.clone()),
        sometimes(0.9, "syn_rto", timer.clone()),
        sometimes(0.9, "rto_after_syn_loss", timer),
        maybe("syn_loss_is_timeout", any_of![true, false]),
        maybe("rto_max", any_of!["1s", "60s"]),
        maybe("rto_granularity", any_of!["1us", "1ms"]),
        maybe("rto_max_doublings", any_of![6, 16]),
        maybe("rto_jitter", any_of![0.0, 0.5]),
        maybe("timer_tick", any_of!["0s", "1ms", "4ms"]),
        maybe("rto_runs_idle", any_of![true, false]),
        maybe("rto_backs_off_in_recovery", any_of![true, false]),
        maybe("rto_style", any_of!["rfc", "linux", "ns2"]),
        maybe("rtt_sampling", any_of!["per-ack", "per-window", "linux"]),
        maybe("timestamps", any_of![true, false]),
        maybe("dsack", any_of![true, false]),
        maybe("sack_option_bytes", any_of![true, false]),
        maybe("early_retransmit", any_of!["off", "bytes", "segments"]),
        maybe("undo", any_of!["none", "f-rto", "linux"]),
        maybe("prr", any_of!["off", "crb", "ssrb", "rfc9937"]),
        maybe("limited_transmit", any_of![true, false]),
        maybe("dupack_threshold", any_of![1, 3, 5]),
        maybe("dupack_requires_same_window", any_of![true, false]),
        maybe("delayed_ack", delayed),
        maybe("idle_restart", any_of!["none", "5681", "2861", "7661"]),
        maybe("send_jitter", any_of!["0s", "8us", "100us"]),
        maybe("recovery_burst", any_of![1, 2, "unlimited"]),
        maybe("ecn", any_of!["auto", "on"]),
        maybe("ecn_packets", any_of!["new-data", "data", "all"]),
        maybe("pacing", any_of![true, false, { "gain": 0.5 }]),
        maybe("segmentation_offload", any_of!["off", 3000, "64KiB"]),
        maybe("tso_deferral", any_of![true, false]),
        maybe("receive_offload", any_of![true, false, { "size": 3000, "timeout": "300us" }]),
        prop::option::weighted(0.7, recovery().prop_map(|it| ("recovery", it))).boxed(),
        prop::option::weighted(0.5, congestion_control().prop_map(|it| ("congestion_control", it)))
            .boxed(),
    ])
}

/// Background traffic that is so light that the workload can complete.
fn background() -> BoxedStrategy<Value> {
    let datagrams = table(vec![
        always("name", prop::sample::select(any_of!["cbr", "poisson", "on-off"])),
        always("rate", prop::sample::select(any_of!["10kbps", "100kbps", "1Mbps"])),
        maybe("packet_size", any_of![30, 200, 1500, 9000]),
        maybe("from", any_of!["host", "servers"]),
        sometimes(0.2, "to", any_of![0, [0, 1]]),
        prop::option::weighted(0.3, micros(0..=2000).prop_map(|it| ("start", it))).boxed(),
    ]);
    let small_window = (transport(1000), 1_u32..=3)
        .prop_map(|(mut transport, segments)| {
            transport["receive_window"] = json!(segments);
            // A transport that counts marks would determine the queue discipline for all groups.
            if let Some(table) = transport.as_object_mut() {
                table.remove("congestion_control");
            }
            transport
        })
        .boxed();
    let sizes = any_of![1, "2KiB", { "name": "uniform", "min": 1, "max": 20_000 },
        { "name": "pareto", "min": 100, "max": 20_000 }];
    let poisson_flows = table(vec![
        always("name", Just(json!("poisson-flows"))),
        always("interval", micros(200..=5000)),
        always("size", prop::sample::select(sizes)),
        maybe("from", any_of!["host", "servers"]),
        maybe("to", any_of![0, [0, 1]]),
        always("transport", small_window.clone()),
    ]);
    let flows = table(vec![
        always("name", Just(json!("long-flow"))),
        maybe("flows", any_of![1, 2]),
        maybe("to", any_of![0, [0, 1]]),
        maybe("bursts", bursts()),
        always("count", (1_u32..=2).prop_map(Value::from)),
        prop::option::weighted(0.3, micros(0..=2000).prop_map(|it| ("start", it))).boxed(),
        always("transport", small_window),
    ]);
    let reads = (barrier_read(), transport(1000)).prop_map(|(mut read, mut transport)| {
        transport["receive_window"] = json!(2);
        if let (Some(table), Some(read)) = (transport.as_object_mut(), read.as_object_mut()) {
            table.remove("congestion_control");
            read.insert("transport".into(), transport);
        }
        read
    });
    prop_oneof![8 => datagrams, 2 => flows, 2 => poisson_flows, 1 => reads].boxed()
}

/// Any scenario. Without background traffic, the time limit is long enough for any workload.
pub fn scenarios() -> BoxedStrategy<Value> {
    let mss = prop::sample::select(vec![536_u64, 1000, 1460, 8960]);
    let backgrounds = prop::collection::vec(background(), 0..=2);
    let documents = (mss, backgrounds)
        .prop_flat_map(|(mss, background)| {
            let limit = if background.is_empty() { "1000000s" } else { "20s" };
            table(vec![
                maybe("profile", any_of!["lab", "ns2", "rfc"]),
                always("network", network(mss + 60)),
                always("workload", workload()),
                always("transport", transport(mss)),
                always("background", Just(Value::from(background))),
                always("run", Just(json!({ "time_limit": limit }))),
            ])
        })
        .prop_map(with_marks);
    (documents, shapes())
        .prop_map(|(mut document, shape)| {
            shape.lay(&mut document);
            enough_of_all(&mut document);
            possible(document)
        })
        .boxed()
}

/// The document, with the keys for early handshakes removed if no host can begin them.
fn possible(mut document: Value) -> Value {
    while let Err(error) = Scenario::from_document(&document) {
        let (table, key) = error.key.rsplit_once('.').unwrap_or_default();
        if matches!(key, "handshakes" | "request_spread") {
            let place = format!("/{}", table.replace('.', "/"));
            let table = document.pointer_mut(&place).and_then(Value::as_object_mut);
            table.expect("the error names it").remove(key);
        } else {
            break;
        }
    }
    document
}

/// Adds clients and servers until all named clients and servers exist. If the first workload has no
/// servers that other traffic could share, the other traffic gets a host of its own.
fn enough_of_all(document: &mut Value) {
    let first = document["workload"].get(0).unwrap_or(&document["workload"]);
    if first["name"] == "all-to-all" {
        for table in document["background"].as_array_mut().into_iter().flatten() {
            if table["name"] == "poisson-flows" || table["from"] == "servers" {
                table["from"] = json!("host");
            }
        }
    }
    let text = document.to_string();
    if text.contains("all-to-all") {
        document["network"]["clients"] = json!(3);
    } else if text.contains("\"to\"") || text.contains("\"client\":") {
        document["network"]["clients"] = json!(2);
    }
    if let Some(one) = document["workload"].as_object_mut() {
        enough_servers(one);
    }
    for list in ["workload", "background"] {
        for table in document[list].as_array_mut().into_iter().flatten() {
            if let Some(table) = table.as_object_mut() {
                enough_servers(table);
            }
        }
    }
}

fn enough_servers(table: &mut Map<String, Value>) {
    if let (Some(active), Some(servers)) =
        (table.get("active").and_then(Value::as_u64), table.get("servers").and_then(Value::as_u64))
    {
        table.insert("active".into(), json!(active.min(servers)));
    }
}
