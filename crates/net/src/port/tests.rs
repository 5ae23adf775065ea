use incast_engine::{Limit, Rate};
use proptest::prelude::*;

use super::*;
use crate::buffer::{Accounting, PoolId};
use crate::packet::Packet;
use crate::queue::QueueConfig;

const GIGABIT: Rate = Rate(1_000_000_000);
const DELAY: Span = Span::from_micros(25);

/// A port and the packets that it holds.
struct Alone {
    port: Port,
    commons: Commons,
}

impl Alone {
    fn new(config: &PortConfig) -> Self {
        Self { port: Port::new(config, 0, 1), commons: Commons::default() }
    }

    fn offer(&mut self, now: Time, packet: Packet, sequence: u64) -> Admission {
        let id = self.commons.packets.insert(packet);
        let parcel = Parcel::new(id, packet.size(), 0);
        self.port.offer(now, parcel, sequence, &mut self.commons)
    }

    fn deliver(&mut self, now: Time) -> (Packet, Option<(Time, u64)>) {
        let (parcel, next) = self.port.deliver(now);
        let next = match next {
            NextEvent::Arrival(time, sequence) => Some((time, sequence)),
            _ => None,
        };
        (self.commons.packets[parcel.packet], next)
    }
}

impl std::ops::Deref for Alone {
    type Target = Port;

    fn deref(&self) -> &Port {
        &self.port
    }
}

fn port(buffer: Option<Buffer>) -> Alone {
    Alone::new(&PortConfig { buffer, ..PortConfig::host(GIGABIT, DELAY) })
}

