//! Brief delays: a host that delays a packet for less than half of the shortest stall is not the
//! cause of a stall.

use incast_net::{Packet, Trigger};
use incast_tcp::Config;
use incast_tcp::config::DelayedAck;
use incast_tcp::connection::Predicted;

use super::{MSS, at, config, hosts, micros, sent};
use crate::hosts::Waits;
use crate::stalls::{Stall, StallCause, StallCounts};
use crate::{EndId, Hosts};

#[test]
fn a_wait_is_brief_below_half_of_a_stall() {
    let mut waits = Waits::default();
    waits.add(0, 1, true, micros(1));
    waits.add(1, 2, false, micros(3));
    for flow in 0..3 {
        waits.begin(at(100), flow);
    }
    let brief = |flow, micros| waits.is_brief(at(micros), EndId::client(flow));
    assert_eq!([100, 104, 105, 106].map(|at| brief(0, at)), [true, true, false, false]);
    assert_eq!([114, 115].map(|at| brief(2, at)), [true, false], "its round trip is longer");
    assert!(waits.is_brief(at(104), EndId::server(0)), "the wait is that of the flow");
}

#[test]
fn stalls_are_counted_by_cause_and_add_up() {
    let mut one = StallCounts::default();
    assert_eq!((one.total(), one.longest), (0, None));
    one.add(StallCause::Timeout, micros(5));
    one.add(StallCause::Timeout, micros(9));
    one.add(StallCause::Pacer, micros(7));
    let mut other = StallCounts::default();
    other.add(StallCause::Pacer, micros(8));
    assert_eq!((one.of(StallCause::Timeout), one.of(StallCause::Pacer)), (2, 1));
    assert_eq!((one.of(StallCause::Network), one.total(), one.longest), (0, 3, Some(micros(9))));
    let sum = other.and(&one);
    assert_eq!((sum.of(StallCause::Timeout), sum.of(StallCause::Pacer)), (2, 2));
    assert_eq!((sum.total(), sum.longest), (4, Some(micros(9))));
    assert_eq!(sum, one.and(&other));
}

/// The trigger of a server's packets if its application acts `micros` microseconds after the
/// server's block began.
fn acted(micros: u64, trigger: Trigger) -> Trigger {
    let mut hosts = hosts(config(), 2);
    hosts.set_now(at(1000));
    hosts.begin_wait(0);
    assert_eq!(hosts.trigger, Trigger::Arrival, "nothing has delayed a request");
    hosts.trigger = trigger;
    hosts.set_now(at(1000 + micros));
    assert_eq!(hosts.now(), at(1000 + micros));
    hosts.act_on(EndId::server(1)).trigger()
}

#[test]
fn an_application_delays_what_it_sends_after_half_of_a_stall() {
    let application = |micros| acted(micros, Trigger::Application);
    assert_eq!([0, 49].map(application), [Trigger::Arrival; 2]);
    assert_eq!([50, 5000].map(application), [Trigger::Application; 2]);
    for trigger in [Trigger::Timeout, Trigger::Persist, Trigger::Arrival] {
        assert_eq!([0, 49, 50].map(|micros| acted(micros, trigger)), [trigger; 3]);
    }
}

#[test]
fn a_held_ack_delays_what_it_releases_after_half_of_a_stall() {
    let expired = |timeout: u64| {
        let (segments, quickack, timeout) = (2, 0, micros(timeout));
        let delayed_ack =
            DelayedAck { segments, timeout, quickack, pingpong: false, below_rto_min: false };
        let tcp = Config { delayed_ack: Some(delayed_ack), ..config() };
        let mut hosts = hosts(tcp, 1);
        let client = EndId::client(0);
        hosts.set_now(at(1000));
        hosts.begin_wait(0);
        hosts.opened(client);
        let data = Packet {
            route: EndId::server(0).route(),
            seq: 1,
            payload: MSS as u16,
            ..Packet::default()
        };
        assert_eq!(hosts.deliver(at(1000), &data), (client, None));
        assert!(sent(&mut hosts, client, at(1000)).is_empty(), "the ACK is held");
        let due = hosts.end_mut(client).poll_timeout();
        assert_eq!(due, at(1000) + timeout);
        assert!(!hosts.expire(at(999) + timeout, client), "too early");
        assert!(sent(&mut hosts, client, at(999) + timeout).is_empty());
        assert!(hosts.expire(due, client));
        let acks = sent(&mut hosts, client, due);
        assert_eq!((acks.len(), acks[0].ack), (1, 1 + MSS));
        acks[0].flags.trigger()
    };
    assert_eq!(expired(49), Trigger::Arrival);
    assert_eq!(expired(50), Trigger::DelayedAck);
}

