use incast_engine::{Limit, Rate, Span};

use serde_json::{Value, json};

use super::*;
use crate::buffer::{Buffer, PoolConfig};
use crate::port::PortConfig;
use crate::topology::{Attachment, Fabric, TopologyConfig, Trunks};

/// A network with one host on each of these switches. Every link has 1 Gbps and 25 µs.
fn build(topology: &Value, switches: &[SwitchId]) -> Network {
    let topology: TopologyConfig = serde_json::from_value(topology.clone()).expect("it exists");
    let fabric = topology.shape().fabric();
    let port = PortConfig::host(Rate(1_000_000_000), Span::from_micros(25));
    let attach = |switch| Attachment { switch, uplink: port.clone(), downlink: port.clone() };
    let hosts: Vec<_> = switches.iter().copied().map(attach).collect();
    Network::new(&hosts, &Trunks { fabric: &fabric, port: port.clone(), pool: None }, 1)
}

fn star(hosts: usize) -> Network {
    build(&json!({ "name": "star" }), &vec![SwitchId(0); hosts])
}

/// The shortcut of each port.
fn shortcuts(network: &Network) -> Vec<Shortcut> {
    network.ports.iter().map(Port::shortcut).collect()
}

#[test]
fn a_packet_crosses_its_servers_uplink_and_the_switch_port_of_the_client() {
    let mut network = star(3);
    let (client, server) = (HostId(0), HostId(2));
    assert_eq!(network.add_flow(HostId(1), client), 0);
    let flow = network.add_flow(server, client);
    assert_eq!(flow, 1);
    let route = RouteId::new(flow, true);
    let packet = Packet { route, payload: 1460, header: 40, ..Packet::default() };
    let id = network.packets().insert(packet);
    let mut parcel = network.post(id);
    let mut now = Time::ZERO;
    for expected in [PortId(4), Network::switch_port(client)] {
        let hop = network.next_hop(parcel).expect("not there yet");
        assert_eq!(hop, expected);
        let Admission::Scheduled(arrival) = network.offer(now, hop, parcel, 0) else {
            panic!("an empty port schedules");
        };
        assert_eq!(network.in_flight(route).count(), 1);
        now = arrival;
        (parcel, _) = network.deliver(now, 0, hop);
    }
    assert_eq!(network.next_hop(parcel), None);
    assert_eq!(now, Time::ZERO + Span::from_micros(74));
}

#[test]
fn no_packet_is_relayed_to_a_port_on_the_way_forward() {
    let mut network = star(2);
    network.add_flow(HostId(1), HostId(0));
    network.seal();
    let expected = [Shortcut::Relay, Shortcut::None, Shortcut::Announce, Shortcut::None];
    assert_eq!(shortcuts(&network), expected, "a single server waits its turn");
}

#[test]
fn an_announced_packet_enters_when_its_link_says_and_needs_no_event_while_the_port_is_busy() {
    let mut network = star(3);
    network.add_flow(HostId(1), HostId(0));
    network.add_flow(HostId(2), HostId(0));
    network.seal();
    let clients = Network::switch_port(HostId(0));
    let send = |network: &mut Network, flow, at| {
        let route = RouteId::new(flow, true);
        let packet = Packet { route, payload: 1460, header: 40, ..Packet::default() };
        let id = network.packets().insert(packet);
        let parcel = network.post(id);
        network.shorten(at, network.legs(parcel), parcel, u64::from(flow))
    };
    let micros = |time| Time::ZERO + Span::from_micros(time);
    let first = send(&mut network, 0, micros(0));
    assert_eq!(first, Handoff::Announced(Some((clients, micros(37), 0))));
    let second = send(&mut network, 1, micros(1));
    assert_eq!(second, Handoff::Announced(None), "the first one will see to it");
    assert_eq!(network.packet_hops(micros(1)), 0, "both are on their first link");
    assert_eq!(network.settle((micros(37), 0), clients), NextEvent::Arrival(micros(74), 0));
    assert_eq!(network.packet_hops(micros(37)), 1);
    let (_, due) = network.deliver(micros(74), 0, clients);
    assert_eq!(due, NextEvent::Arrival(micros(86), 1 << 48 | 1), "it came at 38 us and waited");
    assert!(network.ports().iter().all(Port::is_conserving));
}

