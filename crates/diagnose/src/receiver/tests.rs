use super::*;
use crate::stall::Place;
use crate::time::tests::{MS, at, ns};

/// A receiver with packets of these flows at these times, in milliseconds.
fn receiver(times: &[(u64, i64)]) -> Receiver {
    let mut receiver = Receiver::default();
    for &(flow, time) in times {
        let usual = (MS / 10, Span::ZERO);
        receiver.packet((at(0) + time * MS, 1500), (flow, 0), Address::default(), usual);
    }
    receiver
}

/// A message that begins at this time, in milliseconds.
fn message(start: i64, host: usize, key: Key) -> Begin {
    let start = at(0) + start * MS;
    Begin { start, first: start, host, key, window: MS, apart: MS }
}

fn lost(receiver: &mut Receiver, at_once: bool) -> (u64, u64) {
    let event = Event::Lost { side: 0, packets: 2, at_once };
    receiver.take(&event, Endpoint::default());
    (receiver.tallies.busy_losses, receiver.tallies.idle_losses)
}

#[test]
fn flooded_packets_of_others_are_no_second_sender() {
    let hosts = |sent: &[u64]| {
        let sent = sent.iter().map(|&packets| Sent::of(packets, 0));
        let named = sent.zip(0..).map(|(one, at)| (Address::v4([10, 0, 0, at]), one));
        let receiver = Receiver { hosts: named.collect(), ..Receiver::default() };
        (receiver.senders(), receiver.has_one_sender())
    };
    assert_eq!(hosts(&[500, 1]), (1, true));
    assert_eq!(hosts(&[500, SENDS]), (2, false));
    assert_eq!(hosts(&[2]), (0, true), "one, of a few packets");
    assert_eq!(hosts(&[2, 2]), (0, false));
}

#[test]
fn a_loss_shows_on_a_busy_link_right_behind_another_packet() {
    assert_eq!(lost(&mut receiver(&[(0, 0), (1, 2)]), true), (2, 0));
    assert_eq!(lost(&mut receiver(&[(0, 0), (1, 3)]), true), (0, 2));
    assert_eq!(lost(&mut receiver(&[(0, 0), (1, 2)]), false), (0, 0), "it came late");
}

#[test]
fn a_loss_counts_for_its_host() {
    let mut receiver = receiver(&[(0, 0)]);
    lost(&mut receiver, false);
    let sent = receiver.hosts[&Address::default()];
    assert_eq!((sent.losses.packets(), sent.losses.count(), receiver.losses.count()), (1, 2, 2));
}

fn waits(receiver: &mut Receiver, reason: Reason, span: (i64, i64), idle: f64) -> u64 {
    let (start, end) = (at(0) + span.0 * MS, at(0) + span.1 * MS);
    let (before, after) = (Place::default(), Place::default());
    let wait = Wait { reason, start, end, before, after, idle };
    receiver.take(&Event::Waited { side: 0, wait }, Endpoint::default());
    receiver.waits.get(&reason).map_or(0, |waits| waits.count)
}

#[test]
fn a_wait_on_a_busy_link_is_not_for_a_server() {
    let mut one = receiver(&[(0, 0), (0, 100)]);
    assert_eq!(waits(&mut one, Reason::FirstByte, (0, 100), 0.49), 0);
    assert_eq!(waits(&mut one, Reason::FirstByte, (0, 100), 0.5), 1);
    assert_eq!(waits(&mut one, Reason::Paused, (0, 100), 0.0), 1, "that is another one");
}

#[test]
fn in_the_middle_the_link_must_be_silent_for_half_of_it() {
    let mut one = receiver(&[(0, 0), (0, 100)]);
    assert_eq!(waits(&mut one, Reason::Middle, (0, 201), 1.0), 0);
    assert_eq!(waits(&mut one, Reason::Middle, (0, 200), 1.0), 1);
}

#[test]
fn a_stall_while_the_link_is_silent_is_one_of_its_burst() {
    let idle = |span: (i64, i64)| {
        let mut one = receiver(&[(0, 0), (1, 100)]);
        one.begin(&message(0, 7, (0, 0)), false);
        one.stalled((0, 0), 5, (at(0) + span.0 * MS, at(0) + span.1 * MS), 1.0);
        let burst = one.bursts.of((0, 0)).expect("a burst");
        assert_eq!(burst.stalls, [5]);
        !burst.idle.is_empty()
    };
    assert!(idle((0, 51)) && !idle((0, 50)) && !idle((101, 300)));
}

#[test]
fn a_message_is_alone_if_no_other_flow_sent_since_it_was_asked_for() {
    let lone = |start| {
        let mut one = receiver(&[(0, 0), (1, 10)]);
        one.begin(&message(start, 7, (1, 0)), false);
        one.tallies.lone
    };
    assert_eq!([lone(0), lone(-1)], [1, 0]);
}

