//! A segment that its host keeps until a departure time leaves at the same time as if a pacer sent
//! it at a deadline.

use std::sync::Arc;

use incast_engine::{Span, Stream, Time};
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_lab::{Control, TraceRequest};
use incast_net::{Flags, Packet, RouteId};
use incast_scenario::Scenario;
use incast_tcp::connection::Polled;
use incast_tcp::{Connection, Role};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::harness::{of_tcp, scenario};
use super::laws::{SEED, config, rows, timeless};

const MSS: u64 = 1000;
/// Round trip of the connections in these tests.
const RTT: Span = Span::from_millis(1);

/// A sender with a window of half a segment. The first segment is acknowledged a round trip after
/// sending. `keeps` is true if the host keeps segments.
fn sender(keeps: bool, bytes: u64) -> (Connection, Time) {
    let scenario = scenario(&json!({ "transport": {
        "name": "swift", "initial_window": "500B", "handshake": "none", "receive_window": "100pkt",
        "congestion_control": { "base_target": "1us", "max_decrease": 0.0 },
    } }));
    let config = Arc::new(of_tcp(&scenario).clone());
    let random = Stream::named(1, "sender", 0);
    let route = RouteId::new(0, true);
    let mut sender = Connection::new(config, Role::Acceptor, route, 0, random);
    if keeps {
        sender.allow_departure_times();
    }
    sender.write(bytes);
    let first = sender.poll_transmit(Time::ZERO).map(|packet| packet.seq);
    assert_eq!(first, Some(1), "no round trip is known");
    let now = Time::ZERO + RTT;
    acknowledge(&mut sender, now, 1 + MSS);
    (sender, now)
}

fn acknowledge(sender: &mut Connection, now: Time, ack: u64) {
    let route = RouteId::new(0, false);
    let window = (100 * MSS) as u32;
    sender.handle_segment(
        now,
        &Packet { route, ack, window, flags: Flags::ACK, ..Packet::default() },
    );
}

fn poll(sender: &mut Connection, now: Time) -> (Polled, Packet) {
    let mut packet = Packet::default();
    (sender.poll_transmit_into(now, &mut packet), packet)
}

#[test]
fn a_segment_is_handed_over_with_the_departure_that_the_pacer_would_have_kept() {
    let (mut early, now) = sender(true, 10 * MSS);
    let (mut late, _) = sender(false, 10 * MSS);
    let (polled, packet) = poll(&mut early, now);
    assert_eq!((polled, packet.seq), (Polled::Timed, 1 + MSS));
    assert_eq!(poll(&mut late, now).0, Polled::Nothing);
    let departure = early.departs_at();
    assert_eq!(departure, Time::ZERO + RTT * 2, "a window of a half is twice the distance");
    assert_eq!(late.poll_timeout(), departure);
    late.handle_timeout(departure);
    let (polled, same) = poll(&mut late, departure);
    assert_ne!(polled, Polled::Nothing);
    assert_eq!(same, packet);
    assert_eq!(early.poll_timeout(), late.poll_timeout(), "the timer starts at the departure");
    for sender in [&mut early, &mut late] {
        acknowledge(sender, departure + RTT, 1 + 2 * MSS);
    }
    assert_eq!(early.rtt().srtt(), late.rtt().srtt());
}

#[test]
fn what_may_still_change_waits() {
    let (mut short, now) = sender(true, 2 * MSS - 1);
    assert_eq!(poll(&mut short, now).0, Polled::Nothing, "more may be written to it");
    let (mut last, now) = sender(true, 2 * MSS);
    assert_eq!(poll(&mut last, now).0, Polled::Nothing, "it may yet carry a FIN");
    let (mut block, now) = sender(true, MSS);
    block.write(10 * MSS);
    assert_eq!(poll(&mut block, now).0, Polled::Nothing, "its request has a timer");
}

#[test]
fn after_a_copy_it_waits_until_no_stale_ack_can_come() {
    let (mut sender, now) = sender(true, 10 * MSS);
    assert_eq!(poll(&mut sender, now).0, Polled::Timed);
    let expiry = sender.poll_timeout();
    sender.handle_timeout(expiry);
    let (polled, copy) = poll(&mut sender, expiry);
    assert_ne!(polled, Polled::Nothing);
    assert_eq!(copy.seq, 1 + MSS);
    let answer = expiry + RTT;
    acknowledge(&mut sender, answer, 1 + 2 * MSS);
    let (polled, _) = poll(&mut sender, answer);
    assert_eq!(polled, Polled::Nothing, "the original may come after the copy");
    let departure = sender.poll_timeout();
    sender.handle_timeout(departure);
    assert_eq!(poll(&mut sender, departure).1.seq, 1 + 2 * MSS);
    acknowledge(&mut sender, departure + RTT, 1 + 3 * MSS);
    assert_eq!(poll(&mut sender, departure + RTT).0, Polled::Timed);
}

