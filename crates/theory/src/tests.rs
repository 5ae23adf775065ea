mod windows;

use std::collections::VecDeque;

use incast_engine::Stream;

use crate::board::Board;
use crate::flavour::{Exit, Flavour, Halved, Idle, Repair, Style};
use crate::hybrid::{Hybrid, Spans, State};
use crate::links::Links;
use crate::network::{Block, Network};
use crate::packet::{Kind, NEVER, PACKET, Packet, Ticks, ticks};
use crate::parts::{SEGMENT, parts};
use crate::queue::{Queue, Size};
use crate::receiver::Receiver;
use crate::rto::{Bounds, Rto};
use crate::sender::{Burst, Heard, Rules, Sender};
use crate::timeline::Timeline;
use crate::{Collapse, Effort, Read, follow};

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
    assert_eq!(queue.offer(7 + PACKET, FULL), at(4), "what departs now has left");
    assert_eq!(queue.offer(7 + 9 * PACKET, FULL), at(10), "an idle link starts at once");
}

/// Against a list of what waits, packet by packet.
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

/// When each packet comes out of the links, whose it is, and which.
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
    rto.sample(1000, &bounds);
    assert_eq!(rto.wait, 3000);
    rto.back_off(&bounds);
    assert_eq!(rto.wait, 5000);
    (0..100).for_each(|_| rto.sample(50, &bounds));
    assert_eq!(rto.wait, 300);
}

const RULES: Rules = Rules {
    short: 0,
    most_window: 1000 * SEGMENT,
    initial_window: 2 * SEGMENT,
    rto: Bounds { least: 1000, most: 1_000_000, granularity: 0, style: Style::Rfc, is_least: true },
    flavour: Flavour::LAB,
    hybrid: Spans { spacing: 2, least: 4, most: 16, allowance: 1 },
};

/// A sender that has many segments to send, and that knows a round trip.
fn sender(window: f64, threshold: f64) -> Sender {
    sender_by(window, threshold, &RULES)
}

fn sender_by(window: f64, threshold: f64, rules: &Rules) -> Sender {
    let rules = Rules { initial_window: parts(window), ..*rules };
    let mut sender = Sender::new(1, parts(threshold), Rto::new(1000), &rules);
    sender.open(10, true, &rules);
    sender.end = 1000;
    sender
}

/// What it sends at once: segments, and whether they were sent before.
fn sent(sender: &mut Sender, now: Ticks) -> Vec<(u32, bool)> {
    sent_by(sender, now, &RULES)
}

fn sent_by(sender: &mut Sender, now: Ticks, rules: &Rules) -> Vec<(u32, bool)> {
    let bursts: Vec<Burst> = std::iter::from_fn(|| sender.poll(now, true, rules)).collect();
    let each = |it: Burst| (it.segment..it.segment + it.count).map(move |at| (at, it.again));
    bursts.into_iter().flat_map(each).collect()
}

fn new(segments: impl IntoIterator<Item = u32>) -> Vec<(u32, bool)> {
    segments.into_iter().map(|segment| (segment, false)).collect()
}

#[test]
fn rfc5681_slow_start_sends_two_segments_per_ack_and_then_one() {
    let mut it = sender(2.0, 4.0);
    assert_eq!(sent(&mut it, 0), new(1..3));
    for (ack, expected) in [(2, 3..5), (3, 5..7), (4, 7..8), (5, 8..9), (6, 9..10), (7, 10..11)] {
        it.acknowledge(10, ack, 0, &RULES);
        assert_eq!(sent(&mut it, 10), new(expected), "ACK {ack}");
    }
    it.acknowledge(20, 8, 10, &RULES);
    it.acknowledge(20, 9, 10, &RULES);
    assert_eq!(sent(&mut it, 20), new(11..14), "a segment more per window");
}

