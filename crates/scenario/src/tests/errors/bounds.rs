//! Values that are too large are refused before the run, with the largest accepted value.

use serde_json::{Value, json};

use super::super::super::{Scenario, schema};
use super::super::{plan, refusal, with};
use super::refused;

#[test]
fn a_value_where_a_table_belongs() {
    for given in [json!(5), json!([1]), json!([]), json!(true), json!(0.5)] {
        let name = "a name or a table; write e.g. \"newreno\" or { rto_min = \"1ms\" }";
        refused(&[("transport", given.clone())], &format!("transport: {given} is not {name}"));
        let flow = json!([{ "name": "long-flow", "transport": given }]);
        let line = format!("background.0.transport: {given} is not {name}");
        refused(&[("background", flow)], &line);
        let line = format!("network: {given} is not a table; write e.g. {{ rate = \"1Gbps\" }}");
        refused(&[("network", given.clone())], &line);
        let line = format!("run: {given} is not a table; write e.g. {{ seeds = 20 }}");
        refused(&[("run", given.clone())], &line);
        let read = "{ servers = 8, sru = \"64KiB\" }";
        let line = match given.as_array().map(Vec::len) {
            None => {
                format!(
                    "workload: {given} is not a name, a table or a list of tables; write e.g. {read}"
                )
            }
            Some(0) => "workload: must have at least one table".to_owned(),
            Some(_) => format!("workload.0: 1 is not a table; write e.g. {read}"),
        };
        refused(&[("workload", given.clone())], &line);
        assert!(refusal(&[("profile", given.clone())]).starts_with("profile: "));
        assert!(refusal(&[("background", json!([given]))]).starts_with("background.0: "));
    }
    assert!(refusal(&[("background", json!({}))]).starts_with("background: {} is not a list"));
    let line = plan(&json!(7)).expect_err("no table").to_string();
    assert!(line.starts_with("scenario: 7"), "{line}");
}

#[test]
fn every_group_has_a_name_of_its_own() {
    let cbr = |group: Value| json!({ "name": "cbr", "rate": "1Mbps", "group": group });
    refused(
        &[("background", json!([cbr(json!("all"))]))],
        "background.0.group: \"all\" is the row of the workloads; write another name",
    );
    refused(
        &[("background", json!([cbr(json!("mice")), cbr(json!("mice"))]))],
        "background.1.group: \"mice\" is the row of background.0; write another name",
    );
    // A given name must differ from derived names, too.
    refused(
        &[("background", json!([cbr(json!("background.1.cbr")), cbr(Value::Null)]))],
        "background.1.group: \"background.1.cbr\" is the row of background.0; write another name",
    );
    refused(
        &[("background", json!([cbr(json!(""))]))],
        "background.0.group: must not be empty; write a name, or leave it out",
    );
}

#[test]
fn times_and_rates_have_bounds() {
    for (key, value, line) in [
        ("network.delay", "10000.1s", "10000.1s is too long; write at most \"10000s\""),
        ("network.server_delay", "18446s", "18446s is too long; write at most \"10000s\""),
        ("network.clock_noise", "1.5ms", "0.0015s is too long; write at most \"0.001s\""),
        ("network.delay", "18446744s", "\"18446744s\" is too large; write at most \"1000000s\""),
        (
            "network.clock_noise",
            "9300000s",
            "\"9300000s\" is too large; write at most \"1000000s\"",
        ),
        ("run.time_limit", "1000001s", "\"1000001s\" is too large; write at most \"1000000s\""),
        (
            "network.rate",
            "11999bps",
            "11999bps is too slow for packets of 1500 bytes; write at least \"12000bps\"",
        ),
        (
            "network.server_rate",
            "1kbps",
            "1000bps is too slow for packets of 1500 bytes; write at least \"12000bps\"",
        ),
        ("network.rate", "200Tbps", "\"200Tbps\" is too large; write at most \"100Tbps\""),
        (
            "workload.sru",
            "100TB",
            "100000000000000 bytes of each server are too many; must be at most 250000000000",
        ),
    ] {
        let servers = if key == "workload.sru" { 4000 } else { 4 };
        let keys = [("workload.servers", json!(servers)), (key, json!(value))];
        refused(&keys, &format!("{key}: {line}"));
    }
}

