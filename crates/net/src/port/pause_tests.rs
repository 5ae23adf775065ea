//! Ports that a neighbour pauses.

use super::stepped::{Switch, config, numbered};
use super::*;

/// A port with departure events and an endless queue, with `packets` offered at once.
fn busy(packets: u64) -> Switch {
    let port = PortConfig { departure_events: true, ..PortConfig::host(GIGABIT, DELAY) };
    let mut switch = Switch::new(&[port], None);
    for seq in 0..packets {
        switch.offer(Time::ZERO, 0, numbered(seq, 0));
    }
    switch
}

/// Departure times of the packets that arrived; a packet takes 12 us.
fn departures(switch: &Switch) -> Vec<u64> {
    let departed = switch.arrived[0].iter().map(|(at, _)| *at - (Time::ZERO + DELAY));
    departed.map(|span| span.as_picos() / 1_000_000).collect()
}

#[test]
fn a_paused_port_sends_nothing_loses_nothing_and_goes_on_in_order() {
    let mut switch = busy(10);
    switch.advance(at(30));
    switch.pause(0, at(30), at(1_030));
    // The packets are offered to an idle line, and to a line whose pause ends at the same time.
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
    switch.pause(0, at(0), at(100));
    assert_eq!(switch.offer(at(50), 0, numbered(0, 0)).packets, 1);
    switch.finish();
    assert_eq!(departures(&switch), [112]);
}

#[test]
fn a_pause_begins_when_it_is_heard_of_and_the_longer_one_counts() {
    let mut switch = busy(10);
    switch.pause(0, at(60), at(100));
    switch.pause(0, at(70), at(90));
    switch.pause(0, at(90), at(200));
    switch.finish();
    assert_eq!(departures(&switch), [12, 24, 36, 48, 60, 212, 224, 236, 248, 260]);
}

#[test]
fn a_second_pause_does_not_undo_the_time_between() {
    let mut switch = busy(10);
    switch.pause(0, at(12), at(24));
    switch.advance(at(25));
    switch.pause(0, at(60), at(100));
    switch.finish();
    assert_eq!(departures(&switch), [12, 36, 48, 60, 112, 124, 136, 148, 160, 172]);
}

#[test]
fn a_port_that_computes_departures_does_not_listen() {
    let mut port = Port::new(&PortConfig::host(GIGABIT, DELAY), 0, 1);
    assert_eq!(port.pause(at(0), at(100)), None);
    let mut port = port.make_stepped(0);
    assert_eq!(port.pause(at(0), at(100)), Some((at(100), 0)));
}

#[test]
fn a_paused_port_with_a_full_buffer_drops() {
    let queue = QueueConfig::default();
    let port = PortConfig { departure_events: true, ..config(Limit::Packets(2), queue) };
    let mut switch = Switch::new(&[port], None);
    switch.pause(0, at(0), at(100));
    for seq in 0..4 {
        switch.offer(at(1), 0, numbered(seq, 0));
    }
    switch.finish();
    assert_eq!((switch.seqs(0), switch.dropped[0].len()), (vec![0, 1], 2));
}