/// Ten segments are out, and so many duplicate ACKs come for the first.
fn duplicates(count: u32) -> (Sender, Vec<Vec<(u32, bool)>>) {
    let mut it = sender(10.0, 5.0);
    assert_eq!(sent(&mut it, 0), new(1..11));
    let each = (0..count).map(|_| {
        it.acknowledge(50, 1, NEVER, &RULES);
        sent(&mut it, 50)
    });
    let each = each.collect();
    (it, each)
}

#[test]
fn rfc3042_and_6582_two_duplicates_release_new_segments_and_the_third_a_retransmission() {
    let (mut it, each) = duplicates(9);
    assert_eq!(each[..3], [new([11]), new([12]), vec![(1, true)]]);
    // Half of ten, without what limited transmit sent: from the eighth duplicate on 5 + 8 > 12.
    assert_eq!(each[3..], [vec![], vec![], vec![], vec![], new([13]), new([14])]);
    it.acknowledge(90, 15, NEVER, &RULES);
    assert_eq!(sent(&mut it, 90), new(15..20), "recovery ends with the threshold as window");
}

#[test]
fn rfc6582_a_partial_ack_repairs_the_next_hole_and_only_the_first_restarts_the_timer() {
    let (mut it, _) = duplicates(5);
    assert_eq!(it.deadline, 1050);
    it.acknowledge(100, 4, NEVER, &RULES);
    assert_eq!((sent(&mut it, 100)[0], it.deadline), ((4, true), 1100));
    it.acknowledge(200, 6, NEVER, &RULES);
    assert_eq!((sent(&mut it, 200)[0], it.deadline), ((6, true), 1100));
}

#[test]
fn rfc5681_after_a_timeout_all_is_sent_again_from_one_segment_on() {
    let (mut it, _) = duplicates(1);
    it.expire(1000, &RULES);
    assert_eq!((sent(&mut it, 1000), it.deadline), (vec![(1, true)], 3000));
    it.expire(3000, &RULES);
    assert_eq!((sent(&mut it, 3000), it.deadline, it.timeouts), (vec![(1, true)], 7000, 2));
    it.acknowledge(3100, 2, NEVER, &RULES);
    assert_eq!(sent(&mut it, 3100), [(2, true), (3, true)]);
    (0..3).for_each(|_| it.acknowledge(3200, 2, NEVER, &RULES));
    assert_eq!(sent(&mut it, 3200), [], "duplicates of what was sent twice start no repair");
    // The threshold is half of the eleven that were out, also after the second timeout.
    for ack in 3..7 {
        it.acknowledge(3300, ack, NEVER, &RULES);
    }
    let out = sent(&mut it, 3300).last().map(|it| it.0);
    assert_eq!(out, Some(11), "six segments from the sixth on");
}

#[test]
fn rfc6298_an_ack_of_what_was_sent_twice_is_no_sample() {
    let (mut it, _) = duplicates(0);
    it.expire(1000, &RULES);
    sent(&mut it, 1000);
    // The first copies come late, and the timer stays doubled.
    it.acknowledge(1010, 2, 0, &RULES);
    assert_eq!(it.deadline, 3010);
    sent(&mut it, 1010);
    it.acknowledge(1020, 5, NEVER, &RULES);
    sent(&mut it, 1020);
    it.acknowledge(1030, 11, NEVER, &RULES);
    assert_eq!(sent(&mut it, 1030)[0], (11, false));
    it.acknowledge(1040, 12, 1030, &RULES);
    assert_eq!(it.deadline, 2040);
}

#[test]
fn a_last_segment_is_small_and_a_window_smaller_than_it_lets_it_go_alone() {
    let rules = Rules { short: SEGMENT / 2, initial_window: parts(2.5), ..RULES };
    let mut it = Sender::new(1, parts(9.0), Rto::new(1000), &rules);
    it.end = 4;
    let bursts: Vec<_> =
        std::iter::from_fn(|| it.poll(0, true, &rules)).map(|it| it.count).collect();
    assert_eq!(bursts, [2, 1]);
    let rules = Rules { initial_window: parts(0.3), ..rules };
    let mut it = Sender::new(1, parts(9.0), Rto::new(1000), &rules);
    it.end = 2;
    assert!(it.poll(0, true, &rules).is_some_and(|burst| burst.count == 1));
}

