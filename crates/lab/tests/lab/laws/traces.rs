//! Compares traces with the counters of the same run.

use std::collections::BTreeMap;

use incast_engine::{Span, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_lab::probe::{EventTrace, QueueSummary, QueueTrace};
use incast_lab::{Row, Run};
use incast_scenario::{Group, Scenario};
use incast_traffic::WorkloadConfig;

pub fn agree_with_the_rows(scenario: &Scenario, run: &Run, end: Time) {
    let row = &run.rows[0];
    let queues = run.trace.queue.as_ref().expect("it was asked for");
    // The row describes one of the ports. If no port matches the row, the first port is compared,
    // and the failed assertion shows the difference.
    let told = queues.iter().find(|queue| {
        let busy = share_of_sending(queue, end);
        let peaks = (most(queue, |bin| bin.packets[1].into()), most(queue, |bin| bin.bytes[1]));
        // The ports of two clients may have the same peaks and the same sending time, but different
        // drops.
        peaks == (row.queue_max_packets, row.queue_max_bytes)
            && (busy - row.link_utilization).abs() < 1e-9
            && (drop_ratio(queue) - row.drop_ratio).abs() < 1e-12
    });
    queue_agrees(told.or(queues.iter().next()).expect("a client has a port"), row, end);
    let events = run.trace.events.as_ref().expect("they were asked for");
    events_agree(scenario, events, &run.rows);
    let base_rtt = scenario.network.delay(scenario.trunks()) * 2;
    idle_times_alternate(events, base_rtt);
}

fn most(queue: &QueueTrace, get: fn(&QueueSummary) -> u64) -> u64 {
    queue.iter().map(|(_, bin)| get(bin)).max().unwrap_or(0)
}

fn share_of_sending(queue: &QueueTrace, end: Time) -> f64 {
    let sending = queue.iter().fold(Span::ZERO, |sum, (_, bin)| sum + bin.sending);
    sending.as_secs_f64() / end.as_secs_f64()
}

/// Share of the offered packets that were dropped.
fn drop_ratio(queue: &QueueTrace) -> f64 {
    let sum =
        |get: fn(&QueueSummary) -> u32| queue.iter().map(|(_, bin)| u64::from(get(bin))).sum();
    let (arrivals, drops): (u64, u64) = (sum(|bin| bin.arrivals), sum(|bin| bin.drops));
    drops as f64 / arrivals.max(1) as f64
}

/// Checks that the bins contain every peak, every drop and all sending time.
fn queue_agrees(queue: &QueueTrace, row: &Row, end: Time) {
    assert_eq!(most(queue, |bin| bin.packets[1].into()), row.queue_max_packets);
    assert_eq!(most(queue, |bin| bin.bytes[1]), row.queue_max_bytes);
    let ratio = drop_ratio(queue);
    assert!((ratio - row.drop_ratio).abs() < 1e-12, "{ratio}, not {}", row.drop_ratio);
    let busy = share_of_sending(queue, end);
    assert!((busy - row.link_utilization).abs() < 1e-9, "{busy}, not {}", row.link_utilization);
    for (start, bin) in queue.iter() {
        assert!(bin.sending <= queue.bin_width(), "busier than possible in the bin at {start}");
        for [least, most, last] in [bin.packets.map(u64::from), bin.bytes] {
            assert!(least <= last && last <= most, "{bin:?}");
        }
        assert!(bin.labelled[1] <= bin.packets[1] && bin.labelled[2] <= bin.packets[2], "{bin:?}");
        assert!(bin.heartbeats <= bin.labelled[2], "{bin:?}");
    }
    assert!(queue.iter().map(|(start, _)| start).is_sorted_by(|one, next| one < next));
}

fn events_agree(scenario: &Scenario, events: &EventTrace, rows: &[Row]) {
    let rows_of = |kind| events.rows().iter().filter(move |row| row.kind == kind);
    let count = |kind| rows_of(kind).count() as u64;
    let own = &rows[usize::from(scenario.traffic.several)..];
    let all = |get: fn(&Row) -> u64| own.iter().map(get).sum::<u64>();
    assert!(events.rows().is_sorted_by_key(|row| row.time));
    assert_eq!(count(EventKind::Timeout), all(|row| row.timeouts));
    assert_eq!(count(EventKind::Stall), all(|row| row.stalls));
    assert_eq!(count(EventKind::TailProbe), all(|row| row.tail_probes));
    assert_eq!(count(EventKind::FastRetransmit), all(|row| row.fast_retransmits));
    assert_eq!(count(EventKind::Drop), rows[0].drops);
    let groups = scenario.groups();
    let shared =
        groups.iter().zip(own).filter(|(it, _)| it.load().is_some_and(|it| it.0.is_shared));
    assert_eq!(count(EventKind::BlockDone), shared.map(|(_, row)| row.blocks).sum::<u64>());
    let waits = |config: &WorkloadConfig| match config {
        WorkloadConfig::BarrierRead(read) => !read.interval.is_zero(),
        _ => false,
    };
    let is_shared = |it: &Group| it.load().is_some_and(|it| it.0.is_shared);
    let alone = groups.iter().filter(|it| is_shared(it)).count() <= 1;
    if alone && !scenario.traffic.several {
        assert!(events.rows().is_sorted_by_key(|row| row.block));
    }

    assert!(most_packets(events) <= all(|row| row.packets_sent));

    // If a block is due while another block is being read, its completion time includes the wait,
    // which the events do not show.
    let [only] = &scenario.traffic.workloads[..] else { return };
    if waits(&only.config)
        || !alone
        || !is_shared(&groups[0])
        || rows[0].blocks != count(EventKind::BlockDone)
    {
        return;
    }
    let times = |kind| rows_of(kind).map(|row| row.time);
    let blocks = times(EventKind::BlockStart).zip(times(EventKind::BlockDone));
    let total = blocks.fold(Span::ZERO, |sum, (start, done)| sum + (done - start));
    let mean = rows[0].completion_s.unwrap_or(0.0);
    let expected = total.as_secs_f64() / rows[0].blocks.max(1) as f64;
    assert!((mean - expected).abs() <= 1e-9 * expected, "{mean} s, by the events {expected} s");
}

/// The largest packet counter in the rows of each flow.
fn most_packets(events: &EventTrace) -> u64 {
    let mut most: BTreeMap<_, u64> = BTreeMap::new();
    for row in events.rows().iter().filter(|row| row.rto.is_some()) {
        let so_far = most.entry(row.flow).or_default();
        *so_far = row.packets.max(*so_far);
    }
    most.values().sum()
}

/// Checks that the events "idle" and "busy" of the link alternate, and that each idle time is
/// longer than a base round trip.
fn idle_times_alternate(events: &EventTrace, base_rtt: Span) {
    let is_link = |row: &&EventRow| matches!(row.kind, EventKind::LinkIdle | EventKind::LinkBusy);
    let turns: Vec<&EventRow> = events.rows().iter().filter(is_link).collect();
    let mut busy_since = Time::ZERO;
    for pair in turns.chunks(2) {
        let [idle, busy] = pair else { panic!("an idle time without an end: {pair:?}") };
        assert_eq!((idle.kind, busy.kind), (EventKind::LinkIdle, EventKind::LinkBusy));
        assert!(idle.time >= busy_since && busy.time - idle.time > base_rtt, "{pair:?}");
        busy_since = busy.time;
    }
}
