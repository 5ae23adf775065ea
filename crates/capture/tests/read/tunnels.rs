//! The reader finds a packet in every carrier, and the packet names its carrier.

use incast_capture::read::{Kind, Tunnel};

use crate::builder::{Segment, pcap, pcapng};
use crate::carriers::{
    authentication, erspan2, erspan3, ethernet, geneve, gre, gtp, mpls, pppoe, udp, v4, v6, vxlan,
};
use crate::kinds::links;
use crate::{LITTLE, START, check, open, packets, read, segment};

type Case = (&'static str, Vec<u8>, Option<Tunnel>);

/// The packet in Ethernet frames with each kind of tag, and in each kind of tunnel.
fn carried(segment: &Segment) -> Vec<Case> {
    let (four, six) = (segment.v4(), segment.v6());
    let mut cases = tags(&four, &six);
    let tunnels = [in_udp(segment), in_gre(segment), in_others(segment)].concat();
    cases.extend(tunnels.into_iter().map(|(name, frame, tunnel)| (name, frame, Some(tunnel))));
    cases
}

fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ethernet(0x0800, &v4(protocol, payload))
}

fn in_udp(segment: &Segment) -> Vec<(&'static str, Vec<u8>, Tunnel)> {
    let (four, six) = (segment.v4(), segment.v6());
    let (frame, frame6) = (segment.ethernet(), ethernet(0x86dd, &six));
    let old = udp(8472, &[&[8, 0, 0, 0, 0, 0, 1, 0], &frame[..]].concat());
    let group = udp(4789, &[&[0x88, 0, 0, 3, 0, 0, 1, 0], &frame[..]].concat());
    let extensions = [0, 1, 0, 0x85, 1, 0x10, 9, 0xc0, 2, 1, 2, 3, 4, 5, 6, 0];
    vec![
        ("VXLAN", ip(17, &vxlan(&frame)), Tunnel::Vxlan),
        ("VXLAN in IPv6", ethernet(0x86dd, &v6(17, &vxlan(&frame6))), Tunnel::Vxlan),
        ("VXLAN at the old port", ip(17, &old), Tunnel::Vxlan),
        ("VXLAN with a group", ip(17, &group), Tunnel::Vxlan),
        ("GENEVE", ip(17, &geneve(0, 0x6558, &frame)), Tunnel::Geneve),
        ("GENEVE with options", ip(17, &geneve(5, 0x6558, &frame)), Tunnel::Geneve),
        ("GENEVE of IP", ip(17, &geneve(1, 0x86dd, &six)), Tunnel::Geneve),
        ("GTP-U", ip(17, &gtp(0, &[], &four)), Tunnel::Gtp),
        ("GTP-U with a number", ip(17, &gtp(2, &[0, 1, 0, 0], &six)), Tunnel::Gtp),
        ("GTP-U with extensions", ip(17, &gtp(4, &extensions, &four)), Tunnel::Gtp),
    ]
}

fn in_gre(segment: &Segment) -> Vec<(&'static str, Vec<u8>, Tunnel)> {
    let (four, six) = (segment.v4(), segment.v6());
    let (frame, frame6) = (segment.ethernet(), ethernet(0x86dd, &six));
    let (sum, key, number) = ([0; 4], [0, 0x12, 0x34, 2], [0, 0, 0, 9]);
    let all = [sum, key, number].concat();
    vec![
        ("GRE", ip(47, &gre(0, 0x0800, &[], &four)), Tunnel::Gre),
        ("GRE of IPv6", ip(47, &gre(0, 0x86dd, &[], &six)), Tunnel::Gre),
        ("GRE with a checksum", ip(47, &gre(0x8000, 0x0800, &sum, &four)), Tunnel::Gre),
        ("GRE with a key", ip(47, &gre(0x2000, 0x0800, &key, &four)), Tunnel::Gre),
        ("GRE with all fields", ip(47, &gre(0xb000, 0x0800, &all, &four)), Tunnel::Gre),
        ("GRE of Ethernet", ip(47, &gre(0, 0x6558, &[], &frame)), Tunnel::Gre),
        ("GRE of MPLS", ip(47, &gre(0, 0x8847, &[], &mpls(&four))), Tunnel::Gre),
        ("NVGRE", ip(47, &gre(0x2000, 0x6558, &key, &frame)), Tunnel::Nvgre),
        ("GRE with a bridge and key 0", ip(47, &gre(0x2000, 0x6558, &sum, &frame)), Tunnel::Gre),
        ("ERSPAN I", ip(47, &gre(0, 0x88be, &[], &frame)), Tunnel::Erspan1),
        ("ERSPAN II", ip(47, &erspan2(&frame)), Tunnel::Erspan2),
        ("ERSPAN III", ip(47, &erspan3(0, false, &frame)), Tunnel::Erspan3),
        ("ERSPAN III, subheader", ip(47, &erspan3(0, true, &frame6)), Tunnel::Erspan3),
        ("ERSPAN III of IP", ip(47, &erspan3(2, true, &four)), Tunnel::Erspan3),
    ]
}