/// A run: each block's timeouts and duration.
fn run(read: &Read, most: u64) -> Vec<Block> {
    let mut network = Network::new(read, Stream::named(3, "hosts", 0));
    let mut gaps = Stream::named(3, "test", 0);
    (0..read.blocks)
        .map_while(|_| network.is_idle().then(|| network.block(&mut gaps, most)))
        .collect()
}

#[test]
fn every_block_ends_and_no_sooner_than_the_link_lets_it() {
    for (servers, buffer) in [(1, 0.0), (4, 10.0), (12, 40.5), (40, 60.0), (90, 8.3)] {
        let blocks = run(&read(servers, buffer), u64::MAX / 2);
        assert_eq!(blocks.len(), 10);
        let work = servers as f64 * 44.4;
        assert!(blocks.iter().all(|it| it.duration > work));
    }
}

#[test]
fn without_losses_a_block_takes_its_time_and_a_round_trip() {
    let ample = Read { buffer: 1e9, ..read(12, 0.0) };
    let blocks = run(&ample, u64::MAX / 2);
    assert!(blocks.iter().all(|it| it.timeouts < 0.5));
    for block in &blocks[1..] {
        let least = 12.0 * (44.0 + 0.416) + 21.0;
        assert!((least..least + 1.0).contains(&block.duration), "{}", block.duration);
    }
}

#[test]
fn a_lost_syn_ack_costs_its_timer_once() {
    // No room for anything but the packet on the link.
    let bare = Read { gap: 20.0, propagation: 2.0, least_rto: 50.0, ..read(2, 0.0) };
    let blocks = run(&bare, u64::MAX / 2);
    assert!(blocks[0].duration > bare.syn_rto);
    assert!(blocks[0].handshakes >= 1.0);
    assert!(blocks[0].timeouts >= blocks[0].handshakes);
    assert!(blocks[1..].iter().all(|it| it.duration < bare.syn_rto && it.handshakes < 0.5));
    let mut network = Network::new(&bare, Stream::named(3, "hosts", 0));
    network.block(&mut Stream::named(3, "test", 0), u64::MAX / 2);
    assert!(network.has_lost_handshakes());
}

#[test]
fn without_a_handshake_data_come_a_round_trip_earlier() {
    let with = Read { buffer: 1e9, ..read(4, 0.0) };
    let without = Read { handshakes: false, ..with.clone() };
    let [with, without] = [with, without].map(|read| run(&read, u64::MAX / 2)[0].duration);
    assert!((19.0..22.0).contains(&(with - without)), "{with} {without}");
}

#[test]
fn a_block_that_is_not_played_to_its_end_goes_on_at_the_same_pace() {
    let long = Read { segments: 20_000, ..read(3, 400.0) };
    let (all, some) = (run(&long, u64::MAX / 2)[0], run(&long, 60_000));
    assert_eq!(some.len(), 1);
    assert!((some[0].duration / all.duration - 1.0).abs() < 0.05);
}

#[test]
fn buffers_that_count_packets_hold_as_many() {
    let bytes = run(&Read { last: 1.0, ..read(9, 30.0) }, u64::MAX / 2);
    let packets = Read { last: 1.0, buffer: 30.0, counts_packets: true, ..read(9, 0.0) };
    let packets = run(&packets, u64::MAX / 2);
    // But for the SYN-ACKs of the first block, they are the same.
    let sum = |blocks: &[Block]| blocks.iter().map(|it| it.duration).sum::<f64>();
    assert!((sum(&bytes) / sum(&packets)).ln().abs() < 0.5);
}

