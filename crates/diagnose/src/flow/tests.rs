use incast_capture::read::Address;

use super::*;
use crate::time::tests::{MS, at};

fn packet(seq: u32, payload: u32, flags: u8) -> Packet {
    Packet { seq, payload, flags, ..Packet::default() }
}

/// A flow that has sent this number of segments of 1000 bytes, from 0 ms on.
fn flow(segments: i64) -> Flow {
    let mut flow = Flow::default();
    flow.bytes.open(u32::MAX);
    for number in 0..segments {
        flow.segments.count();
        flow.segments.take(1000);
        let place = Place { file: 0, frame: 1 + number as u64 };
        flow.take((1000 * number, 1000 * (number + 1)), at(0) + number * MS, place);
    }
    flow
}

#[test]
fn a_flow_knows_its_last_data() {
    let flow = flow(3);
    assert_eq!((flow.last_data(), flow.last_place().frame), (at(0) + 2 * MS, 3));
    assert_eq!(flow.last_advance(), at(0));
}

#[test]
fn new_packets_lie_between_the_highest_byte_and_another() {
    let flow = flow(2);
    let packets = [0, 2000, 2001, 3000, 3001, 4000].map(|next| flow.new_packets(next));
    assert_eq!(packets, [0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_packet_without_data_says_what_was_sent_before_it() {
    let told = |seq, flags, kept| {
        let mut flow = flow(2);
        flow.ids.keep(kept);
        flow.announce(&packet(seq, 0, flags), at(0) + 9 * MS);
        (flow.bytes.top(), flow.bytes.are_whole(), flow.hidden.count())
    };
    assert_eq!(told(4000, flags::ACK, 0), (4000, false, 0));
    assert_eq!(told(4000, flags::ACK, 5), (4000, false, 3), "two of them left a hole");
    assert_eq!(told(2001, flags::ACK, 5), (2000, true, 0), "a FIN");
    assert_eq!(told(4000, flags::SYN, 5), (2000, true, 0));
    assert_eq!(told(4000, flags::RST, 5), (2000, true, 0));
    let mut empty = Flow::default();
    empty.announce(&packet(4000, 0, flags::ACK), at(0));
    assert!(!empty.bytes.begun());
}

#[test]
fn bytes_that_a_repair_covers_had_been_sent_before() {
    let again = |end| {
        let mut flow = flow(2);
        flow.repair.begin(end);
        flow.announce(&packet(4000, 0, flags::ACK), at(0) + 9 * MS);
        flow.bytes.hole(2000, 4000).map(|hole| (hole.again, hole.made))
    };
    assert_eq!(again(2000), Some((false, at(0) + 9 * MS)));
    assert_eq!(again(2001), Some((true, at(0) + 9 * MS)));
}

/// A flow of two segments, whose window reaches up to `edge`.
fn window(edge: u16) -> Flow {
    let mut flow = flow(2);
    flow.window.shift(Some(0));
    let here = (at(0), Place::default());
    assert!(flow.window.offer((edge, 0), 1000, [here, here], false).is_none());
    flow
}

#[test]
fn a_window_is_full_if_no_further_segment_fits() {
    assert!(window(2000).fills_window() && window(2999).fills_window());
    assert!(!window(3000).fills_window());
    let place = Place { file: 0, frame: 2 };
    assert_eq!(window(2999).used_up_since(5 * MS), Some((at(0) + 6 * MS, place)));
    assert_eq!(window(3000).used_up_since(5 * MS), None);
    let mut silent = Flow::default();
    silent.window.shift(Some(0));
    let here = (at(0), Place::default());
    silent.window.offer((500, 0), 1000, [here, here], false);
    assert!(silent.fills_window());
    assert_eq!(silent.used_up_since(5 * MS), None, "nothing was sent");
}

#[test]
fn an_ack_of_more_than_two_segments_comes_after_a_repair() {
    let event = |ack| match window(2000).acked_event(1, ack, at(7)) {
        Event::Acked { side, acked: Acked { full, bytes, step, at } } => {
            (side, full, bytes, step, at)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(event(2000), (1, true, 2000, 2000, at(7)));
    assert_eq!(event(2001), (1, true, 0, 2001, at(7)));
    let mut later = window(3000);
    later.acknowledged(500, at(9));
    let Event::Acked { acked: Acked { full, bytes, step, .. }, .. } =
        later.acked_event(0, 1500, at(7))
    else {
        panic!("it is an ACK");
    };
    assert_eq!((full, bytes, step), (false, 1000, 1000));
    assert_eq!((later.last_advance(), later.bytes.una()), (at(9), 500));
}

#[test]
fn an_ack_ends_what_was_hidden_and_tried() {
    let mut flow = flow(2);
    flow.hidden.add(4);
    flow.acknowledged(1000, at(5));
    assert_eq!(flow.hidden.count(), 0);
    // Shorter segments arrive, and a longer segment does not.
    let tried = |ack| {
        let mut flow = super::tests::flow(2);
        let place = Place::default();
        flow.tries.sent(1300, false, place);
        flow.acknowledged(ack, at(5));
        (0..3).for_each(|_| flow.tries.sent(1300, true, place));
        flow.tries.in_vain().is_some()
    };
    assert_eq!([tried(1999), tried(2000)], [true, false], "all has arrived");
}

#[test]
fn a_repair_lasts_while_bytes_are_missing_or_were_sent_before() {
    let mut flow = flow(2);
    assert!(!flow.is_repaired() && !flow.is_disturbed());
    flow.repair.begin(0);
    assert!(!flow.is_repaired());
    flow.repair.begin(1);
    assert!(flow.is_repaired());
    flow.acknowledged(1, at(5));
    assert!(!flow.is_repaired());
    flow.bytes.pass(4000, false, at(5));
    assert!(flow.is_repaired(), "there is a hole");
    assert!(!flow.is_disturbed());
    flow.repair.resend(1);
    assert!(!flow.is_disturbed());
    flow.repair.resend(2);
    assert!(flow.is_disturbed());
    let mut told = super::tests::flow(2);
    told.repair.duplicate(2000);
    assert!(told.is_disturbed());
}

/// A flow of a host that counts its packets in the IP identification. The flow's first packet had
/// the identification 100.
struct Counted {
    flow: Flow,
    numbering: Numbering,
    host: usize,
}

impl Counted {
    fn new() -> Self {
        let mut numbering = Numbering::default();
        let host = numbering.place(Address::default());
        let mut one = Self { flow: flow(2), numbering, host };
        assert_eq!(one.missing(100, 1000, flags::ACK), None, "nothing is before it");
        one
    }

    fn missing(&mut self, id: u16, payload: u32, flags: u8) -> Option<u32> {
        let packet = Packet { id: Some(id), ..packet(2000, payload, flags) };
        self.flow.missing_before(&packet, &mut self.numbering, (self.host, 0))
    }
}

#[test]
fn numbers_before_a_packet_without_data_are_told_with_the_next_data() {
    let mut one = Counted::new();
    assert_eq!(one.missing(103, 0, flags::ACK), None);
    assert_eq!(one.missing(105, 1000, flags::ACK), Some(3), "two and one");
    assert_eq!(one.missing(108, 1000, flags::ACK), Some(2));
    let mut merged = Counted::new();
    assert_eq!(merged.missing(101, 3000, flags::ACK), Some(0));
    assert_eq!(merged.missing(104, 1000, flags::ACK), Some(0), "those were three");
    let none = packet(2000, 1000, flags::ACK);
    assert_eq!(merged.flow.missing_before(&none, &mut merged.numbering, (merged.host, 0)), None);
}

#[test]
fn a_syn_ack_without_a_number_is_that_of_linux() {
    let bare = |id, flags| {
        let mut one = Counted::new();
        one.flow = Flow::default();
        one.missing(id, 0, flags);
        // After such a SYN-ACK, four identifications that agree with the bytes are enough.
        (0..4).for_each(|_| one.flow.ids.vote(true));
        let votes = one.flow.ids.collect();
        one.numbering.host(one.host).add(votes);
        one.numbering.host(one.host).class() == crate::numbering::Class::PerConnection
    };
    assert!(bare(0, flags::SYN | flags::ACK));
    assert!(!bare(1, flags::SYN | flags::ACK));
    assert!(!bare(0, flags::SYN) && !bare(0, flags::ACK));
}

#[test]
fn an_older_number_with_nothing_new_is_a_copy() {
    let old = |id, seq, payload, flags| {
        let mut one = Counted::new();
        one.missing(101, 1000, flags::ACK);
        one.missing(id, payload, flags);
        one.flow.is_old(&packet(seq, payload, flags))
    };
    assert!(old(99, 0, 1000, flags::ACK));
    assert!(old(99, 2000, 0, flags::ACK));
    assert!(!old(102, 0, 1000, flags::ACK), "a newer number");
    assert!(!old(99, 1001, 1000, flags::ACK), "a new byte");
    assert!(!old(99, 2001, 0, flags::ACK));
    assert!(!old(99, 0, 1000, flags::SYN | flags::ACK) && !old(99, 0, 1000, flags::RST));
    let mut hole = Counted::new();
    hole.flow.bytes.pass(5000, false, at(0));
    hole.missing(99, 1000, flags::ACK);
    assert!(!hole.flow.is_old(&packet(3000, 1000, flags::ACK)), "it was missing");
    assert!(hole.flow.is_old(&packet(1000, 1000, flags::ACK)));
    let mut begun = Counted::new();
    begun.missing(99, 1000, flags::ACK);
    begun.flow.bytes = bytes::Bytes::default();
    assert!(!begun.flow.is_old(&packet(0, 0, flags::ACK)));
}

#[test]
fn the_queue_behind_the_point_shows_after_an_ack_released_data_and_while_nothing_is_lost() {
    let longest = |change: fn(&mut Flow)| {
        let mut flow = flow(2);
        flow.queued.resume(at(5));
        change(&mut flow);
        flow.queue_behind(at(6), Span::from_nanos(9), Span::from_nanos(2));
        flow.queued.longest()
    };
    assert_eq!(longest(|_| {}), Some(Span::from_nanos(7)));
    assert_eq!(longest(|flow| flow.queued.resume(at(6))), None, "no ACK has released it");
    assert_eq!(longest(|flow| flow.repair.duplicate(2000)), None);
    assert_eq!(longest(|flow| flow.repair.resend(1)), None);
}

#[test]
fn packets_that_are_missing_before_an_ack_are_told_with_the_next_data() {
    let (mut flow, mut numbering) = (flow(2), Numbering::default());
    let who = (numbering.place(Address::v4([10, 0, 0, 1])), 0);
    let numbered = |id, payload| Packet { id: Some(id), ..packet(0, payload, flags::ACK) };
    assert_eq!(flow.missing_before(&numbered(5, 1000), &mut numbering, who), None);
    assert!(flow.has_next_number(&numbered(6, 0), &mut numbering, who));
    assert_eq!(flow.missing_before(&numbered(9, 0), &mut numbering, who), None);
    assert!(!flow.has_next_number(&numbered(10, 1000), &mut numbering, who));
    assert_eq!(flow.missing_before(&numbered(10, 1000), &mut numbering, who), Some(2));
    assert!(flow.has_next_number(&numbered(11, 1000), &mut numbering, who));
}
