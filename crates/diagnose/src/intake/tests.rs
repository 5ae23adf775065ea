use super::*;
use crate::time::tests::{MS, at};

fn data(seq: u32, id: u16) -> Packet {
    Packet { seq, id: Some(id), payload: 1460, flags: flags::ACK, ..Packet::default() }
}

#[test]
fn a_frame_that_comes_twice_is_taken_once_and_a_repetition_twice() {
    let (mut intake, mut trail) = (Intake::default(), Trail::default());
    let trip = Some(MS / 10);
    let mut take = |packet, now| intake.take(&packet, at(now), &mut trail, trip);
    assert!(take(data(1, 7), 0));
    assert!(take(data(1461, 8), 10));
    assert!(!take(data(1, 7), 90_000_000), "the same number");
    assert!(take(data(1, 9), 91_000_000), "another number: sent again");
    assert!(take(data(2921, 0), 92_000_000));
    assert!(!take(data(2921, 0), 92_049_000), "no number, but too soon");
    assert!(take(data(2921, 0), 92_200_000));
}

#[test]
fn a_mirror_is_known_by_its_syns() {
    let (mut intake, mut trail) = (Intake::default(), Trail::default());
    let trip = Some(MS / 100);
    let mut take = |packet, now| intake.take(&packet, at(now), &mut trail, trip);
    let syn = Packet { flags: flags::SYN, seq: 7, ..Packet::default() };
    assert!(take(syn, 0));
    assert!(!take(syn, 50_000), "no SYN is sent again so soon");
    assert!(take(data(8, 0), 1_000_000));
    assert!(!take(data(8, 0), 1_050_000), "five round trips later, as the SYN was");
    assert!(take(data(8, 0), 1_200_000), "sent again");
}

#[test]
fn a_short_file_that_is_appended_goes_back_by_less() {
    let mut intake = Intake::default();
    let mut takes = |time: i64| {
        let packet = Packet { time, ..data(time as u32, 1 + (time / 1000) as u16) };
        intake.clock(at(time));
        let new = !intake.repeats(&packet);
        new && intake.take(&packet, at(time), &mut Trail::default(), None)
    };
    assert!((0..20).all(|time| takes(time * 1000)));
    assert!(!(0..20).any(|time| takes(time * 1000)));
}

#[test]
fn the_clock_never_goes_back() {
    let mut intake = Intake::default();
    let times = [5_000_000, 9_000_000, 8_500_000, 1_000_000, 2_000_000];
    let told = times.map(|time| intake.clock(at(time)).as_nanos());
    assert_eq!(told, [5_000_000, 9_000_000, 8_500_000, 8_500_000, 9_500_000]);
    assert_eq!(intake.lacks(0), [Lack::ClockBack]);
}

#[test]
fn a_file_that_is_appended_to_itself_is_read_once() {
    let mut intake = Intake::default();
    let mut take = |time: i64| {
        let packet = Packet { time, ..data(time as u32, 1 + (time / 1000) as u16) };
        intake.clock(at(time));
        let new = !intake.repeats(&packet);
        new && intake.take(&packet, at(time), &mut Trail::default(), None)
    };
    let times: Vec<i64> = (0..20).map(|number| number * 5_000_000).collect();
    assert!(times.iter().all(|&time| take(time)));
    assert!(!times.iter().any(|&time| take(time)));
    assert!(take(100_000_000), "it goes on");
    assert_eq!(intake.lacks(0), [Lack::DataOnly, Lack::Duplicated, Lack::ClockBack]);
}

#[test]
fn what_is_missing_is_named() {
    let many = Intake { packets: 100, data: 100, bytes: 100_000, ..Intake::default() };
    let heard = Intake { bare: 50, ..many };
    let cases: [(Intake, &[Lack]); 12] = [
        (Intake { bare: 50, ..many }, &[]),
        (many, &[Lack::DataOnly]),
        (Intake { unseen: (9000, 3), ..many }, &[Lack::Filtered]),
        (Intake { unseen: (9000, 3), bare: 50, ..many }, &[Lack::CaptureDrops]),
        (Intake { one_sided: 95, bare: 50, ..many }, &[Lack::OneDirection]),
        (Intake { openings: 9, ..Intake::default() }, &[Lack::SynOnly]),
        (Intake { one_sided: 95, two_sided: true, ..many }, &[Lack::DataOnly]),
        (Intake { left: (100_000, 12_000), ..many }, &[Lack::Filtered]),
        (Intake { left: (100_000, 12_000), ..heard }, &[]),
        (Intake { unseen: (50_000, 9), ..heard }, &[Lack::Filtered]),
        (Intake { unseen: (50_000, 3), ..heard }, &[Lack::CaptureDrops]),
        (Intake { unseen: (90_000, 3), ..heard }, &[Lack::Filtered]),
    ];
    for (intake, lacks) in cases {
        assert_eq!(intake.lacks(0), lacks, "{intake:?}");
    }
}

