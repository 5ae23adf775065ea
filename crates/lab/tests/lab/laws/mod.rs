//! Laws that hold for every run.

mod books;
mod fabrics;
mod scenarios;
mod switches;
mod traces;
mod waits;
mod witness;

use std::cell::Cell;
use std::collections::BTreeSet;

use incast_engine::{Limit, Span, Time};
use incast_host::EndId;
use incast_host::cause::Cause;
use incast_host::stalls::StallCause;
use incast_lab::core::Core;
use incast_lab::world::World;
use incast_lab::{Control, Row, Run, TraceRequest};
use incast_net::PortId;
use incast_net::port::Ties;
use incast_remedies::Slot;
use incast_scenario::Scenario;
use incast_scenario::{Group, Table};
use incast_traffic::{Scope, WorkloadConfig};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};
use serde_json::Value;

use crate::harness::of_tcp;

use crate::taxonomy::stalls;

pub use scenarios::scenarios;
pub use waits::Waits;
pub use witness::Witness;

pub const SEED: u64 = 7;

/// The number of random scenarios: 100, or `INCAST_CASES`. Every execution tests the same
/// scenarios, except if `PROPTEST_RNG_SEED` is set.
pub fn config() -> ProptestConfig {
    let cases = std::env::var("INCAST_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = ProptestConfig {
        cases: cases.unwrap_or(100),
        failure_persistence: None,
        max_shrink_iters: 400,
        max_shrink_time: 20_000,
        ..ProptestConfig::default()
    };
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    ProptestConfig { rng_seed, ..config }
}

#[test]
fn the_laws_hold_of_random_scenarios() {
    let stalls = Cell::new(0);
    let laws = |document: Value| -> Result<(), TestCaseError> {
        let scenario = Scenario::from_document(&document).expect("the generator knows the rules");
        let core = hold(&scenario);
        stalls.set(stalls.get() + core.wires.probe.waits.told);
        another_seed_differs(&scenario, &core.wires.probe);
        Ok(())
    };
    match TestRunner::new(config()).run(&scenarios(), laws) {
        Err(TestError::Fail(why, document)) => panic!("{why}\nminimal scenario: {document}"),
        result => result.expect("scenarios can be made"),
    }
    assert!(stalls.get() > 0, "some of them wait for long");
}

/// Panics if a scenario violates a law.
pub fn hold(scenario: &Scenario) -> Core<Witness> {
    let (rows, core) = witnessed(scenario);
    repeated(scenario, &rows, core.now());
    core
}

/// Runs a scenario with a witness, and compares the results with the packets that the witness saw.
fn witnessed(scenario: &Scenario) -> (Vec<Row>, Core<Witness>) {
    let (rows, core) = observe(scenario, SEED);
    packets_are_conserved(&core);
    work_is_done_or_goes_on(scenario, &rows, &core);
    bytes_arrive_exactly_once(scenario, &rows, &core);
    all_is_the_sum(scenario, &rows);
    let of_groups = own(scenario, &rows);
    timeouts_have_one_cause_each(of_groups, &core.wires.probe);
    stalls_have_one_cause_each(of_groups, &core.wires.probe);
    packets_are_counted(of_groups, &core.wires.probe);
    nothing_exceeds_the_network(scenario, &rows[0]);
    (rows, core)
}

fn observe(scenario: &Scenario, seed: u64) -> (Vec<Row>, Core<Witness>) {
    let network = &scenario.network;
    let core = network.core.as_ref();
    let overtaking = network.reorder.is_some()
        || network.queue.acts_at_departure()
        || core.is_some_and(|core| core.queue.acts_at_departure());
    let waits = Waits::new(scenario);
    let witness = Witness::new(segments(scenario), overtaking, waits);
    let mut world = World::new(scenario, seed, |_| witness);
    let core = world.core_mut();
    core.wires.probe.hosts = core.wires.network.hosts();
    world.run(&Control::default()).expect("nobody cancels")
}

/// The segment size of every flow with a connection.
fn segments(scenario: &Scenario) -> Vec<u64> {
    let groups = scenario.groups();
    let segments = groups.iter().filter_map(|group| {
        let mss = u64::from(group.transport?.full_packet().payload);
        Some(std::iter::repeat_n(mss, group.flows() as usize))
    });
    segments.flatten().collect()
}

