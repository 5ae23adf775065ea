use super::*;
use crate::time::tests::{at, ns};

const WINDOW: Span = ns(1000);

fn begin(bursts: &mut Bursts, start: i64, key: Key) -> Vec<Burst> {
    bursts.begin(&message(start, 0, key), 0, |_| false)
}

fn message(start: i64, host: usize, key: Key) -> Begin {
    let (start, first) = (at(start), at(start) + ns(50));
    Begin { start, first, host, key, window: WINDOW, apart: ns(100) }
}

#[test]
fn a_host_that_is_asked_again_after_it_answered_answers_in_another_burst() {
    let bursts = |later| {
        let mut bursts = Bursts::default();
        for host in 0..3 {
            bursts.begin(&message(0, host, (host as u64, 0)), 0, |_| false);
        }
        bursts.begin(&message(later, 1, (9, 0)), 0, |_| false);
        bursts.open.len()
    };
    assert_eq!(bursts(150), 1, "two connections at a time");
    assert_eq!(bursts(151), 2);
}

#[test]
fn what_begins_between_two_bursts_unites_them() {
    let mut bursts = Bursts::default();
    for (key, start) in [(0, 0), (1, 100), (2, 1900), (3, 2000)] {
        assert!(begin(&mut bursts, start, (key, 0)).is_empty());
    }
    assert_eq!(bursts.open.len(), 2);
    assert!(begin(&mut bursts, 1050, (4, 0)).is_empty());
    let [burst] = bursts.finish().collect::<Vec<_>>().try_into().expect("one burst");
    assert_eq!((burst.start, burst.newest, burst.members.len()), (at(0), at(2000), 5));
}

#[test]
fn the_newest_of_united_bursts_decides_who_still_joins() {
    let mut bursts = Bursts::default();
    for (key, start) in [(0, 1900), (1, 0), (2, 950)] {
        begin(&mut bursts, start, (key, 0));
    }
    begin(&mut bursts, 2800, (3, 0));
    assert_eq!(bursts.open.len(), 1, "900 behind the newest");
}

#[test]
fn another_host_joins_late_while_no_answer_has_ended() {
    let mut bursts = Bursts::default();
    let late = |bursts: &mut Bursts, host: u64, start| {
        bursts.begin(&message(start, host as usize, (host, 0)), 0, |_| false);
        bursts.open.len()
    };
    assert_eq!(late(&mut bursts, 1, 0), 1);
    assert_eq!(late(&mut bursts, 2, 9_000_000), 1);
    assert_eq!(late(&mut bursts, 3, 21_000_000), 2, "too late");
    bursts.end((3, 0), Message::default());
    assert_eq!(late(&mut bursts, 4, 22_000_000), 2, "one has ended, and is over");
}