#[test]
fn lacks_have_names_and_reasons() {
    let all = [
        (
            Lack::Filtered,
            "filtered",
            "the file looks like a filtered export: no SYN, and bytes between the packets are missing",
        ),
        (
            Lack::OneDirection,
            "one_direction",
            "only one direction of the connections is in the file",
        ),
        (Lack::DataOnly, "data_only", "no ACK without data is in the file"),
        (Lack::SynOnly, "syn_only", "only the openings of connections are in the file"),
        (
            Lack::Duplicated,
            "duplicated",
            "frames are in the file more than once; each is counted once",
        ),
        (Lack::ClockBack, "clock_back", "the clock of the capture was set back"),
        (Lack::CaptureDrops, "capture_drops", "the capture has dropped packets"),
    ];
    for (lack, name, why) in all {
        assert_eq!((lack.name(), &*Intake::default().why(lack)), (name, why));
    }
    let of = |openings, data| Intake { data, openings, ..Intake::default() }.why(Lack::Filtered);
    assert!(of(0, 10).ends_with(
        "export: no SYN, no ACK without data, and bytes between the packets are missing"
    ));
    assert!(
        of(1, 10)
            .ends_with("export: no ACK without data, and bytes between the packets are missing")
    );
    assert!(of(1, 9).ends_with("export: bytes between the packets are missing"));
}

#[test]
fn acks_were_left_out_if_five_of_a_thousand_packets_are_bare() {
    let silent = |data, bare| Intake { data, bare, ..Intake::default() }.is_silent();
    assert!(silent(1000, 5) && !silent(1000, 6) && silent(10, 0) && !silent(9, 0));
}

#[test]
fn shares_of_what_is_missing_decide_what_left_it_out() {
    let silent = Intake { packets: 1000, data: 100, bytes: 100_000, ..Intake::default() };
    let heard = Intake { bare: 50, ..silent };
    let told = |intake: Intake| intake.lacks(0);
    assert_eq!(told(Intake { unseen: (5000, 3), ..silent }), [Lack::DataOnly, Lack::CaptureDrops]);
    assert_eq!(told(Intake { unseen: (5001, 3), ..silent }), [Lack::Filtered]);
    assert_eq!(told(Intake { left: (20_000, 6000), ..silent }), [Lack::DataOnly]);
    assert_eq!(told(Intake { left: (20_000, 6001), ..silent }), [Lack::Filtered]);
    assert_eq!(told(Intake { unseen: (40_000, 3), ..heard }), [Lack::CaptureDrops]);
    assert_eq!(told(Intake { unseen: (40_001, 3), ..heard }), [Lack::Filtered]);
    // 16 KiB are missing at each gap, on average.
    assert_eq!(told(Intake { unseen: (49_152, 3), ..heard }), [Lack::Filtered]);
    assert_eq!(told(Intake { unseen: (49_153, 3), ..heard }), [Lack::CaptureDrops]);
    assert_eq!(told(Intake { unseen: (80_000, 1), ..heard }), [Lack::CaptureDrops]);
    assert_eq!(told(Intake { unseen: (80_001, 1), ..heard }), [Lack::Filtered]);
    assert_eq!(told(Intake { one_sided: 90, ..heard }), [Lack::OneDirection]);
    assert_eq!(told(Intake { one_sided: 89, ..heard }), []);
    assert_eq!(told(Intake { one_sided: 90, unseen: (90_000, 9), ..heard }), [Lack::OneDirection]);
    assert_eq!(told(Intake { copies: 10, ..heard }), [Lack::Duplicated]);
    assert_eq!(told(Intake { copies: 9, ..heard }), []);
    let few = Intake { packets: 100, ..heard };
    assert_eq!(told(Intake { copies: 3, ..few }), [Lack::Duplicated]);
    assert_eq!(told(Intake { copies: 2, ..few }), []);
    assert_eq!(told(Intake { openings: 1, bare: 1, ..Intake::default() }), []);
    assert_eq!(told(Intake::default()), []);
    assert_eq!(heard.lacks(1), [Lack::CaptureDrops]);
}

#[test]
fn a_capture_may_drop_five_bytes_of_a_thousand() {
    let of = |unseen, lack| {
        Intake { bytes: 1000, unseen: (unseen, 1), ..Intake::default() }.leaves_out(&[lack])
    };
    assert!(!of(5, Lack::CaptureDrops) && of(6, Lack::CaptureDrops));
    assert!(!of(999, Lack::Duplicated) && !of(999, Lack::ClockBack));
    for lack in [Lack::Filtered, Lack::OneDirection, Lack::DataOnly, Lack::SynOnly] {
        assert!(of(0, lack));
    }
    assert!(!Intake::default().leaves_out(&[]));
}

