use std::collections::VecDeque;

use incast_engine::Stream;

use crate::links::Links;
use crate::network::{Block, Network};
use crate::packet::{Kind, NEVER, PACKET, Packet, Ticks, ticks};
use crate::queue::{Queue, Size};
use crate::receiver::Receiver;
use crate::rto::{Bounds, Rto};
use crate::sender::{Burst, Rules, SEGMENT, Sender, parts};
use crate::timeline::Timeline;
use crate::{Effort, Read, follow};

const EFFORT: Effort = Effort {
    fine: 0.02,
    coarse: 0.5,
    clear: 3.0,
    least: 20_000,
    most: 100_000,
    blocks: 3,
    limit: 1_000_000,
};

fn read(servers: usize, buffer: f64) -> Read {
    Read {
        servers,
        segments: 45,
        last: 0.4,
        packet: 1500.0,
        header: 40.0,
        buffer: buffer * 1500.0,
        counts_packets: false,
        propagation: 20.0,
        gap: 5.0,
        least_rto: 1000.0,
        most_rto: 1e6,
        handshakes: true,
        syn_rto: 1e5,
        first_rto: 3e5,
        blocks: 10,
        initial_window: 2.0,
        initial_threshold: 1e4,
        most_window: 1e4,
        slow: 90.0 * servers as f64,
        often: 0.5,
    }
}

const FULL: Size = Size { time: PACKET, space: 1500 };
const BARE: Size = Size { time: PACKET * 40 / 1500, space: 40 };

#[test]
fn a_queue_holds_what_fits_besides_the_packet_on_the_link() {
    let mut queue = Queue::new(3000, FULL);
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
    let mut queue = Queue::new(20_000, FULL);
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
    let mut links = Links::new(2);
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
    let mut receiver = Receiver::new(100);
    let acks = [1, 3, 4, 4, 2, 2, 6, 5].map(|segment| receiver.take(segment));
    assert_eq!(acks, [2, 2, 2, 2, 5, 5, 5, 7]);
    for first in (7..5000).step_by(100) {
        (first + 1..first + 100).for_each(|segment| assert_eq!(receiver.take(segment), first));
        assert_eq!(receiver.take(first), first + 100);
    }
}

#[test]
fn rfc6298_the_timer_follows_round_trips_doubles_and_ends_doubling_with_a_sample() {
    let bounds = Bounds { least: 300, most: 5000, is_least: false };
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
    rto: Bounds { least: 1000, most: 1_000_000, is_least: true },
};

/// A sender that has many segments to send, and that knows a round trip.
fn sender(window: f64, threshold: f64) -> Sender {
    let mut sender = Sender::new(parts(window), parts(threshold), Rto::new(1000));
    sender.open(10, true, &RULES);
    sender.end = 1000;
    sender
}

/// What it sends at once: segments, and whether they were sent before.
fn sent(sender: &mut Sender, now: Ticks) -> Vec<(u32, bool)> {
    let bursts: Vec<Burst> = std::iter::from_fn(|| sender.poll(now, &RULES)).collect();
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
    let rules = Rules { short: SEGMENT / 2, ..RULES };
    let mut it = Sender::new(parts(2.5), parts(9.0), Rto::new(1000));
    it.end = 4;
    let bursts: Vec<_> = std::iter::from_fn(|| it.poll(0, &rules)).map(|it| it.count).collect();
    assert_eq!(bursts, [2, 1]);
    let mut it = Sender::new(parts(0.3), parts(9.0), Rto::new(1000));
    it.end = 2;
    assert!(it.poll(0, &rules).is_some_and(|burst| burst.count == 1));
}

/// A run: each block's timeouts and duration.
fn run(read: &Read, most: u64) -> Vec<Block> {
    let mut network = Network::new(read);
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
    let bare = Read { gap: 0.0, propagation: 2.0, least_rto: 50.0, ..read(2, 0.0) };
    let blocks = run(&bare, u64::MAX / 2);
    assert!(blocks[0].duration > bare.syn_rto);
    assert!(blocks[1..].iter().all(|it| it.duration < bare.syn_rto));
    let mut network = Network::new(&bare);
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
