use std::io::Cursor;
use std::path::PathBuf;

use incast_capture::read::{Address, Count, Endpoint, File};

use super::*;
use crate::burst::{Burst, Member};
use crate::event::{Message, Resumed};
use crate::point::BlackHole;
use crate::receiver::Sent;
use crate::stall::tests::stall;
use crate::stall::{Cause, Place};
use crate::time::tests::{MS, at};

/// A pcap file with these Ethernet frames, which are a second apart.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for (second, frame) in (1_u32..).zip(frames) {
        let length = frame.len() as u32;
        for value in [second, 0, length, length] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

/// An IPv4 packet of this protocol in an Ethernet frame.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((20 + payload.len() as u16).to_be_bytes());
    frame.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(payload);
    frame
}

fn tcp() -> Vec<u8> {
    let mut header = vec![0; 20];
    (header[0], header[2]) = (1, 2);
    (header[12], header[13]) = (0x50, 0x10);
    ip(6, &header)
}

/// The frame in VXLAN.
fn vxlan(frame: &[u8]) -> Vec<u8> {
    let mut datagram = vec![1, 1];
    datagram.extend(4789_u16.to_be_bytes());
    datagram.extend((16 + frame.len() as u16).to_be_bytes());
    datagram.extend([0, 0, 8, 0, 0, 0, 0, 0, 7, 0]);
    datagram.extend(frame);
    ip(17, &datagram)
}

fn files(all: &[&[Vec<u8>]]) -> Merge {
    let open = |frames: &&[Vec<u8>]| {
        let file = File::from_bytes(Box::new(Cursor::new(pcap(frames))), 0);
        (file.expect("a capture"), PathBuf::from("capture"))
    };
    Merge::of(all.iter().map(open).collect(), Count::default())
}

fn report(all: &[&[Vec<u8>]]) -> Report {
    let mut files = files(all);
    let mut analysis = Analysis::new(Options::default());
    for packet in &mut files {
        analysis.take(&packet);
    }
    analysis.finish(&files)
}

#[test]
fn files_without_tcp_say_what_is_in_them() {
    let report = report(&[&[ip(17, &[0; 8])]]);
    assert_eq!((report.incast, report.packets), (None, 0));
    assert_eq!(report.why, "there is no TCP packet in the capture: 1 frame is UDP");
    let file = &report.files[0];
    assert_eq!((file.frames, file.packets, &*file.path), (1, 0, "capture"));
    assert_eq!(file.notes, ["1 frame is UDP"]);
    assert!(report.tunnels.is_empty());
}

#[test]
fn the_packets_of_every_tunnel_are_counted_over_all_files() {
    let (plain, inside) = (tcp(), vxlan(&tcp()));
    let told = report(&[&[plain.clone(), inside.clone()], &[inside.clone(), inside]]);
    assert_eq!(told.tunnels, [TunnelTold { kind: "VXLAN", packets: 3 }]);
    assert_eq!((told.packets, told.files.len()), (4, 2));
    assert!(report(&[&[plain]]).tunnels.is_empty());
}

#[test]
fn times_count_from_the_first_packet_of_all() {
    let told = report(&[&[ip(17, &[0; 8]), tcp(), tcp(), tcp()]]);
    assert_eq!((told.began_s, told.length_s, told.packets), (2.0, 2.0, 3));
    assert_eq!((told.connections, told.unlisted), (1, 0));
    assert_eq!((told.vantage, told.vantage_confidence), (None, 0.0));
    assert!(told.severity.is_none());
}

#[test]
fn each_place_has_a_point_with_the_flows_that_were_chosen() {
    let mut analysis = Analysis::new(Options { flows: 7, vantage: None });
    for point in [2, 0, 2] {
        analysis.take(&Packet { point, time: 5, ..Packet::default() });
    }
    let told: Vec<_> = analysis.points.iter().map(|one| (one.packets, one.least)).collect();
    assert_eq!(told, [(1, 7), (0, 7), (2, 7)]);
    assert_eq!(Options::default().flows, 3);
}