#[test]
fn the_number_of_threads_does_not_matter_nor_does_the_company() {
    let reads: Vec<_> = [2, 30, 5, 100, 17].map(|servers| read(servers, 33.3)).to_vec();
    let one = follow(&reads, &EFFORT, 1);
    assert_eq!(one, follow(&reads, &EFFORT, 2));
    assert_eq!(one, follow(&reads, &EFFORT, 9));
    assert_eq!(one[1], follow(&reads[1..2], &EFFORT, 1)[0]);
    assert!(one.iter().any(|it| it.timeouts > 0.0));
    assert!(one.iter().all(|it| !it.is_beyond && it.error > 0.0 && it.scatter > 0.0));
}

#[test]
fn more_effort_finds_the_same_mean() {
    let reads: Vec<_> = [9, 24, 60].map(|servers| read(servers, 60.0)).to_vec();
    let more = Effort { fine: 0.0, coarse: 0.0, most: 5_000_000, blocks: 400, ..EFFORT };
    let more = Effort { limit: u64::MAX / 2, ..more };
    for (some, known) in follow(&reads, &EFFORT, 2).iter().zip(follow(&reads, &more, 2)) {
        assert!((some.duration / known.duration).ln().abs() < 0.4, "{some:?} {known:?}");
    }
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
    board.send(8);
    assert!(board.sack(3) && board.sack(4) && !board.sack(4) && !board.sack(9));
    assert!(!board.judge(), "two above are not enough");
    assert!(board.sack(5) && board.judge());
    assert_eq!((board.pipe(), board.first_due(), board.hole(2)), (3, Some(1), Some(2)));
    board.resend(1);
    assert_eq!((board.pipe(), board.first_due(), board.first_is_resent()), (4, Some(2), true));
    board.acknowledge(6);
    assert_eq!((board.pipe(), board.first_untried(), board.last_missing()), (3, Some(6), Some(8)));
    board.lose_all();
    assert_eq!((board.pipe(), board.first_due()), (0, Some(6)));
}

/// Rules of a sender with a scoreboard.
fn sack(flavour: Flavour) -> Rules {
    Rules { flavour: Flavour { repair: Repair::Sack, ..flavour }, ..RULES }
}

#[test]
fn rfc6675_three_segments_above_a_hole_repair_it_and_the_pipe_governs_the_rest() {
    let rules = sack(Flavour { rescues: false, ..Flavour::LAB });
    let mut it = sender_by(10.0, 5.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules), new(1..11));
    let hear = |it: &mut Sender, next, segment| {
        it.hear(50, &Heard { next, segment, sent: 0 }, &rules);
        sent_by(it, 50, &rules)
    };
    // Segments 1 and 4 are lost.
    assert_eq!(hear(&mut it, 1, 2), new([11]));
    assert_eq!(hear(&mut it, 1, 3), new([12]));
    assert_eq!(hear(&mut it, 1, 5), [(1, true)]);
    let more: Vec<_> = (6..11).flat_map(|segment| hear(&mut it, 1, segment)).collect();
    assert_eq!(more, [(4, true), (13, false)], "five are in the pipe");
    assert_eq!(hear(&mut it, 4, 1), new([14]));
    assert_eq!(hear(&mut it, 13, 4), new(15..18), "the threshold is five");
    assert_eq!(it.timeouts, 0);
}

#[test]
fn after_a_timeout_a_scoreboard_remembers_what_has_arrived() {
    let rules = sack(Flavour::LAB);
    let mut it = sender_by(4.0, 9.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules), new(1..5));
    it.hear(5, &Heard { next: 1, segment: 3, sent: 0 }, &rules);
    sent_by(&mut it, 5, &rules);
    it.expire(1000, &rules);
    assert_eq!(sent_by(&mut it, 1000, &rules), [(1, true)]);
    it.hear(1010, &Heard { next: 2, segment: 1, sent: NEVER }, &rules);
    assert_eq!(sent_by(&mut it, 1010, &rules), [(2, true), (4, true)]);
}

