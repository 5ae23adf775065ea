//! The requests and the data of applications.

use incast_engine::{Span, Time};
use incast_host::EndId;
use incast_host::milestone::EventKind;
use incast_lab::probe::{Listener, Probe};
use incast_lab::world::World;
use incast_lab::{Control, Row};
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PortId};
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{MSS, Outcome, run, scenario};

fn outcome(changes: &Value) -> Outcome {
    let outcome = run(&scenario(changes), Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome
}

/// Request times of the servers since the start of their block: a list per block, ordered by time.
fn requests(changes: &Value) -> Vec<Vec<(Span, u32)>> {
    let outcome = outcome(changes);
    let mut blocks: Vec<(Time, Vec<(Span, u32)>)> = Vec::new();
    for row in outcome.events() {
        match (row.kind, blocks.last_mut()) {
            (EventKind::BlockStart, _) => blocks.push((row.time, Vec::new())),
            (EventKind::Request, Some((start, requests))) => {
                requests.push((row.time - *start, row.flow.expect("a request has a flow")));
            }
            _ => {}
        }
    }
    blocks.into_iter().map(|(_, requests)| requests).collect()
}

fn mean(spans: impl ExactSizeIterator<Item = Span>) -> f64 {
    let count = spans.len() as f64;
    spans.map(Span::as_secs_f64).sum::<f64>() / count
}

#[test]
fn request_jitter_adds_up_from_server_to_server() {
    let changes = json!({
        "workload": { "servers": 400, "sru": 1, "blocks": 2, "request_jitter": "20us" },
    });
    let limit = Span::from_micros(20);
    let blocks = requests(&changes);
    assert_eq!(blocks.len(), 2);
    for requests in &blocks {
        assert!(requests.iter().map(|request| request.1).eq(0..400), "one after the other");
        assert_eq!(requests[0].0, Span::ZERO);
        let gaps = requests.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0));
        assert!(gaps.clone().all(|gap| gap < limit));
        let mean = mean(gaps);
        assert!((9e-6..11e-6).contains(&mean), "{mean}");
    }
    assert_ne!(blocks[0], blocks[1], "every block draws anew");
}

#[test]
fn start_spread_is_drawn_for_each_server_by_itself() {
    let changes = json!({ "workload": { "servers": 400, "sru": 1, "start_spread": "100us" } });
    let requests = &requests(&changes)[0];
    assert_eq!(requests.len(), 400);
    assert!(requests.iter().all(|request| request.0 < Span::from_micros(100)));
    assert!(!requests.iter().map(|request| request.1).is_sorted(), "any order");
    let mean = mean(requests.iter().map(|request| request.0));
    assert!((45e-6..55e-6).contains(&mean), "{mean}");
}

#[test]
fn a_fixed_block_is_divided_with_its_remainder() {
    let changes = json!({ "workload": { "servers": 5, "sru": null, "block": 10_007, "blocks": 2,
                                        "connections": "persistent" } });
    let outcome = outcome(&changes);
    let parts: Vec<u64> = (0..5)
        .map(|f| outcome.core.hosts.connection(EndId::server(f)).expect("TCP").written() / 2)
        .collect();
    assert_eq!(parts, [2002, 2002, 2001, 2001, 2001]);
    assert_eq!((outcome.row().bytes, outcome.row().blocks), (20_014, 2));
}

#[test]
fn no_block_starts_after_the_duration_and_the_last_one_is_finished() {
    let changes = json!({ "workload": { "servers": 3, "duration": "10ms" } });
    let outcome = outcome(&changes);
    let limit = Time::ZERO + Span::from_millis(10);
    let last = |kind| outcome.events_of(kind).last().expect("there are blocks").time;
    assert!(last(EventKind::BlockStart) <= limit && limit < last(EventKind::BlockDone));
    assert_eq!(last(EventKind::BlockDone), outcome.core.now());
    let row = outcome.row();
    assert_eq!(outcome.events_of(EventKind::BlockStart).count() as u64, row.blocks);
    assert_eq!(row.bytes, row.blocks * 3 * 10 * MSS);
    assert!((row.goodput_bps - row.bytes as f64 * 8.0 / row.elapsed_s).abs() < 1.0);
}

#[test]
fn a_number_of_blocks_is_met_exactly() {
    for connections in ["fresh", "persistent"] {
        let changes = json!({ "workload": { "blocks": 7, "connections": connections } });
        assert_eq!(outcome(&changes).row().blocks, 7, "{connections}");
    }
}

