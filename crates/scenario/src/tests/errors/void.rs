//! Keys without effect because of another key.

use serde_json::{Value, json};

use super::super::{plan, refusal, with};

/// Other given keys; the key; a value that differs from the value in force without the key; the
/// reason why the key has no effect.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    (&[("transport.name", "\"newreno\"")], "transport.dsack", "false", "sack is false"),
    (
        &[("transport.name", "\"sack\""), ("transport.limited_transmit", "true")],
        "transport.limited_transmit_resends",
        "true",
        "recovery uses selective acknowledgements",
    ),
    (
        &[("transport.recovery.name", "\"rack-tlp\""), ("transport.recovery.probes", "0")],
        "transport.recovery.probe_rtts",
        "7",
        "probes is 0",
    ),
    (
        &[
            ("transport.recovery.name", "\"sack\""),
            ("transport.recovery.retransmit_holes", "false"),
        ],
        "transport.recovery.retransmit_tail",
        "true",
        "retransmit_holes is false",
    ),
    (
        &[("network.queue.name", "\"red\""), ("network.queue.ecn", "false")],
        "network.queue.hard_drop",
        "true",
        "ecn is false",
    ),
    (
        &[("network.server_rate", "\"10Gbps\""), ("network.client_rate", "\"1Gbps\"")],
        "network.rate",
        "\"2Gbps\"",
        "server_rate and client_rate set the rate of every link",
    ),
    (&[], "transport.ecn", "\"on\"", "no switch marks packets (network.queue)"),
    (
        &[("workload.connections", "\"persistent\"")],
        "transport.fin",
        "true",
        "connections are \"persistent\"",
    ),
    (
        &[("network.buffer", "\"32pkt\""), ("network.queue.name", "\"ecn-threshold\"")],
        "network.queue.threshold",
        "\"32pkt\"",
        "no queue grows beyond network.buffer (32pkt)",
    ),
];

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_key_that_moves_nothing_is_refused_with_the_reason() {
    for (beside, key, value, because) in CASES {
        let mut keys: Vec<_> = beside.iter().map(|(key, value)| (*key, read(value))).collect();
        let without = plan(&with(&keys));
        assert!(without.is_ok(), "{key}: {}", without.unwrap_err());
        keys.push((key, read(value)));
        let line = refusal(&keys);
        assert!(line.starts_with(&format!("{key}: has no effect while {because}; ")), "{line}");
    }
}

#[test]
fn a_threshold_that_the_queue_reaches_is_accepted() {
    let keys = |threshold: &str| {
        let queue = json!({ "name": "ecn-threshold", "threshold": threshold });
        with(&[("network.buffer", json!("32pkt")), ("network.queue", queue)])
    };
    assert!(plan(&keys("31pkt")).is_ok());
    // A buffer of 32 packets may hold more than 40 KB, because packets have 1500 bytes.
    assert!(plan(&keys("40KB")).is_ok());
}

#[test]
fn reordering_without_effect_is_refused() {
    let reordering =
        |p: f64, delay: &str| refusal(&[("network.reorder", json!({ "p": p, "delay": delay }))]);
    let line = reordering(0.0, "1ms");
    assert!(
        line.starts_with("network.reorder.delay: has no effect while network.reorder.p is 0; ")
    );
    let line = reordering(0.1, "0s");
    assert!(
        line.starts_with("network.reorder.p: has no effect while network.reorder.delay is 0; ")
    );
}

#[track_caller]
fn accepted(keys: &[(&str, Value)]) {
    if let Err(error) = plan(&with(keys)) {
        panic!("{keys:?}: {error}");
    }
}

#[track_caller]
fn is_void(keys: &[(&str, Value)], start: &str) {
    let line = refusal(keys);
    assert!(line.starts_with(start), "{line}");
}

#[test]
fn reordering_with_a_share_and_a_delay_is_accepted() {
    accepted(&[("network.reorder", json!({ "p": 0.1, "delay": "1ms" }))]);
}

#[test]
fn the_rate_has_an_effect_while_a_link_takes_it() {
    let rates = |keys: &[&str]| -> Vec<(&'static str, Value)> {
        let all = ["network.rate", "network.server_rate", "network.client_rate"];
        let given = all.into_iter().filter(|key| keys.iter().any(|it| key.ends_with(it)));
        given.map(|key| (key, json!("2Gbps"))).collect()
    };
    accepted(&rates(&[".rate", "server_rate"]));
    accepted(&rates(&[".rate", "client_rate"]));
    accepted(&rates(&["server_rate", "client_rate"]));
    let mut all = rates(&[".rate", "server_rate", "client_rate"]);
    is_void(&all, "network.rate: has no effect while server_rate and client_rate");
    all.push(("network.topology", json!({ "name": "chain", "switches": 2 })));
    accepted(&all);
    all.push(("network.core.rate", json!("4Gbps")));
    is_void(&all, "network.rate: has no effect while server_rate and client_rate");
}

#[test]
fn marks_need_one_switch_that_marks() {
    let on = ("transport.ecn", json!("on"));
    let marking = json!({ "name": "ecn-threshold", "threshold": "10pkt" });
    accepted(&[on.clone(), ("network.queue", marking.clone())]);
    accepted(&[("transport.ecn", json!("off"))]);
    let chain = ("network.topology", json!({ "name": "chain", "switches": 2 }));
    accepted(&[on.clone(), chain.clone(), ("network.core.queue", marking)]);
    is_void(&[on.clone(), chain], "transport.ecn: has no effect while no switch marks");
    is_void(&[on, ("network.queue", json!({ "name": "red" }))], "transport.ecn: has no effect");
    let background = json!([{ "name": "long-flow", "transport": { "ecn": "on" } }]);
    is_void(&[("background", background)], "background.0.transport.ecn: has no effect while");
}