/// The groups of a scenario, each with its row.
fn by_group<'a>(scenario: &'a Scenario, rows: &'a [Row]) -> Vec<(Group<'a>, &'a Row)> {
    scenario.groups().into_iter().zip(own(scenario, rows)).collect()
}

/// The rows of groups, without the sum of several workloads.
fn own<'a>(scenario: &Scenario, rows: &'a [Row]) -> &'a [Row] {
    &rows[usize::from(scenario.traffic.several)..]
}

/// Checks that the row of several workloads is their sum.
fn all_is_the_sum(scenario: &Scenario, rows: &[Row]) {
    if !scenario.traffic.several {
        return;
    }
    let workloads = scenario.traffic.workloads.len();
    let sum = |get: fn(&Row) -> u64| rows[1..=workloads].iter().map(get).sum::<u64>();
    let columns: [fn(&Row) -> u64; 6] = [
        |row| row.bytes,
        |row| row.blocks,
        |row| row.timeouts,
        |row| row.stalls,
        |row| row.packets_sent,
        |row| row.retransmitted_packets,
    ];
    for get in columns {
        assert_eq!(get(&rows[0]), sum(get));
    }
    let longest = rows[1..=workloads].iter().map(|row| row.elapsed_s).fold(0.0, f64::max);
    assert!((rows[0].elapsed_s - longest).abs() < 1e-12);
}

fn packets_are_conserved(core: &Core<Witness>) {
    let witness = &core.wires.probe;
    for (port, number) in core.wires.network.ports().iter().zip(0..) {
        assert!(port.is_conserving(), "port {number}: {:?}", port.counters());
        let offered = witness.offered.get(&PortId(number)).copied().unwrap_or(0);
        assert_eq!(port.counters().offered, offered, "port {number}");
        assert_eq!(port.in_flight().count(), witness.crossing(PortId(number)), "port {number}");
    }
    assert_eq!(core.delivered, witness.received);
    assert_eq!(witness.sent, core.delivered + witness.dropped + core.in_flight());
    assert_eq!(
        core.wires.network.packets_held() as u64,
        core.in_flight(),
        "none is kept, none lost"
    );
}

/// Checks that a run ends when its work is complete. With endless traffic, the time limit may end
/// the run earlier. Every flow with remaining work then waits for something.
fn work_is_done_or_goes_on(scenario: &Scenario, rows: &[Row], core: &Core<Witness>) {
    if core.finished {
        assert_eq!(rows[0].status, "ok");
        for (group, row) in by_group(scenario, rows) {
            if let (WorkloadConfig::BarrierRead(read), Scope::Workload(_)) =
                (group.config, group.scope)
            {
                assert!(read.blocks.is_none_or(|blocks| u64::from(blocks) == row.blocks));
            }
        }
        return;
    }
    assert_ne!(rows[0].status, "stalled");
    assert!(!scenario.traffic.background.is_empty(), "a workload alone comes to its end");
    assert_eq!(core.now(), Time::ZERO + scenario.run.time_limit);
    for flow in 0..scenario.groups()[0].flows() {
        let (client, server) = (EndId::client(flow), EndId::server(flow));
        let connection = |end| core.hosts.connection(end);
        // A flow without an open connection has received no request yet, or is complete.
        let (Some(asking), Some(asked)) = (connection(client), connection(server)) else {
            continue;
        };
        let asks = asking.requests_made() > asked.requests_seen();
        let waits = |end: &incast_tcp::Connection| end.poll_timeout() != Time::NEVER;
        assert!(!asks || waits(asking) || waits(asked), "nobody repeats the request of {flow}");
    }
}