/// A point that has seen data from this number of hosts to one host. `share` is the part of the
/// round trip that lies between the point and the receiver.
fn point(senders: u8, share: f64) -> Point {
    let mut point = Point::new(3);
    point.evidence.take(1000, share);
    let place = point.hosts.place(Address::v4([10, 0, 0, 99]));
    let receiver = point.hosts.receiving(place);
    receiver.load.take(at(0), 1000);
    for host in 0..senders {
        let sent = Sent::of(8, 0);
        receiver.hosts.insert(Address::v4([10, 0, 0, host]), sent);
    }
    point
}

const CLIENT: f64 = 0.1;
const SWITCH: f64 = 0.5;
const SERVER: f64 = 0.9;

#[test]
fn at_a_server_there_is_no_second_one() {
    assert_eq!(place(&point(1, SERVER), None), Some((Vantage::Server, 1.0)));
    assert_eq!(place(&point(2, SERVER), None), Some((Vantage::Switch, 1.0)));
    assert_eq!(place(&point(2, CLIENT), None), Some((Vantage::Client, 1.0)));
    assert_eq!(place(&point(1, SWITCH), None), Some((Vantage::Switch, 1.0)));
    assert_eq!(place(&Point::new(3), None), None);
    let mut mixed = point(2, CLIENT);
    mixed.evidence.take(3000, SERVER);
    assert_eq!(place(&mixed, None), Some((Vantage::Switch, 0.75)), "as sure as it was");
    let given = Some(Vantage::Server);
    assert_eq!(place(&point(2, CLIENT), given), Some((Vantage::Server, 1.0)));
    assert_eq!(place(&Point::new(3), given), Some((Vantage::Server, 1.0)));
}

#[test]
fn the_client_leads_then_the_switch_then_a_server() {
    let lead = |shares: &[f64]| {
        let mut points: Vec<_> = shares.iter().map(|share| point(1, *share)).collect();
        points.push(Point::new(3));
        (points.iter_mut().zip(0..)).for_each(|(point, number)| point.packets = number);
        leading(&points, None).map(|(point, seen)| (point.packets, seen.map(|(place, _)| place)))
    };
    assert_eq!(lead(&[SERVER, CLIENT, SWITCH]), Some((1, Some(Vantage::Client))));
    assert_eq!(lead(&[SERVER, SWITCH, SERVER]), Some((1, Some(Vantage::Switch))));
    assert_eq!(lead(&[SERVER]), Some((0, Some(Vantage::Server))));
    assert_eq!(lead(&[]), Some((0, None)));
    assert!(leading(&[], None).is_none());
}

/// The times and stalls of an episode.
fn episode(start: i64, end: i64, stalls: &[usize]) -> Episode {
    Episode {
        start: at(start),
        end: at(end),
        receiver: Address::v4([10, 0, 0, 99]),
        fan_in: 4,
        hosts: 4,
        proven: true,
        bytes: 50_000,
        lost: 150 * MS,
        stalls: stalls.to_vec(),
    }
}

/// A point with one episode, in which host 1 waits.
fn with_episode() -> Point {
    let mut lead = point(4, CLIENT);
    lead.stalls = vec![from(1, stall(100, 900, Cause::FullWindow))];
    lead.episodes = vec![episode(50, 950, &[0])];
    lead
}

/// The same stall in a flow of this host.
fn from(host: u8, stall: Stall) -> Stall {
    let sender = Endpoint { address: Address::v4([10, 0, 0, host]), port: 80 };
    Stall { sender, ..stall }
}

fn kept(lead: &Point) -> usize {
    episodes(lead, Some(Vantage::Client), &[]).len()
}

