//! Workloads and background traffic: who sends to whom, how much, and when.

use std::collections::BTreeMap;

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

/// Each block is read from three of ten servers. Every server is selected for at least one block.
#[test]
fn each_block_is_read_from_other_servers() {
    for connections in ["fresh", "persistent"] {
        let document = json!({
            "workload": {
                "servers": 10, "active": 3, "sru": 5000, "blocks": 60, "connections": connections,
            },
        });
        let Run { rows, trace } = run(&document, &["events"]);
        assert_eq!((rows[0].status, rows[0].blocks, rows[0].bytes), ("ok", 60, 60 * 3 * 5000));
        let events = trace.events.expect("they were asked for");
        let mut asked: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for row in events.rows().iter().filter(|row| row.kind == EventKind::Request) {
            asked.entry(row.block).or_default().push(row.flow.expect("a request has a flow"));
        }
        let mut turns = [0; 10];
        for servers in asked.values() {
            let mut distinct = servers.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!((servers.len(), distinct.len()), (3, 3), "{servers:?}");
            for server in servers {
                turns[*server as usize] += 1;
            }
        }
        // Each server is selected 18 times on average.
        assert!(turns.iter().all(|turns| (6..=32).contains(turns)), "{turns:?}");
    }
}

#[test]
fn a_block_is_divided_among_the_active_servers() {
    let document = json!({
        "workload": { "servers": 7, "active": 3, "block": 10_000, "blocks": 20 },
    });
    let row = &rows(&document)[0];
    assert_eq!((row.status, row.bytes), ("ok", 200_000));
}

/// The schedulers of remedies receive only the servers of the current block.
#[test]
fn serialised_reads_work_with_some_of_the_servers() {
    for remedy in ["ccs", "nccs", "ocs"] {
        let document = json!({
            "workload": { "servers": 12, "active": 5, "sru": "32KiB", "blocks": 8 },
            "transport": { "remedies": [remedy] },
        });
        let row = &rows(&document)[0];
        assert_eq!((row.status, row.blocks, row.timeouts), ("ok", 8, 0), "{remedy}");
    }
}

/// Blocks are due once a millisecond on average. A small block takes 0.2 ms, and a large block
/// takes 2 ms. The completion time of a large block includes the wait for the previous block.
#[test]
fn blocks_are_wanted_at_random_times() {
    let document = |sru: u64| {
        json!({
            "workload": { "servers": 2, "sru": sru, "blocks": 400, "interval": "1ms" },
        })
    };
    let light = &rows(&document(1000))[0];
    assert!((light.elapsed_s - 0.4).abs() < 0.08, "{}", light.elapsed_s);
    let alone = json!({ "workload": { "servers": 2, "sru": 1000 } });
    let alone = rows(&alone)[0].completion_s.expect("one block");
    assert_eq!(light.completion_p50_s, Some(alone), "an idle network is as fast as ever");
    let heavy = &rows(&document(120_000))[0];
    let mean = heavy.completion_s.expect("400 blocks");
    assert!(mean > 0.1, "two milliseconds each, every millisecond: {mean} s");
    assert!(heavy.elapsed_s > 0.75, "{}", heavy.elapsed_s);
}

/// Fifty blocks of 2 ms each are due within the first milliseconds. Each block waits for all
/// previous blocks. The completion time of the last block is therefore nearly the duration of the
/// run, and the mean is half of it.
#[test]
fn a_block_that_is_late_began_when_it_was_wanted() {
    let document = json!({
        "network": { "buffer": "1000pkt" },
        "workload": { "servers": 1, "sru": 240_000, "blocks": 50, "interval": "20us" },
    });
    let row = &rows(&document)[0];
    assert_eq!((row.blocks, row.drops), (50, 0));
    let [mean, last] = [row.completion_s, row.completion_max_s].map(|it| it.expect("50 blocks"));
    assert!(row.elapsed_s > 0.1, "{}", row.elapsed_s);
    assert!((row.elapsed_s - 0.003..=row.elapsed_s).contains(&last), "{last}");
    assert!((mean / row.elapsed_s - 0.505).abs() < 0.015, "{mean} of {}", row.elapsed_s);
}

#[test]
fn long_flows_fill_the_links_for_their_time() {
    let document = json!({
        "network": { "clients": 2, "buffer": "200pkt" },
        "workload": { "name": "long-flows", "servers": 2, "to": [1, 0], "duration": "200ms" },
        "transport": { "receive_window": "100KiB" },
    });
    let row = &rows(&document)[0];
    assert_eq!((row.status, row.blocks, row.completion_s), ("ok", 0, None));
    assert!((row.elapsed_s - 0.2).abs() < 1e-12);
    let full = 2e9 * 1460.0 / 1500.0;
    assert!((0.98..=1.0).contains(&(row.goodput_bps / full)), "{}", row.goodput_bps);
}

