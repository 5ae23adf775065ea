//! Every cause of a stall, constructed packet by packet. A base round trip of the small world is
//! 117.28 us, so a wait of up to 1.1728 ms is not a stall.

use incast_engine::{Span, Time};
use incast_host::EndId;
use incast_host::milestone::{EventKind, EventRow};
use incast_host::stalls::StallCause;
use incast_lab::probe::Setting;
use incast_lab::probe::{Trace, TraceRequest};
use incast_lab::world::World;
use incast_lab::{Control, Row};
use serde_json::{Value, json};

use super::finished;
use crate::harness::{Loss, MSS, Outcome, lay, scenario};

/// A row's stalls, in the order of [`StallCause::ALL`].
pub fn columns(row: &Row) -> [u64; 8] {
    [
        row.stalls_timeout,
        row.stalls_tail_probe,
        row.stalls_handshake,
        row.stalls_pacer,
        row.stalls_persist,
        row.stalls_delayed_ack,
        row.stalls_application,
        row.stalls_network,
    ]
}

fn stalls(outcome: &Outcome) -> Vec<&EventRow> {
    outcome.events_of(EventKind::Stall).collect()
}

/// The only stall of a run: its cause, its flow and its duration. Checks that the row counts the
/// same cause.
fn only(outcome: &Outcome) -> (StallCause, u32, Span) {
    let stalls = stalls(outcome);
    let [stall] = stalls[..] else { panic!("{stalls:?}") };
    let (Some(cause), Some(flow), Some(wait)) = (stall.stall, stall.flow, stall.wait) else {
        panic!("a stall without cause, flow or length: {stall:?}");
    };
    let expected = StallCause::ALL.map(|it| u64::from(it == cause));
    assert_eq!((outcome.row().stalls, columns(outcome.row())), (1, expected));
    assert_eq!(outcome.row().stall_max_s, Some(wait.as_secs_f64()));
    (cause, flow, wait)
}

fn is_about(wait: Span, millis: u64) -> bool {
    wait >= Span::from_millis(millis) && wait < Span::from_millis(millis) + Span::from_micros(500)
}

/// Probes as in profile `linux`. If one segment is in flight, a probe also waits for the minimum
/// RTO.
fn probing(changes: &Value) -> Value {
    let mut probing = json!({ "transport": {
        "recovery": { "name": "rack-tlp", "max_ack_delay": "10ms" }, "rto_min": "50ms",
    } });
    lay(&mut probing, changes);
    probing
}

#[test]
fn what_goes_on_is_no_stall() {
    let outcome = finished(&json!({}), Loss::of_segments(0, 3, 3));
    assert_eq!((outcome.row().stalls, outcome.row().stall_max_s), (0, None));
    assert_eq!(stalls(&outcome), Vec::<&EventRow>::new());
}

#[test]
fn a_retransmission_timer() {
    let two = json!({ "transport": { "initial_window": 2 } });
    let outcome = finished(&two, Loss::of_segments(0, 2, 5));
    let (cause, flow, wait) = only(&outcome);
    assert_eq!((cause, flow), (StallCause::Timeout, 0));
    assert!(is_about(wait, 10), "{wait}");
    assert_eq!(outcome.row().timeouts, 1);
}

/// A lost retransmission does not end the client's wait. The wait lasts 10 ms, and 20 ms more after
/// the backoff.
#[test]
fn a_timer_that_expires_twice_ends_one_wait() {
    let one = json!({ "workload": { "sru": MSS } });
    let outcome = finished(&one, [Loss::of_copies(0, 0, 2)]);
    let (cause, _, wait) = only(&outcome);
    assert_eq!(cause, StallCause::Timeout);
    assert_eq!(outcome.row().timeouts, 2);
    assert!(wait > Span::from_millis(30), "{wait}");
}

#[test]
fn a_tail_loss_probe_with_one_segment_in_flight() {
    let outcome = finished(&probing(&json!({})), Loss::of_segments(0, 9, 9));
    let (cause, _, wait) = only(&outcome);
    assert_eq!(cause, StallCause::TailProbe);
    assert!(is_about(wait, 10), "{wait}");
    assert_eq!((outcome.row().timeouts, outcome.row().tail_probes), (0, 1));
    let probes: Vec<_> = outcome.events_of(EventKind::TailProbe).collect();
    assert_eq!(probes.len(), 1);
    assert_eq!(probes[0].flow, Some(0));
}

#[test]
fn a_probe_after_two_round_trips_ends_no_stall() {
    let outcome = finished(&probing(&json!({})), Loss::of_segments(0, 8, 9));
    let row = outcome.row();
    assert_eq!((row.stalls, row.timeouts, row.tail_probes), (0, 0, 1));
}

/// The probe is lost, so the retransmission timer ends the wait.
#[test]
fn a_timeout_after_a_lost_probe() {
    let outcome = finished(&probing(&json!({})), [Loss::of_copies(0, 9, 2)]);
    assert_eq!(only(&outcome).0, StallCause::Timeout);
    assert_eq!((outcome.row().timeouts, outcome.row().tail_probes), (1, 1));
}

#[test]
fn the_handshake() {
    for loss in [Loss::of_syn(0, false), Loss::of_syn_ack(0, true)] {
        let outcome = finished(&json!({}), [loss]);
        let (cause, _, wait) = only(&outcome);
        assert_eq!(cause, StallCause::Handshake);
        assert!(is_about(wait, 1000), "{wait}");
    }
    let none = json!({ "transport": { "handshake": "none" } });
    let outcome = finished(&none, [Loss::of_request(0, 1, 1, 1)]);
    assert_eq!(only(&outcome).0, StallCause::Handshake);
}