/// In a resolved scenario, a number of segments becomes a number of bytes, and the window of an
/// `auto` buffer becomes a number of packets. The resolved scenario must load again, so these
/// values have bounds.
#[test]
fn what_segments_and_windows_come_to_has_bounds() {
    let threshold = |value| [("transport.initial_ssthresh", json!(value))];
    refused(
        &threshold("68493150685seg"),
        "transport.initial_ssthresh: 100000000000100 bytes are out of range; write at most \
         68493150684 segments, or \"100TB\"",
    );
    assert!(plan(&with(&threshold("68493150684seg"))).is_ok());
    let buffer = json!({ "name": "auto", "window": "30000000000000seg" });
    refused(
        &[("network.buffer", buffer), ("workload.servers", json!(4))],
        "network.buffer.window: makes a buffer of 120000000000000 packets, which is out of range; \
         write a smaller window",
    );
}

#[test]
fn sweeps_have_bounds() {
    let hundred: Vec<u32> = (1..=100).collect();
    let sweep = json!({
        "workload.servers": hundred, "transport.mss": hundred, "transport.dupack_threshold": hundred,
        "workload.blocks": hundred, "transport.rto_max_doublings": hundred,
    });
    refused(
        &[("sweep", sweep)],
        "sweep: 100 x 100 x 100 x 100 x 100 points are more than 100000; \
         write fewer values, or several scenarios",
    );
    let thousand: Vec<u32> = (1..=1000).collect();
    refused(
        &[("sweep", json!({ "workload.servers": thousand })), ("run.seeds", json!(1_000_000))],
        "run.seeds: 1000 points with 1000000 seeds each are more than 10000000 runs; \
         write at most 10000 seeds",
    );
    let deep = vec!["a"; 40].join(".");
    assert!(refusal(&[("sweep", json!({ deep: [1] }))]).contains("no key has more than 32 parts"));
}

#[test]
fn a_million_seeds_are_planned_at_once() {
    let seeds: Vec<u64> = (0..1_000_000).map(|seed| seed * 7 % 1_000_003).collect();
    let plan = plan(&with(&[("run.seeds", json!(seeds))])).expect("they are distinct");
    assert_eq!(plan.seeds, seeds);
    let twice: Vec<u64> = (0..500_000).chain([7]).collect();
    refused(&[("run.seeds", json!(twice))], "run.seeds: seed 7 is in the list twice");
}

#[test]
fn a_host_that_is_offered_more_than_its_link_carries() {
    let source = |rate: &str| json!([{ "name": "cbr", "rate": rate, "packet_size": 1500 }]);
    let told = |rate: &str, limit: &str| {
        plan(&with(&[("background", source(rate)), ("run.time_limit", json!(limit))]))
            .map_err(|error| error.to_string())
            .err()
    };
    assert_eq!(told("1Gbps", "1000s"), None, "as much as the link carries");
    assert_eq!(
        told("40Gbps", "1000s").as_deref(),
        Some(
            "background.0.rate: 40000000000bps is more than the hosts' links carry \
             (network.server_rate = 1000000000bps) and leaves 3250000000 packets waiting; write at \
             most \"1000000000bps\", or run.time_limit = \"0.322639s\""
        )
    );
    assert_eq!(told("40Gbps", "0.322s"), None, "what is said will do");
    // Bursts count with their mean rate.
    let bursts = json!([{ "name": "on-off", "rate": "4Gbps", "burst": "1ms", "idle": "9ms" }]);
    assert!(plan(&with(&[("background", bursts)])).is_ok());
    // Every server has two sources, whose rates add up.
    let both = json!([
        { "name": "cbr", "rate": "600Mbps", "from": "servers" },
        { "name": "poisson", "rate": "600Mbps", "from": "servers" },
    ]);
    assert!(refusal(&[("background", both)]).starts_with("background.1.rate: 600000000bps"));
}

