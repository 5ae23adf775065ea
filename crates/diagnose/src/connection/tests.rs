//! Connections, packet by packet: one test for each way to classify a silence.

use incast_capture::read::{Address, Endpoint, Options, Packet, Timestamps, flags};

use super::{Around, Connection};
use crate::event::Event;
use crate::load::Mark;
use crate::stall::{Cause, Ended, Reason};
use crate::time::Span;
use crate::time::tests::{MS, at, ns};

/// The client asks, and the server answers with segments of 1000 bytes.
const CLIENT: usize = 0;
const SERVER: usize = 1;
const ANSWER: u32 = 5001;

/// A captured connection, on a link that carries nothing else.
struct Talk {
    connection: Connection,
    events: Vec<Event>,
    /// Number of packets that are missing before the next packet, if the sender counts packets.
    missing: Option<u32>,
    /// Whether it is known that the sender counts packets.
    counted: bool,
    options: Options,
    timer: Option<Span>,
    frame: u64,
}

impl Talk {
    /// A connection that opens at time 0. The client takes 0.1 ms to answer, and the server 1 ms.
    /// If the connection is captured `at_server`, these times are swapped.
    fn open(at_server: bool) -> Self {
        let end = |host| Endpoint { address: Address::v4([10, 0, 0, host]), port: 80 };
        let connection = Connection::new(1, [end(1), end(2)], [0, 1], at(0));
        // MSS 1000, window scale 7, SACK permitted.
        let options = Options::parse(&[2, 4, 3, 232, 3, 3, 7, 4, 2]);
        let (events, timer) = (Vec::new(), Some(200 * MS));
        let (missing, counted) = (None, true);
        let mut talk = Self { connection, events, missing, counted, options, timer, frame: 0 };
        let (client, server) = if at_server { (MS, MS / 10) } else { (MS / 10, MS) };
        talk.packet(CLIENT, Span::ZERO, (1000, 0, 0), flags::SYN);
        talk.packet(SERVER, server, (5000, 1001, 0), flags::SYN | flags::ACK);
        talk.options = Options::default();
        talk.packet(CLIENT, server + client, (1001, ANSWER, 0), flags::ACK);
        talk
    }

    /// A connection with a request of 100 bytes at 2 ms.
    fn ask(at_server: bool) -> Self {
        let mut talk = Self::open(at_server);
        talk.packet(CLIENT, 2 * MS, (1001, ANSWER, 100), flags::ACK);
        talk
    }

    fn packet(&mut self, side: usize, time: Span, what: (u32, u32, u32), flags: u8) {
        let (seq, ack, payload) = what;
        let ends = self.connection.ends;
        self.frame += 1;
        let packet = Packet {
            time: time.as_nanos(),
            frame: self.frame,
            source: ends[side],
            target: ends[1 - side],
            seq,
            ack,
            payload,
            flags,
            window: 500,
            size: payload + 40,
            options: self.options,
            ..Packet::default()
        };
        let mark = Mark { idle: time };
        let (missing, counted) = (self.missing, self.missing.is_some() && self.counted);
        let timer = self.timer;
        let around = Around { mark, own: mark, round_trip: MS, missing, counted, timer };
        self.connection.handle(&packet, around, &mut self.events);
    }

    /// Segment number `number` of the answer.
    fn segment(&mut self, time: Span, number: u32) {
        self.packet(SERVER, time, (ANSWER + 1000 * number, 1101, 1000), flags::ACK);
    }

    /// An ACK of the client, which has received this number of segments.
    fn ack(&mut self, time: Span, number: u32) {
        self.packet(CLIENT, time, (1101, ANSWER + 1000 * number, 0), flags::ACK);
    }

    /// The longest wait of the answer in a queue.
    fn queued(&self) -> Option<Span> {
        self.connection.flow(SERVER).queued.longest()
    }

