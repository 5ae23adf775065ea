mod deferral;
mod linux;
mod marks;
mod paced;
mod reads;
mod repairs;
mod senders;
mod windows;

use std::collections::VecDeque;

use incast_engine::Stream;

use self::senders::RULES;
use crate::board::{Board, Found, Horizon};
use crate::flavour::Flavour;
use crate::hybrid::{Hybrid, Spans, State};
use crate::links::Links;
use crate::packet::{Kind, NEVER, PACKET, Packet, Ticks, ticks};
use crate::parts::parts;
use crate::queue::{Queue, Size};
use crate::receiver::Receiver;
use crate::rto::{Bounds, Rto};
use crate::timeline::Timeline;
use crate::{Collapse, Effort, Read};

const EFFORT: Effort = Effort {
    fine: 0.02,
    coarse: 0.5,
    clear: 3.0,
    least: 20_000,
    most: 100_000,
    blocks: 3,
    limit: 1_000_000,
    rare: false,
};

pub(super) fn read(servers: usize, buffer: f64) -> Read {
    Read {
        servers,
        segments: 45,
        last: 0.4,
        packet: 1500.0,
        header: 40.0,
        bare: 40.0,
        layer2: 0.0,
        slower: 1.0,
        second: 1e6,
        buffer: buffer * 1500.0,
        counts_packets: false,
        cell: 1.0,
        extra: 0.0,
        marking: None,
        propagation: 20.0,
        gap: 5.0,
        spread: 0.0,
        jitter: 0.0,
        fresh: false,
        least_rto: 1000.0,
        most_rto: 1e6,
        handshakes: true,
        syn_rto: 1e5,
        first_rto: 3e5,
        later_rto: 3e5,
        blocks: 10,
        initial_window: 2.0,
        initial_threshold: 1e4,
        most_window: 1e4,
        flavour: Flavour::LAB,
        collapse: Collapse {
            lossless: 45.0 * servers as f64,
            share: 0.5,
            timeouts: 0.5,
            wait: 0.5,
        },
    }
}

const FULL: Size = Size { time: PACKET, space: 1500 };
const BARE: Size = Size { time: PACKET * 40 / 1500, space: 40 };

#[test]
fn a_queue_holds_what_fits_besides_the_packet_on_the_link() {
    let mut queue = Queue::new(3000, FULL, false);
    let left: Vec<_> = (0..5).map(|_| queue.offer(7, FULL)).collect();
    let at = |count| Some(7 + count * PACKET);
    assert_eq!(left, [at(1), at(2), at(3), None, None]);
    assert_eq!(queue.offer(6 + PACKET, FULL), None);
    assert_eq!(queue.offer(7 + PACKET, FULL), at(4), "a packet that departs now has left");
    assert_eq!(queue.offer(7 + 9 * PACKET, FULL), at(10), "an idle link starts at once");
}

/// Comparison with a list of waiting packets.
#[test]
fn a_queue_counts_packets_of_all_sizes() {
    let sizes = [FULL, Size { time: PACKET / 3, space: 500 }, BARE];
    let mut random = Stream::named(1, "test", 0);
    let mut queue = Queue::new(20_000, FULL, false);
    let mut waiting: VecDeque<(Ticks, u64)> = VecDeque::new();
    let (mut now, mut free, mut lost) = (0, 0, 0);
    for _ in 0..20_000 {
        now += random.below(PACKET * 3 / 2);
        let size = sizes[[0, 0, 0, 0, 1, 2][random.below(6) as usize]];
        waiting.retain(|it| it.0 > now);
        let held: u64 = waiting.iter().map(|it| it.1).sum();
        let expected = (free <= now || held + size.space <= 20_000).then(|| {
            if free > now {
                waiting.push_back((free, size.space));
            }
            free = free.max(now) + size.time;
            free
        });
        lost += u32::from(expected.is_none());
        assert_eq!(queue.offer(now, size), expected);
    }
    assert!(lost > 100);
}

#[test]
fn a_timeline_gives_back_what_was_planned() {
    let mut timeline = Timeline::new();
    let mut next = 0;
    for number in 0..1000_u64 {
        timeline.push(2 * number, number);
        if number % 3 == 0 {
            assert_eq!((timeline.due, timeline.pop()), (2 * next, next));
            next += 1;
        }
    }
    while timeline.due < NEVER {
        assert_eq!(timeline.pop(), next);
        next += 1;
    }
    assert_eq!(next, 1000);
}

