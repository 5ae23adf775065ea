//! A point that sees a connection, packet by packet.

use incast_capture::read::{Address, Options};

use super::*;
use crate::stall::Cause;
use crate::time::tests::{at, ns};

fn end(host: u8, port: u16) -> Endpoint {
    Endpoint { address: Address::v4([10, 0, 0, host]), port }
}

/// Connections of a client, captured between their ends packet by packet.
struct Wire {
    point: Point,
    frame: u64,
    /// The host that is the server of the next packets.
    server: u8,
}

/// The client, at port 5000 of host 99, and a server.
const CLIENT: bool = true;
const SERVER: bool = false;

impl Wire {
    fn new() -> Self {
        Self { point: Point::new(3), frame: 0, server: 1 }
    }

    fn packet(&mut self, from: bool, micros: i64, (seq, ack, payload): (u32, u32, u32), flags: u8) {
        let (client, server) = (end(99, 5000), end(self.server, 80));
        let (source, target) = if from == CLIENT { (client, server) } else { (server, client) };
        self.frame += 1;
        let options = if flags & flags::SYN > 0 {
            Options::parse(&[2, 4, 3, 232, 3, 3, 7, 4, 2])
        } else {
            Options::default()
        };
        self.point.take(&Packet {
            time: micros * 1000,
            frame: self.frame,
            id: Some(self.frame as u16),
            source,
            target,
            seq,
            ack,
            payload,
            flags,
            window: 500,
            size: payload + 40,
            options,
            ..Packet::default()
        });
    }

    /// Adds a handshake at `micros` with a round trip of 1.1 ms, and a request.
    fn open(&mut self, micros: i64) {
        self.packet(CLIENT, micros, (1000, 0, 0), flags::SYN);
        self.packet(SERVER, micros + 1000, (5000, 1001, 0), flags::SYN | flags::ACK);
        self.packet(CLIENT, micros + 1100, (1001, 5001, 0), flags::ACK);
        self.packet(CLIENT, micros + 1200, (1001, 5001, 100), flags::ACK);
    }

    fn segment(&mut self, micros: i64, number: u32) {
        self.packet(SERVER, micros, (5001 + 1000 * number, 1101, 1000), flags::ACK);
    }

    fn ack(&mut self, micros: i64, number: u32) {
        self.packet(CLIENT, micros, (1101, 5001 + 1000 * number, 0), flags::ACK);
    }
}

#[test]
fn flows_that_fall_silent_before_the_end_may_have_lost_their_path() {
    let doubtful = |hosts: u8, last: u8| {
        let mut wire = Wire::new();
        for server in 1..=hosts {
            wire.server = server;
            wire.open(i64::from(server) * 2000);
            wire.segment(20_000 + i64::from(server), 0);
        }
        wire.packet(SERVER, 21_000, (6001, 1101, 1000), last);
        wire.ack(80_000, 2);
        wire.point.finish();
        wire.point.silences.doubtful().is_some()
    };
    assert!(doubtful(3, flags::ACK) && !doubtful(2, flags::ACK));
    assert!(!doubtful(3, flags::ACK | flags::FIN), "one has ended");
    assert!(!doubtful(3, flags::ACK | flags::RST));
}

#[test]
fn a_place_counts_what_it_has_seen() {
    let mut wire = Wire::new();
    wire.open(7000);
    wire.segment(9300, 0);
    wire.ack(9400, 1);
    let point = &wire.point;
    assert_eq!((point.packets, point.opened, point.connections.len()), (6, 1, 1));
    assert_eq!((point.first, point.last), (at(7_000_000), at(9_400_000)));
    assert_eq!(point.hosts.began, at(7_000_000));
    assert_eq!(point.parameters.round_trip, Some(ns(1_100_000)));
    let (address, receiver) = point.hosts.busiest().expect("the client");
    assert_eq!((address, receiver.load.bytes()), (end(99, 0).address, 1040));
    assert_eq!(receiver.taken.bytes(), 1040);
    // A packet with an earlier time does not change the time of the latest packet.
    wire.ack(9100, 1);
    assert_eq!((wire.point.packets, wire.point.last), (7, at(9_400_000)));
}

#[test]
fn a_connection_ends_when_both_ends_have_said_so() {
    let mut wire = Wire::new();
    wire.open(0);
    wire.packet(SERVER, 3000, (5001, 1101, 1000), flags::FIN | flags::ACK);
    wire.packet(CLIENT, 3050, (1101, 6002, 0), flags::ACK);
    assert_eq!(wire.point.connections.len(), 1, "one end has said so");
    wire.packet(CLIENT, 3100, (1101, 6002, 0), flags::FIN | flags::ACK);
    assert_eq!(wire.point.connections.len(), 0);
    assert_eq!(wire.point.evidence.vantage(), Some((Vantage::Client, 1.0)));
    assert_eq!((wire.point.parameters.connections, wire.point.parameters.mss), (1, 1000));
    wire.open(9000);
    assert_eq!((wire.point.opened, wire.point.connections.len()), (2, 1));
    wire.packet(CLIENT, 12_000, (1101, 5001, 0), flags::RST);
    assert_eq!(wire.point.connections.len(), 0);
}

#[test]
fn a_syn_with_another_number_opens_another_connection() {
    let opened = |seq: u32, flags: u8, data: bool| {
        let mut wire = Wire::new();
        wire.open(0);
        if data {
            wire.segment(3000, 0);
        }
        wire.packet(CLIENT, 900_000, (seq, 0, 0), flags);
        wire.point.opened
    };
    assert_eq!(opened(77_000, flags::SYN, true), 2);
    assert_eq!(opened(1000, flags::SYN, true), 1, "it is sent again");
    assert_eq!(opened(77_000, flags::ACK, true), 1);
}

#[test]
fn a_silent_connection_is_forgotten_after_five_minutes() {
    let left = |seconds: i64| {
        let mut wire = Wire::new();
        wire.open(0);
        wire.point.last = at(1_200_000) + Span::from_secs(seconds);
        wire.point.sweep();
        wire.point.connections.len()
    };
    assert_eq!([left(300), left(301)], [1, 0]);
}

#[test]
fn copies_are_counted_and_not_looked_at() {
    let mut wire = Wire::new();
    wire.open(0);
    wire.segment(3000, 0);
    wire.frame -= 1;
    wire.segment(3010, 0);
    assert_eq!(wire.point.packets, 6);
    let (_, receiver) = wire.point.hosts.busiest().expect("the client");
    assert_eq!(receiver.load.bytes(), 1040);
}

#[test]
fn all_that_is_open_ends_with_the_capture() {
    let mut wire = Wire::new();
    wire.open(0);
    wire.segment(3000, 0);
    wire.segment(3012, 2);
    wire.segment(205_000, 1);
    assert!(wire.point.stalls.is_empty());
    wire.point.finish();
    assert_eq!(wire.point.connections.len(), 0);
    let told: Vec<_> = wire.point.stalls.iter().map(|stall| stall.cause).collect();
    assert_eq!(told, [Ok(Cause::Tail)]);
    assert_eq!((wire.point.parameters.messages, wire.point.parameters.fan_in), (2, 1));
    let mut late = Wire::new();
    late.open(0);
    late.segment(203_000, 0);
    late.ack(203_100, 1);
    late.segment(205_000, 1);
    late.point.finish();
    assert!(late.point.stalls[0].cause.is_err(), "of a flow in a burst, nobody decides");
}