#[test]
fn data_that_the_host_holds_back() {
    let outcome = finished(&json!({ "transport": { "send_jitter": "20ms" } }), []);
    let row = outcome.row();
    assert!(row.stalls > 0 && row.stalls == row.stalls_pacer, "{:?}", columns(row));
}

/// The host delays the retransmission, but only for up to 50 us, so the cause is still the timeout.
#[test]
fn a_timeout_whose_segment_is_held_for_a_moment() {
    let jitter = json!({ "transport": { "send_jitter": "50us", "initial_window": 2 } });
    let outcome = finished(&jitter, Loss::of_segments(0, 2, 5));
    assert_eq!(only(&outcome).0, StallCause::Timeout);
}

/// The client's window stays closed, so only window probes arrive.
#[test]
fn a_closed_window() {
    let scenario = scenario(&json!({ "run": { "time_limit": "1s" } }));
    let request = TraceRequest::parse(["events"]).expect("it exists");
    let mut world = World::new(&scenario, 1, |setting: &Setting| Trace::new(&request, setting));
    world.core_mut().hosts.act_on(EndId::client(0)).set_receive_buffer(0);
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    let row = &rows[0];
    assert_eq!(row.status, "time-limit");
    assert!(row.stalls > 2 && row.stalls == row.stalls_persist, "{:?}", columns(row));
    let outcome = Outcome { rows, core };
    assert_eq!(stalls(&outcome).len() as u64, outcome.row().stalls);
}

#[test]
fn an_ack_that_the_client_holds_back() {
    let delayed = json!({ "transport": {
        "delayed_ack": { "segments": 2, "timeout": "5ms" }, "initial_window": 1,
    }, "workload": { "sru": 3 * MSS } });
    let outcome = finished(&delayed, []);
    let (cause, _, wait) = only(&outcome);
    assert_eq!(cause, StallCause::DelayedAck);
    assert!(is_about(wait, 5), "{wait}");
}

#[test]
fn a_client_that_asks_late() {
    let late = json!({ "workload": { "servers": 2, "sru": MSS, "start_spread": "100ms" } });
    let outcome = finished(&late, []);
    let asked: Vec<Time> = outcome.events_of(EventKind::Request).map(|row| row.time).collect();
    let row = outcome.row();
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] > Span::from_millis(2)), "{asked:?}");
    assert!(row.stalls > 0 && row.stalls == row.stalls_application, "{:?}", columns(row));
}

#[test]
fn between_blocks_nothing_waits() {
    let seldom = json!({ "workload": { "blocks": 4, "interval": "100ms" } });
    let outcome = finished(&seldom, []);
    assert!(outcome.row().elapsed_s > 0.02, "{}", outcome.row().elapsed_s);
    assert_eq!(outcome.row().stalls, 0);
}

/// A datagram of other traffic occupies the client's link for 52 ms, and the timer expires later.
#[test]
fn a_queue_of_other_traffic() {
    let crowded = json!({
        "network": { "client_rate": "10Mbps" },
        "workload": { "sru": 100 * MSS },
        "transport": { "initial_window": 2, "receive_window": 4, "rto_min": "1s" },
        "background": [{ "name": "cbr", "rate": "9Mbps", "packet_size": 65_535 }],
    });
    let outcome = finished(&crowded, []);
    let row = outcome.row();
    assert_eq!((row.timeouts, row.drops), (0, 0));
    assert!(row.stalls > 0 && row.stalls == row.stalls_network, "{:?}", columns(row));
    assert_eq!(outcome.rows[1].stalls, 0, "datagrams wait for nothing");
}

/// Packets of other traffic on the client's link are not part of the block, so they do not end its
/// wait.
#[test]
fn other_traffic_ends_no_wait() {
    let beside = json!({
        "transport": { "initial_window": 2 },
        "background": [
            { "name": "long-flow", "count": 1, "to": 0, "transport": { "name": "newreno" } },
        ],
    });
    let outcome = finished(&beside, Loss::of_segments(0, 2, 5));
    assert_eq!(outcome.row().stalls_timeout, 1);
    assert_eq!((outcome.row().stalls, outcome.rows[1].stalls), (1, 0));
}

/// While one server waits for its timer, another server keeps the link busy.
#[test]
fn a_server_that_waits_alone_stalls_no_block() {
    let two = json!({
        "network": { "client_rate": "100Mbps" },
        "workload": { "servers": 2, "sru": 200 * MSS },
        "transport": { "rto_min": "5ms", "initial_window": 2 },
    });
    let outcome = finished(&two, Loss::of_segments(0, 2, 5));
    assert_eq!((outcome.row().timeouts, outcome.row().stalls), (1, 0));
}

#[test]
fn long_flows_wait_by_themselves() {
    let flows = json!({
        "workload": {
            "name": "long-flows", "servers": 2, "duration": "100ms", "sru": null,
        },
        "transport": { "initial_window": 2 },
    });
    let outcome = finished(&flows, Loss::of_segments(0, 2, 5));
    let (cause, flow, _) = only(&outcome);
    assert_eq!((cause, flow), (StallCause::Timeout, 0));
}