#[test]
fn a_flow_that_begins_again_begins_another_burst() {
    let mut bursts = Bursts::default();
    begin(&mut bursts, 0, (0, 0));
    begin(&mut bursts, 10, (1, 0));
    bursts.end((0, 0), Message::default());
    bursts.end((1, 0), Message::default());
    let over = begin(&mut bursts, 20, (0, 0));
    assert_eq!(over.iter().map(|burst| burst.members.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_end_of_a_united_flow_is_found() {
    let mut bursts = Bursts::default();
    for (key, start) in [(0, 0), (1, 1900), (2, 1950), (3, 950)] {
        begin(&mut bursts, start, (key, 0));
    }
    for key in 0..4 {
        assert!(bursts.of((key, 0)).is_some(), "{key}");
        bursts.end((key, 0), Message { bytes: 1 + key as i64, ..Message::default() });
    }
    let [burst] = bursts.finish().collect::<Vec<_>>().try_into().expect("one burst");
    for member in burst.members {
        assert_eq!(member.message.map(|one| one.bytes), Some(1 + member.key.0 as i64));
    }
}

/// The open bursts, each with its start, the start of its newest member, its number of members, and
/// the bytes of the fullest bin.
fn open(bursts: &Bursts) -> Vec<(i64, i64, usize, u64)> {
    let told = |burst: &Burst| {
        (burst.start.as_nanos(), burst.newest.as_nanos(), burst.members.len(), burst.peak)
    };
    bursts.open.values().map(told).collect()
}

#[test]
fn a_burst_begins_with_what_fills_the_link_then() {
    let mut bursts = Bursts::default();
    bursts.begin(&message(70, 4, (0, 0)), 900, |_| false);
    assert_eq!(open(&bursts), [(70, 70, 1, 900)]);
    bursts.begin(&message(80, 5, (1, 0)), 9999, |_| false);
    bursts.begin(&message(60, 5, (2, 0)), 9999, |_| false);
    assert_eq!(open(&bursts), [(60, 80, 3, 900)]);
    assert_eq!(bursts.newest().map(|burst| burst.hosts()), Some(2));
    bursts.begin(&message(30_000_000, 5, (3, 0)), 7, |_| false);
    assert_eq!(bursts.newest().map(|burst| burst.peak), Some(7));
    assert!(Bursts::default().newest().is_none());
}

#[test]
fn united_bursts_have_what_both_had() {
    let mut bursts = Bursts::default();
    for (key, start, host) in [(0, 0, 1), (1, 1900, 1), (2, 1950, 1)] {
        bursts.begin(&message(start, host, (key, 0)), 10 * (key + 1), |_| false);
        let burst = bursts.of((key, 0)).expect("it is open");
        burst.stalls.push(key as usize);
        burst.idle.push(10 + key as usize);
        burst.lost += 1 + key as u32;
    }
    assert_eq!(open(&bursts), [(0, 0, 1, 10), (1900, 1950, 2, 20)]);
    bursts.begin(&message(950, 1, (3, 0)), 0, |_| false);
    assert_eq!(open(&bursts), [(0, 1950, 4, 20)]);
    let burst = bursts.newest().expect("one");
    assert_eq!((burst.hosts(), burst.open, burst.lost), (1, 4, 6));
    burst.stalls.sort_unstable();
    burst.idle.sort_unstable();
    assert_eq!((&burst.stalls[..], &burst.idle[..]), (&[0, 1, 2][..], &[10, 11, 12][..]));
    assert_eq!(burst.hosts[&1], at(50), "the first packet of a host");
}

#[test]
fn bursts_of_the_same_flow_are_not_united() {
    let united = |flows: &[u64]| {
        let mut bursts = Bursts::default();
        begin(&mut bursts, 0, (0, 0));
        begin(&mut bursts, 10, (1, 0));
        bursts.end((0, 0), Message::default());
        for (number, flow) in flows.iter().enumerate() {
            begin(&mut bursts, 1900 + number as i64, (*flow, 0));
        }
        begin(&mut bursts, 950, (9, 0));
        bursts.open.len()
    };
    assert_eq!(united(&[5]), 1);
    assert_eq!([united(&[0]), united(&[5, 0]), united(&[5, 6, 0])], [2, 2, 2]);
}

#[test]
fn a_burst_is_over_when_its_flows_have_ended_and_a_newer_one_began() {
    let mut bursts = Bursts::default();
    begin(&mut bursts, 0, (0, 0));
    begin(&mut bursts, 1, (1, 0));
    assert!(bursts.end((0, 0), Message::default()).is_empty());
    assert!(bursts.end((1, 0), Message::default()).is_empty(), "others may still join");
    assert!(bursts.end((7, 0), Message::default()).is_empty(), "it is in no burst");
    begin(&mut bursts, 40_000_000, (2, 0));
    begin(&mut bursts, 80_000_000, (3, 0));
    let over = bursts.end((2, 0), Message::default());
    assert_eq!(over.len(), 1);
    assert_eq!(over[0].start, at(40_000_000));
    assert_eq!(bursts.open.len(), 1);
}

#[test]
fn no_more_bursts_are_open_than_overlap() {
    let mut bursts = Bursts::default();
    let mut over = 0;
    for number in 0..70 {
        over += begin(&mut bursts, 30_000_000 * number, (number as u64, 0)).len();
    }
    assert_eq!((bursts.open.len(), over), (64, 6));
    assert!(bursts.of((5, 0)).is_none() && bursts.of((6, 0)).is_some(), "the oldest");
}

#[test]
fn a_late_flow_joins_the_first_burst_that_missed_it() {
    let joined = |host, missed: bool| {
        let mut bursts = Bursts::default();
        begin(&mut bursts, 0, (0, 0));
        bursts.begin(&message(90_000_000, host, (1, 0)), 0, |_| missed);
        bursts.open.len()
    };
    assert_eq!([joined(1, true), joined(1, false), joined(0, true)], [1, 2, 2]);
}
