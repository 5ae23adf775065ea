use incast_engine::{Span, Time};
use incast_net::{Flags, Trigger};
use incast_tcp::Config;
use incast_tcp::config::Handshake;

use super::{MSS, ack, at, blueprint, config, hosts, micros, named, sent, situation, transport};
use crate::{Blueprint, BlueprintId, EndId, Hosts, Opener};

#[test]
fn one_end_opens_a_connection() {
    let tcp = Config { handshake: Handshake::ThreeWay, ..config() };
    for (opener, end) in [(Opener::Client, EndId::client(0)), (Opener::Server, EndId::server(0))] {
        let blueprint = Blueprint::new(&transport(tcp.clone(), opener), &situation(micros(10)), 0);
        let mut hosts = Hosts::new(1, false);
        hosts.add_blueprint(blueprint, 1);
        hosts.waits.add(0, 1, true, micros(10));
        for id in [EndId::client(0), EndId::server(0)] {
            hosts.act_on(id).open();
            let packets = sent(&mut hosts, id, at(0));
            assert_eq!(packets.len(), usize::from(id == end), "{opener:?}");
            assert!(packets.iter().all(|packet| packet.flags.contains(Flags::SYN)));
            assert!(packets.iter().all(|packet| packet.route == end.route()));
        }
    }
}

/// The time at which the host of an end sends data written at time 0, and the trigger of the data.
/// The host delays the data at random.
fn delay(seed: u64, end: EndId, incarnation: u32, base_rtt: Span) -> (Span, Trigger) {
    let tcp = Config { send_jitter: Span::from_millis(1), ..config() };
    let mut blueprint = Blueprint::new(&transport(tcp, Opener::Client), &situation(base_rtt), 3);
    assert_eq!(blueprint.base_rtt(), base_rtt);
    let mut end = blueprint.build(end, incarnation, seed);
    let connection = end.connection_mut().expect("it is TCP");
    assert_eq!(connection.epoch(), incarnation as u8);
    connection.write(MSS);
    assert_eq!(connection.poll_transmit(Time::ZERO), None);
    let due = connection.poll_timeout();
    connection.handle_timeout(due);
    let packet = connection.poll_transmit(due).expect("the host releases it");
    (due - Time::ZERO, packet.flags.trigger())
}

#[test]
fn every_connection_draws_random_numbers_of_its_own() {
    let of = |seed, end, incarnation| delay(seed, end, incarnation, micros(10)).0;
    let first = of(1, EndId::server(3), 0);
    assert_eq!(of(1, EndId::server(3), 0), first);
    let others = [
        of(2, EndId::server(3), 0),
        of(1, EndId::client(3), 0),
        of(1, EndId::server(4), 0),
        of(1, EndId::server(3), 1),
        of(1, EndId::server(3), 2),
        of(1, EndId::server(3), 256),
    ];
    for (at, other) in others.iter().enumerate() {
        assert!(*other != first && !others[..at].contains(other), "{at}");
    }
}

#[test]
fn a_host_that_delays_data_for_half_of_a_stall_is_named() {
    let (delay_of, picos) = (|rtt| delay(1, EndId::server(3), 0, rtt), Span::from_picos);
    let (wait, _) = delay_of(micros(10));
    // Half of a stall is five round trips.
    let most = picos(wait.as_picos() / 5);
    assert_eq!(delay_of(most), (wait, Trigger::Pacer));
    assert_eq!(delay_of(most + picos(1)), (wait, Trigger::Arrival));
}

