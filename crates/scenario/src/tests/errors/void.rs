//! Keys without effect because of another key.

use serde_json::{Value, json};

use super::super::{plan, refusal, with};

/// Other given keys, the key, a value other than the one in force without it, and why it has no
/// effect.
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
    (&[], "transport.ecn", "\"on\"", "no switch marks, by network.queue"),
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
        "no queue grows beyond network.buffer, 32pkt",
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
    // Of 32 packets of 1500 bytes.
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