#[test]
fn ns2_halves_the_window_and_keeps_it_at_the_end_and_releases_two() {
    let flavour = Flavour { halved: Halved::Window, exit: Exit::Keep, burst: 2, ..Flavour::LAB };
    let rules = Rules { flavour, ..RULES };
    let mut it = sender_by(10.0, 5.0, &rules);
    assert_eq!(sent_by(&mut it, 0, &rules).len(), 10);
    it.window = parts(30.0);
    for _ in 0..3 {
        it.acknowledge(50, 1, NEVER, &rules);
    }
    assert_eq!((it.window, it.threshold), (parts(15.0), parts(15.0)));
    assert_eq!(sent_by(&mut it, 50, &rules), [(1, true), (11, false), (12, false)]);
    it.acknowledge(90, 13, NEVER, &rules);
    assert!(it.window > parts(15.0), "the last ACK grows it");
}

#[test]
fn rfc5681_4_1_an_idle_window_restarts_and_2861_halves_it() {
    for (idle, expected) in [(Idle::Kept, 9), (Idle::Restarts, 2), (Idle::Validates, 4)] {
        let rules = Rules { flavour: Flavour { idle, ..Flavour::LAB }, ..RULES };
        let mut it = sender_by(2.0, 50.0, &rules);
        it.end = 3;
        sent_by(&mut it, 0, &rules);
        it.acknowledge(10, 2, 0, &rules);
        it.acknowledge(10, 3, 0, &rules);
        (it.window, it.end) = (parts(9.0), 100);
        assert_eq!(sent_by(&mut it, 1500, &rules).len(), expected, "{idle:?}");
    }
}

#[test]
fn one_segment_of_a_window_is_timed_in_ticks() {
    let rules = Rules {
        flavour: Flavour { per_window: true, ..Flavour::LAB },
        rto: Bounds { least: 1, granularity: 100, style: Style::Ns2, is_least: false, ..RULES.rto },
        ..RULES
    };
    let mut it = sender_by(2.0, 50.0, &rules);
    sent_by(&mut it, 0, &rules);
    it.rto = Rto::new(9999);
    it.acknowledge(240, 2, 0, &rules);
    assert_eq!(it.rto.wait, 200 + 4 * 100);
    it.acknowledge(940, 3, 0, &rules);
    assert_eq!(it.rto.wait, 600, "the second is not timed");
}

#[test]
fn a_host_that_waits_sends_at_once_what_recovery_owes() {
    let mut it = sender(4.0, 9.0);
    assert!(it.is_ready(&RULES) && it.poll(0, false, &RULES).is_none());
    assert_eq!(sent(&mut it, 0).len(), 4);
    assert!(!it.is_ready(&RULES));
    it.acknowledge(9, 1, NEVER, &RULES);
    assert!(it.poll(9, false, &RULES).is_some_and(|it| it.segment == 5), "limited transmit");
    it.acknowledge(9, 1, NEVER, &RULES);
    it.acknowledge(9, 1, NEVER, &RULES);
    while let Some(burst) = it.poll(9, false, &RULES) {
        assert!(burst.again || burst.segment == 6);
    }
}

#[test]
fn a_client_delays_every_other_ack_but_not_out_of_order() {
    let mut receiver = Receiver::new(100, 1);
    let due = [1, 2, 3, 5, 4, 4, 6].map(|segment| {
        let due = receiver.is_due(segment, 2, 1);
        receiver.take(segment);
        due
    });
    // The first is quick; 5 is out of order, 4 fills the gap, and a duplicate makes 6 quick.
    assert_eq!(due, [true, false, true, true, true, true, true]);
    assert!(!receiver.is_due(7, 2, 1));
}