    /// The stalls and waits, after the end of the connection.
    fn told(mut self) -> Vec<Told> {
        self.connection.finish(at(0) + 10_000 * MS, &mut self.events);
        let told = |event: &Event| match event {
            Event::Stalled { stall, .. } => Some(Told::Stall(stall.cause, stall.ended)),
            Event::Waited { wait, .. } => Some(Told::Wait(wait.reason)),
            _ => None,
        };
        self.events.iter().filter_map(told).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Stall(Result<Cause, &'static str>, Ended),
    Wait(Reason),
}

fn timeout(cause: Cause) -> Vec<Told> {
    vec![Told::Stall(Ok(cause), Ended::Timeout)]
}

#[test]
fn an_answer_that_comes_late_was_lost_if_numbers_are_missing_before_it() {
    let late = |missing| {
        let mut talk = Talk::ask(false);
        talk.missing = missing;
        talk.segment(203 * MS, 0);
        talk.missing = missing.map(|_| 0);
        talk.segment(203 * MS + ns(1000), 1);
        talk.told()
    };
    assert_eq!(late(Some(3)), timeout(Cause::FullWindow));
    assert_eq!(late(Some(0)), [Told::Wait(Reason::FirstByte)]);
    let open = late(None);
    assert!(matches!(open[..], [Told::Stall(Err(_), Ended::Timeout)]), "{open:?}");
}

#[test]
fn a_lone_segment_after_a_silence_leaves_it_open() {
    let mut talk = Talk::ask(false);
    talk.segment(203 * MS, 0);
    talk.ack(203 * MS + ns(1000), 1);
    talk.segment(205 * MS, 1);
    let told = talk.told();
    assert!(matches!(told[..], [Told::Stall(Err(_), Ended::Timeout)]), "{told:?}");
}

#[test]
fn a_hole_that_is_filled_late_had_too_few_segments_behind_it() {
    let filled = |more: u32| {
        let mut talk = Talk::ask(false);
        talk.segment(3 * MS, 0);
        for number in 2..4 {
            talk.segment(3 * MS + ns(1000), number);
        }
        talk.segment(204 * MS, 1);
        for number in 4..4 + more {
            talk.segment(206 * MS, number);
        }
        talk.told()
    };
    assert_eq!(filled(4), timeout(Cause::LackOfDupacks));
    assert_eq!(filled(0), timeout(Cause::Tail), "two segments follow");
}

/// The answer comes at once, so its first segment ends no wait.
#[test]
fn bytes_behind_a_window_that_was_lost_had_been_sent_before() {
    let told = |missing, counted| {
        let mut talk = Talk::ask(false);
        talk.missing = Some(missing);
        talk.counted = counted;
        talk.segment(3 * MS, 0);
        talk.missing = Some(1);
        talk.segment(3 * MS + ns(1000), 2);
        talk.missing = Some(0);
        talk.segment(204 * MS, 1);
        (3..8).for_each(|number| talk.segment(206 * MS, number));
        talk.connection.finish(at(0) + 10_000 * MS, &mut talk.events);
        let causes = |event: &Event| match event {
            Event::Stalled { stall, .. } => Some((stall.cause, stall.if_counted)),
            _ => None,
        };
        talk.events.iter().find_map(causes)
    };
    let (lost, lack) = (Cause::LostRetransmission, Cause::LackOfDupacks);
    assert_eq!(told(3, true), Some((Ok(lost), None)));
    assert_eq!(told(1, true), Some((Ok(lack), None)), "the lost packet arrives now");
    assert_eq!(told(3, false), Some((Ok(lack), Some(lost))));
    assert_eq!(told(1, false), Some((Ok(lack), Some(lack))));
}

#[test]
fn a_segment_that_is_sent_again_is_judged_by_the_ack_behind_it() {
    let again = |acked: u32| {
        let mut talk = Talk::ask(true);
        for number in 0..4 {
            talk.segment(3 * MS, number);
        }
        talk.segment(204 * MS, 0);
        talk.ack(205 * MS, acked);
        for number in 4..12 {
            talk.segment(205 * MS + ns(1000), number);
        }
        talk.told()
    };
    assert_eq!(again(1), timeout(Cause::FullWindow), "it alone arrived");
    assert_eq!(again(4), timeout(Cause::LackOfDupacks), "the others had");
}

#[test]
fn an_ack_that_comes_too_soon_was_under_way() {
    let mut talk = Talk::ask(true);
    talk.options.timestamps = Some(Timestamps { value: 7, ..Default::default() });
    talk.segment(3 * MS, 0);
    talk.options.timestamps = Some(Timestamps { value: 9, ..Default::default() });
    talk.segment(204 * MS, 0);
    talk.options.timestamps = Some(Timestamps { value: 1, echo: 7 });
    talk.ack(204 * MS + ns(1000), 1);
    assert_eq!(talk.told(), timeout(Cause::Spurious));
}

#[test]
fn a_silence_while_the_window_is_shut_is_the_receivers() {
    let mut talk = Talk::ask(false);
    talk.segment(3 * MS, 0);
    let shut = |talk: &mut Talk, time: Span, window| {
        let ends = talk.connection.ends;
        let (source, target) = (ends[CLIENT], ends[SERVER]);
        let (seq, ack, flags) = (1101, ANSWER + 1000, flags::ACK);
        let packet = Packet {
            time: time.as_nanos(),
            source,
            target,
            seq,
            ack,
            flags,
            window,
            ..Packet::default()
        };
        let mark = Mark { idle: time };
        let (missing, counted, timer) = (None, false, None);
        let around = Around { mark, own: mark, round_trip: MS, missing, counted, timer };
        talk.connection.handle(&packet, around, &mut talk.events);
    };
    shut(&mut talk, 4 * MS, 0);
    shut(&mut talk, 304 * MS, 500);
    talk.segment(305 * MS, 1);
    assert_eq!(talk.told(), [Told::Wait(Reason::Paused)]);
    let mut lasting = Talk::ask(false);
    lasting.segment(3 * MS, 0);
    shut(&mut lasting, 4 * MS, 0);
    lasting.segment(305 * MS, 1);
    assert_eq!(lasting.told(), [Told::Wait(Reason::StillPaused)]);
}

#[test]
fn an_ack_that_is_held_lets_the_sender_wait() {
    let mut talk = Talk::ask(false);
    talk.segment(3 * MS, 0);
    talk.ack(43 * MS, 1);
    talk.segment(44 * MS, 1);
    assert_eq!(talk.told(), [Told::Wait(Reason::DelayedAck)]);
}

#[test]
fn a_syn_that_is_sent_again_was_lost_unless_it_was_refused() {
    let again = |refused, time| {
        let mut talk = Talk::open(false);
        talk.connection = Connection::new(1, talk.connection.ends, [0, 1], at(0));
        talk.events.clear();
        talk.packet(CLIENT, Span::ZERO, (1000, 0, 0), flags::SYN);
        if refused {
            talk.packet(SERVER, ns(1), (0, 1001, 0), flags::RST | flags::ACK);
        }
        talk.packet(CLIENT, time, (1000, 0, 0), flags::SYN);
        talk.told()
    };
    assert_eq!(again(false, 1000 * MS), timeout(Cause::Handshake));
    assert_eq!(again(true, 1000 * MS), []);
    assert_eq!(again(false, 100 * MS), [], "no timer is as short");
}

#[test]
fn a_request_that_is_sent_again_was_lost_if_its_answer_comes_then() {
    let mut talk = Talk::ask(true);
    talk.packet(CLIENT, 203 * MS, (1001, ANSWER, 100), flags::ACK);
    talk.segment(204 * MS, 0);
    talk.segment(204 * MS + ns(1000), 1);
    let told = talk.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(matches!(told[0], Told::Stall(Ok(_), Ended::Timeout)), "{told:?}");
}

#[test]
fn an_answer_that_comes_too_soon_for_the_second_request_had_been_lost_before() {
    let answered = |asked: Span, after: Span, payload| {
        let mut talk = Talk::ask(false);
        talk.packet(CLIENT, asked, (1001, ANSWER, 100), flags::ACK);
        talk.packet(SERVER, asked + after, (ANSWER, 1101, payload), flags::ACK);
        let next = if payload > 0 { ns(1000) } else { 300 * MS };
        talk.segment(asked + after + next, u32::from(payload > 0));
        talk.connection.finish(at(0) + 10_000 * MS, &mut talk.events);
        let stalls = talk.events.iter().filter_map(|event| match event {
            Event::Stalled { side, stall } => Some((*side, stall.cause.ok())),
            _ => None,
        });
        stalls.collect::<Vec<_>>()
    };
    assert_eq!(answered(202 * MS, MS / 2, 1000), [(SERVER, Some(Cause::FullWindow))]);
    assert_eq!(answered(202 * MS, MS, 1000), [(CLIENT, Some(Cause::FullWindow))]);
    assert_eq!(answered(201 * MS, MS / 2, 1000), [(SERVER, None)], "an ACK may wait so long");
    assert_eq!(answered(202 * MS, MS / 2, 0), [(SERVER, None)], "the ACK came late");
}

#[test]
fn the_last_segment_that_is_sent_again_is_a_probe() {
    let mut talk = Talk::ask(true);
    for number in 0..3 {
        talk.segment(3 * MS, number);
    }
    talk.ack(4 * MS, 1);
    talk.segment(30 * MS, 2);
    talk.ack(31 * MS, 3);
    assert_eq!(talk.told(), [Told::Stall(Ok(Cause::FullWindow), Ended::Probe)]);
}

#[test]
fn bytes_that_were_acknowledged_and_come_again_were_sent_in_vain() {
    let mut talk = Talk::ask(true);
    talk.segment(3 * MS, 0);
    talk.ack(4 * MS, 1);
    talk.segment(204 * MS, 0);
    let vain = |event: &&Event| matches!(event, Event::InVain { first: true, .. });
    assert_eq!(talk.events.iter().filter(vain).count(), 1);
}

/// The wait in a queue, as measured at the client. The client acknowledges the segment of 3 ms, and
/// its ACK releases the next segment. `after` is the time between these two segments. Round trips
/// take 1.1 ms.
fn called(after: Span, change: impl Fn(&mut Talk)) -> Option<Span> {
    let mut talk = Talk::ask(false);
    talk.segment(3 * MS, 0);
    talk.ack(3 * MS + MS / 10, 1);
    change(&mut talk);
    talk.segment(3 * MS + after, 1);
    talk.queued()
}

#[test]
fn what_called_bytes_take_beyond_a_round_trip_was_a_queue() {
    let plain = |after| called(after, |_| {});
    let trip = MS + MS / 10;
    assert_eq!(plain(2 * MS), Some(2 * MS - trip));
    assert_eq!(plain(trip), None, "no queue");
    assert_eq!(plain(10 * MS - ns(1)), Some(10 * MS - ns(1) - trip));
    assert_eq!(plain(10 * MS), None, "no queue is as long");
    let timer = |after, timer| called(after, |talk| talk.timer = timer);
    assert_eq!(timer(4 * MS - ns(1), Some(8 * MS)), Some(4 * MS - ns(1) - trip));
    assert_eq!(timer(4 * MS, Some(8 * MS)), None, "half of a timer");
    assert_eq!(timer(10 * MS - ns(1), None), Some(10 * MS - ns(1) - trip));
    assert_eq!(timer(10 * MS, None), None);
}

#[test]
fn bytes_that_no_ack_called_show_no_queue() {
    let numbered = |missing| called(2 * MS, move |talk| talk.missing = missing);
    assert_eq!(numbered(Some(0)), Some(2 * MS - MS - MS / 10));
    assert_eq!(numbered(Some(1)), None, "one before it was lost");
    let more = called(2 * MS, |talk| talk.segment(3 * MS + MS / 5, 1));
    assert_eq!(more, None, "it was sent before, and has no ACK");
    let mut first = Talk::ask(false);
    first.segment(4 * MS, 0);
    assert_eq!(first.queued(), None, "a server may think");
    let mut hole = Talk::ask(false);
    hole.segment(3 * MS, 0);
    hole.segment(3 * MS, 2);
    hole.ack(3 * MS + MS / 10, 1);
    hole.segment(5 * MS, 3);
    assert_eq!(hole.queued(), None, "there is a hole");
}

/// The wait in a queue that is measured at the server. A single segment is sent, and its ACK comes
/// after the time `after`. On this connection, an ACK takes at least 1 ms.
fn answered(after: Span) -> Option<Span> {
    let mut talk = Talk::ask(true);
    talk.segment(3 * MS, 0);
    talk.ack(3 * MS + after, 1);
    talk.queued()
}

#[test]
fn what_an_ack_takes_beyond_the_least_was_a_queue_behind_the_point() {
    assert_eq!(answered(3 * MS), Some(2 * MS));
    assert_eq!(answered(MS), None);
    assert_eq!(answered(10 * MS - ns(1)), Some(9 * MS - ns(1)));
    assert_eq!(answered(10 * MS), None, "no queue is as long");
    let mut near = Talk::ask(false);
    near.segment(3 * MS, 0);
    near.ack(6 * MS, 1);
    assert_eq!(near.queued(), None, "there is no queue before the client itself");
}

#[test]
fn an_ack_of_several_segments_or_of_some_that_came_unasked_shows_no_queue() {
    let second = |sent: Span, acked| {
        let mut talk = Talk::ask(true);
        talk.segment(3 * MS, 0);
        talk.ack(4 * MS, 1);
        talk.segment(4 * MS + ns(1), 1);
        talk.segment(4 * MS + ns(1) + sent, 2);
        talk.ack(7 * MS + ns(1), acked);
        talk.queued()
    };
    assert_eq!(second(ns(1), 2), Some(2 * MS));
    assert_eq!(second(ns(1), 3), None, "of two");
    // A round trip takes 1.1 ms. If a segment comes more than 1.1 ms after the last packet, no ACK
    // has released the segment.
    assert_eq!(second(MS + MS / 10, 2), Some(2 * MS));
    assert_eq!(second(MS + MS / 10 + ns(1), 2), None, "it goes on by itself");
}

#[test]
fn who_asks_has_opened_or_sent_less() {
    let mut talk = Talk::open(false);
    assert!(talk.connection.asks(CLIENT) && !talk.connection.asks(SERVER));
    talk.packet(CLIENT, 2 * MS, (1001, ANSWER, 100), flags::ACK);
    assert!(talk.connection.asks(CLIENT) && !talk.connection.asks(SERVER));
    assert_eq!(talk.connection.sender(), CLIENT);
    talk.segment(3 * MS, 0);
    assert!(talk.connection.asks(CLIENT) && !talk.connection.asks(SERVER));
    assert_eq!(talk.connection.sender(), SERVER);
    assert!(talk.connection.is_selective());
}

/// Whether a server's answer may consist of segments that are too long for the path. The server may
/// send long segments. It acknowledges the request if `acknowledged` is true, and sends nothing
/// else until the time `end`.
fn may_be_too_long(acknowledged: bool, end: Span) -> bool {
    let mut talk = Talk::ask(false);
    talk.connection.flow_mut(SERVER).segments.accept(Some(1460));
    if acknowledged {
        talk.packet(SERVER, 3 * MS, (ANSWER, 1101, 0), flags::ACK);
    }
    talk.connection.finish(at(0) + end, &mut talk.events);
    let hole = |event: &Event| matches!(event, Event::BlackHole { certain: false, .. });
    talk.events.iter().any(hole)
}

#[test]
fn an_answer_that_does_not_come_for_a_second_may_be_too_long_for_the_path() {
    let second = 2 * MS + 1000 * MS;
    assert!(may_be_too_long(true, second + ns(1)));
    assert!(!may_be_too_long(true, second), "the request came at 2 ms");
    assert!(!may_be_too_long(false, second + ns(1)), "the request may be lost");
}
