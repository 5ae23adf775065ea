use incast_capture::read::Address;

use super::*;
use crate::burst::{Burst, Member};
use crate::event::Message;
use crate::numbering::Ids;
use crate::receiver::Sent;
use crate::stall::tests::stall;
use crate::stall::{Cause, Ended};
use crate::time::tests::{MS, at, ns};

const MS_NS: i64 = 1_000_000;

#[test]
fn a_wait_much_shorter_than_the_usual_timer_is_none_unless_it_is_for_a_syn() {
    let left = |short: i64, long: i64| {
        let mut point = Point::new(3);
        for start in 0..4_i64 {
            let start = 1000 * start;
            point.stalls.push(stall(start * MS_NS, (start + long) * MS_NS, Cause::FullWindow));
        }
        for cause in [Cause::LackOfDupacks, Cause::Handshake] {
            point.stalls.push(stall(9000 * MS_NS, (9000 + short) * MS_NS, cause));
        }
        let probe = stall(9500 * MS_NS, (9500 + short) * MS_NS, Cause::Tail);
        point.stalls.push(Stall { ended: Ended::Probe, ..probe });
        for at in 0..4 {
            let one = point.stalls[at].clone();
            point.parameters.stall(&one);
        }
        point.forget_short_waits();
        point.stalls.iter().filter(|stall| !stall.void).count()
    };
    assert_eq!(left(49, 200), 6, "the lack of duplicate ACKs was none");
    assert_eq!(left(50, 200), 7, "a quarter of it");
    assert_eq!(left(10, 100), 7, "such a timer is not known to be the least");
}

fn end(host: u8, port: u16) -> Endpoint {
    Endpoint { address: Address::v4([10, 0, 0, host]), port }
}

/// A stall of a host's flow to host 99, in milliseconds.
fn of(host: u8, (start, end_): (i64, i64), cause: Cause) -> Stall {
    let (sender, receiver) = (end(host, 80), end(99, 5000));
    Stall { sender, receiver, ..stall(start * MS_NS, end_ * MS_NS, cause) }
}

/// A stall after which the flow continued as after the expiry of a timer. The other flows of the
/// burst decide the cause of this stall.
fn open(host: u8, span: (i64, i64)) -> Stall {
    let restart = true;
    Stall { open: true, restart, cause: Err("unknown"), ..of(host, span, Cause::FullWindow) }
}

/// The causes that a point finds for stalls in a burst to host 99. `None` is a wait for the server.
fn decided(stalls: &[Stall], lost: u32) -> Vec<Option<Result<Cause, &'static str>>> {
    let mut point = Point::new(3);
    let place = point.hosts.place(end(99, 0).address);
    point.hosts.receiving(place);
    point.stalls = stalls.to_vec();
    let mut burst = Burst::default();
    (burst.stalls, burst.lost) = ((0..stalls.len()).collect(), lost);
    point.decide_restarts(place, &burst);
    assert!(point.stalls.iter().all(|stall| !stall.open));
    point.stalls.iter().map(|stall| (!stall.void).then_some(stall.cause)).collect()
}

const UNKNOWN: Option<Result<Cause, &str>> = Some(Err("unknown"));
const WINDOW: Option<Result<Cause, &str>> = Some(Ok(Cause::FullWindow));

#[test]
fn a_wait_beside_a_loss_was_for_a_lost_window() {
    let beside = |other: Stall| decided(&[other, open(2, (100, 300))], 0)[1];
    let at_time = |span| beside(of(1, span, Cause::Tail));
    assert_eq!(at_time((50, 250)), WINDOW);
    assert_eq!([at_time((50, 100)), at_time((300, 400))], [UNKNOWN; 2], "at another time");
    assert_eq!([at_time((50, 101)), at_time((299, 400))], [WINDOW; 2]);
    let tail = || of(1, (50, 250), Cause::Tail);
    assert_eq!(beside(Stall { ended: Ended::Probe, ..tail() }), UNKNOWN, "a probe");
    assert_eq!(beside(Stall { cause: Err("?"), ..tail() }), UNKNOWN);
    let slow = Stall { restart: false, ..open(2, (100, 300)) };
    assert_eq!(decided(&[tail(), slow.clone()], 0)[1], UNKNOWN, "it did not end as after a timer");
    assert_eq!(decided(&[slow], 0)[0], None, "and no other one has lost anything");
}