#[test]
fn slow_start_ends_where_round_trips_grow() {
    let spans = Spans { spacing: 0, least: 40, most: 160, allowance: 10 };
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
fn fresh_connections_open_with_every_block() {
    let kept = Read { buffer: 1e9, ..read(4, 0.0) };
    let fresh = Read { fresh: true, ..kept.clone() };
    let last = |read: &Read| run(read, u64::MAX / 2)[9].duration;
    let [kept, first] = [last(&kept), run(&kept, u64::MAX / 2)[0].duration];
    let fresh = last(&fresh);
    assert!(fresh > kept + 20.0, "a handshake, and slow start: {fresh} {kept}");
    assert!((fresh - first).abs() < 5.0, "{fresh} {first}");
}

#[test]
fn a_slow_server_takes_its_time_and_a_slow_client_has_no_queue_to_wait_for() {
    let alone = Read { buffer: 1e9, gap: 0.0, ..read(1, 0.0) };
    let slow = Read { slower: 4.0, ..alone.clone() };
    let last = |read: &Read| run(read, u64::MAX / 2)[9].duration;
    let (fast, slow) = (last(&alone), last(&slow));
    assert!((3.8..4.2).contains(&((slow - 20.0) / (fast - 20.0))), "{slow} {fast}");
}

#[test]
fn jitter_and_spread_delay_a_block_and_mix_its_packets() {
    let plain = Read { buffer: 1e9, gap: 0.0, ..read(4, 0.0) };
    let late = Read { spread: 500.0, ..plain.clone() };
    let waits = Read { jitter: 500.0, ..plain.clone() };
    let mean =
        |read: &Read| run(read, u64::MAX / 2)[1..].iter().map(|it| it.duration).sum::<f64>() / 9.0;
    let plain = mean(&plain);
    // The largest of four uniform draws is 400 on average.
    assert!((150.0..500.0).contains(&(mean(&late) - plain)));
    assert!((100.0..900.0).contains(&(mean(&waits) - plain)));
}

#[test]
fn what_is_not_known_to_be_repaired_is_not_followed_beyond_a_loss() {
    let flavour = Flavour { repair: Repair::Unknown, watches: true, ..Flavour::LAB };
    let deep = Read { flavour, buffer: 1e9, ..read(6, 0.0) };
    let shallow = Read { flavour, ..read(12, 4.0) };
    let found = follow(&[deep, shallow], &EFFORT, 2);
    assert_eq!(found.iter().map(|it| it.is_beyond).collect::<Vec<_>>(), [false, true]);
    assert!(found[0].duration > 0.0);
}

#[test]
fn cells_and_overheads_take_room_and_time() {
    let it = Read { cell: 208.0, extra: 16.0, layer2: 38.0, ..read(2, 9.0) };
    assert_eq!((it.space(192.0), it.space(193.0), it.space(1500.0)), (208, 416, 1664));
    assert!((it.share(40.0) - 78.0 / 1538.0).abs() < 1e-12);
    assert_eq!(Read { counts_packets: true, ..it }.space(1500.0), 1);
}

#[test]
fn a_lost_syn_waits_twice_as_long_each_time() {
    let never = Read { fresh: true, gap: 20.0, propagation: 2.0, least_rto: 50.0, ..read(6, 0.0) };
    let found = run(&never, u64::MAX / 2);
    assert!(found.iter().all(|it| it.duration > never.syn_rto), "each block opens anew");
    assert!(found.iter().any(|it| it.duration > 3.0 * never.syn_rto));
}

#[test]
fn tiny_blocks_and_servers_without_a_limit_are_followed() {
    let tiny = Read { segments: 1, blocks: 1, fresh: true, ..read(1, 10.0) };
    let fast = Read { slower: 1e-9, ..read(5, 10.0) };
    let more = Effort { least: u64::MAX / 4, most: u64::MAX / 4, rare: true, ..EFFORT };
    assert!(follow(&[tiny, fast], &more, 2).iter().all(|it| it.duration > 0.0));
}