#[test]
fn flows_belong_to_the_blueprint_before_them() {
    let mut hosts = Hosts::new(1, false);
    let small = Config { mss: 100, ..config() };
    let ids = [(config(), 0, 3), (small, 3, 2), (config(), 5, 1)]
        .map(|(tcp, first, flows)| hosts.add_blueprint(blueprint(tcp, first), flows));
    assert_eq!(ids, [0, 1, 2].map(BlueprintId));
    hosts.waits.add(0, 6, false, micros(10));
    for flow in 0..6 {
        let server = EndId::server(flow);
        hosts.act_on(server).write(1000);
        let packets = sent(&mut hosts, server, at(0));
        assert_eq!(u64::from(packets[0].payload), if flow == 3 || flow == 4 { 100 } else { 1000 });
    }
    assert_eq!(hosts.blueprint(BlueprintId(1)).first_flow(), 3);
    assert!(hosts.blueprint(BlueprintId(0)).is_plain());
    let packets = ids.map(|id| hosts.counters(id).data_packets);
    assert_eq!(packets, [3, 2 * 10, 1], "each has its own");
}

#[test]
fn counters_of_connections_that_are_gone_are_kept() {
    let mut hosts = hosts(config(), 2);
    let (server, id) = (EndId::server(0), BlueprintId(0));
    let send = |hosts: &mut Hosts, end| {
        hosts.act_on(end).write(2 * MSS);
        sent(hosts, end, at(0)).len()
    };
    assert_eq!((hosts.counters(id).data_packets, send(&mut hosts, server)), (0, 2));
    assert_eq!(send(&mut hosts, EndId::server(1)), 2);
    assert_eq!(hosts.counters(id).data_packets, 4);
    hosts.renew_connection(0, 1);
    assert_eq!(hosts.connection(server).map(incast_tcp::Connection::epoch), Some(1));
    assert_eq!(hosts.counters(id).data_packets, 4, "two of them are of the old one");
    assert_eq!(send(&mut hosts, server), 2);
    assert_eq!(hosts.counters(id).data_packets, 6);
}

/// Hosts with three connections of Swift, whose window of half a segment makes them pace.
fn slow(keep: impl Fn(&mut Hosts)) -> Hosts {
    let tcp = Config {
        initial_window: MSS / 2,
        congestion_control: serde_json::from_value(
            serde_json::json!({ "name": "swift", "base_target": "1us", "max_decrease": 0.0 }),
        )
        .unwrap(),
        recovery: named("newreno"),
        ..config()
    };
    let mut hosts = hosts(tcp, 3);
    keep(&mut hosts);
    hosts
}

#[test]
fn a_host_keeps_segments_of_the_ends_that_it_is_told() {
    let keeps = |hosts: &mut Hosts, id: EndId| {
        hosts.opened(id);
        hosts.connection(id).expect("it is TCP").has_departure_times()
    };
    let ends = |hosts: &mut Hosts| [0, 1, 2].map(|flow| keeps(hosts, EndId::server(flow))).to_vec();
    assert_eq!(ends(&mut slow(|_| {})), [false; 3]);
    // The hosts are told to keep segments before a connection is built, or afterwards.
    let before = |hosts: &mut Hosts| hosts.keep_segments(EndId::server(1));
    assert_eq!(ends(&mut slow(before)), [false, true, false]);
    let after = |hosts: &mut Hosts| {
        hosts.opened(EndId::server(2));
        hosts.keep_segments(EndId::server(2));
        hosts.keep_segments(EndId::server(0));
    };
    let mut both = slow(after);
    assert_eq!(ends(&mut both), [true, false, true]);
    assert!(!keeps(&mut both, EndId::client(0)));
    both.renew_connection(2, 1);
    assert!(keeps(&mut both, EndId::server(2)), "the next connection's, too");
}

#[test]
fn what_hosts_keep_at_the_end_was_not_sent() {
    let mut hosts = slow(|hosts| hosts.keep_segments(EndId::server(0)));
    let server = EndId::server(0);
    hosts.act_on(server).write(10 * MSS);
    assert_eq!(sent(&mut hosts, server, at(0)).len(), 1);
    hosts.deliver(at(1000), &ack(0, 1 + MSS));
    assert_eq!(sent(&mut hosts, server, at(1000)).len(), 1, "with its departure");
    let departure = hosts.end_mut(server).departs_at();
    assert_eq!(departure, at(2000));
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 2);
    hosts.withdraw_timed(departure);
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 2);
    hosts.withdraw_timed(at(1999));
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 1);
}