#[test]
fn a_run_is_given_up_at_its_time_limit_to_the_picosecond() {
    let changes = json!({ "workload": { "sru": "100MB" }, "run": { "time_limit": "5ms" } });
    let outcome = run(&scenario(&changes), Vec::new());
    assert_eq!(outcome.core.now(), Time::ZERO + Span::from_millis(5));
    let row = outcome.row();
    assert_eq!((row.status, row.blocks, row.completion_s), ("time-limit", 0, None));
    assert!((0.9..1.0).contains(&row.link_utilization), "{}", row.link_utilization);
}

#[test]
fn a_window_survives_its_block_on_a_persistent_connection_only() {
    let after = |connections| {
        let changes = json!({ "workload": { "blocks": 3, "connections": connections } });
        let outcome = outcome(&changes);
        let server = outcome.core.hosts.connection(EndId::server(0)).expect("TCP");
        (server.epoch(), server.written(), outcome.row().packets_sent, server.cwnd())
    };
    let (fresh, persistent) = (after("fresh"), after("persistent"));
    assert_eq!((fresh.0, fresh.1, fresh.2), (2, 10 * MSS, 30));
    assert_eq!((persistent.0, persistent.1, persistent.2), (0, 30 * MSS, 30));
    // The window is four segments plus one for each ACK. The ACKs are those of the last block if
    // connections are fresh, and those of at least two blocks if they are persistent.
    assert!(fresh.3 < 14 * MSS && persistent.3 >= 24 * MSS, "{} and {}", fresh.3, persistent.3);
}

/// Records the times at which datagrams and segments are offered to the switch's port towards the
/// client.
#[derive(Default)]
struct Arrivals {
    datagrams: Vec<(Time, Packet)>,
    segments: Vec<Packet>,
}

impl Probe for Arrivals {}

impl Listener for Arrivals {
    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {
        let from_server = packet.route.is_forward()
            && port != Network::switch_port(incast_net::topology::HostId(0));
        if packet.flags.contains(Flags::DATAGRAM) && from_server {
            self.datagrams.push((now, *packet));
        } else if from_server && packet.payload > 0 {
            self.segments.push(*packet);
        }
    }
}

/// The rows of a run, and the arrivals at the switch from the servers' side.
fn arrivals(scenario: &Scenario) -> (Vec<Row>, Arrivals) {
    let world = World::new(scenario, 1, |_| Arrivals::default());
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    (rows, core.wires.probe)
}

/// Runs one second of reading at low load with `background`.
fn second_beside(background: &Value) -> (Vec<Row>, Arrivals) {
    let changes = json!({
        "workload": { "duration": "1s", "sru": MSS, "request_jitter": "0s" },
        "transport": { "handshake": "none" },
        "network": { "delay": "250us" },
        "background": [background],
    });
    arrivals(&scenario(&changes))
}

