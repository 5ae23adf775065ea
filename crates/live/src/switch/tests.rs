use std::io::Error;
use std::time::Duration;

use incast_net::{PacketId, RouteId};

use super::*;
use crate::frame::FIRST_PORT;
use crate::testbed::{ACK, DROP_TAIL, MARKING, Memory, SYN, Sent, alone, ip, link, scenario};

const FLOWS: [(HostId, HostId); 2] = [(HostId(1), HostId(0)), (HostId(2), HostId(0))];

/// Whether a table regards each of the frames, in order, as a retransmission.
fn are_again(frames: &[Sent]) -> Vec<bool> {
    let mut table = Table::new(&FLOWS);
    let read = |sent: &Sent| table.read(&sent.frame()).expect("it belongs to a flow");
    frames.iter().map(read).map(|packet| packet.flags.contains(Flags::RETRANSMISSION)).collect()
}

#[test]
fn data_that_were_seen_before_are_a_retransmission() {
    let data = |seq, payload| Sent::data(0, seq, payload);
    let first = data(1000, 100);
    assert_eq!(are_again(&[first, first]), [false, true]);
    assert_eq!(are_again(&[first, data(1000, 50)]), [false, true], "a part of them");
    assert_eq!(are_again(&[first, data(1000, 101)]), [false, false], "one byte is new");
    assert_eq!(are_again(&[first, data(1100, 1), first]), [false, false, true]);
    assert_eq!(are_again(&[first, data(1100, 0)]), [false, false], "an ACK has no data");
    assert_eq!(are_again(&[first, data(900, 0)]), [false, false], "an ACK has no data");
    assert_eq!(are_again(&[first, Sent::data(1, 1000, 100)]), [false, false], "another flow");
}

#[test]
fn sequence_numbers_wrap_and_begin_anew_with_a_syn() {
    let data = |seq, payload| Sent::data(0, seq, payload);
    let wrapped = [data(u32::MAX - 9, 10), data(0, 10), data(u32::MAX - 9, 10)];
    assert_eq!(are_again(&wrapped), [false, false, true]);
    let syn = Sent { flags: SYN | ACK, ..data(499, 0) };
    assert_eq!(are_again(&[data(1000, 100), syn, data(500, 100)]), [false, false, false]);
    assert_eq!(are_again(&[data(1000, 100), data(500, 100)]), [false, true]);
}

#[test]
fn packets_of_clients_are_never_retransmissions() {
    let back = Sent { payload: 10, ..Sent::ack(0) };
    assert_eq!(are_again(&[back, back]), [false, false]);
}

#[test]
fn a_table_has_the_frame_of_each_place_and_knows_its_host() {
    let mut relay = Relay::new(&scenario("1Gbps", "10us", DROP_TAIL), 1);
    let mut table = Table::new(relay.flows());
    assert_eq!(table.flows, FLOWS);
    let routes = [(0, true), (1, true), (1, false)];
    let mut put = |(flow, forward)| {
        let packet = Packet { route: RouteId::new(flow, forward), ..Packet::default() };
        (relay.put(Time::ZERO, packet), packet)
    };
    let packets = routes.map(&mut put);
    let arrived = |(id, packet): (PacketId, Packet)| Arrived { at: Time::ZERO, id, packet };
    // The frame of the last slot is stored first, which also creates the other slots.
    for (number, (id, _)) in packets.iter().enumerate().rev() {
        table.keep(id.place(), &[number as u8; 60]);
    }
    table.keep(packets[1].0.place(), &[9; 40]);
    assert_eq!(table.frames.len(), 3);
    assert_eq!(table.leave(&arrived(packets[0])), (HostId(0), &[0; 60][..]));
    assert_eq!(table.leave(&arrived(packets[1])), (HostId(0), &[9; 40][..]), "the later frame");
    assert_eq!(table.leave(&arrived(packets[2])), (HostId(2), &[2; 60][..]));
    let next = put((0, false));
    table.keep(next.0.place(), &[3; 60]);
    assert_eq!(table.leave(&arrived(next)), (HostId(1), &[3; 60][..]));
}

#[test]
fn a_frame_leaves_with_the_mark_of_its_packet() {
    let mut relay = Relay::new(&scenario("1Gbps", "10us", DROP_TAIL), 1);
    let mut table = Table::new(relay.flows());
    let frame = Sent::data(0, 1, 10).frame();
    let packet = table.read(&frame).expect("it belongs to a flow");
    let id = relay.put(Time::ZERO, packet);
    for (ecn, tos) in [(Ecn::Capable, 2), (Ecn::CongestionExperienced, 3)] {
        table.keep(id.place(), &frame);
        let packet = Packet { flags: packet.flags.with_ecn(ecn), ..packet };
        let (_, left) = table.leave(&Arrived { at: Time::ZERO, id, packet });
        assert_eq!(left[15], tos, "{ecn:?}");
        assert_eq!(left[26..], frame[26..]);
    }
}

