use incast_engine::Rate;
use incast_lab::probe::{Recorder, Values};
use incast_net::RouteId;
use incast_net::port::PortConfig;
use incast_net::topology::{Attachment, Fabric, HostId, Spread, SwitchId, Trunks};

use super::*;

/// A network with one flow, from host 1 to host 0. The delay is 25 µs from the sender to the
/// switch, and 75 µs from the switch to the receiver.
fn network() -> Network {
    let port = |micros| PortConfig::host(Rate(1_000_000_000), Span::from_micros(micros));
    let host = Attachment { switch: SwitchId(0), uplink: port(25), downlink: port(75) };
    let only = vec![SwitchId(0)];
    let fabric = Fabric {
        switches: 1,
        trunks: Vec::new(),
        clients: only.clone(),
        servers: only,
        spread: Spread::default(),
    };
    let trunks = Trunks { fabric: &fabric, port: port(1), pool: None };
    let mut network = Network::new(&[host.clone(), host], &trunks, 1);
    network.add_flow(HostId(1), HostId(0));
    network.connect();
    network
}

/// The ports on the path of the flow's data.
const UP: PortId = PortId(2);
const DOWN: PortId = PortId(1);

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn data(seq: u64) -> Packet {
    Packet { route: RouteId::new(0, true), seq, payload: 1000, ..Packet::default() }
}

fn with(packet: Packet, flags: Flags) -> Packet {
    Packet { flags: packet.flags.with(flags), ..packet }
}

/// The numbers in a column.
fn column(journeys: &Journeys, name: &str) -> Vec<f64> {
    let table = journeys.table();
    let (_, values) =
        table.columns.into_iter().find(|(it, _)| *it == name).expect("there is such a column");
    match values {
        Values::F64(values) => values,
        Values::U32(values) => values.into_iter().map(f64::from).collect(),
        Values::U64(values) => values.into_iter().map(|value| value as f64).collect(),
        other => panic!("{other:?} are no numbers"),
    }
}

/// Microseconds in a column of times; -1 stands for never.
fn micros(journeys: &Journeys, name: &str) -> Vec<i64> {
    let values = column(journeys, name).into_iter();
    values.map(|at| if at.is_nan() { -1 } else { (at * 1e6).round() as i64 }).collect()
}

#[test]
fn a_packet_has_one_row_per_link() {
    let (mut journeys, network) = (Journeys::default(), network());
    journeys.after_offer(at(10), UP, &data(7), &network);
    journeys.on_arrival(at(40), UP, &data(7));
    journeys.after_offer(at(40), DOWN, &data(7), &network);
    assert_eq!(micros(&journeys, "arrived_s"), [40, -1]);
    assert_eq!(micros(&journeys, "left_s"), [15, -1]);
    journeys.on_arrival(at(140), DOWN, &data(7));
    assert_eq!(micros(&journeys, "offered_s"), [10, 40]);
    assert_eq!(micros(&journeys, "left_s"), [15, 65], "each link has its own delay");
    assert_eq!(micros(&journeys, "arrived_s"), [40, 140]);
    assert_eq!(micros(&journeys, "dropped_s"), [-1, -1]);
    assert_eq!(column(&journeys, "place"), [0.0, 1.0]);
    assert_eq!(column(&journeys, "seq"), [7.0, 7.0]);
}

#[test]
fn packets_are_told_apart_by_route_numbers_and_repetition() {
    let first = data(1);
    let others = [
        data(2),
        Packet { ack: 5, ..first },
        Packet { route: RouteId::new(0, false), ..first },
        with(first, Flags::RETRANSMISSION),
    ];
    for other in others {
        let (mut journeys, network) = (Journeys::default(), network());
        journeys.after_offer(at(1), UP, &first, &network);
        journeys.after_offer(at(2), UP, &other, &network);
        journeys.on_arrival(at(50), UP, &other);
        assert_eq!(micros(&journeys, "arrived_s"), [-1, 50], "{other:?}");
        journeys.on_arrival(at(60), UP, &other);
        assert_eq!(micros(&journeys, "arrived_s"), [-1, 50], "it has left");
        journeys.on_arrival(at(60), DOWN, &first);
        assert_eq!(micros(&journeys, "arrived_s"), [-1, 50], "it has never entered this port");
        journeys.on_arrival(at(70), UP, &first);
        assert_eq!(micros(&journeys, "arrived_s"), [70, 50]);
    }
}

#[test]
fn a_mark_or_a_trim_on_the_way_makes_no_other_packet() {
    let (mut journeys, network) = (Journeys::default(), network());
    journeys.after_offer(at(1), UP, &data(1), &network);
    let packet = with(Packet { payload: 0, ..data(1) }, Flags::TRIMMED);
    let packet = Packet { flags: packet.flags.with_ecn(Ecn::CongestionExperienced), ..packet };
    journeys.on_arrival(at(50), UP, &packet);
    assert_eq!(micros(&journeys, "arrived_s"), [50]);
}