/// The packets of a table's sources wait at different hosts, but all of them occupy the memory of
/// the same simulation.
#[test]
fn many_sources_of_a_table_share_the_bound_of_what_waits() {
    let sources = |count: u32| json!([{ "name": "poisson", "rate": "2Gbps", "packet_size": 1500, "count": count }]);
    let told = |count: u32| {
        plan(&with(&[("background", sources(count)), ("run.time_limit", json!("1s"))]))
            .map_err(|error| error.to_string())
            .err()
    };
    assert_eq!(told(12), None);
    let error = told(1000).expect("a thousand times 83 333 packets");
    assert!(error.starts_with("background.0.rate: 2000000000bps is more than"), "{error}");
    assert!(error.contains("leaves 83333333 packets waiting"), "{error}");
}

#[test]
fn the_number_of_sources_has_a_range_and_none_where_every_server_sends() {
    for name in ["cbr", "poisson", "on-off"] {
        for count in [0, 10_000_000] {
            let source = json!([{ "name": name, "rate": "1Mbps", "count": count }]);
            let line = format!("background.0.count: {count} is out of range; must be 1 to 1000000");
            refused(&[("background", source)], &line);
        }
        let source = json!([{ "name": name, "rate": "1Mbps", "count": 2, "from": "servers" }]);
        refused(
            &[("background", source)],
            "background.0.count: must not be given: every server sends; leave it out, or write from \
             = \"host\"",
        );
    }
}

#[test]
fn background_traffic_has_bounds() {
    let tables = vec![json!({ "name": "cbr", "rate": "1bps" }); 1001];
    refused(
        &[("background", json!(tables))],
        "background: 1001 tables are more than 1000; write fewer",
    );
    let half = json!({ "name": "long-flow", "count": 600_000 });
    refused(
        &[("background", json!([half, half]))],
        "background.1: the tables up to this one have 1200004 connections, more than 1000000; \
         write fewer",
    );
}

/// Every number of the schema, with its range.
fn numbers(schema: &Value, place: &str, found: &mut Vec<(String, Value)>) {
    match schema {
        Value::Object(table) => {
            if table.get("type").is_some_and(|it| *it == "integer" || *it == "number") {
                found.push((place.to_owned(), schema.clone()));
            }
            for (key, value) in table {
                numbers(value, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                numbers(value, &format!("{place}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_number_has_a_range() {
    let mut found = Vec::new();
    numbers(&schema(), "", &mut found);
    assert!(found.len() > 100, "{}", found.len());
    for (place, number) in found {
        let end = |closed, open| [closed, open].into_iter().find_map(|it| number[it].as_f64());
        let least = end("minimum", "exclusiveMinimum");
        let most = end("maximum", "exclusiveMaximum");
        assert!(least.zip(most).is_some_and(|(least, most)| least < most), "{place}: {number}");
    }
}

#[test]
fn a_number_beyond_its_range_is_refused_with_it() {
    refused(
        &[("transport.rto_jitter", json!(1e12))],
        "transport.rto_jitter: 1000000000000 is out of range; must be 0 to 1000000000",
    );
    refused(
        &[("transport.congestion_control", json!({ "name": "cubic", "c": 1e10 }))],
        "transport.congestion_control.c: 10000000000 is out of range; must be above 0 and \
         at most 1000000000",
    );
    refused(
        &[("transport.rto_max_doublings", json!(2_000_000_000_u32))],
        "transport.rto_max_doublings: 2000000000 is out of range; must be 0 to 1000000000",
    );
    let remedies = json!(["fine-rto", { "name": "nccs", "k": 3_000_000_000_u32 }]);
    assert!(refusal(&[("transport.remedies", remedies)]).starts_with("transport.remedies.1.k: "));
    assert!(Scenario::from_document(&with(&[("transport.rto_jitter", json!(1e9))])).is_ok());
}

#[test]
fn what_is_said_stays_one_line() {
    let line = refusal(&[("network.rate", json!("a\nb\u{1b}[31m"))]);
    assert!(!line.contains(char::is_control), "{line}");
    let line = refusal(&[("network.rate", json!("a\u{202e}b\u{2028}c\u{200b}d é '"))]);
    assert!(line.contains("a\\u{202e}b\\u{2028}c\\u{200b}d é '"), "{line}");
    let line = refusal(&[("network.rate", json!("x".repeat(1_000_000)))]);
    assert!(line.len() < 1200 && line.contains("[…]"), "{}", line.len());
    let line = refusal(&[("network.ra\nte", json!(1))]);
    assert!(!line.contains('\n'), "{line}");
}