#[test]
fn a_short_wait_without_a_loss_was_for_the_server() {
    assert_eq!(decided(&[open(2, (100, 250))], 0), [UNKNOWN]);
    assert_eq!(decided(&[open(2, (100, 249))], 0), [None]);
    let mut point = Point::new(3);
    let place = point.hosts.place(end(99, 0).address);
    for time in [100, 249] {
        let (now, key, usual) = (at(time * MS_NS), (0, 0), (MS, Span::ZERO));
        point.hosts.receiving(place).packet((now, 1500), key, end(2, 0).address, usual);
    }
    point.stalls = vec![open(2, (100, 249))];
    point.was_a_wait(0, place);
    let waits = &point.hosts.receiver(place).expect("it waits").waits;
    assert_eq!(waits[&crate::stall::Reason::Middle].total, 149 * MS);
}

#[test]
fn several_hosts_that_restart_after_the_same_time_have_lost_their_windows() {
    let three = |lengths: [i64; 3], lost| {
        let stalls = [1, 2, 3].map(|host: u8| {
            let start = 100 + i64::from(host);
            open(host, (start, start + lengths[usize::from(host) - 1]))
        });
        decided(&stalls, lost)
    };
    assert_eq!(three([200, 200, 200], 1), [WINDOW; 3]);
    assert_eq!(three([200, 200, 200], 0), [UNKNOWN; 3], "no packet is known to be lost");
    assert_eq!(three([200, 600, 1400], 1), [WINDOW; 3], "timers that have doubled");
    assert_eq!(three([200, 203, 1428 - 1], 1), [WINDOW; 3], "they differ by round trips");
    assert_eq!(three([200, 204, 200], 1), [UNKNOWN; 3], "by a fiftieth");
    assert_eq!(three([200, 400, 200], 1), [UNKNOWN; 3]);
    assert_eq!(three([149, 149, 149], 1), [None; 3], "too short for timers");
    assert_eq!(three([150, 150, 150], 1), [WINDOW; 3]);
    let two = [open(1, (100, 300)), open(2, (100, 300))];
    assert_eq!(decided(&two, 1), [UNKNOWN; 2], "of two hosts");
    let same = [1, 1, 2].map(|host| open(host, (100, 300)));
    assert_eq!(decided(&same, 1), [UNKNOWN; 3]);
}

/// Lets a host count the packets of each connection.
fn counts(point: &mut Point, host: u8) {
    let place = point.hosts.place(end(host, 0).address);
    let mut ids = Ids::default();
    (0..4).for_each(|_| ids.vote(true));
    let host = point.hosts.numbering.host(place);
    host.opened_bare();
    host.add(ids.collect());
}

#[test]
fn numbers_decide_where_a_host_counts() {
    let cause = |host, near_end, stall: Stall| {
        let mut point = Point::new(3);
        counts(&mut point, 1);
        point.stalls = vec![Stall { near_end, ..stall }];
        point.stalls[0].sender = end(host, 80);
        point.decide_by_numbers();
        (point.stalls[0].cause, point.stalls[0].confidence)
    };
    let unknown = |cause| Stall { if_counted: Some(cause), ..open(1, (0, 200)) };
    let lack = Cause::LackOfDupacks;
    assert_eq!(cause(1, false, unknown(lack)), (Ok(lack), 0.9));
    assert_eq!(cause(1, true, unknown(lack)), (Ok(Cause::Tail), 0.9));
    assert_eq!(cause(1, true, unknown(Cause::FullWindow)), (Ok(Cause::FullWindow), 0.9));
    assert_eq!(cause(2, false, unknown(lack)).0, Err("unknown"), "it does not");
    assert_eq!(cause(1, false, open(1, (0, 200))).0, Err("unknown"));
    let known = Stall { if_counted: Some(lack), ..of(1, (0, 200), Cause::FullWindow) };
    assert_eq!(cause(1, false, known.clone()), (Ok(Cause::FullWindow), 1.0));
    let likely = Stall { confidence: 0.95, ..known.clone() };
    assert_eq!(cause(1, false, likely), (Ok(Cause::FullWindow), 0.95));
    let guessed = Stall { confidence: 0.85, ..known };
    assert_eq!(cause(1, false, guessed.clone()), (Ok(lack), 0.9));
    assert_eq!(cause(2, false, guessed), (Ok(Cause::FullWindow), 0.85));
}

#[test]
fn numbers_decide_about_restarts_before_others_do() {
    let mut point = Point::new(3);
    counts(&mut point, 2);
    let place = point.hosts.place(end(99, 0).address);
    let counted = Stall { if_counted: Some(Cause::Tail), ..open(2, (100, 300)) };
    point.stalls = vec![of(1, (50, 250), Cause::Tail), counted, open(3, (100, 300))];
    let mut burst = Burst::default();
    burst.stalls = vec![0, 1, 2];
    point.decide_restarts(place, &burst);
    let told = |at: usize| (point.stalls[at].cause, point.stalls[at].confidence);
    assert_eq!([told(1), told(2)], [(Ok(Cause::Tail), 0.9), (Ok(Cause::FullWindow), 0.75)]);
    assert_eq!(point.parameters.timer.usual(), Some(200 * MS), "they teach the timer");
}