#[test]
fn drops_are_rows_of_their_own_or_end_one() {
    let (mut journeys, network) = (Journeys::default(), network());
    // Only switches drop packets, so `DOWN` is the second port on the path.
    journeys.on_drop(at(3), DOWN, &data(1));
    journeys.after_offer(at(4), UP, &data(2), &network);
    journeys.on_drop(at(5), UP, &data(3));
    journeys.on_late_drop(at(6), UP, &data(2));
    journeys.on_late_drop(at(7), UP, &data(9));
    assert_eq!(micros(&journeys, "dropped_s"), [3, 6, 5]);
    assert_eq!(micros(&journeys, "offered_s"), [3, 4, 5]);
    assert_eq!(micros(&journeys, "left_s"), [-1; 3]);
    assert_eq!(micros(&journeys, "arrived_s"), [-1; 3]);
    assert_eq!(column(&journeys, "place"), [1.0, 0.0, 0.0]);
}

#[test]
fn rows_end_at_a_limit() {
    let (mut journeys, network) = (Journeys::default(), network());
    journeys.after_offer(at(1), UP, &data(1), &network);
    journeys.hops.resize(MOST - 2, Hop::new(&data(0), 0, at(1)));
    journeys.on_drop(at(2), UP, &data(2));
    journeys.after_offer(at(3), UP, &data(3), &network);
    assert_eq!(journeys.hops.len(), MOST);
    journeys.on_drop(at(4), UP, &data(4));
    journeys.after_offer(at(5), UP, &data(5), &network);
    assert_eq!(journeys.hops.len(), 262_144);
    journeys.on_arrival(at(50), UP, &data(3));
    assert_eq!(journeys.hops[MOST - 1].arrived, at(50), "rows that exist are completed");
    journeys.on_arrival(at(60), UP, &data(5));
    assert_eq!(journeys.hops.iter().filter(|hop| hop.arrived == at(60)).count(), 0);
}

#[test]
fn a_packet_is_called_what_it_carries() {
    let bare = Packet { payload: 0, ..data(1) };
    let every = Flags::SYN.with(Flags::REQUEST).with(Flags::FIN);
    let cases = [
        (with(with(data(1), every), Flags::DATAGRAM), "datagram"),
        (with(bare, Flags::DATAGRAM), "datagram"),
        (with(data(1), every), "data"),
        (data(1), "data"),
        (Packet { payload: 1, ..bare }, "data"),
        (with(bare, Flags::TRIMMED), "data"),
        (with(bare, every), "syn"),
        (with(bare, Flags::SYN.with(Flags::ACK)), "syn"),
        (with(bare, Flags::REQUEST.with(Flags::FIN)), "request"),
        (with(bare, Flags::FIN.with(Flags::ACK)), "fin"),
        (with(bare, Flags::ACK), "ack"),
        (with(bare, Flags::RETRANSMISSION.with(Flags::ECE)), "ack"),
    ];
    for (packet, name) in cases {
        assert_eq!(kind(&packet), name, "{packet:?}");
    }
    let mut journeys = Journeys::default();
    for (packet, _) in cases {
        journeys.on_drop(at(1), DOWN, &packet);
    }
    let table = journeys.table();
    let (_, kinds) = table.columns.iter().find(|(name, _)| *name == "kind").expect("a column");
    let Values::Text(kinds) = kinds else { panic!("{kinds:?} are no names") };
    let told = kinds.codes.iter().map(|code| kinds.names[*code as usize].as_str());
    assert!(told.eq(cases.map(|(_, name)| name)));
}

#[test]
fn a_row_tells_what_is_in_the_header() {
    let network = network();
    let marked = |ecn| Packet { flags: data(1).flags.with_ecn(ecn), ..data(1) };
    let packets = [
        Packet { header: 52, ack: 17, ..data(1) },
        Packet { route: RouteId::new(0, false), label: 3, ..data(1) },
        with(data(1), Flags::RETRANSMISSION),
        marked(Ecn::CongestionExperienced),
        marked(Ecn::Capable),
    ];
    let mut journeys = Journeys::default();
    for packet in &packets {
        journeys.after_offer(at(1), UP, packet, &network);
    }
    assert_eq!(column(&journeys, "forward"), [1.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(column(&journeys, "flow"), [0.0; 5]);
    assert_eq!(column(&journeys, "ack"), [17.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(column(&journeys, "bytes"), [1052.0, 1000.0, 1000.0, 1000.0, 1000.0]);
    assert_eq!(column(&journeys, "again"), [0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(column(&journeys, "marked"), [0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(column(&journeys, "labelled"), [0.0, 1.0, 0.0, 0.0, 0.0]);
}