#[test]
fn a_server_or_a_bad_clock_or_something_that_loses_packets_shows_no_episode() {
    let mut lead = with_episode();
    assert_eq!(kept(&lead), 1);
    assert_eq!(episodes(&lead, Some(Vantage::Switch), &[]).len(), 1);
    assert_eq!(episodes(&lead, None, &[]).len(), 1);
    assert!(episodes(&lead, Some(Vantage::Server), &[]).is_empty());
    let one = |vetoes| LookAlike {
        name: "policer",
        found: None,
        place: String::new(),
        why: String::new(),
        vetoes,
    };
    let of = |all: &[LookAlike]| episodes(&lead, Some(Vantage::Client), all).len();
    assert_eq!([of(&[one(false)]), of(&[one(false), one(true)])], [1, 0]);
    for time in (0..8).flat_map(|_| [9 * MS, Span::ZERO]) {
        lead.intake.clock(at(0) + time);
    }
    assert_eq!(kept(&lead), 0);
}

#[test]
fn an_episode_in_an_outage_is_none() {
    let out = |start: i64, end: i64, how: Resumed| {
        let mut lead = with_episode();
        lead.episodes = vec![episode(100 * MS.as_nanos(), 300 * MS.as_nanos(), &[0])];
        lead.silences.data(at(0) + start * MS);
        lead.silences.data(at(0) + end * MS);
        (0..3).for_each(|_| lead.silences.resumed(at(0) + start * MS, how, false));
        kept(&lead)
    };
    let acknowledged = Resumed::Acknowledged;
    assert_eq!(out(150, 250, acknowledged), 0);
    assert_eq!(out(150, 250, Resumed::New), 1, "no outage");
    assert_eq!([out(20, 100, acknowledged), out(20, 101, acknowledged)], [1, 0], "before it");
    assert_eq!([out(300, 400, acknowledged), out(299, 400, acknowledged)], [1, 0], "behind it");
}

#[test]
fn an_episode_in_which_requests_are_unheard_is_none() {
    let unheard = |flows: u64| {
        let mut lead = with_episode();
        lead.episodes = vec![episode(100 * MS.as_nanos(), 600 * MS.as_nanos(), &[0])];
        let times = (at(0), at(0) + 300 * MS, at(0) + 500 * MS);
        (0..flows).for_each(|flow| lead.silences.repeated_in_vain(times, (flow, 0)));
        kept(&lead)
    };
    assert_eq!([unheard(2), unheard(1)], [0, 1]);
}

#[test]
fn an_episode_whose_flows_lose_retransmissions_on_an_idle_link_is_none() {
    let kept_with = |hosts: &[u8], change: fn(&mut Stall)| {
        let mut lead = with_episode();
        for &host in hosts {
            let lost = from(host, stall(100, 300, Cause::LostRetransmission));
            lead.stalls.push(Stall { upstream: true, after_quiet: true, ..lost });
        }
        lead.stalls.iter_mut().for_each(change);
        lead.episodes[0].stalls = (0..lead.stalls.len()).collect();
        kept(&lead)
    };
    assert_eq!(kept_with(&[8, 9], |_| ()), 0);
    assert_eq!(kept_with(&[8, 8], |_| ()), 1, "one host");
    assert_eq!(kept_with(&[8, 9], |one| one.upstream = false), 1);
    assert_eq!(kept_with(&[8, 9], |one| one.after_quiet = false), 1);
    assert_eq!(kept_with(&[8, 9], |one| one.cause = Ok(Cause::FullWindow)), 1);
}

#[test]
fn an_episode_whose_flows_all_meet_a_black_hole_is_none() {
    let kept_with = |hosts: &[u8], holes: &[u8]| {
        let mut lead = with_episode();
        lead.stalls =
            hosts.iter().map(|host| from(*host, stall(100, 900, Cause::FullWindow))).collect();
        lead.episodes[0].stalls = (0..hosts.len()).collect();
        let places = (Place::default(), Place::default());
        let hole = |host: &u8| {
            let sender = from(*host, stall(0, 1, Cause::Tail)).sender;
            BlackHole { sender, certain: false, places }
        };
        lead.black_holes = holes.iter().map(hole).collect();
        kept(&lead)
    };
    assert_eq!(kept_with(&[1, 2], &[]), 1);
    assert_eq!(kept_with(&[1, 2], &[1]), 1, "the other one does not");
    assert_eq!(kept_with(&[1, 2], &[2, 1]), 0);
    assert_eq!(kept_with(&[], &[]), 1);
}