#[test]
fn a_sealed_star_relays_acks_and_crosses_both_links_in_the_same_time() {
    let ack = Packet { route: RouteId::new(0, false), header: 40, ..Packet::default() };
    let cross = |network: &mut Network| {
        let id = network.packets().insert(ack);
        let (mut parcel, mut now) = (network.post(id), Time::ZERO);
        let mut events = 0;
        while let Some(hop) = network.next_hop(parcel) {
            let (port, arrival) = match network.shorten(now, network.legs(parcel), parcel, 0) {
                Handoff::Relayed(scheduled) => scheduled.expect("an idle port"),
                handoff => {
                    assert_eq!(handoff, Handoff::Declined);
                    let admission = network.offer(now, hop, parcel, 0);
                    let Admission::Scheduled(at) = admission else { panic!("an idle port") };
                    (hop, at)
                }
            };
            now = arrival;
            (parcel, _) = network.deliver(now, 0, port);
            events += 1;
        }
        (now, events, network.ports().iter().all(Port::is_conserving))
    };
    let mut network = star(3);
    network.add_flow(HostId(1), HostId(0));
    network.add_flow(HostId(2), HostId(0));
    let (arrival, events, _) = cross(&mut network);
    assert_eq!(events, 2);
    network.seal();
    let relays: Vec<bool> = shortcuts(&network).iter().map(|it| *it == Shortcut::Relay).collect();
    assert_eq!(relays, [true, false, false, false, false, false], "the client's uplink only");
    let start = arrival;
    let (now, events, conserving) = {
        let mut fresh = star(3);
        fresh.add_flow(HostId(1), HostId(0));
        fresh.add_flow(HostId(2), HostId(0));
        fresh.seal();
        cross(&mut fresh)
    };
    assert_eq!((now, events, conserving), (start, 1, true));
}

/// Sends a packet of 1500 bytes along a route. Returns the ports that it crosses and its arrival
/// time.
fn cross(network: &mut Network, route: RouteId) -> (Vec<PortId>, Time) {
    let packet = Packet { route, payload: 1460, header: 40, ..Packet::default() };
    let id = network.packets().insert(packet);
    let (mut parcel, mut now, mut ports) = (network.post(id), Time::ZERO, Vec::new());
    while let Some(hop) = network.next_hop(parcel) {
        let admission = network.offer(now, hop, parcel, 0);
        let Admission::Scheduled(arrival) = admission else { panic!("an idle port") };
        now = arrival;
        (parcel, _) = network.deliver(now, 0, hop);
        ports.push(hop);
    }
    (ports, now)
}

#[test]
fn a_chain_is_crossed_from_end_to_end_and_back_over_the_same_trunks() {
    let chain = json!({ "name": "chain", "switches": 3 });
    let mut network = build(&chain, &[SwitchId(2), SwitchId(0), SwitchId(1)]);
    network.add_flow(HostId(1), HostId(0));
    network.add_flow(HostId(2), HostId(0));
    // The hosts have six ports. Ports 6 and 7 belong to trunk 0-1, ports 8 and 9 to trunk 1-2.
    let cases = [
        (RouteId::new(0, true), vec![2, 6, 8, 1]),
        (RouteId::new(0, false), vec![0, 9, 7, 3]),
        (RouteId::new(1, true), vec![4, 8, 1]),
        (RouteId::new(1, false), vec![0, 9, 5]),
    ];
    for (route, expected) in cases {
        let mut fresh = build(&chain, &[SwitchId(2), SwitchId(0), SwitchId(1)]);
        fresh.add_flow(HostId(1), HostId(0));
        fresh.add_flow(HostId(2), HostId(0));
        let expected: Vec<PortId> = expected.into_iter().map(PortId).collect();
        assert_eq!(network.route(route), expected);
        let (ports, arrival) = cross(&mut fresh, route);
        assert_eq!(ports, expected);
        // On each link, a packet needs 12 µs for transmission and 25 µs for propagation.
        assert_eq!(arrival, Time::ZERO + Span::from_micros(37) * ports.len() as u64);
    }
    network.seal();
    assert!(
        !shortcuts(&network).contains(&Shortcut::Relay),
        "the client's uplink leads to a trunk"
    );
}

