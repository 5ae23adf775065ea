//! The orders that a serializer gives after each note, on the paper's path of 1 Gbps and 100 us (B
//! = 8.33).

use incast_engine::Span;
use serde_json::json;

use crate::desk::{Desk, MSS};
use crate::schedule::{Note, Order};

fn ask(server: u32, segments: u64) -> Order {
    Order::Ask { server, window: Some(segments * MSS) }
}

fn mark(server: u32, bytes: u64) -> Order {
    Order::Mark { server, bytes }
}

fn connect(server: u32) -> Order {
    Order::Connect { server }
}

#[test]
fn section_4_2_ccs_asks_the_next_server_when_the_one_before_is_complete() {
    let mut desk = Desk::new(&json!({ "name": "ccs" }), 3, 32_768);
    assert_eq!(desk.wants_all(), [ask(0, 9)]);
    assert_eq!(desk.hears(Note::Established(0)), []);
    assert_eq!(desk.hears(Note::Complete(0)), [ask(1, 9)]);
    assert_eq!(desk.hears(Note::Complete(1)), [ask(2, 9)]);
    desk.ends_block(2);
    assert_eq!(desk.wants_all(), [ask(0, 9)], "the same in the next block");
}

#[test]
fn section_4_2_the_window_in_bytes_is_12500() {
    let mut desk = Desk::new(&json!({ "name": "ccs", "window": "bytes" }), 1, 32_768);
    assert_eq!(desk.wants_all(), [Order::Ask { server: 0, window: Some(12_500) }]);
}

/// A server that is wanted while no other server is open does not wait.
#[test]
fn section_4_2_whoever_comes_late_is_asked_when_it_comes() {
    let mut desk = Desk::new(&json!({ "name": "ccs" }), 3, 32_768);
    assert_eq!(desk.hears(Note::Wanted(2)), [ask(2, 9)]);
    assert_eq!(desk.hears(Note::Complete(2)), []);
    assert_eq!(desk.hears(Note::Wanted(0)), [ask(0, 9)]);
    assert_eq!(desk.hears(Note::Wanted(1)), []);
    assert_eq!(desk.hears(Note::Complete(0)), [ask(1, 9)]);
}

#[test]
fn section_4_3_condition_i_starts_the_next_connection_and_k_holds_it_back() {
    // T_1 V = 412 us · 1 Gbps = 51 500 bytes.
    let mut desk = Desk::new(&json!({ "name": "nccs", "k": 2 }), 4, 100_000);
    assert_eq!(desk.wants_all(), [ask(0, 9), mark(0, 48_500)]);
    assert_eq!(desk.hears(Note::Marked(0)), [ask(1, 9), mark(1, 48_500)]);
    assert_eq!(desk.hears(Note::Marked(1)), [], "figure 6: two connections are open");
    assert_eq!(desk.hears(Note::Complete(0)), [ask(2, 9), mark(2, 48_500)]);
    assert_eq!(desk.hears(Note::Complete(1)), [], "the newest is below the trigger");
    assert_eq!(desk.hears(Note::Complete(2)), [ask(3, 9), mark(3, 48_500)]);
}

#[test]
fn section_4_3_where_condition_i_is_negative_k_connections_may_be_open_at_once() {
    let request = json!({ "name": "nccs", "k": 3, "trigger_from": "request" });
    let mut desk = Desk::new(&request, 5, 32_768);
    assert_eq!(desk.wants_all(), [ask(0, 9), ask(1, 9), ask(2, 9)]);
    assert_eq!(desk.hears(Note::Complete(1)), [ask(3, 9)]);
    let scaled = json!({ "name": "nccs", "k": 2, "trigger": "scaled" });
    let mut desk = Desk::new(&scaled, 5, 32_768);
    assert_eq!(desk.wants_all(), [ask(0, 9), mark(0, 32_768 - 51_500 / 2)]);
}

/// According to the abstract, a connection overlaps with the "current established" one.
#[test]
fn section_4_3_the_next_connection_waits_until_the_newest_is_established() {
    let mut desk = Desk::new(&json!({ "name": "nccs", "k": 3 }), 5, 32_768);
    assert_eq!(desk.wants_all(), [ask(0, 9), mark(0, 0)]);
    assert_eq!(desk.hears(Note::Marked(0)), [ask(1, 9), mark(1, 0)]);
    assert_eq!(desk.hears(Note::Complete(0)), [], "the newest connection is not established");
    assert_eq!(desk.hears(Note::Marked(1)), [ask(2, 9), mark(2, 0)]);
    assert_eq!(desk.hears(Note::Marked(2)), [ask(3, 9), mark(3, 0)]);
    assert_eq!(desk.hears(Note::Marked(3)), [], "three connections are open");
}

/// S - T₁V/3 = 32768 - 17166.
const SCALED: u64 = 15_602;