fn gaps(datagrams: &[(Time, Packet)]) -> Vec<Span> {
    datagrams.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

#[test]
fn cbr_sends_at_equal_intervals_at_its_rate() {
    let background = json!({ "name": "cbr", "rate": "20Mbps", "packet_size": 1250 });
    let (rows, arrivals) = second_beside(&background);
    assert!(gaps(&arrivals.datagrams).iter().all(|gap| *gap == Span::from_micros(500)));
    assert!(arrivals.datagrams[0].0 < Time::ZERO + Span::from_millis(1), "within an interval");
    assert!((1998..=2002).contains(&arrivals.datagrams.len()), "{}", arrivals.datagrams.len());
    assert_eq!(arrivals.datagrams[0].1.size(), 1250);
    assert_eq!(rows[1].group, "background.0.cbr");
    // Of the 1250 bytes of a datagram, 40 are headers.
    let share = rows[1].goodput_bps / (20e6 * 1210.0 / 1250.0);
    assert!((0.99..1.01).contains(&share), "{share}");
}

#[test]
fn poisson_sends_at_exponential_intervals_at_its_rate() {
    let background = json!({ "name": "poisson", "rate": "50Mbps", "packet_size": 1250 });
    let (_, arrivals) = second_beside(&background);
    // 5000 datagrams are expected, with a standard deviation of 71.
    assert!((4720..=5280).contains(&arrivals.datagrams.len()), "{}", arrivals.datagrams.len());
    let gaps: Vec<f64> = gaps(&arrivals.datagrams).iter().map(|gap| gap.as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    let variation = variance.sqrt() / mean;
    assert!((0.94..1.06).contains(&variation), "as wide as its mean: {variation}");
}

#[test]
fn no_rate_is_no_datagram() {
    for name in ["cbr", "poisson"] {
        let changes = json!({
            "workload": { "servers": 64, "duration": "500ms", "sru": MSS },
            "background": [{ "name": name, "rate": "0bps", "packet_size": 1, "from": "servers" }],
        });
        assert_eq!(arrivals(&scenario(&changes)).1.datagrams, [], "{name}");
    }
}

#[test]
fn datagrams_from_every_server_start_when_told() {
    let background = json!({
        "name": "cbr", "rate": "10Mbps", "packet_size": 1250, "from": "servers", "start": "500ms",
    });
    let changes = json!({
        "workload": { "servers": 4, "duration": "600ms", "sru": MSS },
        "network": { "delay": "250us" },
        "background": [background],
    });
    let (_, arrivals) = arrivals(&scenario(&changes));
    assert!(arrivals.datagrams.iter().all(|(at, _)| *at > Time::ZERO + Span::from_millis(500)));
    let mut flows: Vec<u32> = arrivals.datagrams.iter().map(|it| it.1.route.flow()).collect();
    flows.sort_unstable();
    for sent in flows.chunk_by(|one, other| one == other) {
        assert!((99..=102).contains(&sent.len()), "{} in 100 ms", sent.len());
    }
    flows.dedup();
    assert_eq!(flows, [4, 5, 6, 7]);
}

#[test]
fn long_flows_send_to_the_end_with_their_own_transport() {
    let changes = json!({
        "workload": { "duration": "100ms", "sru": MSS, "request_jitter": "0s" },
        "background": [{
            "name": "long-flow", "count": 2, "start": "20ms",
            "transport": { "mss": 500, "receive_window": 3, "header_size": 20, "ack_size": 20 },
        }],
    });
    let (rows, arrivals) = arrivals(&scenario(&changes));
    let of = |flow| arrivals.segments.iter().filter(move |it| it.route.flow() == flow);
    assert!(of(0).all(|segment| u64::from(segment.payload) == MSS && segment.header == 40));
    for flow in [1, 2] {
        assert!(of(flow).all(|segment| (segment.payload, segment.header) == (500, 20)));
    }
    // Each flow sends three segments per round trip. There are two links of 25 us in each
    // direction. Each link sends a segment in 4.16 us and an ACK in 0.16 us. The actual round trip
    // also includes the time that a segment waits for the others.
    let round_trip = 100e-6 + 2.0 * 4.16e-6 + 2.0 * 0.16e-6;
    let most = 2.0 * 3.0 * 500.0 * 8.0 / round_trip;
    let share = rows[1].goodput_bps / most;
    assert!((0.9..=1.0).contains(&share), "{share}");
    assert!((0.0799..0.0805).contains(&rows[1].elapsed_s), "{}", rows[1].elapsed_s);
    assert_eq!((rows[1].status, rows[1].timeouts), ("ok", 0));
}

#[test]
fn requests_of_any_size_are_one_packet_of_at_least_a_header() {
    for (size, on_the_wire) in [(0, 40), (1, 40), (100, 100)] {
        let changes = json!({
            "workload": { "request_size": size },
            "transport": { "handshake": "none" },
        });
        let spent = outcome(&changes).row().elapsed_s;
        let bare = json!({ "transport": { "handshake": "none" } });
        let extra = spent - outcome(&bare).row().elapsed_s;
        // The packet crosses two links of 1 Gbps.
        let expected = 2.0 * f64::from(on_the_wire - 40) * 8e-9;
        assert!((extra - expected).abs() < 1e-12, "{size}: {extra}");
    }
}

#[test]
fn servers_that_wait_for_their_turn_share_unevenly_and_even_ones_evenly() {
    let fairness = |transport: &str| {
        let changes = json!({ "workload": { "servers": 4, "blocks": 2 }, "transport": transport });
        outcome(&changes).row().fairness.expect("blocks were read")
    };
    // For goodputs of 1, 1/2, 1/3 and 1/4, the index is (25/12)² / (4 · 205/144) = 0.762.
    let waiting = fairness("ccs");
    assert!((waiting - 0.762).abs() < 0.02, "{waiting}");
    assert!(fairness("newreno") > 0.99);
}