#[test]
fn a_timer_of_data_counts_however_soon_it_expires() {
    let mut hosts = hosts(
        Config { rto: super::RtoPolicy { initial: micros(20), ..config().rto }, ..config() },
        1,
    );
    let server = EndId::server(0);
    hosts.begin_wait(0);
    hosts.act_on(server).write(MSS);
    assert_eq!(sent(&mut hosts, server, at(0)).len(), 1);
    assert!(hosts.expire(at(20), server));
    let again = sent(&mut hosts, server, at(20));
    assert_eq!((again.len(), again[0].flags.trigger()), (1, Trigger::Timeout));
}

/// A client whose block begins at 100 µs.
fn client() -> (Hosts, EndId) {
    let mut hosts = hosts(config(), 1);
    let client = EndId::client(0);
    hosts.set_now(at(100));
    hosts.begin_wait(0);
    hosts.opened(client);
    (hosts, client)
}

fn data(number: u64, trigger: Trigger) -> Packet {
    let packet = Packet {
        route: EndId::server(0).route(),
        seq: 1 + number * MSS,
        payload: MSS as u16,
        window: 1_000_000,
        ..Packet::default()
    };
    Packet { flags: incast_net::Flags::ACK.with_trigger(trigger), ack: 1, ..packet }
}

#[test]
fn a_packet_at_a_client_ends_a_stall_and_one_at_a_server_does_not() {
    let (mut hosts, client) = client();
    hosts.end_mut(client).set_trigger(Trigger::Timeout);
    assert_eq!(
        hosts.deliver(at(200), &data(0, Trigger::Timeout)),
        (client, None),
        "ten round trips"
    );
    assert_eq!(hosts.trigger_of(client), Trigger::Arrival, "no timer has delayed its answer");
    let stall = Stall { flow: 0, wait: micros(101), cause: StallCause::Pacer };
    assert_eq!(hosts.deliver(at(301), &data(1, Trigger::Pacer)), (client, Some(stall)));
    assert_eq!(hosts.delivered(client), 2 * MSS);
    let server = client.peer();
    hosts.end_mut(server).set_trigger(Trigger::Timeout);
    assert_eq!(hosts.deliver(at(999), &super::ack(0, 1)), (server, None));
    assert_eq!(hosts.waits.of(0).total(), 1);
    hosts.end_wait(0);
    assert_eq!(hosts.deliver(at(9999), &data(2, Trigger::Pacer)), (client, None));
}

#[test]
fn a_predicted_packet_ends_a_stall_as_others_do() {
    let (mut hosts, client) = client();
    assert_eq!(hosts.deliver(at(110), &data(0, Trigger::Arrival)), (client, None));
    sent(&mut hosts, client, at(110));
    let (id, _, predicted) = hosts.predict(at(220), &mut data(1, Trigger::Timeout));
    assert_eq!(id, client);
    assert_ne!(predicted, Predicted::Nothing);
    assert_eq!(hosts.waits.of(0).of(StallCause::Timeout), 1);
    // A packet that is not predicted must be delivered. Its stall is counted at that time.
    let (_, _, predicted) = hosts.predict(at(900), &mut data(5, Trigger::Timeout));
    assert_eq!(predicted, Predicted::Nothing);
    assert_eq!(hosts.waits.of(0).total(), 1);
}