#[test]
fn who_opens_its_connection_late_had_lost_its_first_syn() {
    let bursts = |opens, lag| {
        let mut one = receiver(&[(0, 0), (0, lag)]);
        one.begin(&message(0, 7, (0, 0)), false);
        one.begin(&message(lag, 8, (1, 0)), opens);
        one.bursts.finish().count()
    };
    assert_eq!(bursts(true, 100), 1);
    assert_eq!(bursts(false, 100), 2, "it was there before");
    assert_eq!(bursts(true, 99), 2, "no timer of a SYN is as short");
}

#[test]
fn a_link_waits_after_ten_round_trips_and_what_is_queued() {
    let quiet = |after: Span| {
        let mut one = Receiver::default();
        for time in [at(0), at(0) + after] {
            one.packet((time, 1500), (0, 0), Address::default(), (MS, 3 * MS));
        }
        one.quiet.len()
    };
    assert_eq!([quiet(13 * MS), quiet(13 * MS + ns(1))], [0, 1]);
    let many: Vec<_> = (0..300).map(|time| (0, 2 * time)).collect();
    let one = receiver(&many);
    assert_eq!(one.quiet.len(), 256);
    assert_eq!(one.quiet[0].0, at(0) + 86 * MS, "the latest");
}

#[test]
fn the_last_packet_of_another_flow_is_remembered() {
    let lone = |times: &[(u64, i64)], start| {
        let mut one = receiver(times);
        one.begin(&message(start, 7, (1, 0)), false);
        (one.tallies.lone, one.tallies.messages)
    };
    // In the first two cases, flow 1 sends last, and flow 0 last sent at 5 ms.
    assert_eq!(lone(&[(0, 5), (1, 6), (1, 8)], 5), (1, 1));
    assert_eq!(lone(&[(0, 5), (1, 6), (1, 8)], 4), (0, 1));
    assert_eq!(lone(&[(1, 6), (0, 7)], 7), (1, 1));
    assert_eq!(lone(&[(1, 6), (0, 7)], 6), (0, 1));
    assert_eq!(lone(&[], 0), (1, 1));
}

#[test]
fn a_burst_has_the_fullest_bin_of_its_time() {
    let mut one = receiver(&[(0, 0)]);
    one.begin(&message(0, 7, (0, 0)), false);
    let of = |one: &mut Receiver| one.bursts.newest().map(|burst| burst.peak);
    assert_eq!(of(&mut one), Some(1500));
    for _ in 0..3 {
        one.packet((at(0), 1500), (0, 0), Address::default(), (MS, Span::ZERO));
    }
    assert_eq!(of(&mut one), Some(6000));
    one.packet((at(0) + 9 * MS, 1500), (0, 0), Address::default(), (MS, Span::ZERO));
    assert_eq!(of(&mut one), Some(6000));
    lost(&mut one, false);
    lost(&mut one, false);
    assert_eq!(one.bursts.newest().map(|burst| burst.lost), Some(4));
    assert_eq!(one.hosts[&Address::default()].losses.count(), 4);
}

#[test]
fn no_more_hosts_are_counted_than_there_is_room_for() {
    let mut one = Receiver::default();
    for host in 0..4096_u32 {
        let [_, first, second, third] = host.to_be_bytes();
        assert!(one.host(Address::v4([10, first, second, third])).is_some());
    }
    assert!(one.host(Address::v4([11, 0, 0, 0])).is_none());
    assert!(one.host(Address::v4([10, 0, 0, 5])).is_some(), "it is known");
}

#[test]
fn a_host_missed_a_burst_if_the_link_idled_for_more_than_half_of_the_time() {
    let bursts = |idle: i64, lag: i64| {
        let mut one = receiver(&[(0, 0), (0, idle)]);
        one.begin(&message(0, 7, (0, 0)), false);
        one.begin(&message(lag, 8, (1, 0)), true);
        one.bursts.finish().count()
    };
    assert_eq!([bursts(100, 200), bursts(101, 200)], [2, 1]);
}

/// A receiver that got `bytes` bytes in each of 8 bins, and in each bin acknowledged `step` bytes
/// `steps` times.
fn acknowledging(bytes: u32, step: i64, steps: i64) -> Receiver {
    let mut one = Receiver::default();
    for bin in 0..8 {
        let now = at(0) + bin * MS;
        one.packet((now, bytes), (0, 0), Address::default(), (MS, Span::ZERO));
        for _ in 0..steps {
            let (full, side) = (false, 0);
            let event = Event::Acked { side, acked: Acked { full, bytes: step, step, at: now } };
            one.take(&event, Endpoint::default());
        }
    }
    one.packet((at(0) + 20 * MS, 10), (0, 0), Address::default(), (MS, Span::ZERO));
    let acked = Acked { full: true, bytes: 10, step: 10, at: at(0) + 20 * MS };
    let event = Event::Acked { side: 0, acked };
    one.take(&event, Endpoint::default());
    one
}