fn in_others(segment: &Segment) -> Vec<(&'static str, Vec<u8>, Tunnel)> {
    let (four, six) = (segment.v4(), segment.v6());
    let (frame, frame6) = (segment.ethernet(), ethernet(0x86dd, &six));
    let word = [&[0, 0, 0, 1], &frame[..]].concat();
    let router = [&[0, 0, 0x5e, 0, 1, 9], &frame6[6..]].concat();
    let pseudowire = |payload: &[u8]| ethernet(0x8847, &mpls(payload));
    vec![
        ("IP in IP", ip(4, &four), Tunnel::IpInIp),
        ("IPv6 in IP", ip(41, &six), Tunnel::IpInIp),
        ("IP in IPv6", ethernet(0x86dd, &v6(4, &four)), Tunnel::IpInIp),
        ("a pseudowire", pseudowire(&word), Tunnel::Pseudowire),
        ("one without control word", pseudowire(&frame6), Tunnel::Pseudowire),
        ("one to a virtual router", pseudowire(&router), Tunnel::Pseudowire),
    ]
}

/// The tags of a link: a single tag is no tunnel.
fn tags(four: &[u8], six: &[u8]) -> Vec<Case> {
    [
        ("nothing", ethernet(0x0800, four)),
        ("one VLAN", ethernet(0x8100, &[&[0, 5, 8, 0], four].concat())),
        ("two VLANs", ethernet(0x88a8, &[&[0, 5, 0x81, 0, 0, 6, 0x86, 0xdd], six].concat())),
        ("an older second VLAN", ethernet(0x9100, &[&[0, 5, 8, 0], four].concat())),
        ("a still older one", ethernet(0x9200, &[&[0, 5, 8, 0], four].concat())),
        ("MPLS", ethernet(0x8847, &mpls(four))),
        ("MPLS of IPv6", ethernet(0x8848, &mpls(six))),
        ("PPPoE", ethernet(0x8864, &pppoe(&[0, 0x21], four))),
        ("PPPoE of IPv6", ethernet(0x8864, &pppoe(&[0, 0x57], six))),
        ("PPPoE, compressed", ethernet(0x8864, &pppoe(&[0x21], four))),
        ("AH", ethernet(0x0800, &v4(51, &authentication(4, 3, four)))),
    ]
    .map(|(name, frame)| {
        // An IP packet in AH counts as IP in IP.
        let tunnel = match name {
            "AH" => Some(Tunnel::IpInIp),
            "two VLANs" => Some(Tunnel::QinQ),
            _ if name.starts_with("MPLS") => Some(Tunnel::Mpls),
            _ if name.starts_with("PPPoE") => Some(Tunnel::Pppoe),
            _ => None,
        };
        (name, frame, tunnel)
    })
    .to_vec()
}