#[test]
fn the_transport_of_the_background_has_rules_of_its_own() {
    let with = |timestamps: bool| {
        let transport = json!({ "timestamps": timestamps, "rtt_sampling": "per-window" });
        [(
            "background",
            json!([{ "name": "long-flow" }, { "name": "long-flow", "transport": transport }]),
        )]
    };
    is_void(&with(true), "background.1.transport.rtt_sampling: has no effect while timestamps");
    accepted(&with(false));
}

/// `transport.name` as a table has the parameters of a recovery, a congestion control or a remedy.
#[test]
fn the_rules_of_a_part_hold_for_a_transport_of_its_name() {
    let sack = |holes: bool| {
        let table = json!({ "name": "sack", "retransmit_holes": holes, "retransmit_tail": true });
        [("transport.name", table)]
    };
    is_void(&sack(false), "transport.name.retransmit_tail: has no effect while retransmit_holes");
    accepted(&sack(true));
    let swift =
        |hops: u32| [("transport.name", json!({ "name": "swift", "hops": hops, "hop": "50us" }))];
    is_void(&swift(0), "transport.name.hop: has no effect while hops is 0");
    accepted(&swift(2));
}

#[test]
fn a_remedy_in_a_list_has_the_rules_of_its_name() {
    let remedies = |copies: u32| {
        let gip = json!({ "name": "gip", "copies": copies, "when": "at-once" });
        [("transport.remedies", json!([{ "name": "resize" }, gip]))]
    };
    is_void(&remedies(0), "transport.remedies.1.when: has no effect while copies is 0");
    accepted(&remedies(3));
}

#[test]
fn a_target_of_swift_has_one_source() {
    for place in ["transport.congestion_control", "transport.name"] {
        let swift = |keys: Value| {
            let mut table = json!({ "name": "swift" });
            table.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
            [(place, table)]
        };
        let start = format!("{place}.target_ratio: has no effect while base_target is given; ");
        is_void(&swift(json!({ "base_target": "200us", "target_ratio": 4.0 })), &start);
        accepted(&swift(json!({ "base_target": "200us" })));
        accepted(&swift(json!({ "target_ratio": 4.0 })));
    }
}

/// A threshold and a buffer; packets have 1500 bytes.
fn threshold(threshold: &str, buffer: &str) -> [(&'static str, Value); 2] {
    let queue = json!({ "name": "ecn-threshold", "threshold": threshold });
    [("network.buffer", json!(buffer)), ("network.queue", queue)]
}

#[test]
fn a_threshold_lies_below_the_buffer() {
    let beyond =
        "network.queue.threshold: has no effect while no queue grows beyond network.buffer";
    is_void(&threshold("48000B", "48000B"), beyond);
    accepted(&threshold("47999B", "48000B"));
    is_void(&threshold("32pkt", "48000B"), beyond);
    accepted(&threshold("32pkt", "48001B"));
    is_void(&threshold("33pkt", "32pkt"), beyond);
    accepted(&threshold("31pkt", "32pkt"));
    accepted(&threshold("90KB", "32pkt"));
    let red = json!({ "name": "red", "min_th": "32pkt", "max_th": "40pkt" });
    let red = [("network.buffer", json!("48000B")), ("network.queue", red)];
    is_void(&red, "network.queue.min_th: has no effect while no queue grows beyond network.buffer");
}

#[test]
fn smaller_packets_fill_a_buffer_with_more_of_them() {
    let with = |keys: &[(&'static str, Value)]| {
        let mut all = threshold("32pkt", "48000B").to_vec();
        all.extend_from_slice(keys);
        all
    };
    accepted(&with(&[("transport.mss", json!(1000))]));
    accepted(&with(&[("workload.sru", json!("1KiB"))]));
    let datagrams = |packet: u32| {
        let cbr = json!([{ "name": "cbr", "rate": "10Mbps", "packet_size": packet }]);
        with(&[("background", cbr)])
    };
    accepted(&datagrams(1000));
    is_void(&datagrams(1500), "network.queue.threshold: has no effect");
}

#[test]
fn a_threshold_of_the_core_lies_below_its_buffer() {
    let core = |threshold: &str, buffer: Option<&str>| {
        let queue = json!({ "name": "ecn-threshold", "threshold": threshold });
        let mut keys = vec![
            ("network.topology", json!({ "name": "chain", "switches": 2 })),
            ("network.core.queue", queue),
            ("network.buffer", json!("48000B")),
        ];
        keys.extend(buffer.map(|buffer| ("network.core.buffer", json!(buffer))));
        keys
    };
    let beyond = "network.core.queue.threshold: has no effect while no queue grows beyond";
    is_void(&core("48000B", None), beyond);
    accepted(&core("47999B", None));
    accepted(&core("48000B", Some("48001B")));
    is_void(&core("20000B", Some("20000B")), beyond);
}

#[test]
fn a_value_that_holds_anyway_is_accepted() {
    accepted(&[("transport.name", json!("newreno")), ("transport.dsack", json!(true))]);
    accepted(&[("transport.timer_phase", json!("own"))]);
}