#[test]
fn figure_8_all_handshakes_are_at_the_beginning_and_the_first_set_may_send() {
    let mut desk = Desk::new(&json!({ "name": "ocs" }), 7, 32_768);
    let first = (0..3).flat_map(|server| [ask(server, 4), mark(server, SCALED)]);
    let orders: Vec<Order> = first.chain((3..7).map(connect)).collect();
    assert_eq!(desk.wants_all(), orders);
}

#[test]
fn section_4_4_a_set_opens_when_every_connection_before_has_reached_the_trigger() {
    let mut desk = Desk::new(&json!({ "name": "ocs" }), 9, 32_768);
    desk.wants_all();
    assert_eq!(desk.hears(Note::Marked(1)), []);
    assert_eq!(desk.hears(Note::Marked(0)), []);
    let second: Vec<Order> =
        (3..6).flat_map(|server| [ask(server, 4), mark(server, SCALED)]).collect();
    assert_eq!(desk.hears(Note::Marked(2)), second);
    for server in 3..6 {
        assert_eq!(desk.hears(Note::Marked(server)), [], "two sets are open");
    }
    assert_eq!(desk.hears(Note::Complete(0)), []);
    assert_eq!(desk.hears(Note::Complete(2)), []);
    let third: Vec<Order> =
        (6..9).flat_map(|server| [ask(server, 4), mark(server, SCALED)]).collect();
    assert_eq!(desk.hears(Note::Complete(1)), third, "the first set is complete");
}

#[test]
fn section_4_4_or_when_any_has() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "reached": "any" }), 6, 32_768);
    desk.wants_all();
    assert_eq!(desk.hears(Note::Marked(1)).len(), 6);
    assert_eq!(desk.hears(Note::Marked(0)), []);
}

/// The printed trigger, S - T₁V, is negative for the paper's SRU. Without the limit of two open
/// sets, all sets would open at once.
#[test]
fn section_4_4_as_printed_two_sets_open_at_once_and_no_third() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "trigger": "printed" }), 9, 32_768);
    let orders = desk.wants_all();
    let asked = orders.iter().filter(|order| matches!(order, Order::Ask { .. })).count();
    assert_eq!(asked, 6);
    assert_eq!(desk.hears(Note::Complete(0)), []);
    assert_eq!(desk.hears(Note::Complete(1)), []);
    assert_eq!(desk.hears(Note::Complete(2)), [ask(6, 4), ask(7, 4), ask(8, 4)]);
}

#[test]
fn section_4_4_the_last_connections_share_the_product() {
    let mut desk = Desk::new(&json!({ "name": "ocs" }), 4, 32_768);
    desk.wants_all();
    for server in 0..3 {
        desk.hears(Note::Marked(server));
    }
    assert_eq!(desk.hears(Note::Complete(0)), [], "three connections remain");
    let widened = |server, segments| Order::Window { server, window: segments * MSS };
    assert_eq!(desk.hears(Note::Complete(1)), [widened(2, 5), widened(3, 5)]);
    assert_eq!(desk.hears(Note::Complete(2)), [widened(3, 9)]);
}

#[test]
fn section_4_4_fewer_servers_than_a_set_share_the_product_from_the_start() {
    let mut desk = Desk::new(&json!({ "name": "ocs" }), 2, 32_768);
    let orders = desk.wants_all();
    assert_eq!(orders, [ask(0, 5), mark(0, SCALED), ask(1, 5), mark(1, SCALED)]);
}

/// §6: the round trip is the time from the request to the first byte.
#[test]
fn section_6_the_round_trip_is_learned_from_the_first_connection() {
    let mut desk = Desk::new(&json!({ "name": "ccs", "base_rtt": "learned" }), 3, 32_768);
    assert_eq!(desk.wants_all(), [Order::Ask { server: 0, window: None }, mark(0, 1)]);
    desk.passes(75);
    assert_eq!(desk.hears(Note::Established(0)), []);
    desk.passes(124);
    desk.delivered[0] = MSS;
    // The mark opens no connection, because CCS waits for the whole part.
    assert_eq!(desk.hears(Note::Marked(0)), [mark(0, 1)]);
    assert_eq!(desk.hears(Note::Marked(0)), []);
    assert_eq!(desk.hears(Note::Complete(0)), [ask(1, 11)], "124 us are 10.33 packets");
}

#[test]
fn section_6_the_largest_round_trip_counts() {
    let remedy = json!({ "name": "ccs", "base_rtt": "learned", "observed": 2 });
    let mut desk = Desk::new(&remedy, 3, 32_768);
    desk.wants_all();
    desk.passes(124);
    assert_eq!(desk.hears(Note::Marked(0)), []);
    let orders = desk.hears(Note::Complete(0));
    assert_eq!(orders, [Order::Ask { server: 1, window: None }, mark(1, 1)]);
    desk.passes(100);
    desk.hears(Note::Marked(1));
    assert_eq!(desk.hears(Note::Complete(1)), [ask(2, 11)]);
}

