//! Traces and rows of runs with known results.

use incast_engine::{Span, Time};
use incast_host::milestone::EventKind;
use incast_lab::probe::{KINDS, QueueSummary, QueueTrace, Trace};
use incast_lab::results::columns;
use incast_lab::{Control, Run, TraceRequest};
use incast_scenario::Scenario;
use serde_json::json;

use crate::harness::{Loss, MSS, run, scenario};

fn traced(scenario: &Scenario, names: &[&str]) -> Run {
    let request = TraceRequest::parse(names.iter().copied()).expect("these exist");
    incast_lab::run(scenario, 1, &request, &Control::default()).expect("nobody cancels")
}

/// Eight servers overflow a buffer of 32 packets for tens of milliseconds.
fn collapse() -> Scenario {
    scenario(&json!({
        "network": { "buffer": "32pkt" },
        "workload": { "servers": 8, "sru": 256 * MSS, "start_spread": "20us" },
    }))
}

/// The only queue of a star with one client.
fn only_queue(trace: Trace) -> QueueTrace {
    let queues: Vec<_> = trace.queue.expect("it was asked for").iter().cloned().collect();
    assert_eq!(queues.len(), 1);
    queues.into_iter().next().expect("there is one")
}

#[test]
fn decimation_halves_the_resolution_until_it_fits_and_keeps_every_peak() {
    let scenario = collapse();
    let (binned, full) = (traced(&scenario, &["queue"]), traced(&scenario, &["queue:full"]));
    let (binned, full) = (&only_queue(binned.trace), &only_queue(full.trace));
    assert_eq!(full.bin_width(), Span::from_micros(1));
    assert!(full.iter().count() > 4096 && binned.iter().count() <= 2048);
    let factor = binned.bin_width().as_picos() / full.bin_width().as_picos();
    assert!(factor >= 4 && factor.is_power_of_two(), "{factor}");

    let mut fine = full.iter().peekable();
    for (start, coarse) in binned.iter() {
        let mut within = Vec::new();
        while let Some(bin) = fine.next_if(|(at, _)| *at < start + binned.bin_width()) {
            within.push(bin.1);
        }
        let of = |pick: fn(&[u32; 3]) -> u32| within.iter().map(move |bin| pick(&bin.packets));
        assert_eq!(of(|it| it[0]).min(), Some(coarse.packets[0]));
        assert_eq!(of(|it| it[1]).max(), Some(coarse.packets[1]));
        assert_eq!(of(|it| it[2]).next_back(), Some(coarse.packets[2]));
        assert_eq!(within.iter().map(|bin| bin.drops).sum::<u32>(), coarse.drops);
        let sending = within.iter().fold(Span::ZERO, |sum, bin| sum + bin.sending);
        assert_eq!(sending, coarse.sending);
    }
    assert_eq!(fine.next(), None);
}

#[test]
fn the_queue_of_a_known_burst() {
    // Two servers send four segments each, and a link sends a segment in 8.32 us. The second server
    // receives its request 0.32 us after the first server.
    let changes = json!({
        "workload": { "servers": 2, "sru": 4 * MSS },
        "transport": { "handshake": "none" },
    });
    let Run { rows, trace } = traced(&scenario(&changes), &["queue:full"]);
    let queue = only_queue(trace);
    // Each further pair of packets lengthens the queue by one packet. The last packet finds three
    // waiting packets and one packet being sent.
    assert_eq!((rows[0].queue_max_packets, rows[0].queue_max_bytes), (4, 4 * 1040));
    assert_eq!(queue.iter().map(|(_, bin)| bin.packets[1]).max(), Some(4));
    let first = queue.iter().find(|(_, bin)| bin.packets[1] > 0).expect("the queue builds up");
    // A request reaches a server after 50.64 us, and a segment then reaches the switch after 33.32
    // us.
    assert_eq!(first.0, Time::ZERO + Span::from_micros(84));
    let sending = queue.iter().fold(Span::ZERO, |sum, (_, bin)| sum + bin.sending);
    assert_eq!(sending, Span::from_nanos(8 * 8320));
    // The port sends eight packets back to back, and the last packet then takes 25 us on the
    // client's link.
    let end = 83.96e-6 + 8.0 * 8.32e-6 + 25e-6;
    assert!((rows[0].elapsed_s - end).abs() < 1e-12, "{}", rows[0].elapsed_s);
    assert!((rows[0].link_utilization - 8.0 * 8.32e-6 / end).abs() < 1e-9);
    let pair = |n: i32| f64::from(n) * 8.32e-6 + f64::from(n + 1) * 8.32e-6 - 0.32e-6;
    let mean = 1040.0 * (0..4).map(pair).sum::<f64>() / end;
    assert!((rows[0].queue_mean_bytes - mean).abs() < 1e-6, "{}", rows[0].queue_mean_bytes);
}

#[test]
fn an_idle_time_is_one_pair_of_rows_however_many_packets_it_loses() {
    let outcome = run(&scenario(&json!({})), Loss::of_segments(0, 0, 3));
    let times = |kind| outcome.events_of(kind).map(|row| row.time).collect::<Vec<_>>();
    let (idle, busy) = (times(EventKind::LinkIdle), times(EventKind::LinkBusy));
    // The first four segments are lost. The link is therefore idle from the SYN-ACK to the
    // retransmission after the timeout.
    let timeout = outcome.events_of(EventKind::Timeout).next().expect("all was lost").time;
    assert!(idle[0] < timeout && timeout < busy[0]);
    assert_eq!(idle.len(), busy.len());
    assert!(idle.iter().zip(&busy).all(|(idle, busy)| idle < busy));
    assert!(busy.iter().zip(&idle[1..]).all(|(busy, next)| busy < next));
}