#[test]
fn two_clients_have_no_relay() {
    let mut network = star(4);
    network.add_flow(HostId(2), HostId(0));
    network.add_flow(HostId(3), HostId(1));
    network.seal();
    assert!(!shortcuts(&network).contains(&Shortcut::Relay));
}

#[test]
fn flows_spread_over_the_spines_and_each_keeps_to_one() {
    let leaf_spine = json!({ "name": "leaf-spine", "leaves": 2, "spines": 4 });
    let mut network = build(&leaf_spine, &[SwitchId(0), SwitchId(1)]);
    let flows: Vec<u32> = (0..200).map(|_| network.add_flow(HostId(1), HostId(0))).collect();
    for forward in [true, false] {
        let mut used: Vec<PortId> =
            flows.iter().map(|flow| network.route(RouteId::new(*flow, forward))[1]).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 4, "every spine carries some of 200 flows");
    }
    assert_eq!(network.route(RouteId::new(0, true)).len(), 4);
}

#[test]
fn hosts_on_one_switch_do_not_leave_it() {
    let mut network = build(&json!({ "name": "two-tier" }), &[SwitchId(3), SwitchId(3)]);
    network.add_flow(HostId(1), HostId(0));
    assert_eq!(network.route(RouteId::new(0, true)), [PortId(2), PortId(1)]);
}

#[test]
fn flows_may_take_parallel_paths_in_turn_and_come_back_on_the_same() {
    let topology = json!({ "name": "parallel", "paths": 3, "spread": "in-turn" });
    let mut network = build(&topology, &[SwitchId(1), SwitchId(0)]);
    // A path consists of a trunk from switch 0 and a trunk to switch 1, each with two ports.
    let path = |port: PortId| (port.0 - 4) / 4;
    for flow in 0..7 {
        network.add_flow(HostId(1), HostId(0));
        for forward in [true, false] {
            let route = network.route(RouteId::new(flow, forward));
            assert_eq!([path(route[1]), path(route[2])], [flow % 3; 2], "{flow}, {forward}");
        }
    }
}

#[test]
fn every_switch_has_a_pool_of_its_own() {
    let fabric = Fabric {
        switches: 2,
        trunks: vec![[SwitchId(0), SwitchId(1)]],
        clients: vec![SwitchId(0)],
        servers: vec![SwitchId(1)],
        spread: Spread::default(),
    };
    let mut port = PortConfig::host(Rate(1_000_000_000), Span::from_micros(25));
    port.buffer = Some(Buffer::new(Limit::Packets(2), false));
    let attach = |switch| Attachment { switch, uplink: port.clone(), downlink: port.clone() };
    let pool = Some(PoolConfig { total: Limit::Packets(2), alpha: None });
    let hosts = [attach(SwitchId(0)), attach(SwitchId(1))];
    let mut network =
        Network::new(&hosts, &Trunks { fabric: &fabric, port: port.clone(), pool }, 1);
    network.add_flow(HostId(1), HostId(0));
    // The trunk's port at switch 1 holds three packets, one of which is in service.
    let trunk = PortId(5);
    assert_eq!(network.route(RouteId::new(0, true)), [PortId(2), trunk, PortId(1)]);
    for _ in 0..3 {
        let packet = Packet { payload: 1460, header: 40, ..Packet::default() };
        let id = network.packets().insert(packet);
        let parcel = network.post(id);
        network.offer(Time::ZERO, trunk, parcel, 0);
    }
    let used: Vec<u64> = network.pools().iter().map(|pool| pool.used().packets).collect();
    assert_eq!(used, [0, 2]);
}

#[test]
fn a_route_is_alone_if_no_other_begins_at_its_port() {
    let mut network = star(4);
    for server in [1, 2, 2] {
        network.add_flow(HostId(server), HostId(0));
    }
    let first = RouteId::new(0, true);
    assert_eq!(network.lone_routes(), [first], "the second server sends two, the client all ACKs");
    let port = network.route(first)[0];
    assert!(!network.announces(port), "nothing is announced before the seal");
    network.seal();
    assert!(network.announces(port));
    assert_eq!(network.lone_routes(), [first], "whatever becomes of the packets");
}

