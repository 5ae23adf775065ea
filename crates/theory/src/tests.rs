use crate::burst::{Guest, Terms, meet};
use crate::draws::{Draw, Draws, Place};
use crate::opening::open;
use crate::rounds::Rounds;
use crate::sender::{AT_ONCE, Sender};
use crate::{Effort, Read, follow};
use incast_engine::Stream;

const EFFORT: Effort =
    Effort { samples: (3, 6), error: 0.02, blocks: (4, 4), rounds: 100_000, work: u64::MAX };

fn read(servers: usize, places: f64) -> Read {
    Read {
        servers,
        segments: 45.0,
        places,
        pipe: 20.0,
        gap: 5.0,
        timer: 1000.0,
        blocks: 10.0,
        initial_window: 10.0,
        most_window: 1e4,
        short_tail: true,
    }
}

/// Lets senders meet who send all that they have, phases in their order.
fn lone_burst(bursts: &[(f64, f64)], places: f64) -> Vec<Guest> {
    let read = Read { pipe: 1e6, short_tail: false, ..read(bursts.len(), places) };
    let guest = |(number, &(begin, packets)): (usize, &(f64, f64))| {
        Guest::new(begin, packets, false, number as f64 / 100.0)
    };
    let mut guests: Vec<_> = bursts.iter().enumerate().map(guest).collect();
    let terms = Terms { read: &read, queue: 0.0, first: true };
    meet(&mut guests, terms, &mut Stream::named(1, "test", 0));
    guests
}

fn lost(guests: &[Guest]) -> Vec<f64> {
    guests.iter().map(|guest| guest.lost).collect()
}

#[test]
fn a_burst_that_fits_loses_nothing() {
    assert_eq!(lost(&lone_burst(&[(0.0, 10.0), (1.0, 10.0), (2.0, 10.0)], 18.0)), [0.0; 3]);
}

#[test]
fn who_opens_the_busy_period_keeps_its_place_and_the_latecomer_loses_all() {
    // Two senders fill ten places within ten packet times; the third begins when all are taken.
    let guests = lone_burst(&[(0.0, 40.0), (0.0, 40.0), (15.0, 20.0)], 10.0);
    assert_eq!(lost(&guests), [0.0, 30.0, 20.0]);
    assert!((guests[1].before - 10.0).abs() < 1e-6);
}

#[test]
fn what_a_burst_loses_is_what_the_queue_cannot_hold() {
    // All at once: n·w arrive in w packet times, w leave, B stay.
    for (servers, window, places) in [(4, 20.0, 16.0), (8, 10.0, 30.0), (3, 50.0, 5.0)] {
        let all: f64 = lost(&lone_burst(&vec![(0.0, window); servers], places)).iter().sum();
        let excess = servers as f64 * window - window - places;
        assert!((all - excess).abs() <= servers as f64, "{all} of {excess}");
    }
}

#[test]
fn every_packet_of_a_block_arrives_once() {
    for (servers, places) in [(1, 5.0), (4, 10.0), (12, 40.5), (40, 60.0), (90, 8.0)] {
        let read = read(servers, places);
        let draws = Draws::new(servers);
        let mut senders = vec![Sender::connected(read.initial_window); servers];
        for block in 0..4 {
            let place = Place { sample: 0, block };
            for (number, sender) in senders.iter_mut().enumerate() {
                sender.ask(read.segments, number as f64 * read.gap);
            }
            let opened = open(&read, &mut senders, place);
            let left: f64 = senders.iter().map(|it| it.left).sum();
            let mut rounds = Rounds::new(&read, &mut senders, opened.clock);
            let arrived: f64 = draws.rounds(place).map_while(|row| rounds.play(row)).sum();
            assert!((arrived - left).abs() < 1e-6, "{servers} servers: {arrived} of {left}");
            assert!(left <= read.work());
            assert!(senders.iter().all(|it| it.left == 0.0 && it.holes == 0.0));
        }
    }
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
fn a_lone_sender_whose_window_the_buffer_holds_never_loses() {
    let lone = Read { most_window: 30.0, ..read(1, 30.0) };
    let outcome = follow(std::slice::from_ref(&lone), &EFFORT, 1)[0];
    assert_eq!(outcome.timeouts.to_bits(), 0.0_f64.to_bits());
    assert!(outcome.duration < 2.0 * (lone.segments + lone.pipe));
}

/// Two senders amid a block, of whom each has `left` packets and a window of `window`.
fn last_windows(window: f64, left: f64, places: f64, draw: f32) -> (Vec<Sender>, f64) {
    let read = Read { pipe: 10.0, ..read(2, places) };
    let mut senders = vec![Sender::connected(window); 2];
    for sender in &mut senders {
        sender.ask(left, AT_ONCE);
        sender.fresh = false;
    }
    let row = [Draw { chance: draw, place: draw, lottery: draw }; 2];
    let mut rounds = Rounds::new(&read, &mut senders, 0.0);
    let played = (0..999).map_while(|_| rounds.play(&row)).count();
    assert!(played < 999);
    let timeouts = rounds.timeouts;
    (senders, timeouts)
}

#[test]
fn windows_that_fit_grow_until_all_has_arrived() {
    let (senders, timeouts) = last_windows(4.0, 100.0, 1e6, 0.5);
    assert!(timeouts == 0.0 && senders.iter().all(|it| it.window > 50.0));
}

#[test]
fn whoever_loses_some_of_a_window_repairs_it() {
    let (senders, timeouts) = last_windows(20.0, 40.0, 20.0, 0.5);
    assert!(timeouts == 0.0 && senders.iter().all(|it| it.threshold < 20.0));
}

#[test]
fn whoever_loses_the_last_packets_of_all_waits_for_its_timer() {
    let (_, timeouts) = last_windows(10.0, 10.0, 0.0, 0.1);
    assert!(timeouts >= 2.0);
}

#[test]
fn a_repair_that_outlasts_the_timer_ends_in_a_timeout() {
    // More holes, one per round trip of 20 packet times, than the timer of 1 000 waits for.
    let read = read(1, 100.0);
    let mut senders = [Sender::connected(4.0)];
    senders[0].ask(200.0, AT_ONCE);
    (senders[0].fresh, senders[0].holes, senders[0].threshold) = (false, 200.0, 2.0);
    let row = [Draw { chance: 0.5, place: 0.5, lottery: 0.5 }];
    let mut rounds = Rounds::new(&read, &mut senders, 0.0);
    for _ in 0..99 {
        rounds.play(&row);
    }
    assert!(rounds.timeouts >= 1.0);
}