/// Arrival time, server and number of each packet.
fn arrivals(links: &mut Links) -> Vec<(Ticks, u32, u32)> {
    let next = |links: &mut Links| {
        let due = links.due;
        (due < NEVER).then(|| (due, links.pop())).map(|(at, it)| (at, it.who, it.segment))
    };
    std::iter::from_fn(|| next(links)).collect()
}

#[test]
fn packets_follow_one_another_on_a_link_and_a_burst_does_not_crowd_out_singles() {
    let packet = |who, segment| Packet { sent: 0, segment, who, kind: Kind::Full };
    let mut links = Links::new(2, PACKET);
    links.send(0, packet(0, 1), 3, PACKET);
    links.send(0, packet(0, 4), 1, PACKET);
    links.send(PACKET, packet(1, 1), 1, PACKET);
    let last = Packet { kind: Kind::Last, ..packet(1, 2) };
    links.send(PACKET, last, 1, PACKET / 2);
    let half = PACKET / 2;
    let expected = [
        (2 * half, 0, 1),
        (4 * half, 1, 1),
        (4 * half, 0, 2),
        (5 * half, 1, 2),
        (6 * half, 0, 3),
        (8 * half, 0, 4),
    ];
    assert_eq!(arrivals(&mut links), expected);
}

#[test]
fn a_receiver_acknowledges_what_it_has_in_order() {
    let mut receiver = Receiver::new(100, 0);
    let acks = [1, 3, 4, 4, 2, 2, 6, 5].map(|segment| receiver.take(segment));
    assert_eq!(acks, [2, 2, 2, 2, 5, 5, 5, 7]);
    for first in (7..5000).step_by(100) {
        (first + 1..first + 100).for_each(|segment| assert_eq!(receiver.take(segment), first));
        assert_eq!(receiver.take(first), first + 100);
    }
}

#[test]
fn rfc6298_the_timer_follows_round_trips_doubles_and_ends_doubling_with_a_sample() {
    let bounds = Bounds { least: 300, most: 5000, is_least: false, ..RULES.rto };
    let mut rto = Rto::new(9000);
    rto.sample(1000, (1, 1), &bounds);
    assert_eq!(rto.wait, 3000);
    rto.back_off(&bounds);
    assert_eq!(rto.wait, 5000);
    (0..100).for_each(|_| rto.sample(50, (1, 1), &bounds));
    assert_eq!(rto.wait, 300);
}

#[test]
fn an_rto_that_never_moves_is_recognised() {
    let short = read(8, 30.0);
    assert!(short.rto_is_least());
    assert!(!Read { least_rto: 400.0, ..short }.rto_is_least());
    assert_eq!(ticks(2.0), 2 * PACKET);
}

#[test]
fn what_leaves_in_the_instant_of_an_arrival_is_there_or_not() {
    for (arrival_first, expected) in [(false, true), (true, false)] {
        let mut queue = Queue::new(1500, FULL, arrival_first);
        assert!(queue.offer(0, FULL).is_some() && queue.offer(1, FULL).is_some());
        assert_eq!(queue.offer(PACKET, FULL).is_some(), expected);
        assert!(queue.offer(PACKET + 2, FULL).is_some() != expected);
    }
}

#[test]
fn a_board_knows_what_has_arrived_what_is_lost_and_what_is_on_its_way() {
    let mut board = Board::new(1);
    board.send(8, 0);
    let mut is_new = |segment| board.sack(segment).is_some();
    assert_eq!([3, 4, 4, 9].map(&mut is_new), [true, true, false, false]);
    assert!(!board.judge(3), "two segments above are not enough");
    assert!(board.sack(5).is_some() && board.judge(3));
    assert_eq!((board.pipe(), board.first_due(), board.hole(2)), (3, Some(1), Some(2)));
    board.resend(1, 9);
    assert_eq!((board.pipe(), board.first_due(), board.first_is_resent()), (4, Some(2), true));
    board.acknowledge(6, |_, _| ());
    assert_eq!((board.pipe(), board.first_untried(), board.last_missing()), (3, Some(6), Some(8)));
    board.lose_all();
    assert_eq!((board.pipe(), board.first_due()), (0, Some(6)));
}