/// A point that has seen these stalls.
fn seen(all: &[Stall]) -> Point {
    let mut point = Point::new(3);
    point.stalls = all.to_vec();
    point
}

/// The stalls that are reported if a leading point has seen `lead`, and another point has seen
/// `other`.
fn both(lead: &[Stall], other: &[Stall]) -> Vec<(i64, Result<Cause, &'static str>, f64)> {
    let other = seen(other);
    let all = stalls(&seen(lead), std::iter::once(&other));
    all.iter().map(|one| (one.start.as_nanos(), one.cause, one.confidence)).collect()
}

const UNKNOWN: Result<Cause, &str> = Err("unknown");
const TAIL: Result<Cause, &str> = Ok(Cause::Tail);
const WINDOW: Result<Cause, &str> = Ok(Cause::FullWindow);

#[test]
fn a_stall_that_two_points_saw_is_one_with_the_surer_cause() {
    let of =
        |cause, confidence| Stall { cause, confidence, ..from(1, stall(100, 200, Cause::Tail)) };
    let told = |one, other| both(&[one], &[other]);
    assert_eq!(told(of(TAIL, 0.8), of(WINDOW, 0.9)), [(100, WINDOW, 0.9)]);
    assert_eq!(told(of(TAIL, 0.8), of(WINDOW, 0.8)), [(100, TAIL, 0.8)]);
    assert_eq!(told(of(TAIL, 0.8), of(WINDOW, 0.7)), [(100, TAIL, 0.8)]);
    assert_eq!(told(of(TAIL, 0.4), of(UNKNOWN, 0.5)), [(100, TAIL, 0.4)]);
    assert_eq!(told(of(UNKNOWN, 0.5), of(WINDOW, 0.4)), [(100, WINDOW, 0.4)]);
    assert_eq!(told(of(UNKNOWN, 0.5), of(UNKNOWN, 0.9)), [(100, UNKNOWN, 0.5)]);
}

#[test]
fn stalls_of_other_flows_or_other_times_are_others() {
    let one = from(1, stall(100, 200, Cause::Tail));
    let count = |other: Stall| both(std::slice::from_ref(&one), &[other]).len();
    assert_eq!(count(one.clone()), 1);
    assert_eq!(count(from(2, one.clone())), 2);
    let receiver = Endpoint { port: 9, ..one.receiver };
    assert_eq!(count(Stall { receiver, ..one.clone() }), 2);
    let at_time = |start, end| count(from(1, stall(start, end, Cause::Tail)));
    assert_eq!([at_time(50, 100), at_time(50, 101)], [2, 1]);
    assert_eq!([at_time(200, 300), at_time(199, 300)], [2, 1]);
    let early = from(2, stall(5, 10, Cause::Tail));
    let late = from(3, stall(5, 9, Cause::Tail));
    let starts = both(std::slice::from_ref(&one), &[early, late]);
    assert_eq!(starts.iter().map(|one| one.0).collect::<Vec<_>>(), [5, 5, 100], "in order");
}