#[test]
fn what_a_host_acknowledges_in_small_steps_shows_its_link_before_a_queue() {
    let one = acknowledging(20_000, 1460, 5);
    assert_eq!((one.tallies.acks, one.tallies.full_acks), (41, 1));
    assert_eq!(one.full(true), 20_000);
    assert_eq!(one.full(false), 5 * 1500);
    let merged = acknowledging(20_000, 0, 5);
    assert_eq!(merged.full(false), 20_000, "nothing is known of its steps");
    let more = acknowledging(20_000, 2920, 9);
    assert_eq!(more.full(false), 20_000, "no more than has arrived");
    // The acknowledged bytes count if 8 times their number is more than the bytes that have
    // arrived.
    let few = |bytes| acknowledging(bytes, 960, 1).full(false) == 1000;
    assert!(few(7000) && !few(8200));
}

#[test]
fn an_ack_is_of_packets_with_headers() {
    let taken = |bytes| {
        let mut one = Receiver::default();
        let acked = Acked { full: false, bytes, step: bytes, at: at(0) };
        let event = Event::Acked { side: 0, acked };
        one.take(&event, Endpoint::default());
        one.taken.bytes()
    };
    assert_eq!([0, 1, 1460, 1461, 2920].map(taken), [0, 41, 1500, 1541, 3000]);
}

#[test]
fn events_are_counted_by_what_they_are() {
    let mut one = Receiver::default();
    let mut tell = |event| one.take(&event, Endpoint::default());
    for full in [true, false, true] {
        tell(Event::Round { side: 0, full });
    }
    for first in [true, false] {
        tell(Event::InVain { side: 0, first });
    }
    tell(Event::InVain { side: 0, first: true });
    for bytes in [100, 20] {
        tell(Event::Unseen { side: 0, bytes });
    }
    tell(Event::Lost { side: 0, packets: 3, at_once: false });
    tell(Event::Reordered { side: 0 });
    let told = &one.tallies;
    assert_eq!((told.rounds, told.full, told.in_vain, told.unseen), (3, 2, 2, (120, 2)));
    assert_eq!(one.losses.count(), 2);
    assert_eq!(one.hosts[&Address::default()].losses.count(), 2);
}

#[test]
fn waits_add_up_and_the_longest_is_kept() {
    let mut one = receiver(&[(0, 0), (0, 100)]);
    for span in [(0, 30), (0, 80), (10, 90), (5, 25)] {
        waits(&mut one, Reason::Paused, span, 1.0);
    }
    let told = one.waits[&Reason::Paused];
    assert_eq!((told.count, told.total), (4, 210 * MS));
    let (wait, _) = told.longest.expect("there is one");
    assert_eq!((wait.start, wait.end), (at(0), at(0) + 80 * MS), "the first of that length");
    let mut busy = receiver(&[(0, 0), (0, 100)]);
    assert_eq!(waits(&mut busy, Reason::Middle, (0, 100), 0.49), 0);
    assert_eq!(waits(&mut busy, Reason::Middle, (0, 100), 0.5), 1);
}

#[test]
fn a_stall_idles_for_a_tenth_of_it_at_least() {
    let idle = |share| {
        let mut one = receiver(&[(0, 0), (1, 100)]);
        one.begin(&message(0, 7, (0, 0)), false);
        one.stalled((0, 0), 5, (at(0), at(0) + 100 * MS), share);
        !one.bursts.of((0, 0)).expect("a burst").idle.is_empty()
    };
    assert!(idle(0.1) && !idle(0.09));
    let mut other = receiver(&[(0, 0), (1, 100)]);
    other.stalled((3, 0), 5, (at(0), at(0) + 100 * MS), 1.0);
}

#[test]
fn two_spans_have_in_common_what_is_in_both() {
    let of = |one: (i64, i64), other: (i64, i64)| {
        overlap((at(one.0), at(one.1)), (at(other.0), at(other.1))).as_nanos()
    };
    assert_eq!([of((0, 10), (5, 20)), of((5, 20), (0, 10)), of((0, 30), (5, 20))], [5, 5, 15]);
    assert_eq!([of((0, 10), (10, 20)), of((0, 10), (15, 20))], [0, 0]);
    let quiet: VecDeque<_> = [(at(0), at(10)), (at(20), at(30)), (at(40), at(60))].into();
    assert_eq!(idle(&quiet, (at(5), at(50))), ns(5 + 10 + 10));
    assert_eq!(idle(&quiet, (at(10), at(20))), Span::ZERO);
}

#[test]
fn a_packet_after_a_long_gap_was_sent_on_an_idle_link() {
    let mut one = Receiver::default();
    for time in [0, 1, 200, 201] {
        one.packet((at(0) + time * MS, 100), (0, 0), Address::default(), (MS, Span::ZERO));
    }
    let quiet = [1, 200, 201].map(|time| one.was_quiet_before(at(0) + time * MS));
    assert_eq!(quiet, [false, true, false]);
}