/// Bursts of 10 ms at 10 Mbit/s and pauses of 30 ms give 2.5 Mbit/s on average.
#[test]
fn bursts_have_their_mean_rate() {
    let bursts = json!({ "rate": "10Mbps", "burst": "10ms", "idle": "30ms" });
    let tcp = json!({
        "workload": {
            "name": "long-flows", "servers": 4, "flows": 2, "duration": "20s", "bursts": bursts,
        },
    });
    let each = rows(&tcp)[0].goodput_bps / 8.0;
    assert!((each / 2.5e6 - 1.0).abs() < 0.06, "{each}");
    let datagrams = json!({
        "workload": { "name": "long-flows", "servers": 4, "duration": "20s", "bursts": bursts },
        "background": [{
            "name": "on-off", "rate": "10Mbps", "burst": "10ms", "idle": "30ms",
            "packet_size": 1040, "from": "servers", "group": "noise",
        }],
    });
    let rows = rows(&datagrams);
    assert_eq!(rows[1].group, "noise");
    // A datagram of 1040 bytes has 1000 bytes of data.
    let each = rows[1].goodput_bps / 4.0 * 1.04;
    assert!((each / 2.5e6 - 1.0).abs() < 0.08, "{each}");
}

/// Every source of a table has a host and a phase of its own.
#[test]
fn a_table_has_as_many_sources_as_it_says() {
    let document = |source: Value| {
        let flows = json!({ "name": "long-flows", "servers": 1, "duration": "1s",
            "bursts": { "rate": "1kbps" } });
        json!({
            "network": { "client_rate": "10Gbps", "server_rate": "1Gbps", "buffer": "4MiB" },
            "workload": flows, "background": [source],
        })
    };
    for name in ["cbr", "poisson", "on-off"] {
        let of = |count: u32| {
            let source =
                json!({ "name": name, "rate": "1Mbps", "packet_size": 1000, "count": count });
            rows(&document(source)).remove(1)
        };
        let (one, many) = (of(1).goodput_bps, of(400).goodput_bps);
        // The sources of "on-off" send during half of the time.
        let expected = if name == "on-off" { 192e6 } else { 384e6 };
        assert!((many / expected - 1.0).abs() < 0.25, "{name}: {many}");
        assert!(name == "on-off" || one < many / 300.0, "{name}: {one} and {many}");
    }
}

fn with_flows(flows: &Value) -> Value {
    let mut background = json!({ "name": "poisson-flows" });
    for (key, value) in flows.as_object().into_iter().flatten() {
        background[key] = value.clone();
    }
    let read = json!({ "name": "long-flows", "servers": 5, "duration": "2s",
        "bursts": { "rate": "1kbps" } });
    json!({ "network": { "clients": 3 }, "workload": read, "background": [background] })
}

#[test]
fn flows_come_at_random_and_have_completion_times() {
    let row = |flows: &Value| rows(&with_flows(flows)).remove(1);
    let light = row(&json!({ "interval": "1ms", "size": 10_000, "to": [0, 1, 2] }));
    assert_eq!(light.group, "background.0.poisson-flows");
    assert!((1850..2150).contains(&light.blocks), "{}", light.blocks);
    assert_eq!(light.bytes, light.blocks * 10_000);
    // The handshake, the request and seven segments in windows of 2, 4 and 1 take at least three
    // round trips of 100 us, and rarely much more.
    let [mean, p50] = [light.completion_s, light.completion_p50_s].map(|it| it.expect("some"));
    assert!(p50 > 3e-4 && mean < 7e-4, "{p50} {mean}");
    // One source sends to one client, with a new flow of 4 ms every millisecond on average.
    // Completion times therefore grow.
    let heavy = row(&json!({ "interval": "1ms", "size": 500_000, "from": "host" }));
    let p99 = heavy.completion_p99_s.expect("some");
    assert!(p99 > 0.5, "{p99}");
    let utilised = heavy.goodput_bps / 1e9;
    assert!(utilised > 0.5, "{utilised}");
    let tails = row(&json!({
        "interval": "1ms", "size": { "name": "pareto", "min": "1KB", "max": "1MB" },
    }));
    let [p50, p99] = [tails.completion_p50_s, tails.completion_p99_s].map(|it| it.expect("some"));
    assert!(p99 > 5.0 * p50, "{p50} {p99}");
}

/// In figure 10 of TCP-EFR, there are three switches, and the senders are at two of them. The paths
/// of both sets of senders to the four receivers share the last link between switches.
#[test]
fn two_sets_of_flows_share_what_their_ways_have_in_common() {
    let document = |core: &str| {
        json!({
            "network": {
                "topology": "chain", "clients": 4, "buffer": "128KiB",
                "server_rate": "1Gbps", "core": { "rate": core },
            },
            "workload": {
                "name": "long-flows", "servers": 4, "servers_at": 0, "to": [3, 2, 1, 0],
                "duration": "300ms",
            },
            "transport": { "rto_min": "10ms", "mss": 984, "receive_window": "64KiB" },
            "background": [{
                "name": "long-flow", "group": "set 2", "count": 3, "at": 1, "to": [3, 1, 0],
                "transport": { "rto_min": "10ms", "mss": 984, "receive_window": "64KiB" },
            }],
        })
    };
    let payload = 984.0 / 1024.0;
    let slow = rows(&document("1Gbps"));
    assert_eq!((slow[0].group.as_str(), slow[1].group.as_str()), ("all", "set 2"));
    let sum = (slow[0].goodput_bps + slow[1].goodput_bps) / (1e9 * payload);
    assert!((0.9..=1.0).contains(&sum), "{sum}");
    assert!(slow[1].goodput_bps > 0.2e9, "the set with the shorter way has its share");
    let fast = rows(&document("10Gbps"));
    let sum = (fast[0].goodput_bps + fast[1].goodput_bps) / (4e9 * payload);
    assert!((0.8..=1.0).contains(&sum), "four receivers: {sum}");
}