#[test]
fn a_board_says_when_a_copy_may_be_lost() {
    let mut board = Board::with_copies(1);
    board.send(2, 0);
    board.resend(1, 100);
    assert!(board.sack(2).is_some());
    let horizon = Horizon { newest: (110, 2), patience: 50 };
    assert_eq!(board.detect(149, &horizon), Found { copy_at: None, next: Some(150) });
    assert_eq!(board.detect(150, &horizon), Found { copy_at: Some(100), next: None });
}

/// The blocks of an ACK with SACK report ranges and one duplicate.
#[test]
fn rfc2018_an_ack_has_a_block_for_each_of_three_ranges() {
    let mut receiver = Receiver::new(100, 0);
    let blocks = [3, 5, 4, 8, 10, 12, 11, 9, 1, 2, 6].map(|segment| {
        receiver.take(segment);
        receiver.blocks(false)
    });
    assert_eq!(blocks, [1, 2, 1, 2, 3, 3, 3, 2, 2, 1, 1]);
    assert_eq!((receiver.next, receiver.blocks(true), receiver.has(8)), (7, 2, true));
    receiver.take(7);
    assert_eq!((receiver.next, receiver.blocks(false)), (13, 0));
    let it = Read { slower: 4.0, ..read(1, 9.0) };
    assert!(it.blocks_time(2) < f64::EPSILON, "unless blocks take room");
    let it = Read { flavour: Flavour { block_bytes: true, ..it.flavour }, ..it };
    assert!((it.blocks_time(2) - 5.0 * 20.0 / 1500.0).abs() < 1e-12);
    assert!(it.blocks_time(0) < f64::EPSILON);
}

#[test]
fn a_client_delays_every_other_ack_but_not_out_of_order() {
    let mut receiver = Receiver::new(100, 1);
    let due = [1, 2, 3, 5, 4, 4, 6].map(|segment| {
        let due = receiver.is_due(segment, 2, 1);
        receiver.take(segment);
        due
    });
    // Segment 1 is acknowledged at once by `quick`, segment 5 is out of order, segment 4 fills the
    // gap and then is a duplicate, and segment 6 is acknowledged at once by the restored `quick`.
    assert_eq!(due, [true, false, true, true, true, true, true]);
    assert!(!receiver.is_due(7, 2, 1));
}

#[test]
fn linux_counts_quick_acks_and_counts_anew_after_a_silence() {
    let mut receiver = Receiver::new(100, 2).counting_acks(true);
    receiver.renew(2);
    receiver.know_timeout(100);
    let mut is_due = |now, segment| {
        receiver.hear(now, 2);
        let is_due = receiver.is_due(segment, 2, 2);
        receiver.take(segment);
        is_due
    };
    // The second ACK reports a gap. The ACK of the segment that fills the gap is the last ACK
    // before ACKs are delayed.
    let due = [(1, 1), (2, 3), (3, 2), (4, 4), (5, 5), (6, 6)].map(|(now, it)| is_due(now, it));
    assert_eq!(due, [true, true, true, false, true, false]);
    assert!(is_due(106, 7), "the second of two segments");
    assert!(!is_due(206, 8), "after a silence no longer than the timeout");
    assert!(is_due(308, 9) && is_due(309, 10));
}

#[test]
fn slow_start_ends_where_round_trips_grow() {
    let spans = Spans { spacing: 0, least: 40, most: 160, allowance: 10, divisor: 8, train: 2 };
    let state = State { una: 1, max: 40, window: parts(20.0), threshold: parts(1e4), srtt: 100 };
    let after = |rtts: [Ticks; 2]| {
        let mut hybrid = Hybrid::default();
        let mut ends = false;
        for (round, rtt) in rtts.into_iter().enumerate() {
            for ack in 0..12 {
                let una = 1 + 40 * round as u32 + ack;
                let state = State { una, max: 40 * (round as u32 + 1), ..state };
                ends |= hybrid.ends(
                    1000 * (round as Ticks + 1) + 10 * Ticks::from(ack),
                    rtt,
                    &state,
                    &spans,
                );
            }
        }
        ends
    };
    assert!(!after([100, 100]) && !after([100, 139]));
    assert!(after([100, 141]));
}

#[test]
fn cells_and_overheads_take_room_and_time() {
    let it = Read { cell: 208.0, extra: 16.0, layer2: 38.0, ..read(2, 9.0) };
    assert_eq!((it.space(192.0), it.space(193.0), it.space(1500.0)), (208, 416, 1664));
    assert!((it.share(40.0) - 78.0 / 1538.0).abs() < 1e-12);
    assert_eq!(Read { counts_packets: true, ..it }.space(1500.0), 1);
}