#[test]
fn what_a_place_cannot_know_is_told() {
    let mut lead = Point::new(3);
    lead.first = at(0) + 5 * MS;
    let of = |place, stalls: &[Stall], lacks: &[Lack]| {
        let told = cannot_tell(&lead, place, stalls, lacks);
        told.into_iter().map(|one| (one.what, one.why)).collect::<Vec<_>>()
    };
    let told = |what: &str, why: &str| (what.to_owned(), why.to_owned());
    assert_eq!(of(Some(Vantage::Switch), &[], &[]), []);
    let server = told("episodes and their fan-in", "a server does not see the other servers");
    assert_eq!(of(Some(Vantage::Server), &[], &[]), [server]);
    let why = "a packet that is lost at the switch never reaches the client";
    let client = told("how often a retransmission was lost", why);
    assert_eq!(of(Some(Vantage::Client), &[], &[]), [client]);
    let why = "no connection shows how long both of its ends take to answer; use --vantage";
    assert_eq!(of(None, &[], &[]), [told("where the capture was taken", why)]);
    let lack = told(
        "what happened to packets that are not in the file",
        "no ACK without data is in the file",
    );
    assert_eq!(of(Some(Vantage::Switch), &[], &[Lack::DataOnly]), [lack]);
    let open = Stall { cause: UNKNOWN, ..from(1, stall(7_000_000, 9_000_000, Cause::Tail)) };
    let what = told("the cause of the stall of 10.0.0.1:80 at 0.002000 s", "unknown");
    let known = from(1, stall(0, 1, Cause::Tail));
    assert_eq!(of(Some(Vantage::Switch), &[known, open.clone()], &[]), [what]);
    assert_eq!(of(Some(Vantage::Switch), &vec![open; 120], &[]).len(), 100, "not all of them");
}

#[test]
fn a_scenario_gets_the_numbers_of_the_network() {
    let mut lead = point(2, CLIENT);
    let numbers = |lead: &Point| parameters(lead, Some(Vantage::Client));
    // The rate is 1000 bytes in half a millisecond.
    let told = numbers(&lead);
    assert_eq!((told.rate_bps, told.rtt_s, told.buffer_bytes), (Some(16e6), None, None));
    assert!(!told.persistent);
    lead.parameters.trip(MS / 4);
    let place = lead.hosts.place(Address::v4([10, 0, 0, 98]));
    lead.hosts.receiving(place).load.take(at(0), 3000);
    let told = numbers(&lead);
    assert_eq!((told.rate_bps, told.rtt_s), (Some(48e6), Some(0.000_25)), "the fullest");
    assert_eq!(told.buffer_bytes, Some(0.0), "no wait in a queue was seen");
    let empty = numbers(&Point::new(3));
    assert_eq!((empty.rate_bps, empty.buffer_bytes, empty.rto_min_s), (None, None, None));
    let mut none = Point::new(3);
    let place = none.hosts.place(Address::default());
    none.hosts.receiving(place);
    assert_eq!(numbers(&none).rate_bps, None, "it has received nothing");
}

#[test]
fn connections_last_if_they_have_more_than_two_messages_each() {
    let persistent = |messages, connections| {
        let mut lead = Point::new(3);
        (lead.parameters.messages, lead.parameters.connections) = (messages, connections);
        parameters(&lead, None).persistent
    };
    assert_eq!([persistent(2, 0), persistent(3, 0)], [false, true]);
    assert_eq!([persistent(22, 10), persistent(23, 10)], [false, true]);
}

#[test]
fn an_episode_is_told_from_the_beginning_of_the_capture() {
    let lead = with_episode();
    let told = told_of(&lead.episodes[0], &lead, at(20));
    assert_eq!((told.start_s, told.end_s, told.lost_s), (3e-8, 9.3e-7, 0.15));
    assert_eq!((told.fan_in, told.bytes, &*told.receiver), (4, 50_000, "10.0.0.99"));
    assert_eq!(told.stalled, [format!("10.0.0.1:80 > {}", lead.stalls[0].receiver)]);
}

/// The report of points that were filled by hand.
fn finished(points: Vec<Point>) -> Report {
    let files = files(&[]);
    Analysis { options: Options::default(), points }.finish(&files)
}

/// A block of one flow, which lasts 100 ms.
fn block() -> Burst {
    let mut burst = Burst::default();
    burst.start = at(0);
    let message = Message { last: at(0) + 100 * MS, ..Message::default() };
    burst.members.push(Member { key: (0, 0), message: Some(message) });
    burst
}

