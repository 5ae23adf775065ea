//! Workloads and background traffic as documents.

use serde_json::{Value, json};

use super::{load, refusal};

fn refused(keys: &[(&str, Value)], line: &str) {
    assert_eq!(refusal(keys), line);
}

#[test]
fn a_remedy_sets_its_part_of_a_background_transport_as_well() {
    let beside = |transport: Value| {
        [("background", json!([{ "name": "long-flow", "transport": transport }]))]
    };
    let resolved = load(&beside(json!("efr"))).resolved();
    let transport = &resolved["background"][0]["transport"];
    assert_eq!(transport["recovery"]["name"], "efr");
    assert_eq!(transport["congestion_control"]["name"], "dctcp");
    assert_eq!(resolved["network"]["queue"]["name"], "ecn-threshold");
    assert_eq!(resolved["transport"]["recovery"]["name"], "newreno");
    let given = json!({ "remedies": ["fine-rto"], "rto_min": "1s" });
    let line = refusal(&beside(given));
    assert!(line.starts_with("background.0.transport.rto_min: \"1s\" is given"), "{line}");
    refused(
        &beside(json!("nccs")),
        "background.0.transport.remedies: \"nccs\" controls the order of requests, and \
         \"long-flow\" has no requests",
    );
}

#[test]
fn early_handshakes_need_a_client_that_opens_connections() {
    for (key, value) in
        [("workload.handshakes", json!("before")), ("workload.request_spread", json!("1ms"))]
    {
        let read = load(&[(key, value.clone())]).resolved();
        assert_ne!(read["workload"][&key["workload.".len()..]], Value::Null);
        refused(
            &[(key, value.clone()), ("transport.opener", json!("server"))],
            &format!(
                "{key}: needs a client that opens the connections, and transport.opener is \
                 \"server\"; leave it out"
            ),
        );
        refused(
            &[(key, value.clone()), ("transport.handshake", json!("none"))],
            &format!("{key}: needs transport.handshake = \"three-way\""),
        );
        refused(
            &[(key, value.clone()), ("transport.name", json!("ocs"))],
            &format!(
                "{key}: \"ocs\" decides when the connections are opened; leave out one of the two"
            ),
        );
    }
}

#[test]
fn what_no_memory_holds_is_refused() {
    refused(
        &[("workload.servers", json!(100_000_000))],
        "workload.servers: 100000000 is out of range; must be 1 to 1000000",
    );
    let flows = json!({
        "name": "long-flows", "servers": 100_000, "flows": 100_000, "duration": "1s",
    });
    refused(
        &[("workload", flows)],
        "workload: 4294967295 connections are more than 1000000; write fewer",
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "count": 4_000_000_000_u32 }]))],
        "background.0.count: 4000000000 is out of range; must be 1 to 1000000",
    );
    refused(
        &[("network.clients", json!(2_000_000))],
        "network.clients: 2000000 is out of range; must be 1 to 1000000",
    );
    load(&[("workload.servers", json!(1_000_000))]);
}

#[test]
fn what_traffic_cannot_be_is_refused_by_name() {
    refused(&[("workload.active", json!(5))], "workload.active: 5 is out of range; must be 1 to 4");
    refused(
        &[("workload.client", json!(1))],
        "workload.client: there is no client 1; write 0 to 0, or raise network.clients",
    );
    let bulk = |keys: Value| {
        let mut workload = json!({ "name": "long-flows", "servers": 2, "duration": "1s" });
        for (key, value) in keys.as_object().unwrap() {
            workload[key] = value.clone();
        }
        [("workload", workload)]
    };
    refused(
        &bulk(json!({ "duration": "0s" })),
        "workload.duration: must be longer than 0; write e.g. \"20s\"",
    );
    refused(
        &bulk(json!({ "flows": 0 })),
        "workload.flows: 0 is out of range; must be 1 to 1000000",
    );
    refused(
        &bulk(json!({ "to": [0, 2] })),
        "workload.to: there is no client 2; raise network.clients",
    );
    refused(
        &bulk(json!({ "bursts": { "rate": "0bps" } })),
        "workload.bursts.rate: must be above 0; write e.g. \"1Mbps\"",
    );
    let line = refusal(&bulk(json!({ "sru": 1 })));
    assert!(line.starts_with("workload.sru: unknown key; "), "{line}");
    let two = |remedy: &str| {
        [
            bulk(json!({ "to": [0, 1] })).to_vec(),
            vec![("network.clients", json!(2)), ("transport.remedies", json!([remedy]))],
        ]
        .concat()
    };
    refused(
        &two("ictcp"),
        "transport.remedies: \"ictcp\" works at one client, but these flows have several clients",
    );
}

#[test]
fn what_background_traffic_cannot_be_is_refused_by_name() {
    let flows = |keys: Value| {
        let mut flows = json!({ "name": "poisson-flows", "interval": "1ms", "size": 1000 });
        for (key, value) in keys.as_object().unwrap() {
            flows[key] = value.clone();
        }
        [("background", json!([flows]))]
    };
    refused(
        &flows(json!({ "interval": "0s" })),
        "background.0.interval: must be longer than 0; write e.g. \"1ms\"",
    );
    refused(&flows(json!({ "size": 0 })), "background.0.size: must be at least 1 byte");
    refused(
        &flows(json!({ "size": { "name": "uniform", "min": 9, "max": 8 } })),
        "background.0.size.max: 8 is less than min; must be at least 9",
    );
    let on_off = json!([{ "name": "on-off", "rate": "1Mbps", "burst": "0s" }]);
    refused(
        &[("background", on_off)],
        "background.0.burst: must be longer than 0; write e.g. \"500ms\"",
    );
}

/// The transport of a single workload has the same key as that of a workload in a list.
#[test]
fn a_workload_s_own_transport_is_under_its_key() {
    let own = json!({ "servers": 2, "sru": 1000, "transport": {
        "remedies": ["fine-rto"], "rto_min": "1s",
    } });
    let line = refusal(&[("workload", own.clone())]);
    assert!(line.starts_with("workload.transport.rto_min: \"1s\" is given"), "{line}");
    let line = refusal(&[("workload", json!([own]))]);
    assert!(line.starts_with("workload.0.transport.rto_min: \"1s\" is given"), "{line}");
    let own = json!({ "servers": 2, "sru": 1000, "transport": { "remedies": ["staggering"] } });
    load(&[("workload", own)]);
}

/// A key of `[transport]` is refused only if it has no effect in all groups with this transport.
#[test]
fn connections_that_end_keep_their_fin() {
    let read = |connections: &str| json!({ "servers": 2, "sru": 1000, "connections": connections });
    let both = |other: &str| {
        [("workload", json!([read("persistent"), read(other)])), ("transport.fin", json!(true))]
    };
    load(&both("fresh"));
    let line = refusal(&both("persistent"));
    assert!(line.starts_with("transport.fin: has no effect while connections are"), "{line}");
}
