//! A switch that marks, a receiver that echoes, and DCTCP's window.

use super::senders::{RULES, sender_by, sent_by};
use super::{BARE, FULL, read};
use crate::flavour::{Flavour, Marks, Repair};
use crate::packet::NEVER;
use crate::parts::{Parts, SEGMENT, parts};
use crate::queue::{Marking, Queue};
use crate::sender::{AckInfo, Rules, Sender};
use crate::{Read, follow};

const MARKING: Marking =
    Marking { threshold: 3.0, counts_packets: true, in_service: false, arriving: false };

/// Number of packets that are not marked if all packets arrive at once.
fn unmarked(marking: Marking) -> usize {
    let mut queue = Queue::new(1 << 30, FULL, false).marking(Some(marking), 1500.0);
    let marks = (0..12).map(|_| queue.offer(5, FULL).map(|_| queue.has_marked));
    let marks: Vec<_> = marks.flatten().collect();
    let count = marks.iter().filter(|is_marked| !**is_marked).count();
    assert!(marks[count..].iter().all(|is_marked| *is_marked), "a longer queue also marks");
    count
}

#[test]
fn rfc8257_3_1_what_arrives_while_the_queue_is_longer_is_marked() {
    // One packet is on the link, and three packets wait. The fifth packet finds three waiting
    // packets and is not marked.
    assert_eq!(unmarked(MARKING), 5);
    assert_eq!(unmarked(Marking { in_service: true, ..MARKING }), 4);
    assert_eq!(unmarked(Marking { arriving: true, ..MARKING }), 4);
    let bytes = Marking { threshold: 4500.0, counts_packets: false, ..MARKING };
    assert_eq!([unmarked(bytes), unmarked(Marking { threshold: 4499.0, ..bytes })], [5, 4]);
}

#[test]
fn short_packets_count_as_packets_or_by_their_bytes() {
    for (counts_packets, threshold, expected) in [(true, 3.0, true), (false, 4500.0, false)] {
        let marking = Marking { threshold, counts_packets, ..MARKING };
        let mut queue = Queue::new(1 << 30, FULL, false).marking(Some(marking), 1500.0);
        (0..6).for_each(|_| assert!(queue.offer(5, BARE).is_some()));
        queue.offer(5, FULL);
        assert_eq!(queue.has_marked, expected);
    }
}

fn dctcp(at_once: bool) -> Rules {
    let marks = Marks { are_used: true, alpha: 0.5, at_once, ..Flavour::LAB.marks };
    Rules { flavour: Flavour { marks, ..Flavour::LAB }, ..RULES }
}

fn on_ack(it: &mut Sender, next: u32, ece: bool, rules: &Rules) -> Parts {
    it.on_ack(10, &AckInfo { next, segment: next - 1, sent: NEVER, twice: false, ece }, rules);
    sent_by(it, 10, rules);
    it.window
}

#[test]
fn rfc8257_3_3_the_window_is_reduced_by_the_marked_fraction_once_per_window() {
    let rules = dctcp(true);
    let mut it = sender_by(16.0, 4.0, &rules);
    it.end = 10_000;
    sent_by(&mut it, 0, &rules);
    // The first ACK ends an observation window of one segment, so α is 0.5 · 15/16 + 1/16.
    let alpha = 0.5 * 15.0 / 16.0 + 1.0 / 16.0;
    assert_eq!(on_ack(&mut it, 2, true, &rules), parts(16.0 * (1.0 - alpha / 2.0)));
    let window = it.window;
    assert_eq!(on_ack(&mut it, 3, true, &rules), window, "the same window of data");
    assert_eq!(on_ack(&mut it, 4, false, &rules), window, "the window does not grow, either");
    // All 16 segments that were outstanding are acknowledged.
    assert_eq!(on_ack(&mut it, 17, false, &rules), window);
    assert!(on_ack(&mut it, 18, false, &rules) > window);
}

#[test]
fn rfc8257_3_3_or_at_the_end_of_a_window() {
    let rules = dctcp(false);
    let mut it = sender_by(16.0, 4.0, &rules);
    it.end = 10_000;
    sent_by(&mut it, 0, &rules);
    on_ack(&mut it, 2, false, &rules);
    let window = it.window;
    assert_eq!(on_ack(&mut it, 3, true, &rules), window, "an echo does not grow the window");
    assert!(on_ack(&mut it, 17, false, &rules) > window, "its 16 segments");
    assert!(on_ack(&mut it, 18, false, &rules) < window);
    assert_eq!(it.threshold, it.window);
}

#[test]
fn rfc8257_3_5_a_loss_halves_and_then_marks_do_not() {
    let rules = dctcp(true);
    let mut it = sender_by(16.0, 4.0, &rules);
    it.end = 10_000;
    sent_by(&mut it, 0, &rules);
    (0..3).for_each(|_| it.acknowledge(5, 1, NEVER, &rules));
    assert_eq!(it.window, 8 * SEGMENT);
    assert_eq!(on_ack(&mut it, 9, true, &rules), 8 * SEGMENT, "the loss was in the same window");
}

/// With a queue that marks early, DCTCP has less than half of the timeouts of a sender that ignores
/// marks.
#[test]
fn marks_prevent_losses_and_the_repair_does_not_matter() {
    for repair in [Repair::NewReno, Repair::Sack, Repair::Rack] {
        let timeouts = |are_used| {
            let marks = Marks { are_used, ..Flavour::LAB.marks };
            let flavour =
                Flavour { repair, marks, ack_every: 2, ack_timeout: 300.0, ..Flavour::LAB };
            let marking = Some(Marking { threshold: 5.0, ..MARKING });
            let it = Read { flavour, marking, segments: 300, ..read(6, 25.0) };
            follow(&[it], &super::EFFORT, 1)[0].timeouts
        };
        assert!(timeouts(true) < 0.5 * timeouts(false), "{repair:?}");
    }
}