#[test]
fn a_packet_takes_the_path_that_its_sender_chose_and_all_of_them_are_known() {
    let leaf_spine = json!({ "name": "leaf-spine", "leaves": 2, "spines": 4 });
    let mut network = build(&leaf_spine, &[SwitchId(0), SwitchId(1), SwitchId(0)]);
    network.add_flow(HostId(1), HostId(0));
    assert_eq!(network.add_flow_with_paths(HostId(1), HostId(0)), 1);
    network.add_flow(HostId(2), HostId(0));
    network.seal();
    let route = RouteId::new(1, true);
    let trunk = |network: &mut Network, packet: Packet| {
        let packet = Packet { route, payload: 1460, header: 40, ..packet };
        let id = network.packets().insert(packet);
        let parcel = network.post(id);
        assert_eq!(network.next_hop(parcel), Some(network.host_port(route)));
        // The port after the host's port leads from the server's leaf to a spine.
        let parcel = parcel.onward();
        let port = network.next_hop(parcel).expect("a trunk");
        network.offer(Time::ZERO, port, parcel, 0);
        port
    };
    let taken = [0, 1, 2, 3, 4, 5, 6, 7, u32::MAX]
        .map(|path| trunk(&mut network, Packet::default().with_path(path)));
    assert_eq!((&taken[..4], taken[8]), (&taken[4..8], taken[3]), "numbers wrap");
    let mut trunks: Vec<PortId> = (0..4).map(|spine| PortId(6 + 8 + 2 * spine)).collect();
    let mut distinct = taken[..4].to_vec();
    distinct.sort_unstable();
    assert_eq!(distinct, trunks);
    assert_eq!(network.in_flight(route).count(), 9, "each is found once");
    // A packet without a chosen path takes path 0.
    assert_eq!(trunk(&mut network, Packet::default()), taken[0]);
    assert_eq!(network.route(route)[1], taken[0]);
    // These ports lead from the spines to the client's leaf.
    trunks.extend((0..4).map(|spine| PortId(6 + 1 + 2 * spine)));
    trunks.push(Network::switch_port(HostId(0)));
    trunks.sort_unstable();
    assert_eq!(network.switch_ports_forward(), trunks);
    assert_eq!(network.route(RouteId::new(2, true)), [PortId(4), PortId(1)], "on one switch");
}

/// Path 0 of a flow with several paths is the path that it would have as a flow with one path.
/// Flows of TCP therefore keep their paths when other flows have several paths.
#[test]
fn path_0_is_the_path_of_a_flow_with_one() {
    let fabric = json!({ "name": "leaf-spine", "leaves": 3, "spines": 5 });
    let hosts = [SwitchId(0), SwitchId(1), SwitchId(2)];
    let [mut one, mut all] = [build(&fabric, &hosts), build(&fabric, &hosts)];
    for flow in 0..40 {
        let (server, client) = (HostId(1 + flow % 2), HostId(0));
        one.add_flow(server, client);
        let _ = if flow % 3 == 0 {
            all.add_flow(server, client)
        } else {
            all.add_flow_with_paths(server, client)
        };
    }
    for route in (0..80).map(RouteId) {
        assert_eq!(all.route(route), one.route(route));
        assert_eq!(all.host_port(route), one.host_port(route));
    }
    assert_eq!(all.lone_routes(), one.lone_routes());
}

#[test]
fn a_port_that_somebody_waits_for_keeps_its_departure_events() {
    let mut network = star(2);
    network.add_flow(HostId(1), HostId(0));
    let uplink = Network::uplink(HostId(1));
    network.step(uplink);
    network.seal();
    let route = RouteId::new(0, true);
    let packet = Packet { route, payload: 1460, header: 40, ..Packet::default() };
    let id = network.packets().insert(packet);
    let parcel = network.post(id);
    assert_eq!(network.offer(Time::ZERO, uplink, parcel, 0), Admission::Started);
    let service = network.port(uplink).service().expect("a packet is being sent");
    assert!(service.departure.is_some());
}