#[test]
fn an_idle_time_belongs_to_the_block_in_which_it_began() {
    let changes = json!({
        "workload": { "blocks": 3, "sru": MSS, "start_spread": "0s", "connections": "persistent" },
        "transport": { "handshake": "none" },
    });
    let outcome = run(&scenario(&changes), Vec::new());
    let blocks: Vec<u32> = outcome.events_of(EventKind::LinkIdle).map(|row| row.block).collect();
    assert_eq!(blocks, [0, 1]);
    assert!(outcome.events().is_sorted_by_key(|row| (row.time, row.block)));
}

#[test]
fn windows_are_traced_from_their_first_value_to_their_last() {
    let changes = json!({ "transport": { "initial_window": 2 } });
    let Run { trace, .. } = traced(&scenario(&changes), &["cwnd:full"]);
    let flows = trace.cwnd.unwrap();
    let [server] = flows.flows() else { panic!("one server, one flow") };
    let steps: Vec<u64> = server.iter().map(|(_, bin)| bin.cwnd[2] / MSS).collect();
    assert_eq!(steps.first(), Some(&2));
    // In slow start, the window grows by one segment for each ACK that arrives before the block is
    // complete.
    assert!(steps.is_sorted_by(|one, next| next - one <= 1), "{steps:?}");
    assert_eq!(steps.last(), Some(&8));
    assert!(server.iter().all(|(_, bin)| bin.flight <= 10 * MSS && bin.rto > Span::ZERO));
}

#[test]
fn trace_names_are_checked() {
    let error = TraceRequest::parse(["queue", "cwn"]).unwrap_err();
    assert!(
        error.contains("\"cwn\"") && error.contains("queue, cwnd, events, each with"),
        "{error}"
    );
    assert!(TraceRequest::parse(["events:full"]).is_ok());
    assert!(TraceRequest::parse(["queue:fine"]).is_err());
    assert!(TraceRequest::parse([]).unwrap().is_empty());
}

/// Every column of the table of results has a unit and a description, in the order of the table.
#[test]
fn every_column_is_described() {
    let Run { rows, .. } = traced(&scenario(&json!({})), &[]);
    let names: Vec<_> = rows[0].cells().map(|(name, _)| name).collect();
    let described = columns("rows").unwrap();
    assert!(described.len() > names.len(), "remedies have columns of their own");
    assert!(names.iter().zip(&described).all(|(name, column)| *name == column.name));
    for table in ["rows"].into_iter().chain(KINDS.iter().map(|kind| kind.table)) {
        for column in columns(table).unwrap() {
            assert!(column.description.ends_with('.'), "{table}.{}", column.name);
            if table == "rows" {
                assert_eq!(column.name.ends_with("_s"), column.unit == "s", "{}", column.name);
                assert_eq!(
                    column.name.ends_with("_bps"),
                    column.unit == "bit/s",
                    "{}",
                    column.name
                );
            }
        }
    }
    assert_eq!(columns("tables"), None);
}

/// Every PLATO sender begins with a heartbeat, so the first waiting packets all have labels. Later,
/// packets without a label also wait. Every new segment with a label is counted when it is sent.
#[test]
fn labels_are_seen_in_the_queue_and_at_the_sender() {
    for queue in ["label-threshold", "push-out"] {
        let changes = json!({
            "network": { "buffer": "32pkt", "queue": queue },
            "workload": { "servers": 8, "sru": 64 * MSS },
            "transport": { "name": "plato", "initial_window": 1 },
        });
        let Run { trace, .. } = traced(&scenario(&changes), &["queue:full", "cwnd:full"]);
        let flows = trace.cwnd.clone().expect("it was asked for");
        let queue = only_queue(trace);
        let waiting = || queue.iter().map(|(_, bin)| bin).filter(|bin| bin.packets[2] > 1);
        let first = waiting().next().expect("the queue builds up");
        assert_eq!(first.labelled[2], first.packets[2]);
        assert_eq!(first.heartbeats, first.packets[2]);
        assert!(waiting().any(|bin| bin.labelled[2] < bin.packets[2]));
        // Retransmissions have labels, too, but are not heartbeats. Each of the eight senders has
        // at most one heartbeat in the network.
        assert!(waiting().all(|bin| bin.heartbeats <= bin.labelled[2].min(8)));
        assert!(waiting().any(|bin| bin.heartbeats < bin.labelled[2]));
        assert!(waiting().any(|bin| bin.heartbeats > 0 && bin.heartbeats < bin.packets[2]));
        for bins in flows.flows() {
            let counts: Vec<u32> = bins.iter().map(|(_, bin)| bin.labelled).collect();
            assert!(counts.is_sorted() && counts.windows(2).all(|pair| pair[1] <= pair[0] + 1));
            // A sender sends 64 segments in all, and labels one of them per round trip.
            assert!((4..64).contains(counts.last().expect("it was traced")), "{counts:?}");
        }
    }
    let Run { trace, .. } = traced(&collapse(), &["queue"]);
    let unlabelled = |bin: &QueueSummary| (bin.labelled, bin.heartbeats) == ([0; 3], 0);
    assert!(only_queue(trace).iter().all(|(_, bin)| unlabelled(bin)));
}