#[test]
fn section_6_the_sru_is_learned_from_the_first_connection() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "sru": "learned" }), 8, 1);
    let orders = desk.wants_all();
    assert_eq!(orders[0], Order::Ask { server: 0, window: None });
    assert_eq!(orders[1..], (1..8).map(connect).collect::<Vec<_>>());
    desk.delivered[0] = 32_768;
    let first: Vec<Order> =
        (1..4).flat_map(|server| [ask(server, 4), mark(server, SCALED)]).collect();
    assert_eq!(desk.hears(Note::Complete(0)), first);
    // The next block uses the measured values.
    desk.ends_block(7);
    assert_eq!(desk.wants_all()[0], ask(0, 4));
}

/// The second block uses the values measured with the first block's only server.
#[test]
fn section_6_a_block_of_one_server_teaches_too() {
    let mut desk = Desk::new(&json!({ "name": "ccs", "sru": "learned" }), 1, 1);
    assert_eq!(desk.wants_all(), [Order::Ask { server: 0, window: None }]);
    desk.delivered[0] = 32_768;
    desk.ends_block(0);
    assert_eq!(desk.wants_all(), [ask(0, 9)]);
}

#[test]
fn section_6_requests_that_follow_each_other_quickly_are_a_group() {
    let mut desk = Desk::new(&json!({ "name": "ccs", "group_gap": "10us" }), 4, 32_768);
    let alarm = |desk: &Desk| Order::Alarm(desk.now + Span::from_picos(10_000_001));
    assert_eq!(desk.hears(Note::Wanted(0)), [alarm(&desk), ask(0, 9)]);
    desk.passes(10);
    assert_eq!(desk.hears(Note::Wanted(1)), [alarm(&desk)]);
    desk.passes(11);
    assert_eq!(desk.hears(Note::Wanted(2)), [alarm(&desk), ask(2, 9)], "another group");
    desk.passes(1);
    assert_eq!(desk.hears(Note::Wanted(3)), [alarm(&desk)]);
    assert_eq!(desk.hears(Note::Complete(2)), [ask(3, 9)]);
    assert_eq!(desk.hears(Note::Complete(0)), [ask(1, 9)]);
}

/// While other servers may join the group, the number of remaining servers is unknown.
#[test]
fn section_6_the_last_windows_grow_when_the_group_is_complete() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "group_gap": "10us" }), 2, 32_768);
    let asked = |orders: &[Order]| orders.contains(&ask(0, 4)) || orders.contains(&ask(1, 4));
    assert!(asked(&desk.hears(Note::Wanted(0))));
    assert!(asked(&desk.hears(Note::Wanted(1))));
    desk.passes(10);
    assert_eq!(desk.hears(Note::Alarm), []);
    desk.passes(1);
    let widened = |server| Order::Window { server, window: 5 * MSS };
    assert_eq!(desk.hears(Note::Alarm), [widened(0), widened(1)]);
}

#[test]
fn section_6_adaptive_ocs_opens_sets_while_less_arrives_than_the_link_carries() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "adaptive": true }), 20, 32_768);
    let orders = desk.wants_all();
    let after = |desk: &Desk, micros| Order::Alarm(desk.now + Span::from_micros(micros));
    assert!(orders.contains(&after(&desk, 512)), "T_1 and a round trip");
    desk.passes(511);
    assert_eq!(desk.hears(Note::Alarm), [], "too early");
    desk.passes(1);
    desk.delivered[0] = 1000;
    assert_eq!(desk.hears(Note::Alarm), [after(&desk, 200)], "two round trips");
    // The link transmits 25 000 bytes in 200 us. 24 333 of these bytes are payload, and 90 % of the
    // payload are 21 900 bytes.
    desk.passes(200);
    desk.delivered[0] += 21_901;
    assert_eq!(desk.hears(Note::Alarm), [after(&desk, 200)], "the link is full");
    desk.passes(200);
    desk.delivered[1] += 21_899;
    let mut orders = desk.hears(Note::Alarm);
    assert_eq!(orders.remove(0), after(&desk, 512));
    let second: Vec<Order> =
        (3..6).flat_map(|server| [ask(server, 4), mark(server, SCALED)]).collect();
    assert_eq!(orders, second, "before the first set has reached its trigger");
    // Three sets may be open from now on.
    for server in 0..5 {
        assert_eq!(desk.hears(Note::Marked(server)), []);
    }
    assert_eq!(desk.hears(Note::Marked(5)).len(), 6);
}

#[test]
fn section_6_adaptive_ocs_rests_when_nobody_waits() {
    let mut desk = Desk::new(&json!({ "name": "ocs", "adaptive": true }), 3, 32_768);
    assert!(!desk.wants_all().iter().any(|order| matches!(order, Order::Alarm(_))));
}