#[test]
fn waits_cost_what_episodes_lose() {
    let cost = |incast: bool| {
        let mut lead = with_episode();
        lead.packets = 10;
        let lost = Episode { lost: 25 * MS, ..lead.episodes[0].clone() };
        lead.blocks.take(&block(), Some(&lost));
        if !incast {
            lead.episodes.clear();
        }
        finished(vec![lead]).severity.expect("a block").share
    };
    assert_eq!([cost(true), cost(false)].map(|share| (share * 100.0).round() as i64), [25, 0]);
}

#[test]
fn where_packets_are_left_out_a_cause_needs_a_repeat_or_a_hole_that_was_filled() {
    let causes = |left_out: bool| {
        let mut lead = with_episode();
        lead.packets = 10;
        lead.stalls.push(Stall { proven: false, ..from(2, stall(100, 900, Cause::FullWindow)) });
        if left_out {
            lead.intake.acknowledged(1000, 6);
        }
        let told = finished(vec![lead]);
        told.stalls.iter().map(|one| one.cause.is_some()).collect::<Vec<_>>()
    };
    assert_eq!((causes(false), causes(true)), (vec![true, true], vec![true, false]));
}

#[test]
fn a_report_is_of_all_points_and_told_by_the_leading_one() {
    let (mut lead, mut other) = (with_episode(), point(1, SERVER));
    lead.stalls = [1, 2, 3].map(|host| from(host, stall(100, 900, Cause::FullWindow))).to_vec();
    lead.episodes[0].stalls = vec![0, 1, 2];
    (lead.packets, lead.first, lead.last) = (10, at(3_000_000_000), at(5_000_000_000));
    (other.packets, other.first, other.last) = (7, at(2_000_000_000), at(4_000_000_000));
    (lead.opened, lead.unlisted, other.opened, other.unlisted) = (5, 2, 9, 9);
    let told = finished(vec![other, lead]);
    assert_eq!((told.began_s, told.length_s, told.packets), (2.0, 3.0, 17));
    assert_eq!((told.connections, told.unlisted, told.vantage), (5, 2, Some(Vantage::Client)));
    assert_eq!((told.incast, told.vantage_confidence), (Some(true), 1.0));
    assert_eq!((told.episodes.len(), told.stalls.len()), (1, 3));
    assert!(told.why.starts_with("4 flows into 10.0.0.99 begin together"), "{}", told.why);
    assert_eq!(told.incomplete, [""; 0]);
}

#[test]
fn a_stall_that_two_places_have_seen_is_one_and_its_surer_cause_counts() {
    let at = |start, end, confidence| Stall {
        confidence,
        ..stall(start, end, if confidence < 0.5 { Cause::Spurious } else { Cause::Tail })
    };
    let lead = seen(&[at(0, 100, 0.4), at(20, 30, 0.9), at(200, 300, 0.9)]);
    let mut other = seen(&[at(50, 60, 0.6), at(100, 150, 0.3), at(250, 400, 0.4)]);
    let told = |all: Vec<Stall>| {
        all.iter().map(|it| (it.start.as_nanos(), it.confidence)).collect::<Vec<_>>()
    };
    let all = stalls(&lead, [&other].into_iter());
    assert_eq!(told(all), [(0, 0.6), (20, 0.9), (100, 0.3), (200, 0.9)]);
    for stall in &mut other.stalls {
        stall.sender.port = 7;
    }
    assert_eq!(stalls(&lead, [&other].into_iter()).len(), 6, "of another flow");
}

/// This test would take minutes if each stall of a point were compared with each stall of the other
/// point.
#[test]
fn as_many_stalls_as_are_listed_are_matched_at_once() {
    let many = |shift| {
        (0..100_000_i64).map(move |n| stall(10 * n + shift, 10 * n + shift + 5, Cause::Tail))
    };
    let all = stalls(
        &seen(&many(0).collect::<Vec<_>>()),
        [&seen(&many(2).collect::<Vec<_>>())].into_iter(),
    );
    assert_eq!(all.len(), 100_000);
}