#[test]
fn a_packet_is_read_in_all_that_carries_it() {
    for (name, frame, tunnel) in carried(&segment()) {
        let (packet, tally) = read(1, &frame);
        let packet = packet.unwrap_or_else(|| panic!("{name}: {:?}", tally.notes()));
        check(&packet);
        assert_eq!(packet.tunnel, tunnel, "{name}");
        let host = packet.source.address.to_string();
        assert!(host == "10.0.0.1" || host == "fd00::1", "{name}: {host}");
        assert_eq!(packet.size, if host.starts_with('1') { 352 } else { 380 }, "{name}");
        let inside = tunnel.map(|one| format!("1 TCP packet is inside {}", one.name()));
        assert_eq!(tally.notes(), Vec::from_iter(inside), "{name}");
    }
}

#[test]
fn the_packet_is_read_when_the_capture_cut_its_payload() {
    for (name, frame, _) in carried(&segment()) {
        let whole = frame.len() as u32;
        let kept = frame.len() - 300;
        let mut file = pcap(LITTLE, true, 1, &[(START, frame[..kept].to_vec())]);
        file[36..40].copy_from_slice(&whole.to_le_bytes());
        let all = packets(&mut open(&file));
        assert_eq!(all.len(), 1, "{name}");
        check(&all[0]);
        // The file lacks the last byte of the TCP header's fixed part.
        let mut file = pcap(LITTLE, true, 1, &[(START, frame[..kept - 13].to_vec())]);
        file[36..40].copy_from_slice(&whole.to_le_bytes());
        let mut short = open(&file);
        assert!(packets(&mut short).is_empty(), "{name}");
        assert_eq!(short.tally().short, 1, "{name}: {:?}", short.tally().notes());
    }
}

#[test]
fn a_frame_may_be_cut_anywhere() {
    let segment = Segment { payload: 0, ..segment() };
    let ethernet = carried(&segment).into_iter().map(|(_, frame, _)| (1, frame));
    for (link, frame) in ethernet.chain(links(&segment)) {
        for kept in 0..=frame.len() {
            let mut file = pcap(LITTLE, true, link, &[(START, frame[..kept].to_vec())]);
            file[36..40].copy_from_slice(&(frame.len() as u32).to_le_bytes());
            let mut cut = open(&file);
            let packet = cut.next_packet();
            // The packet is read even if the capture cut off the TCP options (12 bytes).
            assert_eq!(packet.is_some(), kept + 12 >= frame.len(), "link {link}, {kept} bytes");
            let tally = cut.tally();
            assert_eq!(tally.packets + tally.short + tally.not_ip + tally.not_tcp, 1);
        }
    }
}

#[test]
fn tunnels_nest_four_deep() {
    let mut frame = segment().ethernet();
    for depth in 1..=6 {
        frame = ip(17, &vxlan(&frame));
        let (packet, tally) = read(1, &frame);
        assert_eq!(packet.is_some(), depth <= 4, "{depth}");
        assert_eq!(tally.kinds(), if depth <= 4 { vec![] } else { vec![(Kind::Deep, 1)] });
        assert_eq!(tally.not_tcp, u64::from(depth > 4));
    }
    // The innermost tunnel is reported.
    let frame = ip(47, &erspan2(&ip(17, &vxlan(&segment().ethernet()))));
    assert_eq!(read(1, &frame).0.and_then(|packet| packet.tunnel), Some(Tunnel::Vxlan));
    let frame = ip(17, &vxlan(&ip(47, &erspan2(&segment().ethernet()))));
    assert_eq!(read(1, &frame).0.and_then(|packet| packet.tunnel), Some(Tunnel::Erspan2));
}

#[test]
fn a_mark_of_the_outer_packet_reaches_the_inner_one_if_that_can_have_it() {
    let marked = |inner: u8, outer: u8, mirror: bool| {
        let mut frame = segment().ethernet();
        frame[15] = inner;
        let (protocol, inside) = if mirror { (47, erspan2(&frame)) } else { (17, vxlan(&frame)) };
        let mut outside = ip(protocol, &inside);
        outside[15] = outer;
        read(1, &outside).0.expect("a packet").marked
    };
    assert!(marked(3, 0, false) && marked(1, 3, false) && marked(2, 3, false));
    assert!(!marked(0, 3, false) && !marked(2, 2, false) && !marked(2, 1, false));
    assert!(!marked(2, 3, true) && marked(3, 0, true), "a mirror's own path is another");
}