/// An episode that begins at `start` and has these stalls.
fn episode(start: i64, stalls: &[usize]) -> Episode {
    Episode {
        start: at(start * MS_NS),
        end: at(start * MS_NS + 5),
        receiver: Address::default(),
        fan_in: 3,
        hosts: 3,
        proven: true,
        bytes: 0,
        lost: MS,
        stalls: stalls.to_vec(),
    }
}

#[test]
fn stalls_and_episodes_are_in_order_and_waits_are_none_of_them() {
    let mut point = Point::new(3);
    let void = Stall { void: true, ..of(7, (1, 2), Cause::Tail) };
    let spans = [(1, (50, 60)), (2, (10, 90)), (3, (10, 80))];
    point.stalls = spans.map(|(host, span)| of(host, span, Cause::Tail)).to_vec();
    point.stalls.insert(1, void);
    point.episodes = vec![episode(40, &[0, 1, 2]), episode(5, &[3, 1])];
    point.stalls_in_order();
    let told: Vec<_> = point.stalls.iter().map(|stall| stall.start.as_nanos() / MS_NS).collect();
    assert_eq!(told, [10, 10, 50]);
    assert_eq!(point.stalls[0].sender, end(3, 80));
    let told: Vec<_> = point.episodes.iter().map(|one| one.stalls.clone()).collect();
    assert_eq!(told, [vec![0], vec![2, 1]]);
}

#[test]
fn short_waits_stay_if_an_episode_has_no_longer_ones() {
    let left = |stalls: &[usize], void: bool| {
        let mut point = Point::new(3);
        point.stalls = (0..5).map(|_| of(1, (0, 200), Cause::Tail)).collect();
        point.stalls.iter().for_each(|stall| point.parameters.stall(stall));
        point.stalls.extend((0..2).map(|_| of(2, (0, 30), Cause::Tail)));
        point.stalls[4].void = void;
        point.episodes = vec![episode(0, stalls)];
        point.forget_short_waits();
        [5, 6].map(|at| !point.stalls[at].void)
    };
    assert_eq!(left(&[], false), [false, false]);
    assert_eq!(left(&[5, 6], false), [true, true]);
    assert_eq!(left(&[5], false), [true, false]);
    assert_eq!(left(&[5, 4], false), [false, false], "a longer one is there");
    assert_eq!(left(&[5, 4], true), [true, false], "it is none");
}

/// A burst of flows of several hosts to host 99. One of these flows waits.
fn burst(flows: u64) -> Burst {
    let mut burst = Burst::default();
    let member = |flow: u64| Member {
        key: (flow, 0),
        message: Some(Message { bytes: 9000, last: at(300), ..Message::default() }),
    };
    burst.members = (0..flows).map(member).collect();
    (burst.stalls, burst.idle, burst.peak) = (vec![0], vec![0], 1000);
    burst
}

#[test]
fn a_burst_of_enough_flows_is_a_block_and_perhaps_an_episode() {
    let judged = |flows, before: usize| {
        let mut point = Point::new(3);
        let place = point.hosts.place(end(99, 0).address);
        point.hosts.receiving(place).load.take(at(0), 1000);
        point.stalls = vec![of(1, (0, 200), Cause::FullWindow)];
        point.episodes = vec![episode(0, &[]); before];
        point.judge_all(place, &[burst(flows)]);
        let blocks = point.blocks.severity(true).map_or(0, |one| one.blocks);
        (point.episodes.len() - before, blocks, point.unlisted, point.parameters.fan_in as u64)
    };
    assert_eq!(judged(3, 0), (1, 1, 0, 3));
    assert_eq!(judged(2, 0), (0, 0, 0, 2));
    assert_eq!(judged(3, LISTED - 1), (1, 1, 0, 3));
    assert_eq!(judged(3, LISTED), (0, 1, 1, 3), "it is only counted");
}

