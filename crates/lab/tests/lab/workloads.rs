//! Several workloads in one scenario, rounds of all-to-all, flows of measured sizes.

use incast_host::milestone::EventKind;
use incast_lab::{Control, Row, Run, TraceRequest};
use incast_scenario::Scenario;
use serde_json::{Value, json};

fn run(document: &Value, names: &[&str]) -> Run {
    let scenario = Scenario::from_document(document).unwrap_or_else(|error| panic!("{error}"));
    let request = TraceRequest::parse(names.iter().copied()).expect("these exist");
    incast_lab::run(&scenario, 1, &request, &Control::default()).expect("nobody cancels")
}

fn rows(document: &Value) -> Vec<Row> {
    run(document, &[]).rows
}

fn read(client: u32) -> Value {
    json!({ "servers": 8, "sru": "64KiB", "client": client })
}

#[test]
fn two_clients_that_read_from_servers_of_their_own_do_not_meet_on_a_star() {
    let network = json!({ "clients": 2, "buffer": "1MiB" });
    let alone = rows(&json!({ "network": network, "workload": read(0) }));
    let both = rows(&json!({ "network": network, "workload": [read(0), read(1)] }));
    assert_eq!(
        both.iter().map(|row| row.group.as_str()).collect::<Vec<_>>(),
        ["all", "workload.0.barrier-read", "workload.1.barrier-read",]
    );
    assert_eq!(both[1].completion_s, alone[0].completion_s);
    assert_eq!(both[2].completion_s, alone[0].completion_s);
    assert_eq!((both[0].blocks, both[0].bytes), (2, 2 * alone[0].bytes));
    assert!((both[0].goodput_bps / alone[0].goodput_bps - 2.0).abs() < 1e-9);
}

#[test]
fn clients_that_share_servers_share_the_servers_links() {
    let network = json!({ "clients": 2, "buffer": "1MiB", "server_rate": "100Mbps" });
    let mut second = read(1);
    second["sru"] = json!("512KiB");
    let own = rows(&json!({ "network": network, "workload": [read(0), second] }));
    second["share_servers"] = json!(true);
    let shared = rows(&json!({ "network": network, "workload": [read(0), second] }));
    let seconds = |rows: &[Row]| rows[1].completion_s.expect("it read a block");
    assert!(seconds(&shared) > 1.4 * seconds(&own), "{} {}", seconds(&shared), seconds(&own));
}

#[test]
fn a_run_ends_with_its_last_workload_and_background_never_ends_it() {
    let mut short = read(0);
    short["blocks"] = json!(1);
    let mut long = read(1);
    long["blocks"] = json!(20);
    let document = json!({
        "network": { "clients": 3, "buffer": "1MiB" },
        "workload": [short, long],
        "background": [{ "name": "barrier-read", "servers": 2, "sru": "4KiB", "client": 2 }],
    });
    let rows = rows(&document);
    assert_eq!((rows[1].status, rows[1].blocks), ("ok", 1));
    assert_eq!((rows[2].status, rows[2].blocks), ("ok", 20));
    assert_eq!(rows[3].group, "background.0.barrier-read");
    assert!(rows[3].blocks > 20, "it reads without end: {}", rows[3].blocks);
}

/// In a round, every client sends one message to every other client. The next round begins when the
/// last message has arrived.
#[test]
fn all_to_all_goes_in_rounds() {
    let document = json!({
        "network": { "clients": 4, "buffer": "1MiB" },
        "workload": { "name": "all-to-all", "message": "10KiB", "rounds": 3 },
    });
    let Run { rows, trace } = run(&document, &["events"]);
    assert_eq!((rows[0].status, rows[0].blocks), ("ok", 3));
    assert_eq!(rows[0].bytes, 3 * 4 * 3 * 10 * 1024);
    let events = trace.events.expect("they were asked for");
    let of = |kind, round| {
        let rows = events.rows().iter().filter(move |row| row.kind == kind && row.block == round);
        rows.collect::<Vec<_>>()
    };
    for round in 0..3 {
        let mut flows: Vec<_> = of(EventKind::Request, round).iter().map(|row| row.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        assert_eq!(flows.len(), 12, "every pair is asked once");
        let last = of(EventKind::FlowDone, round).iter().map(|row| row.time).max();
        assert_eq!(of(EventKind::BlockDone, round)[0].time, last.expect("messages arrive"));
    }
    assert!(of(EventKind::BlockDone, 0)[0].time <= of(EventKind::BlockStart, 1)[0].time);
}

/// The line rate limits a round: each client receives three messages over its link.
#[test]
fn a_round_takes_at_least_what_the_links_need() {
    let document = json!({
        "network": { "clients": 4, "buffer": "1MiB" },
        "workload": { "name": "all-to-all", "message": "1MiB" },
    });
    let row = &rows(&document)[0];
    let least = 3.0 * f64::from(1 << 20) * 8.0 / 1e9;
    let took = row.completion_s.expect("a round");
    assert!((least..2.0 * least).contains(&took), "{took}, at least {least}");
}

/// The load is a share of the client's link, and every flow is counted.
#[test]
fn measured_flows_come_at_the_load_that_is_asked_for() {
    let document = json!({
        "network": { "rate": "10Gbps", "buffer": "1MiB" },
        "workload": {
            "name": "empirical-flows", "servers": 20, "sizes": "storage.csv", "load": 0.4,
            "flows": 4000,
        },
    });
    let row = &rows(&document)[0];
    assert_eq!((row.status, row.blocks), ("ok", 4000));
    let mean = row.bytes as f64 / row.blocks as f64;
    let load = row.goodput_bps / 10e9;
    // The mean size of 4 000 flows with heavy-tailed sizes is within a tenth of the distribution's
    // mean.
    assert!((0.35..0.45).contains(&load), "{load} with flows of {mean} bytes");
}

/// Datagram flows have numbers after the flows with connections. The hosts of datagram flows can
/// still be shared.
#[test]
fn servers_may_be_shared_with_a_first_workload_of_datagrams() {
    let document = json!({
        "workload": [
            { "name": "cbr", "rate": "1Mbps" },
            { "servers": 1, "share_servers": true, "sru": "64KiB" },
        ],
    });
    let rows = rows(&document);
    assert_eq!((rows[0].status, rows[0].blocks), ("ok", 1));
    assert_eq!(rows[1].group, "workload.1.barrier-read");
}