fn packet(payload: u16) -> Packet {
    Packet { payload, header: 40, ..Packet::default() }
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

#[test]
fn a_packet_arrives_after_serialisation_and_propagation() {
    let mut port = port(None);
    let admission = port.offer(Time::ZERO, packet(1460), 0);
    assert_eq!(admission, Admission::Scheduled(at(37)));
    assert_eq!(port.offer(Time::ZERO, packet(1460), 1), Admission::Queued);
    let (_, next) = port.deliver(at(37));
    let behind_one = 1 << 48;
    assert_eq!(next, Some((at(49), behind_one | 1)));
}

#[test]
fn layer_2_overhead_lengthens_the_packet_on_the_line_only() {
    let config = PortConfig {
        layer2_overhead: 38,
        buffer: Some(Buffer::new(Limit::Packets(9), false)),
        ..PortConfig::host(GIGABIT, DELAY)
    };
    let mut port = Alone::new(&config);
    let Admission::Scheduled(arrival) = port.offer(Time::ZERO, packet(1460), 0) else {
        panic!("an empty port schedules");
    };
    assert_eq!(arrival - Time::ZERO, DELAY + Span::from_nanos(1538 * 8));
    assert_eq!(port.view().in_service_bytes, 1500);
}

#[test]
fn a_packet_that_departs_exactly_now_has_left() {
    let limit = Buffer::new(Limit::Packets(1), false);
    let mut port = port(Some(limit));
    let dropped = Admission::Dropped(DropReason::BufferFull);
    for sequence in 0..2 {
        assert_ne!(port.offer(Time::ZERO, packet(1460), sequence), dropped);
    }
    let just_before = Time::from_picos(at(12).as_picos() - 1);
    assert_eq!(port.offer(just_before, packet(1460), 2), dropped);
    assert_eq!(port.offer(at(12), packet(1460), 2), Admission::Queued);
}

#[test]
fn as_scheduled_the_line_comes_first_that_has_been_busy_for_fewer() {
    let delay = Span::from_micros(100);
    let config = PortConfig { ties: Ties::Scheduled, ..PortConfig::host(GIGABIT, delay) };
    let mut port = Alone::new(&config);
    // Each arriving packet finds at most one packet in the port. The last packet finds the line
    // idle.
    for (micros, sequence) in [(0, 0), (12, 1), (24, 2), (60, 3)] {
        port.offer(at(micros), packet(1460), sequence);
    }
    assert_eq!(port.deliver(at(112)).1, Some((at(124), placed(1, 1))));
    assert_eq!(port.deliver(at(124)).1, Some((at(136), placed(2, 2))));
    assert_eq!(port.deliver(at(136)).1, Some((at(172), placed(0, 3))));
}

#[test]
fn a_packet_that_arrives_first_finds_the_departing_one() {
    let config = PortConfig {
        ties: Ties::ArrivalFirst,
        buffer: Some(Buffer::new(Limit::Packets(1), false)),
        ..PortConfig::host(GIGABIT, Span::ZERO)
    };
    let mut port = Alone::new(&config);
    port.offer(Time::ZERO, packet(1460), 0);
    port.offer(Time::ZERO, packet(1460), 1);
    let dropped = Admission::Dropped(DropReason::BufferFull);
    assert_eq!(port.offer(at(12), packet(1460), 2), dropped);
    port.deliver(at(12));
    assert_eq!(port.offer(at(12) + Span::from_picos(1), packet(1460), 3), Admission::Queued);
    port.deliver(at(24));
    assert!(port.is_conserving());
}

#[test]
fn the_integral_of_the_queue_is_waiting_time_times_size() {
    let ample = Buffer::new(Limit::Packets(9), false);
    let mut port = port(Some(ample));
    for sequence in 0..3 {
        port.offer(Time::ZERO, packet(1460), sequence);
    }
    // The second packet waits for 12 us, the third packet for 24 us.
    assert_eq!(port.counters().byte_time, 1500 * 36_000_000);
    assert_eq!((port.counters().max_packets, port.counters().max_bytes), (2, 3000));
    assert_eq!(port.sending_until(at(18)), Span::from_micros(18));
    // At 18 us, the second packet is being sent after a wait of 12 us, and the third packet has
    // waited for 18 us.
    assert_eq!(port.byte_time_until(at(18)), 1500 * 30_000_000);
    assert_eq!(port.byte_time_until(at(40)), 1500 * 36_000_000);
}

/// A reference port with an event per departure.
struct Reference {
    limit: Limit,
    counts_in_service: bool,
    /// (start of transmission, departure, size) of all admitted packets.
    admitted: Vec<(Time, Time, u32)>,
}

impl Reference {
    fn offer(&mut self, now: Time, size: u32) -> Option<Time> {
        let present = || self.admitted.iter().filter(|(_, departure, _)| *departure > now);
        let waiting = || present().filter(|(start, ..)| *start > now);
        let idle = present().next().is_none();
        let (packets, bytes) = if self.counts_in_service {
            (present().count(), present().map(|(.., size)| u64::from(*size)).sum::<u64>())
        } else {
            (waiting().count(), waiting().map(|(.., size)| u64::from(*size)).sum::<u64>())
        };
        let fits = match self.limit {
            Limit::Packets(limit) => (packets as u64) < limit,
            Limit::Bytes(limit) => bytes + u64::from(size) <= limit,
        };
        if !(fits || idle && !self.counts_in_service) {
            return None;
        }
        let start = self.admitted.last().map_or(now, |(_, departure, _)| now.max(*departure));
        let departure = start + Span::from_nanos(u64::from(size) * 8);
        self.admitted.push((start, departure, size));
        Some(departure + DELAY)
    }
}

proptest! {
    /// The FIFO port agrees with the reference port, conserves packets, and delivers each packet
    /// once and in order.
    #[test]
    fn agrees_with_a_port_that_simulates_every_departure(
        arrivals in prop::collection::vec((0_u64..20, 0_u16..1460), 1..100),
        packets in 1_u64..8,
        in_bytes in any::<bool>(),
        counts_in_service in any::<bool>(),
    ) {
        let limit = if in_bytes { Limit::Bytes(packets * 1500) } else { Limit::Packets(packets) };
        let mut port = port(Some(Buffer::new(limit, counts_in_service)));
        let mut reference = Reference { limit, counts_in_service, admitted: Vec::new() };
        let mut expected = VecDeque::new();
        let mut scheduled: Option<Time> = None;
        let mut now = Time::ZERO;
        for (sequence, &(gap, payload)) in arrivals.iter().enumerate() {
            now += Span::from_micros(gap);
            while let Some(time) = scheduled.filter(|time| *time <= now) {
                let (packet, next) = port.deliver(time);
                prop_assert_eq!(expected.pop_front(), Some((time, packet.seq)));
                scheduled = next.map(|(time, _)| time);
            }
            let packet = Packet { seq: sequence as u64, ..packet(payload) };
            let arrival = reference.offer(now, packet.size());
            match port.offer(now, packet, sequence as u64) {
                Admission::Dropped(_) => prop_assert_eq!(arrival, None),
                Admission::Started | Admission::QueuedWithEffects => {
                    prop_assert!(false, "departures are no events");
                }
                Admission::Queued => prop_assert!(arrival.is_some() && scheduled.is_some()),
                Admission::Scheduled(time) => {
                    prop_assert_eq!(arrival, Some(time));
                    scheduled = Some(time);
                }
            }
            if let Some(time) = arrival {
                expected.push_back((time, packet.seq));
            }
            prop_assert!(port.is_conserving());
        }
    }
}

#[path = "stepped_tests.rs"]
mod stepped;

#[path = "pause_tests.rs"]
mod pause;

#[path = "push_out_tests.rs"]
mod push_out;

#[path = "rapid_tests.rs"]
mod rapid;

#[path = "trim_tests.rs"]
mod trim;
