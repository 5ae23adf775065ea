//! Networks of several switches: delays of paths, and the ports at which packets are lost.

use incast_engine::{Rate, Span, Time};
use incast_host::milestone::EventKind;
use incast_lab::{Control, Row, Run, TraceRequest};
use incast_scenario::Scenario;
use serde_json::{Value, json};

fn run(document: &Value, names: &[&str]) -> Run {
    let scenario = Scenario::from_document(document).unwrap_or_else(|error| panic!("{error}"));
    let request = TraceRequest::parse(names.iter().copied()).expect("these exist");
    incast_lab::run(&scenario, 1, &request, &Control::default()).expect("nobody cancels")
}

fn row(document: &Value) -> Row {
    run(document, &[]).rows.remove(0)
}

/// One server sends one segment of 1000 bytes. Links to servers, links to clients and links between
/// switches have different rates and delays.
fn single_segment(topology: &Value, core: bool) -> Value {
    let mut network = json!({
        "topology": topology,
        "server_rate": "1Gbps", "client_rate": "2Gbps",
        "delay": "10us", "server_delay": "7us",
    });
    if core {
        network["core"] = json!({ "rate": "5Gbps", "delay": "3us" });
    }
    json!({
        "network": network,
        "workload": { "servers": 1, "sru": 1000 },
        "transport": { "mss": 1000, "handshake": "none", "ack_size": 40 },
    })
}

/// A request and one segment cross the idle network once each. The completion time is exactly the
/// sum of all delays and transmission times.
#[test]
fn an_idle_network_takes_the_sum_of_delays_and_serialisations() {
    let cases = [
        (json!("star"), 0),
        (json!("chain"), 2),
        (json!({ "name": "chain", "switches": 1 }), 0),
        (json!({ "name": "chain", "switches": 7 }), 6),
        (json!("two-tier"), 2),
        (json!("leaf-spine"), 2),
        (json!("parallel"), 2),
    ];
    for (topology, trunks) in cases {
        let crossing = |bytes: u64| {
            let on = |rate: u64| Rate(rate * 1_000_000_000).transmission_time(bytes);
            let core = (Span::from_micros(3) + on(5)) * trunks;
            Span::from_micros(10) + on(2) + core + Span::from_micros(7) + on(1)
        };
        let expected = crossing(40) + crossing(1040);
        let run = run(&single_segment(&topology, trunks > 0), &["events"]);
        let events = run.trace.events.expect("they were asked for");
        let done = events.rows().iter().find(|row| row.kind == EventKind::BlockDone);
        assert_eq!(done.map(|row| row.time), Some(Time::ZERO + expected), "{topology}");
        assert_eq!(run.rows[0].completion_s, Some(expected.as_secs_f64()), "{topology}");
        // The request and the segment cross the same number of links.
        assert_eq!(run.rows[0].packet_hops, 2 * (2 + trunks), "{topology}");
    }
}

/// Eight servers behind one link of the client's rate. They overflow the first port on the path
/// whose link is slower than their total rate.
fn read_over_a_chain(network: &Value) -> Value {
    let mut document = json!({
        "network": { "topology": "chain", "buffer": "20pkt" },
        "workload": { "servers": 8, "sru": "64KiB" },
        "transport": { "rto_min": "1ms" },
    });
    for (key, value) in network.as_object().into_iter().flatten() {
        document["network"][key] = value.clone();
    }
    document
}

#[test]
fn the_row_tells_of_the_port_where_packets_wait() {
    let first_trunk = run(&read_over_a_chain(&json!({})), &["queue"]);
    let at_client = run(&read_over_a_chain(&json!({ "core": { "rate": "10Gbps" } })), &["queue"]);
    let deep = json!({ "core": { "buffer": "1000pkt" } });
    let roomy = row(&read_over_a_chain(&deep));
    for (run, place) in [(&first_trunk, "switch 0->switch 1"), (&at_client, "switch 2->client")] {
        let row = &run.rows[0];
        assert_eq!((row.status, row.queue_max_packets), ("ok", 20), "{place}");
        assert!(row.drops > 0 && row.timeouts > 0 && row.drop_ratio > 0.0, "{place}");
        let queues = run.trace.queue.as_ref().expect("they were asked for");
        let most = |queue: &incast_lab::probe::QueueTrace| {
            queue.iter().map(|(_, bin)| bin.packets[1]).max().unwrap_or(0)
        };
        let busiest = queues.iter().max_by_key(|queue| most(queue)).expect("there are some");
        assert_eq!((busiest.name(), most(busiest)), (place, 20));
        // The trace has the ports of the forward path, and no port of the reverse path.
        let names: Vec<_> = queues.iter().map(incast_lab::probe::QueueTrace::name).collect();
        assert_eq!(names, ["switch 2->client", "switch 0->switch 1", "switch 1->switch 2"]);
    }
    assert_eq!((roomy.drops, roomy.timeouts), (0, 0));
    assert!(roomy.queue_max_packets > 20, "{}", roomy.queue_max_packets);
}

/// The cause of a timeout does not depend on the port at which packets were lost.
#[test]
fn a_window_lost_between_switches_is_a_full_window_lost() {
    let document = json!({
        "network": {
            "topology": "chain",
            "core": { "queue": { "name": "bernoulli", "p": 1.0, "data_only": true } },
        },
        "workload": { "servers": 1, "sru": "64KiB" },
        "transport": { "rto_min": "1ms", "rto_initial": "1ms" },
        "run": { "time_limit": "20ms" },
    });
    let row = row(&document);
    assert_eq!(row.status, "time-limit");
    assert_eq!(row.timeouts_full_window, 1);
    assert_eq!(row.timeouts_lost_retransmission, row.timeouts - 1);
    assert!(row.timeouts > 2);
}

/// If racks are connected by faster links, the client's link is the bottleneck, and only its port
/// has a queue.
#[test]
fn racks_share_the_client_s_link_and_nothing_else() {
    let document = json!({
        "network": {
            "topology": { "name": "two-tier", "racks": 4 },
            "buffer": "1MiB", "core": { "rate": "10Gbps" },
        },
        "workload": { "servers": 12, "sru": "64KiB" },
    });
    let Run { rows, trace } = run(&document, &["queue"]);
    assert_eq!((rows[0].status, rows[0].drops), ("ok", 0));
    assert!(rows[0].link_utilization > 0.9, "{}", rows[0].link_utilization);
    for queue in trace.queue.expect("they were asked for").iter() {
        let most = queue.iter().map(|(_, bin)| bin.packets[1]).max().unwrap_or(0);
        assert_eq!(most > 30, queue.name() == "switch 0->client", "{}: {most}", queue.name());
    }
}
