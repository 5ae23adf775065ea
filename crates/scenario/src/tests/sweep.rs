//! Crossing and pairing.

use serde_json::{Value, json};

use super::super::Point;
use super::OfTcp;
use super::read_of;
use super::{plan, with};

fn points(sweep: Value) -> Vec<Point> {
    let mut document = with(&[("background", json!([{ "name": "cbr", "rate": "1Mbps" }]))]);
    document["sweep"] = sweep;
    plan(&document).unwrap_or_else(|error| panic!("{error}")).points
}

fn swept(sweep: Value) -> Value {
    points(sweep).into_iter().map(|point| Value::Object(point.swept)).collect()
}

#[test]
fn no_sweep_is_one_point() {
    for sweep in [json!({}), Value::Null] {
        assert_eq!(swept(sweep), json!([{}]));
    }
    let plan = plan(&with(&[("run.seeds", json!([4, 2]))])).unwrap();
    assert_eq!((plan.points.len(), plan.seeds), (1, vec![4, 2]));
}

#[test]
fn axes_are_crossed_and_the_first_key_is_slowest() {
    let sweep = json!({ "workload.servers": [2, 4], "transport.rto_min": ["1ms", "200ms"] });
    assert_eq!(
        swept(sweep),
        json!([
            { "workload.servers": 2, "transport.rto_min": "1ms" },
            { "workload.servers": 2, "transport.rto_min": "200ms" },
            { "workload.servers": 4, "transport.rto_min": "1ms" },
            { "workload.servers": 4, "transport.rto_min": "200ms" },
        ])
    );
}

#[test]
fn zipped_axes_are_walked_in_step_and_crossed_with_the_rest() {
    let sweep = json!({
        "workload.servers": [2, 4],
        "zip": [
            { "network.rate": ["1Gbps", "10Gbps"], "network.buffer": ["40pkt", "200pkt"] },
            { "transport.rto_min": ["1ms"], "transport.rto_initial": ["1ms"] },
        ],
    });
    let points = points(sweep);
    let pairs: Vec<_> = points
        .iter()
        .map(|point| (&point.swept["workload.servers"], &point.swept["network.buffer"]))
        .collect();
    assert_eq!(json!(pairs), json!([[2, "40pkt"], [2, "200pkt"], [4, "40pkt"], [4, "200pkt"]]));
    let last = &points[3].scenario;
    let read = read_of(last);
    assert_eq!((read.servers, last.network.client_rate.0), (4, 10_000_000_000));
    assert_eq!(last.transport.of_tcp().rto.initial, last.transport.of_tcp().rto.min);
}

#[test]
fn unquoted_dotted_keys_are_tables_in_toml_and_mean_the_same() {
    let nested =
        json!({ "workload": { "servers": [2, 4] }, "background": { "0": { "rate": ["1Mbps"] } } });
    let quoted = json!({ "workload.servers": [2, 4], "background.0.rate": ["1Mbps"] });
    assert_eq!(swept(nested), swept(quoted));
}

#[test]
fn entries_of_lists_are_swept_by_index_and_registry_names_by_parameter() {
    let points = points(json!({
        "background.0.rate": ["5Mbps"],
        "network.queue.name": ["bernoulli"],
        "network.queue.p": [0.5],
    }));
    let scenario = &points[0].scenario;
    let cbr = scenario.traffic.background[0].config.workload().offered().expect("datagrams");
    assert_eq!(cbr.rate.0, 5_000_000);
    assert_eq!(json!(scenario.network.queue)["p"], 0.5);
}

#[test]
fn a_parameter_may_be_swept_beside_a_name_in_short_form() {
    let document = with(&[
        ("transport.recovery", json!("newreno")),
        ("sweep", json!({ "transport.recovery.careful": [false] })),
    ]);
    let scenario = &plan(&document).unwrap().points[0].scenario;
    assert_eq!(json!(scenario.transport.of_tcp().recovery)["careful"], false);
}

#[test]
fn swept_values_are_kept_as_given() {
    let sweep = json!({ "workload.sru": ["64KiB", 1000, "1.5KiB"] });
    assert_eq!(
        swept(sweep),
        json!([{ "workload.sru": "64KiB" }, { "workload.sru": 1000 }, { "workload.sru": "1.5KiB" }])
    );
}