/// A switch, with the hosts' sockets at the other ends of its links.
struct Bed {
    interfaces: Vec<u32>,
    hosts: Vec<PacketSocket>,
}

impl Bed {
    fn new() -> Self {
        let (interfaces, far): (Vec<_>, Vec<_>) = (0..3).map(link).unzip();
        let open = |number| PacketSocket::open(number).expect("it exists");
        Self { interfaces, hosts: far.into_iter().map(open).collect() }
    }

    /// A switch that began one second ago and runs in the thread of the test.
    fn fabric(&self, rate: &str, queue: &str) -> Fabric {
        let relay = Relay::new(&scenario(rate, "10us", queue), 1);
        let open = |number: &u32| PacketSocket::open(*number).expect("it exists");
        let sockets = self.interfaces.iter().map(open).collect();
        Fabric::new(relay, sockets, monotonic() - 1_000_000_000, None)
    }

    fn send(&self, host: usize, frame: &[u8]) {
        assert!(self.hosts[host].send(frame));
    }

    /// The next frame that reaches a host. Waits up to 5 seconds for the frame.
    fn receive(&self, host: usize) -> Vec<u8> {
        let mut buffer = [0; LONGEST];
        let limit = monotonic() + 5_000_000_000;
        loop {
            if let Some(length) = self.hosts[host].receive(&mut buffer).expect("it is up") {
                return buffer[..length].to_vec();
            }
            assert!(monotonic() < limit, "no frame reaches host {host}");
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

fn millis(count: u64) -> Span {
    Span::from_millis(count)
}

#[test]
fn time_begins_with_the_switch() {
    let relay = Relay::new(&scenario("1Gbps", "10us", DROP_TAIL), 1);
    let start = monotonic() - 5_000_000_000;
    let fabric = Fabric::new(relay, vec![], start, None);
    let before = monotonic() - start;
    let now = fabric.now() - Time::ZERO;
    let after = monotonic() - start;
    assert!((Span::from_nanos(before)..=Span::from_nanos(after)).contains(&now), "{now:?}");
}

#[test]
fn a_turn_takes_some_frames_and_counts_those_of_no_flow() {
    alone(|| {
        let bed = Bed::new();
        let mut fabric = bed.fabric("1Gbps", DROP_TAIL);
        fabric.take(1).expect("it is up");
        assert_eq!(fabric.frames, 0);
        for seq in 0..10 {
            bed.send(1, &Sent::data(0, 1000 * (seq + 1), 100).frame());
        }
        bed.send(1, &Sent { from: 1, to: 2, ..Sent::ack(0) }.frame());
        bed.send(1, &[0; 60]);
        fabric.take(1).expect("it is up");
        assert_eq!((fabric.frames, fabric.foreign), (TURN as u64, 0));
        fabric.take(1).expect("it is up");
        assert_eq!((fabric.frames, fabric.foreign), (12, 2));
        fabric.take(2).expect("it is up");
        assert_eq!(fabric.frames, 12);

        // All ten frames leave for the client, in order.
        let limit = monotonic() + 5_000_000_000;
        while fabric.relay.next_event().is_some() {
            fabric.send_due();
            assert!(monotonic() < limit);
        }
        assert_eq!(fabric.missed, 0);
        for seq in 0..10 {
            assert_eq!(bed.receive(0), Sent::data(0, 1000 * (seq + 1), 100).frame());
        }
        let report = fabric.report().expect("it is up");
        assert_eq!((report.frames, report.foreign, report.missed), (12, 2, 0));
        assert_eq!((report.tally.hops, report.tally.drops, report.tally.marks), (20, 0, 0));
        assert!(report.p99 > Span::ZERO && report.p99 <= report.worst);
        assert!((millis(1000)..millis(7000)).contains(&report.length), "{:?}", report.length);
        assert!((Span::from_nanos(1000)..report.length).contains(&report.busy));
        assert!(!report.real_time);
    });
}

#[test]
fn frames_that_the_kernel_does_not_take_are_missed() {
    alone(|| {
        let bed = Bed::new();
        let mut fabric = bed.fabric("1Gbps", DROP_TAIL);
        for seq in [1, 2, 3] {
            bed.send(1, &Sent::data(0, seq * 1000, 100).frame());
        }
        fabric.take(1).expect("it is up");
        ip("link set n0 down");
        let limit = monotonic() + 5_000_000_000;
        while fabric.relay.next_event().is_some() {
            fabric.send_due();
            assert!(monotonic() < limit);
        }
        assert_eq!(fabric.missed, 3);
        // The count includes frames that the kernel dropped because the socket was full.
        for _ in 0..20_000 {
            bed.send(2, &[0; LONGEST]);
        }
        let report = fabric.report().expect("it is open");
        assert!((100 + 3..20_000).contains(&report.missed), "{}", report.missed);
    });
}

#[test]
fn a_host_that_is_gone_ends_the_switch_with_the_kernels_reason() {
    alone(|| {
        let bed = Bed::new();
        let scenario = scenario("1Gbps", "10us", DROP_TAIL);
        let switch = Switch::start(&scenario, 1, &bed.interfaces, None).expect("it can begin");
        ip("link set n1 down");
        let limit = monotonic() + 5_000_000_000;
        while !switch.thread.is_finished() {
            assert!(monotonic() < limit, "it does not notice");
            std::thread::sleep(Duration::from_millis(1));
        }
        let reason = switch.stop().expect_err("it ended early").kind();
        assert_eq!(reason, ErrorKind::NetworkDown);
    });
}

#[test]
fn a_switch_that_cannot_be_told_to_stop_is_an_error() {
    let (mut stop, _other) = UnixStream::pair().expect("there are descriptors");
    stop.set_nonblocking(true).expect("it is open");
    while stop.write(&[0; 1 << 12]).is_ok() {}
    let thread = std::thread::spawn(|| Err(Error::other("it has ended")));
    let error = Switch { thread, stop }.stop().expect_err("it is full");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_switch_passes_frames_on_when_their_last_link_ends() {
    alone(|| {
        let bed = Bed::new();
        let scenario = scenario("100Mbps", "100ms", DROP_TAIL);
        let memory = Memory::default();
        let wanted =
            Wanted { at: "client".parse().unwrap(), snaplen: 200, out: Box::new(memory.clone()) };
        let began = monotonic();
        let switch =
            Switch::start(&scenario, 1, &bed.interfaces, Some(wanted)).expect("it can begin");
        let (data, ack) = (Sent::data(0, 1000, 1446).frame(), Sent::ack(1).frame());
        let sent = monotonic();
        bed.send(1, &data);
        bed.send(1, &data);
        bed.send(0, &ack);
        bed.send(0, &[0; 60]);
        assert_eq!(bed.receive(0), data);
        let arrived = monotonic();
        assert_eq!(bed.receive(0), data);
        assert_eq!(bed.receive(2), ack);
        let stopped = monotonic();
        let report = switch.stop().expect("it runs");
        let ended = monotonic();

        // The frame crosses two links. Each has a delay of 100 ms and sends the frame in 119 µs.
        let way = arrived - sent;
        assert!((200_230_000..4_000_000_000).contains(&way), "{way}");
        assert_eq!((report.frames, report.foreign, report.missed), (4, 1, 0));
        assert_eq!((report.tally.hops, report.tally.port.delivered), (6, 2));
        assert!(report.p99 > Span::ZERO && report.worst < millis(4000));
        let lengths = Span::from_nanos(stopped - began)..=Span::from_nanos(ended - began);
        assert!(report.length >= Span::from_nanos(stopped - sent), "{:?}", report.length);
        assert!(report.length <= *lengths.end(), "{:?}", report.length);
        // The switch sleeps while the frames are on the links.
        assert!(report.busy > Span::ZERO && report.busy * 5 < report.length, "{:?}", report.busy);
        let thread = std::thread::spawn(|| hurry(Haste::Switch));
        assert_eq!(report.real_time, thread.join().expect("it only asks"));

        // The capture contains the client's packets with their dates.
        let packets = memory.packets();
        let sides: Vec<_> =
            packets.iter().map(|packet| (packet.source.port, packet.payload)).collect();
        assert_eq!(sides, [(40_000, 0), (FIRST_PORT, 1446), (FIRST_PORT, 1446)]);
        let way = (packets[1].time - packets[0].time) as u64;
        assert!((190_000_000..4_000_000_000).contains(&way), "{way}");
        let ago = date() - packets[0].time as u64;
        assert!((200_000_000..60_000_000_000).contains(&ago), "{ago}");
    });
}

#[test]
fn a_switch_marks_what_waits() {
    alone(|| {
        let bed = Bed::new();
        let mut fabric = bed.fabric("1Mbps", MARKING);
        for seq in [1, 2, 3] {
            bed.send(1, &Sent::data(0, seq * 1000, 1000).frame());
            bed.send(2, &Sent::data(1, seq * 1000, 1000).frame());
        }
        fabric.take(1).expect("it is up");
        fabric.take(2).expect("it is up");
        let limit = monotonic() + 5_000_000_000;
        while fabric.relay.next_event().is_some() {
            fabric.send_due();
            assert!(monotonic() < limit);
        }
        let marked = (0..6).map(|_| bed.receive(0)).filter(|frame| frame[15] == 3).count() as u64;
        assert!(marked > 0);
        assert_eq!(fabric.report().expect("it is open").tally.marks, marked);
    });
}
