use incast_engine::Entry;
use serde_json::{from_value, json};

use super::*;
use crate::tests::seat;

fn repair(name: &str) -> Box<dyn Repair> {
    from_value::<Repairs>(json!(name)).expect("it is in the list").build(&seat())
}

fn answer(next: u64, lacks: Option<Range<u64>>) -> Answer {
    Answer { next, lacks }
}

/// Sends packets of ten bytes over a path that loses the packets of `lost` when they are sent for
/// the first time. Returns the number of bytes that were sent.
fn exchange(name: &str, packets: u64, lost: &[u64]) -> u64 {
    let (mut sender, mut receiver) = (repair(name), repair(name));
    let (mut sent, mut max, mut una) = (0, 0, 0);
    let end = packets * 10;
    for _ in 0..10_000 {
        if una == end {
            return sent;
        }
        let (bytes, is_new) = match sender.resend(10) {
            Some(again) => (again, false),
            None if max < end => (max..max + 10, true),
            None => {
                sender.on_timeout(una, max);
                continue;
            }
        };
        sent += bytes.end - bytes.start;
        max = max.max(bytes.end);
        if is_new && lost.contains(&(bytes.start / 10)) {
            continue;
        }
        let Answer { next, lacks } = receiver.on_data(bytes);
        assert!(next >= una, "an answer never takes back");
        una = next;
        sender.on_ack(next);
        if let Some(lacks) = lacks {
            assert!(!lacks.is_empty() && lacks.start >= una);
            sender.on_nack(lacks, max);
        }
    }
    panic!("{una} of {end}");
}

#[test]
fn every_repair_brings_all_bytes_over_whatever_is_lost() {
    for Entry { name, .. } in ENTRIES {
        assert_eq!(exchange(name, 20, &[]), 200, "{name}: nothing is sent twice");
        for lost in [&[0][..], &[19], &[3, 4, 9], &[0, 1, 2, 3, 17, 18, 19]] {
            assert!(exchange(name, 20, lost) >= 200 + 10 * lost.len() as u64, "{name}");
        }
    }
    assert_eq!(exchange("selective-repeat", 20, &[3, 4, 9]), 230, "only what was lost");
    assert_eq!(exchange("go-back-n", 20, &[3]), 200 + 20, "the lost one and the one behind it");
}

#[test]
fn go_back_n_asks_once_for_the_first_missing_byte() {
    let mut receiver = repair("go-back-n");
    assert_eq!(receiver.on_data(0..10), answer(10, None));
    assert_eq!(receiver.on_data(20..30), answer(10, Some(10..20)));
    assert_eq!(receiver.on_data(30..40), answer(10, None), "it was asked for");
    assert_eq!(receiver.on_data(10..20), answer(20, None), "what came before it is lost");
    assert_eq!(receiver.on_data(20..30), answer(30, None));
    assert_eq!(receiver.on_trimmed(30..40), answer(30, Some(30..40)), "the header tells at once");
    assert_eq!(receiver.on_data(0..10), answer(30, None), "a copy");
}

#[test]
fn selective_repeat_keeps_what_arrives_and_asks_for_each_gap() {
    let mut receiver = repair("selective-repeat");
    assert_eq!(receiver.on_data(20..30), answer(0, Some(0..20)));
    assert_eq!(receiver.on_data(40..50), answer(0, Some(30..40)));
    assert_eq!(receiver.on_data(0..10), answer(10, None));
    assert_eq!(receiver.on_data(10..20), answer(30, None));
    assert_eq!(receiver.on_trimmed(50..60), answer(30, Some(50..60)));
    assert_eq!(receiver.on_data(30..40), answer(50, None));
    assert_eq!(receiver.on_data(50..60), answer(60, None));
}

#[test]
fn what_was_acknowledged_is_not_sent_again() {
    for Entry { name, .. } in ENTRIES {
        let mut sender = repair(name);
        sender.on_nack(10..40, 40);
        sender.on_ack(20);
        assert!(sender.has_work());
        assert_eq!(sender.resend(15), Some(20..35), "{name}");
        sender.on_ack(40);
        assert_eq!((sender.resend(10), sender.has_work()), (None, false), "{name}");
        sender.on_timeout(40, 60);
        assert_eq!((sender.resend(10), sender.resend(20)), (Some(40..50), Some(50..60)));
    }
}