#[test]
fn stalls_are_listed_and_counted_for_their_host() {
    let mut point = Point::new(3);
    let place = point.hosts.place(end(99, 0).address);
    point.stalled(of(1, (0, 200), Cause::FullWindow), place, (0, 0));
    point.stalled(of(1, (0, 200), Cause::FullWindow), place, (0, 0));
    let sent =
        |point: &Point| point.hosts.receiver(place).unwrap().hosts[&end(1, 0).address].stalls;
    assert_eq!((point.stalls.len(), point.unlisted, sent(&point)), (2, 0, 2));
    assert_eq!(point.parameters.timer.usual(), Some(200 * MS));
    point.stalls.resize(LISTED - 1, of(1, (0, 200), Cause::FullWindow));
    for unlisted in [0, 1, 2] {
        point.stalled(of(1, (0, 200), Cause::FullWindow), place, (0, 0));
        assert_eq!((point.stalls.len(), point.unlisted), (LISTED, unlisted));
    }
    assert_eq!(sent(&point), 5);
}

#[test]
fn black_holes_are_listed() {
    let told = |before: usize| {
        let mut point = Point::new(3);
        let places = (Place::default(), Place { file: 0, frame: 9 });
        let hole = BlackHole { sender: end(1, 1), certain: false, places };
        point.black_holes = vec![hole; before];
        let hosts = [1, 99].map(|host| point.hosts.place(end(host, 0).address));
        let mut events = vec![Event::BlackHole { side: 0, certain: true, places }];
        point.apply([end(1, 80), end(99, 5000)], (1, hosts), &mut events);
        assert!(events.is_empty());
        let last = point.black_holes.last().copied().expect("one");
        (point.black_holes.len(), last.certain, last.sender)
    };
    assert_eq!(told(0), (1, true, end(1, 80)));
    assert_eq!(told(LISTED - 1), (LISTED, true, end(1, 80)));
    assert_eq!(told(LISTED), (LISTED, false, end(1, 1)));
}

#[test]
fn events_of_a_flow_are_told_to_its_receiver() {
    let mut point = Point::new(3);
    let hosts = [1, 99].map(|host| point.hosts.place(end(host, 0).address));
    let mut events = vec![
        Event::Unseen { side: 0, bytes: 50 },
        Event::Round { side: 0, full: true },
        Event::Round { side: 1, full: false },
        Event::Begun { side: 0, start: at(5), first: at(9), opens: false },
    ];
    point.apply([end(1, 80), end(99, 5000)], (7, hosts), &mut events);
    let receiver = point.hosts.receiver(hosts[1]).expect("it receives");
    assert_eq!((receiver.tallies.unseen, receiver.tallies.full), ((50, 1), 1));
    assert_eq!(receiver.tallies.messages, 1);
    let other = point.hosts.receiver(hosts[0]).expect("it receives");
    assert_eq!((other.tallies.rounds, other.tallies.full), (1, 0));
    let burst = point.hosts.receiving(hosts[1]).bursts.of((7, 0)).expect("it is open");
    assert_eq!(burst.members.len(), 1);
    let message = Message { bytes: 10, ..Message::default() };
    point.apply(
        [end(1, 80), end(99, 5000)],
        (7, hosts),
        &mut vec![Event::Ended { side: 0, message }],
    );
    assert!(point.hosts.receiving(hosts[1]).bursts.of((7, 0)).is_none(), "it has ended");
    assert_eq!(point.intake.lacks(0), [crate::intake::Lack::Filtered]);
}

/// A point at which `senders` hosts send to one host, `fan_in` answers at a time.
fn place(senders: u8, fan_in: usize, trip: Option<Span>) -> Point {
    let mut point = Point::new(3);
    let place = point.hosts.place(end(99, 0).address);
    let receiver = point.hosts.receiving(place);
    for host in 0..senders {
        let sent = Sent::of(8, 0);
        receiver.hosts.insert(Address::v4([10, 0, 0, host]), sent);
    }
    (point.parameters.fan_in, point.parameters.round_trip) = (fan_in, trip);
    point
}

#[test]
fn where_one_host_sends_one_answer_at_a_time_may_be_a_server() {
    let maybe = |senders, fan_in, vantage| place(senders, fan_in, None).may_be_at_a_server(vantage);
    let switch = Some(Vantage::Switch);
    assert!(maybe(1, 1, switch) && maybe(1, 0, switch));
    assert!(!maybe(1, 2, switch) && !maybe(2, 1, switch));
    assert!(!maybe(1, 1, Some(Vantage::Client)) && !maybe(1, 1, None));
    assert!(maybe(2, 9, Some(Vantage::Server)));
}

#[test]
fn where_one_host_sends_nearby_others_may_pass_elsewhere() {
    let client = Some(Vantage::Client);
    let may = |senders, trip| place(senders, 4, trip).may_miss_others(client);
    assert!(may(1, Some(NEAR_BY - ns(1))) && !may(1, Some(NEAR_BY)));
    assert!(may(1, None) && !may(2, None));
    assert!(place(2, 4, Some(MS)).may_miss_others(Some(Vantage::Server)));
}