fn bytes_arrive_exactly_once(scenario: &Scenario, rows: &[Row], core: &Core<Witness>) {
    let delivered = |first: u32, count: u32| -> u64 {
        (first..first + count).map(|flow| core.wires.probe.delivered(flow)).sum()
    };
    let mut first = 0;
    for (group, row) in by_group(scenario, rows) {
        if group.transport.is_none() {
            continue;
        }
        let all = delivered(first, group.flows());
        let begun = |bytes: u64| if core.finished && !scenario.traffic.several { 0 } else { bytes };
        match group.config {
            WorkloadConfig::BarrierRead(read) => {
                assert_eq!(row.bytes, row.blocks * read.block());
                let is_workload = group.scope == Scope::Workload(0);
                let begun = |bytes| if is_workload { begun(bytes) } else { bytes };
                assert!((row.bytes..=row.bytes + begun(read.block())).contains(&all), "{all}");
                for server in (0..read.servers).filter(|_| read.active() == read.servers) {
                    let sru = read.sru_of(server);
                    let (whole, one) = (row.blocks * sru, delivered(first + server, 1));
                    assert!((whole..=whole + begun(sru)).contains(&one), "server {server}: {one}");
                }
            }
            WorkloadConfig::LongFlows(_) | WorkloadConfig::LongFlow(_) => {
                assert_eq!(row.bytes, all);
            }
            _ => assert!(row.bytes <= all, "{} of {all}", row.bytes),
        }
        first += group.flows();
    }
}

fn timeouts_have_one_cause_each(rows: &[Row], witness: &Witness) {
    use Cause::{
        AckLoss, FullWindow, Handshake, LackOfDupacks, LostRetransmission, Spurious, Tail,
    };
    let column = |get: fn(&Row) -> u64| rows.iter().map(get).sum::<u64>();
    let timeouts =
        |causes: &[Cause]| causes.iter().map(|cause| witness.timeouts(*cause)).sum::<u64>();
    assert_eq!(column(|row| row.timeouts_handshake), timeouts(&[Handshake]));
    assert_eq!(column(|row| row.timeouts_spurious), timeouts(&[Spurious]));
    assert_eq!(column(|row| row.timeouts_ack_loss), timeouts(&[AckLoss]));
    assert_eq!(column(|row| row.timeouts_lost_retransmission), timeouts(&[LostRetransmission]));
    assert_eq!(column(|row| row.timeouts_full_window), timeouts(&[FullWindow]));
    assert_eq!(column(|row| row.timeouts_lack_of_dupacks), timeouts(&[LackOfDupacks, Tail]));
    assert_eq!(column(|row| row.timeouts_tail), timeouts(&[Tail]));
    for row in rows {
        let causes = row.timeouts_handshake
            + row.timeouts_spurious
            + row.timeouts_ack_loss
            + row.timeouts_lost_retransmission
            + row.timeouts_full_window
            + row.timeouts_lack_of_dupacks;
        assert_eq!(row.timeouts, causes);
        assert!(row.timeouts_tail <= row.timeouts_lack_of_dupacks);
        assert!(row.timeouts_block_head <= row.timeouts);
    }
}

/// Checks that every long gap between arrivals is reported as a stall with a cause when it ends,
/// and that no other stall is reported.
fn stalls_have_one_cause_each(rows: &[Row], witness: &Witness) {
    witness.waits.is_told();
    assert_eq!(rows.iter().map(|row| row.stalls).sum::<u64>(), witness.waits.told);
    let mut sum = [0; 8];
    for row in rows {
        let columns = stalls::columns(row);
        assert_eq!(row.stalls, columns.iter().sum::<u64>());
        assert_eq!(row.stall_max_s.is_some(), row.stalls > 0);
        sum = std::array::from_fn(|cause| sum[cause] + columns[cause]);
    }
    let told = |cause: StallCause| witness.stalls.get(cause.name()).copied().unwrap_or(0);
    assert_eq!(sum, StallCause::ALL.map(told));
}

fn packets_are_counted(rows: &[Row], witness: &Witness) {
    let column = |get: fn(&Row) -> u64| rows.iter().map(get).sum::<u64>();
    assert_eq!(column(|row| row.packets_sent), witness.data);
    assert_eq!(column(|row| row.retransmitted_packets), witness.retransmissions);
    assert_eq!(rows[0].drops, witness.dropped);
    assert_eq!(rows[0].packet_hops, witness.hops);
}