#[test]
fn a_run_that_ends_takes_back_what_has_not_left() {
    let (mut sender, now) = sender(true, 10 * MSS);
    assert_eq!(poll(&mut sender, now).0, Polled::Timed);
    let departure = sender.departs_at();
    let before = Time::from_picos(departure.as_picos() - 1);
    let counted = sender.counters().data_packets;
    sender.withdraw_timed(departure);
    assert_eq!(sender.counters().data_packets, counted);
    sender.withdraw_timed(before);
    assert_eq!(sender.counters().data_packets, counted - 1);
}

/// Networks with many windows below a segment, with losses and other traffic.
fn crowded() -> impl Strategy<Value = Value> {
    let any = |values: &[Value]| prop::sample::select(values.to_vec());
    let network = (
        any(&[json!("1Gbps"), json!("10Gbps")]),
        any(&[json!("2pkt"), json!("8pkt"), json!("1000pkt")]),
        any(&[json!("5us"), json!("50us")]),
        any(&[json!("departure-first"), json!("arrival-first"), json!("scheduled")]),
    );
    let workload = (
        1_u32..=40,
        prop_oneof![1_u32..=5000, 5000_u32..=80_000],
        any(&[json!("fresh"), json!("persistent")]),
        any(&[json!({ "blocks": 2 }), json!({ "duration": "3ms" })]),
    );
    let transport = (
        any(&[json!("15B"), json!("700B"), json!(1), json!(8)]),
        any(&[json!("1us"), json!("200us"), json!("1s")]),
        any(&[json!(0.0), json!(0.5)]),
        any(&[json!("200us"), json!("10ms")]),
        any(&[json!(false), json!(true)]),
        any(&[json!(false), json!({ "segments": 2, "timeout": "100us" })]),
        any(&[json!("three-way"), json!("syn-only"), json!("none")]),
    );
    let background = any(&[
        json!([]),
        json!([{ "name": "cbr", "rate": "50Mbps" }]),
        json!([{ "name": "long-flow", "transport": { "name": "swift" } }]),
        json!([{ "name": "poisson-flows", "interval": "300us", "size": "3000B", "transport": { "name": "swift" } }]),
    ]);
    (network, workload, transport, background).prop_map(|(network, workload, transport, rest)| {
        let (rate, buffer, delay, ties) = network;
        let (servers, sru, connections, length) = workload;
        let (window, target, jitter, rto, timestamps, delayed_ack, handshake) = transport;
        let mut document = json!({
            "network": { "rate": rate, "buffer": buffer, "delay": delay, "ties": ties },
            "workload": { "name": "barrier-read", "servers": servers, "sru": sru,
                          "connections": connections, "request_jitter": "20us" },
            "transport": {
                "name": "swift", "initial_window": window, "rto_jitter": jitter, "rto_min": rto,
                "rto_initial": rto, "syn_rto": rto, "rto_after_syn_loss": rto,
                "timestamps": timestamps, "delayed_ack": delayed_ack, "handshake": handshake,
                "congestion_control": { "name": "swift", "base_target": target },
            },
            "background": rest,
            "run": { "time_limit": "1s" },
        });
        super::harness::lay(&mut document["workload"], &length);
        document
    })
}

proptest! {
    #![proptest_config(config())]
    /// A packet that a host keeps has an event of its own in two kinds of runs: with departure
    /// events, and with a trace, because a trace records every hop.
    #[test]
    fn hosts_that_keep_segments_change_no_row(document in crowded()) {
        let mut scenario = Scenario::from_document(&document).expect("it makes sense");
        let silent = rows(&scenario);
        let traces = TraceRequest::parse(["events"]).expect("it exists");
        let traced = incast_lab::run(&scenario, SEED, &traces, &Control::default());
        prop_assert_eq!(&silent, &timeless(&traced.expect("nobody cancels").rows));
        scenario.network.departure_events = true;
        prop_assert_eq!(&silent, &rows(&scenario));
        let traced = incast_lab::run(&scenario, SEED, &traces, &Control::default());
        prop_assert_eq!(&silent, &timeless(&traced.expect("nobody cancels").rows));
    }

    /// Nothing changes a segment between its sending and its departure, so a pacer with deadlines
    /// sends the same packets. Only the order of simultaneous arrivals could differ, and the noise
    /// prevents simultaneous arrivals.
    #[test]
    fn a_pacer_that_is_woken_sends_what_hosts_keep(document in crowded()) {
        let mut document = document;
        document["network"]["clock_noise"] = json!("1us");
        let scenario = Scenario::from_document(&document).expect("it makes sense");
        let mut world = World::new(&scenario, SEED, |_| Silent);
        world.core_mut().hosts_keep = false;
        let (woken, _) = world.run(&Control::default()).expect("nobody cancels");
        prop_assert_eq!(rows(&scenario), timeless(&woken));
    }
}
