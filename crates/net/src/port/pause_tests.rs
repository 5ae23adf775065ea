//! Ports that a neighbour's signals pause.

use super::stepped::{Switch, config, numbered};
use super::*;

/// A port with departure events and an unlimited queue, to which `packets` packets are offered at
/// once.
fn busy(packets: u64) -> Switch {
    let port = PortConfig { departure_events: true, ..PortConfig::host(GIGABIT, DELAY) };
    let mut switch = Switch::new(&[port], None);
    for seq in 0..packets {
        switch.offer(Time::ZERO, 0, numbered(seq, 0));
    }
    switch
}

/// Departure times, in us, of the packets that arrived. The port sends a packet in 12 us.
fn departures(switch: &Switch) -> Vec<u64> {
    let departed = switch.arrived[0].iter().map(|(at, _)| *at - (Time::ZERO + DELAY));
    departed.map(|span| span.as_picos() / 1_000_000).collect()
}

/// Every class.
const ALL: u8 = u8::MAX;

#[test]
fn a_paused_port_sends_nothing_loses_nothing_and_goes_on_in_order() {
    let mut switch = busy(10);
    switch.pause(0, ALL, at(30), at(1_030));
    // The first packet is offered during the pause, and the second at the end of the pause.
    switch.offer(at(500), 0, numbered(10, 0));
    switch.offer(at(1_030), 0, numbered(11, 0));
    switch.finish();
    assert_eq!(switch.seqs(0), (0..12).collect::<Vec<_>>());
    // The third packet was being sent at 30 us.
    let before = [12, 24, 36];
    let after = (1..=9).map(|packet| 1_030 + 12 * packet);
    assert_eq!(departures(&switch), before.into_iter().chain(after).collect::<Vec<_>>());
    assert_eq!(switch.ports[0].counters().sending, Span::from_micros(144));
}

#[test]
fn an_idle_port_that_is_paused_sends_at_the_end_of_the_pause() {
    let mut switch = busy(0);
    switch.pause(0, ALL, at(0), at(100));
    assert_eq!(switch.offer(at(50), 0, numbered(0, 0)).packets, 1);
    switch.finish();
    assert_eq!(departures(&switch), [112]);
}

#[test]
fn a_port_may_be_paused_again() {
    let mut switch = busy(10);
    switch.pause(0, ALL, at(11), at(24));
    switch.pause(0, ALL, at(59), at(100));
    switch.finish();
    assert_eq!(departures(&switch), [12, 36, 48, 60, 112, 124, 136, 148, 160, 172]);
}

/// A port where packets with label 1 belong to class 0, and all others to class 1.
fn two_classes() -> Switch {
    let queue = serde_json::json!({ "name": "priority", "classes": [{ "label": 1 }] });
    let port = config(Limit::Packets(20), serde_json::from_value(queue).expect("a discipline"));
    Switch::new(&[port], None)
}

#[test]
fn only_the_paused_class_waits() {
    let mut switch = two_classes();
    switch.pause(0, 0b01, at(5), at(60));
    for seq in 0..6 {
        switch.offer(at(0), 0, numbered(seq, u16::from(seq % 2 == 1)));
    }
    switch.finish();
    // The first packet is being sent when the pause begins. After the pause, class 0 has priority
    // again.
    assert_eq!(switch.seqs(0), [0, 2, 4, 1, 3, 5]);
    assert_eq!(departures(&switch), [12, 24, 36, 72, 84, 96]);
}

#[test]
fn a_packet_of_another_class_passes_a_paused_one_at_an_idle_port() {
    let mut switch = two_classes();
    switch.pause(0, 0b10, at(0), at(500));
    switch.offer(at(10), 0, numbered(0, 0));
    switch.offer(at(20), 0, numbered(1, 1));
    switch.offer(at(200), 0, numbered(2, 1));
    switch.finish();
    assert_eq!(switch.seqs(0), [1, 2, 0]);
    assert_eq!(departures(&switch), [32, 212, 512]);
}

#[test]
#[should_panic(expected = "only a port with departure events")]
fn a_port_that_computes_departures_cannot_be_paused() {
    let mut port = Port::new(&PortConfig::host(GIGABIT, DELAY), 0, 1);
    let mut commons = Commons::default();
    port.pause(at(0), ALL, true, &mut commons);
}

/// A control frame waits only for the packet in service. It has 46 bytes without layer 2. The port
/// has no layer-2 overhead in this test.
#[test]
fn a_control_frame_waits_for_the_packet_in_service() {
    let frame = Span::from_nanos(8 * 46);
    let switch = busy(3);
    assert_eq!(switch.ports[0].frame_arrives_at(at(5)), at(12) + frame + DELAY);
    let switch = busy(0);
    assert_eq!(switch.ports[0].frame_arrives_at(at(5)), at(5) + frame + DELAY);
}

#[test]
fn a_paused_port_with_a_full_buffer_drops() {
    let queue = QueueConfig::default();
    let port = PortConfig { departure_events: true, ..config(Limit::Packets(2), queue) };
    let mut switch = Switch::new(&[port], None);
    switch.pause(0, ALL, at(0), at(100));
    for seq in 0..4 {
        switch.offer(at(1), 0, numbered(seq, 0));
    }
    switch.finish();
    assert_eq!((switch.seqs(0), switch.dropped[0].len()), (vec![0, 1], 2));
}