#[test]
fn a_mark_is_two_bits_of_either_header() {
    for class in 0..=255_u8 {
        let (mut four, mut six) = (segment().v4(), segment().v6());
        four[1] = class;
        six[0] |= class >> 4;
        six[1] |= class << 4;
        for ip in [four, six] {
            let marked = read(101, &ip).0.expect("a packet").marked;
            assert_eq!(marked, class & 3 == 3, "{class:#x}");
        }
    }
}

#[test]
fn what_is_no_tunnel_at_its_port_is_udp() {
    let frame = segment().ethernet();
    let vxlan = |head: [u8; 8]| udp(4789, &[&head[..], &frame].concat());
    let geneve = |head: [u8; 8]| udp(6081, &[&head[..], &frame].concat());
    let gtp = |head: [u8; 8]| udp(2152, &[&head[..], &segment().v4()].concat());
    for datagram in [
        vxlan([0, 0, 0, 0, 0, 0, 1, 0]),
        vxlan([0x0c, 0, 0, 0, 0, 0, 1, 0]),
        vxlan([8, 0, 0, 0, 0, 0, 1, 1]),
        geneve([0x40, 0, 0x65, 0x58, 0, 0, 1, 0]),
        geneve([0, 1, 0x65, 0x58, 0, 0, 1, 0]),
        geneve([0, 0, 0x65, 0x58, 0, 0, 1, 1]),
        gtp([0x20, 0xff, 1, 96, 0, 0, 0, 1]),
        gtp([0x50, 0xff, 1, 96, 0, 0, 0, 1]),
        gtp([0x30, 0x01, 1, 96, 0, 0, 0, 1]),
        udp(4789, &[8, 0, 0, 0, 0, 0, 1]),
        udp(53, &[&[8, 0, 0, 0, 0, 0, 1, 0], &frame[..]].concat()),
    ] {
        let (packet, tally) = read(1, &ip(17, &datagram));
        assert!(packet.is_none());
        assert_eq!(tally.notes(), ["1 frame is UDP"], "{:?}", &datagram[8..12]);
    }
}

#[test]
fn later_fragments_of_a_tunnel_are_fragments() {
    let mut frame = ip(17, &vxlan(&segment().ethernet()));
    frame[20] = 0x20;
    check(&read(1, &frame).0.expect("the first has the headers"));
    frame[21] = 0xb9;
    let (packet, tally) = read(1, &frame);
    assert_eq!((packet, tally.fragments), (None, 1));
}

/// Every tunnel and link, for the fuzzer and for `crates/diagnose/tests/hostile.rs`.
fn corpus() -> Vec<u8> {
    let times = |frames: Vec<Vec<u8>>| -> Vec<(u64, Vec<u8>)> {
        (0..).zip(frames).map(|(at, frame)| (START + 1000 * at, frame)).collect()
    };
    // Without payload, so that random changes hit the headers.
    let segment = Segment { payload: 0, ..segment() };
    let frames = carried(&segment).into_iter().map(|case| case.1).collect();
    let mut file = pcapng(LITTLE, 1, &times(frames));
    for (link, frame) in links(&segment) {
        file.extend(pcapng(LITTLE, link as u16, &times(vec![frame])));
    }
    file
}

fn kept() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/read/tunnels.pcapng").to_owned()
}

#[test]
fn the_fuzzer_begins_with_every_tunnel() {
    let kept = std::fs::read(kept()).expect("the corpus of the fuzzer");
    assert!(kept == corpus(), "write it again: cargo test -p incast-capture -- --ignored");
    let mut file = open(&kept);
    let all = packets(&mut file);
    for tunnel in Tunnel::ALL {
        assert!(all.iter().any(|packet| packet.tunnel == Some(tunnel)), "{}", tunnel.name());
    }
}

#[test]
#[ignore = "writes the fuzzer's corpus"]
fn write_the_corpus() {
    std::fs::write(kept(), corpus()).expect("written");
}