#[test]
fn what_connections_and_flows_lack_adds_up() {
    let mut intake = Intake::default();
    intake.connection([3, 4], [true, false]);
    intake.connection([5, 6], [false, true]);
    assert_eq!((intake.one_sided, intake.two_sided), (18, false));
    intake.connection([7, 8], [true, true]);
    intake.connection([9, 9], [false, false]);
    assert_eq!((intake.one_sided, intake.two_sided), (18, true));
    intake.left(10, 3);
    intake.left(20, 4);
    intake.acknowledged(100, 0);
    intake.acknowledged(50, 5);
    intake.acknowledged(0, 6);
    assert_eq!((intake.left, intake.bytes, intake.unseen), ((30, 7), 150, (11, 2)));
}

#[test]
fn a_clock_is_set_back_by_more_than_a_millisecond_and_believed_seven_times() {
    let mut intake = Intake::default();
    let mut now = 0;
    for backs in 0..8 {
        assert!(intake.has_a_clock(), "{backs}");
        now += 9_000_000;
        intake.clock(at(now));
        now -= 1_000_000;
        intake.clock(at(now));
        assert_eq!(intake.backs, backs, "a millisecond");
        now -= 1_000_001;
        intake.clock(at(now));
    }
    assert!(!intake.has_a_clock());
    assert_eq!(intake.clock(at(i64::MAX)), LATEST);
}

/// Whether a repeated packet counts as new. `after` is the time from the first packet to its
/// repetition, on a connection with this round trip.
fn again(packet: Packet, after: Span, trip: Option<Span>) -> bool {
    let (mut intake, mut trail) = (Intake::default(), Trail::default());
    assert!(intake.take(&packet, at(0), &mut trail, trip));
    let is_new = intake.take(&packet, at(0) + after, &mut trail, trip);
    assert_eq!((intake.packets, intake.copies), (2, u64::from(!is_new)));
    is_new
}

#[test]
fn a_packet_without_a_number_is_a_copy_if_it_comes_too_soon() {
    for (trip, soonest) in [(None, COPIED), (Some(MS / 2), MS / 4), (Some(9 * MS), MS)] {
        assert!(again(data(1, 0), soonest, trip));
        assert!(!again(data(1, 0), soonest - Span::from_nanos(1), trip));
    }
    let syn = Packet { flags: flags::SYN, ..Packet::default() };
    assert!(again(syn, COPIED_SYN, None));
    assert!(!again(syn, COPIED_SYN - Span::from_nanos(1), None));
    let ack = Packet { flags: flags::ACK, ..Packet::default() };
    assert!(again(ack, Span::ZERO, None), "a receiver may repeat an ACK");
    assert!(!again(Packet { id: Some(4), ..ack }, Span::from_secs(1), None));
}

#[test]
fn a_number_that_others_have_too_is_none() {
    let (mut intake, mut trail) = (Intake::default(), Trail::default());
    let mut take = |packet, now| intake.take(&packet, at(now), &mut trail, Some(MS));
    assert!(take(data(1, 7), 0) && take(data(1461, 7), 1000));
    assert!(take(data(1, 7), 2_000_000));
}

#[test]
fn eight_packets_of_a_flow_are_remembered() {
    for taken in [9, 16, 17, 24, 25, 40_u32] {
        let (mut intake, mut trail) = (Intake::default(), Trail::default());
        let mut take = |number: u32| {
            let packet = data(1460 * number, 1 + number as u16);
            intake.take(&packet, at(1000 * i64::from(number)), &mut trail, None)
        };
        assert!((0..taken).all(&mut take));
        assert!((taken - 8..taken).all(|number| !take(number)), "{taken}");
        assert!(take(taken - 9), "{taken}: the ninth last");
    }
}

#[test]
fn copies_of_data_let_those_of_acks_be_known() {
    let is_new = |copies: u32, others: u32| {
        let (mut intake, mut trail) = (Intake::default(), Trail::default());
        let mut take = |packet, now| intake.take(&packet, at(now), &mut trail, None);
        for number in 0..copies + others {
            let packet = data(1460 * number, 1 + number as u16);
            take(packet, 0);
            if number < copies {
                take(packet, 1);
            }
        }
        let ack = Packet { flags: flags::ACK, ..Packet::default() };
        assert!(take(ack, 10));
        take(ack, 20)
    };
    assert!(!is_new(3, 8) && is_new(3, 9) && is_new(2, 0));
}

#[test]
fn packets_are_counted_by_what_they_are() {
    let (mut intake, mut trail) = (Intake::default(), Trail::default());
    let mut number = 0;
    for (bits, payload) in [
        (flags::SYN, 0),
        (flags::SYN | flags::ACK, 10),
        (flags::ACK, 10),
        (flags::FIN | flags::ACK, 10),
        (flags::FIN | flags::ACK, 0),
        (flags::RST, 0),
        (flags::ACK, 0),
    ] {
        number += 1;
        let packet = Packet { flags: bits, payload, id: Some(number), ..Packet::default() };
        intake.take(&packet, at(0), &mut trail, None);
    }
    assert_eq!((intake.openings, intake.data, intake.bare, intake.packets), (2, 2, 1, 7));
}
