use incast_engine::Time;

use super::super::law_tests::{SITE, data};
use super::*;
use crate::packet::Ecn;
use crate::packets::Load;

const PACKETS: [Limit; 2] = [Limit::Packets(5), Limit::Packets(15)];

fn busy(packets: u32) -> QueueView {
    let bytes = u64::from(packets) * 1500;
    QueueView { load: Load { packets, bytes, in_service_bytes: 1500 }, ..QueueView::default() }
}

fn average(weight: f64, threshold: Limit) -> Average {
    let min_th = Level::Limit(threshold);
    let counts_in_service = Some(false);
    Average::new(&Params { min_th, weight, counts_in_service, ..Params::default() }, &SITE)
}

#[track_caller]
fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
}

#[test]
fn the_average_moves_by_the_weight_towards_the_queue() {
    let mut average = average(0.25, PACKETS[0]);
    close(average.sample(&busy(8)), 2.0);
    close(average.sample(&busy(8)), 3.5);
    close(average.sample(&busy(0)), 2.625);
}

#[test]
fn the_average_is_in_the_unit_of_the_thresholds() {
    close(average(0.5, Limit::Bytes(1)).sample(&busy(4)), 3000.0);
    let mut in_service = Average { counts_in_service: true, ..average(0.5, PACKETS[0]) };
    close(in_service.sample(&busy(4)), 2.5);
}

#[test]
fn an_idle_link_saw_an_empty_queue_for_every_packet_that_it_could_have_sent() {
    // A link of 1 Gbps sends 1500 bytes in 12 us, so it could have sent three packets in 40 us. The
    // arrival is the fourth sample.
    let mut average = average(0.5, PACKETS[0]);
    close(average.sample(&busy(32)), 16.0);
    let at = |micros| Time::ZERO + Span::from_micros(micros);
    let idle = QueueView { now: at(140), idle_since: at(100), ..QueueView::default() };
    close(average.sample(&idle), 1.0);
}

#[test]
fn a_weight_of_one_is_no_average() {
    let mut average = average(1.0, PACKETS[0]);
    close(average.sample(&busy(7)), 7.0);
    close(average.sample(&QueueView::default()), 0.0);
    close(average.sample(&busy(3)), 3.0);
}

/// The number of packets up to the next hit if every random number is `draw`.
fn spacing(curve: &Curve, average: f64, draw: f64) -> usize {
    let mut curve = curve.clone();
    (1..100).find(|_| curve.judge(average, 1.0, draw) != Signal::None).expect("a hit comes")
}

#[test]
fn hits_are_spaced_by_the_count_of_packets_since_the_last() {
    // The average is halfway between the thresholds, so p is half of max_p: 0.1. With the count,
    // the probability is 1/10 for the first packet, then 1/9, and so on up to 1.
    let curve = Curve::new(PACKETS, 0.2, false);
    assert_eq!(spacing(&curve, 10.0, 0.0999), 1);
    assert_eq!(spacing(&curve, 10.0, 0.1001), 2);
    assert_eq!(spacing(&curve, 10.0, 0.1999), 6);
    assert_eq!(spacing(&curve, 10.0, 0.4999), 9);
    assert_eq!(spacing(&curve, 10.0, 0.9999), 10);
    // After a hit, the count is 1 at the next packet (figure 2), so the longest gap is one packet
    // shorter.
    let after_a_hit = Curve { count: Some(0.0), ..curve };
    assert_eq!(spacing(&after_a_hit, 10.0, 0.9999), 9);
    assert_eq!(spacing(&after_a_hit, 10.0, 0.1110), 1);
}

#[test]
fn spaced_hits_are_uniform() {
    // The gap after a hit is uniformly distributed from 1 to 1/p - 1 = 9 packets.
    let mut curve = Curve::new(PACKETS, 0.2, false);
    let mut random = Stream::named(3, "gaps", 0);
    let mut gaps = [0_u32; 12];
    let mut gap = 0;
    for _ in 0..90_000 {
        gap += 1;
        if curve.judge(10.0, 1.0, random.unit()) == Signal::Chance {
            gaps[gap] += 1;
            gap = 0;
        }
    }
    assert_eq!((gaps[0], gaps[11]), (0, 0));
    assert!(gaps[1..=9].iter().all(|gap| (1800..2200).contains(gap)), "{gaps:?}");
}

#[test]
fn below_the_minimum_nothing_is_hit_and_the_count_is_forgotten() {
    let mut curve = Curve::new(PACKETS, 0.2, false);
    for _ in 0..9 {
        assert_eq!(curve.judge(10.0, 1.0, 0.9999), Signal::None);
    }
    assert_eq!(curve.judge(4.999, 1.0, 0.0), Signal::None);
    assert_eq!(curve.judge(10.0, 1.0, 0.9999), Signal::None, "it would have been the tenth");
}

#[test]
fn beyond_the_maximum_every_packet_is_hit_or_gently_more() {
    let mut strict = Curve::new(PACKETS, 0.2, false);
    assert_eq!(strict.judge(15.0, 1.0, 0.9999), Signal::Certain);
    // If the average is halfway from max_th to twice max_th, the probability is halfway from max_p
    // to 1.
    let mut gentle = Curve::new(PACKETS, 0.2, true);
    assert_eq!(gentle.clone().judge(22.5, 1.0, 0.5999), Signal::Chance);
    assert_eq!(gentle.clone().judge(22.5, 1.0, 0.6001), Signal::None);
    assert_eq!(gentle.judge(30.0, 1.0, 0.9999), Signal::Certain);
}