fn nothing_exceeds_the_network(scenario: &Scenario, row: &Row) {
    let (network, tcp) = (&scenario.network, of_tcp(scenario));
    let remedies = scenario.transport.remedies();
    let shortens = remedies.iter().any(|it| it.remedy().slots().contains(&Slot::Headers));
    let header = if shortens { 0 } else { u32::from(tcp.header) };
    let packet = tcp.mss + header + network.layer2_overhead;
    let workloads = scenario.traffic.workloads.iter();
    let clients = workloads.flat_map(|table| table.config.workload().clients());
    let clients = clients.collect::<BTreeSet<_>>().len() as f64;
    let sending = network.client_rate.transmission_time(packet.into()).as_secs_f64();
    let most = clients * f64::from(tcp.mss) * 8.0 / sending;
    assert!(row.goodput_bps <= most * (1.0 + 1e-9), "{} of {most}", row.goodput_bps);
    assert!((0.0..=1.0).contains(&row.link_utilization), "{}", row.link_utilization);
    assert!((0.0..=1.0).contains(&row.drop_ratio), "{}", row.drop_ratio);
    assert!(row.queue_mean_bytes <= row.queue_max_bytes as f64);
    let fits = |buffer: Limit| match buffer {
        Limit::Packets(limit) => row.queue_max_packets <= limit,
        Limit::Bytes(limit) => row.queue_max_bytes <= limit,
    };
    let in_core = network.core.as_ref().is_some_and(|core| fits(core.buffer));
    assert!(
        fits(network.buffer) || in_core,
        "{} packets, {} bytes",
        row.queue_max_packets,
        row.queue_max_bytes
    );
    let spans = [
        row.completion_p50_s,
        row.completion_p95_s,
        row.completion_p99_s,
        row.completion_p999_s,
        row.completion_max_s,
    ];
    assert!(spans.is_sorted() && spans[2] <= Some(row.elapsed_s));
    if matches!(
        scenario.traffic.workloads[..],
        [Table { config: WorkloadConfig::BarrierRead(_), .. }]
    ) && !scenario.traffic.several
    {
        assert_eq!(row.fairness.is_some(), row.blocks > 0);
    }
    assert!(row.fairness.is_none_or(|it| it > 0.0 && it <= 1.0), "{:?}", row.fairness);
}

/// Checks that the same seed gives the same rows and the same traces. The rows depend neither on
/// traces nor on departure events at every port.
fn repeated(scenario: &Scenario, rows: &[Row], end: Time) {
    let run = |trace: &TraceRequest| {
        incast_lab::run(scenario, SEED, trace, &Control::default()).expect("nobody cancels")
    };
    let everything = TraceRequest::parse(["queue", "cwnd", "events"]).expect("these exist");
    let (silent, one, other) = (run(&TraceRequest::default()), run(&everything), run(&everything));
    let expected = timeless(rows);
    for Run { rows, .. } in [&silent, &one, &other] {
        assert_eq!(timeless(rows), expected);
    }
    // On a link without delay, the order of an arrival and a departure at the same time is a matter
    // of definition (ADR 7).
    let network = &scenario.network;
    let core_delay = network.core.as_ref().map(|core| core.delay);
    let no_delay = [Some(network.server_delay), Some(network.client_delay), core_delay]
        .contains(&Some(Span::ZERO));
    if !(no_delay && network.ties != Ties::DepartureFirst) {
        let mut stepped = scenario.clone();
        stepped.network.departure_events = true;
        assert_eq!(self::rows(&stepped), expected, "departures one by one");
        // A run with traces spares no event.
        let events = TraceRequest::parse(["events"]).expect("it exists");
        let all = incast_lab::run(&stepped, SEED, &events, &Control::default());
        let all = all.expect("nobody cancels");
        assert_eq!(timeless(&all.rows), expected, "departures as events");
    }
    let same = format!("{:?}", one.trace) == format!("{:?}", other.trace);
    assert!(same, "two traces of one seed differ");
    traces::agree_with_the_rows(scenario, &one, end);
}

fn another_seed_differs(scenario: &Scenario, witness: &Witness) {
    let WorkloadConfig::BarrierRead(read) = &scenario.traffic.workloads[0].config else { return };
    let jitter = !read.request_jitter.is_zero() && read.active() > 1;
    if jitter || !read.start_spread.is_zero() {
        let (_, other) = observe(scenario, SEED + 1);
        assert_ne!(other.wires.probe.requests, witness.requests);
    }
}

/// The rows of a scenario, without their run times.
pub fn rows(scenario: &Scenario) -> Vec<String> {
    let run = incast_lab::run(scenario, SEED, &TraceRequest::default(), &Control::default());
    timeless(&run.expect("nobody cancels").rows)
}

/// The rows as strings, without their run times.
pub fn timeless(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| format!("{:?}", Row { wall_s: 0.0, ..row.clone() })).collect()
}