#[test]
fn in_bytes_a_packet_is_hit_in_proportion_to_its_size() {
    let curve = Curve::new([Limit::Bytes(7_500), Limit::Bytes(22_500)], 0.2, false);
    let probability = |weight| {
        let hits = |draw: &u32| {
            let draw = f64::from(*draw) / 10_000.0;
            curve.clone().judge(15_000.0, weight, draw) == Signal::Chance
        };
        (0..10_000).filter(hits).count()
    };
    assert_eq!(probability(1.0), 1000);
    assert_eq!(probability(0.5), 500);
    let in_bytes = average(1.0, Limit::Bytes(1));
    close(in_bytes.weight_of(&data()), 1.0);
    close(average(1.0, PACKETS[0]).weight_of(&Packet { payload: 0, ..data() }), 1.0);
}

#[test]
fn a_hit_is_a_mark_where_it_can_be_one() {
    let capable = data().with_ecn(Ecn::Capable);
    let drop = Verdict::Drop(DropReason::Early);
    let responses = |ecn, hard_drop| {
        let response = Response { ecn, hard_drop };
        [(Signal::Chance, capable), (Signal::Certain, capable), (Signal::Chance, data())]
            .map(|(signal, packet)| response.to(signal, &packet))
    };
    assert_eq!(responses(false, false), [drop; 3]);
    assert_eq!(responses(true, false), [Verdict::Mark, Verdict::Mark, drop]);
    assert_eq!(responses(true, true), [Verdict::Mark, drop, drop]);
}

#[test]
fn parameters_make_sense() {
    let fault = |params: Params| params.check(&SITE).expect_err("it is invalid").key;
    let params = Params::default;
    let level = |text: &str| text.parse::<Level>().expect("a length");
    assert!(params().check(&SITE).is_ok());
    assert_eq!(fault(Params { max_th: level("4pkt"), ..params() }), "max_th");
    assert_eq!(fault(Params { max_th: level("30KB"), ..params() }), "max_th");
    assert_eq!(fault(Params { mean_packet: Size(0), ..params() }), "mean_packet");
    let nowhere = Site { buffer: None, ..SITE };
    let share = Params { min_th: level("10%"), max_th: level("30%"), ..params() };
    assert!(share.check(&SITE).is_ok());
    assert_eq!(share.check(&nowhere).expect_err("no share").key, "min_th");
}

/// The spacing of ns-2 with `wait_`.
fn wait_curve() -> Curve {
    Curve { spacing: Spacing::Wait, count: Some(0.0), ..Curve::new(PACKETS, 0.2, false) }
}

#[test]
fn ns2_waits_for_the_inverse_of_the_probability_before_the_next_hit() {
    // The average is halfway from 5 to 15, so p is 0.1. The first 9 packets after a hit are exempt,
    // and one of the 10th to 19th packets is the next hit.
    let gap = |draw| {
        let mut curve = wait_curve();
        (1..100).find(|_| curve.judge(10.0, 1.0, draw) != Signal::None).expect("a hit comes")
    };
    assert_eq!(gap(0.0), 10);
    assert_eq!(gap(0.9999), 19);
    let mut curve = wait_curve();
    let mut random = Stream::named(3, "gaps", 0);
    let mut gaps = [0_u32; 21];
    let mut gap = 0;
    for _ in 0..145_000 {
        gap += 1;
        if curve.judge(10.0, 1.0, random.unit()) == Signal::Chance {
            gaps[gap] += 1;
            gap = 0;
        }
    }
    assert_eq!((gaps[..10].iter().sum::<u32>(), gaps[20]), (0, 0), "{gaps:?}");
    assert!(gaps[10..=19].iter().all(|gap| (850..1150).contains(gap)), "{gaps:?}");
}

fn red(spares: Spares) -> Red {
    let params = Params { weight: 1.0, max_p: 1.0, gentle: false, spares, ..Params::default() };
    Red::new(&params, &SITE)
}

fn verdicts(red: &mut Red, lengths: &[u32]) -> Vec<bool> {
    let mut random = Stream::named(1, "test", 0);
    let mut offer = |length| red.offer(&data(), &busy(length), &mut random) == Verdict::Admit;
    lengths.iter().map(|length| offer(*length)).collect()
}

#[test]
fn ns2_spares_the_packet_that_crosses_the_threshold() {
    for (spares, crossing) in [(Spares::Nobody, false), (Spares::ShortQueues, true)] {
        let admitted = verdicts(&mut red(spares), &[4, 20, 20, 4, 20, 20]);
        assert_eq!(admitted, [true, crossing, false, true, crossing, false], "{spares:?}");
    }
}

#[test]
fn ns2_spares_whoever_finds_at_most_one_packet_waiting() {
    let params = |spares| Params {
        min_th: Level::Limit(Limit::Packets(0)),
        max_th: Level::Limit(Limit::Packets(1)),
        weight: 0.01,
        gentle: false,
        spares,
        ..Params::default()
    };
    for (spares, short) in [(Spares::Nobody, false), (Spares::ShortQueues, true)] {
        let mut red = Red::new(&params(spares), &SITE);
        red.average.value = 40.0;
        // The third packet finds a long queue. For ns-2, the average crosses `min_th` with this
        // packet, because the short queues before it have reset the count.
        assert_eq!(verdicts(&mut red, &[1, 0, 9, 9]), [short, short, short, false], "{spares:?}");
    }
}

#[test]
fn what_the_buffer_refuses_is_a_sample_and_in_ns2_a_drop() {
    for (spares, count) in [(Spares::Nobody, 3.0), (Spares::ShortQueues, 0.0)] {
        let params = Params { weight: 0.5, spares, ..Params::default() };
        let mut red = Red::new(&params, &SITE);
        red.curve.count = Some(3.0);
        red.refused(&data(), &busy(32));
        close(red.average.value, 16.0);
        assert_eq!(red.curve.count, Some(count), "{spares:?}");
    }
}
