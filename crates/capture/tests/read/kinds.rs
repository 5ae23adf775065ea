//! Links, and the counts of frames without a TCP packet.

use incast_capture::read::Kind;

use crate::builder::Segment;
use crate::carriers::{authentication, ethernet, gre, mpls, pppoe, udp, v4, v6, vxlan};
use crate::{check, read, segment};

/// A frame of every link type that is read.
pub fn links(segment: &Segment) -> Vec<(u32, Vec<u8>)> {
    let (four, six) = (segment.v4(), segment.v6());
    let with = |head: &[u8], ip: &[u8]| [head, ip].concat();
    let cooked =
        |protocol: [u8; 2]| [&[0, 4, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0], &protocol[..]].concat();
    vec![
        (0, with(&[2, 0, 0, 0], &four)),
        (0, with(&[0, 0, 0, 2], &four)),
        (0, with(&[30, 0, 0, 0], &six)),
        (0, with(&[0, 0, 0, 24], &six)),
        (108, with(&[0, 0, 0, 2], &four)),
        (108, with(&[0, 0, 0, 28], &six)),
        (9, with(&[0xff, 3, 0, 0x21], &four)),
        (9, with(&[0, 0x57], &six)),
        (9, with(&[0x21], &four)),
        (50, with(&[0xff, 3, 0, 0x21], &four)),
        (50, with(&[0x0f, 0, 8, 0], &four)),
        (50, with(&[0x8f, 0, 0x86, 0xdd], &six)),
        (104, with(&[0x0f, 0, 8, 0], &four)),
        (9, with(&[2, 0x81], &mpls(&four))),
        (9, with(&[2, 0x83], &mpls(&six))),
        (51, pppoe(&[0, 0x21], &four)),
        (12, four.clone()),
        (14, six.clone()),
        (101, four.clone()),
        (228, four.clone()),
        (229, six.clone()),
        (113, with(&cooked([8, 0]), &four)),
        (113, with(&[&cooked([0x81, 0])[..], &[0, 5, 0x86, 0xdd]].concat(), &six)),
        (276, with(&[&[8, 0][..], &[0; 18]].concat(), &four)),
        (276, with(&[&[0x86, 0xdd][..], &[0; 18]].concat(), &six)),
    ]
}

#[test]
fn every_link_is_read() {
    for (link, frame) in links(&segment()) {
        let (packet, tally) = read(link, &frame);
        check(&packet.unwrap_or_else(|| panic!("link {link}: {:?}", tally.notes())));
    }
}

#[test]
fn a_frame_without_tcp_is_counted_by_what_it_is() {
    let ip = |protocol: u8| ethernet(0x0800, &v4(protocol, &[0; 64]));
    let mut odd = segment().v4();
    odd[0] = 0x55;
    for (link, frame, name) in [
        (1, ethernet(0x0806, &[0; 46]), "ARP"),
        (1, ethernet(0x88cc, &[0; 46]), "LLDP"),
        (1, ethernet(0x0026, &[0x42; 46]), "LLC (IEEE 802.2)"),
        (1, ethernet(0x1234, &[0; 46]), "ethertype 0x1234"),
        (1, ethernet(0x8100, &[0, 5, 8, 6, 0, 0]), "ARP"),
        (1, ip(1), "ICMP"),
        (1, ip(17), "UDP"),
        (1, ip(50), "ESP (encrypted)"),
        (1, ip(200), "IP protocol 200"),
        (1, ethernet(0x0800, &v4(51, &authentication(17, 3, &udp(9, &[])))), "UDP"),
        (1, ethernet(0x86dd, &v6(58, &[0; 8])), "IPv6 ICMP"),
        (1, ethernet(0x86dd, &v6(59, &[])), "IP protocol 59"),
        (1, ethernet(0x0800, &v4(47, &gre(0, 0x883e, &[], &[0; 8]))), "GRE carrying 0x883e"),
        (1, ethernet(0x0800, &v4(47, &gre(0x3001, 0x880b, &[0; 8], &[]))), "GRE carrying 0x880b"),
        (1, ethernet(0x0800, &v4(47, &gre(0x4000, 0x0800, &[], &ip(6)))), "GRE carrying 0x0800"),
        (1, ethernet(0x0800, &v4(47, &gre(0x0001, 0x0800, &[], &ip(6)))), "GRE carrying 0x0800"),
        (1, ethernet(0x0800, &v4(17, &vxlan(&ethernet(0x0806, &[0; 28])))), "ARP"),
        (1, ethernet(0x0800, &v4(17, &vxlan(&ip(17)))), "UDP"),
        (1, ethernet(0x8847, &mpls(&[&[0; 4], &ethernet(0x0806, &[0; 28])[..]].concat())), "ARP"),
        (1, ethernet(0x8847, &mpls(&[&[0; 12], &[8, 6, 0, 1, 8, 0][..]].concat())), "ARP"),
        (1, ethernet(0x8847, &mpls(&[0x10, 0, 0, 7, 0])), "MPLS channel"),
        (1, ethernet(0x8864, &pppoe(&[0xc0, 0x21], &[1, 1, 0, 4])), "PPP protocol 0xc021"),
        (1, ethernet(0x8864, &[0x11, 0xa7, 0, 0, 0, 0]), "PPPoE discovery"),
        (1, ethernet(0x8863, &[0x11, 9, 0, 0, 0, 0]), "PPPoE discovery"),
        (0, [&[7, 0, 0, 0], &[0; 20][..]].concat(), "address family 7"),
        (101, odd, "IP version 5"),
        (105, segment().ethernet(), "link type 105 (IEEE 802.11)"),
        (300, segment().ethernet(), "link type 300"),
    ] {
        let (packet, tally) = read(link, &frame);
        assert_eq!(packet, None, "{name}");
        assert_eq!(tally.notes(), [format!("1 frame is {name}")]);
        assert_eq!(tally.not_ip + tally.not_tcp, 1);
        let in_ip = matches!(tally.kinds()[0].0, Kind::Protocol(_));
        assert_eq!(tally.not_tcp, u64::from(in_ip), "{name}");
    }
}

#[test]
fn a_session_of_another_version_is_malformed() {
    let (packet, tally) = read(1, &ethernet(0x8864, &[0x21, 0, 0, 1, 0, 0]));
    assert_eq!((packet, tally.malformed), (None, 1));
}

#[test]
fn lengths_that_contradict_each_other_are_malformed() {
    // Each of these values is a wrong length: of the IP header, of the IP packet, and of the TCP
    // header.
    for (at, value) in [(0, 0x44), (3, 52 + 19), (32, 0x40)] {
        let mut ip = Segment { payload: 20, ..segment() }.v4();
        ip[at] = value;
        if at == 3 {
            ip[32] = 0xf0;
        }
        let (packet, tally) = read(101, &ip);
        assert_eq!((packet, tally.malformed), (None, 1), "byte {at}");
    }
}

#[test]
fn headers_between_ip_and_tcp_have_their_own_lengths() {
    let tcp = &segment().v4()[20..];
    for words in [0, 1, 3, 8] {
        let header = authentication(6, words, tcp);
        check(&read(101, &v4(51, &header)).0.expect("AH in IPv4"));
        check(&read(101, &v6(51, &header)).0.expect("AH in IPv6"));
    }
    for words in [0, 1, 7] {
        let mut options = vec![6, words, 0, 0, 0, 0, 0, 0];
        options.resize(8 + 8 * usize::from(words), 0x45);
        options.extend(tcp);
        for kind in [0, 43, 60, 135] {
            check(&read(101, &v6(kind, &options)).0.expect("an extension header"));
        }
    }
}

#[test]
fn an_ipv6_fragment_is_later_from_an_offset_of_eight_bytes_on() {
    let tcp = &segment().v4()[20..];
    let fragment = |field: u16| {
        let mut header = vec![6, 0];
        header.extend(field.to_be_bytes());
        header.extend([0, 0, 0, 1]);
        header.extend(tcp);
        read(101, &v6(44, &header))
    };
    // The offset is in the upper 13 bits. Two of the lower three bits are reserved, and one tells
    // that more fragments follow (RFC 8200 §4.5).
    for field in [0, 1, 2, 4, 7] {
        check(&fragment(field).0.expect("the first"));
    }
    for bit in 3..16 {
        let (packet, tally) = fragment(1 << bit);
        assert_eq!((packet, tally.fragments), (None, 1), "bit {bit}");
    }
}

#[test]
fn an_ipv4_fragment_is_later_by_any_bit_of_its_offset() {
    for bit in 0..16 {
        let mut ip = segment().v4();
        ip[6..8].copy_from_slice(&(1_u16 << bit).to_be_bytes());
        let (packet, tally) = read(101, &ip);
        assert_eq!((packet.is_some(), tally.fragments), (bit > 12, u64::from(bit < 13)));
    }
}

#[test]
fn a_window_is_shifted_by_14_at_most() {
    // RFC 7323 §2.3.
    for (told, used) in [(0, 0), (13, 13), (14, 14), (15, 14), (255, 14)] {
        let syn = Segment { options: vec![1, 3, 3, told], ..segment() };
        assert_eq!(read(101, &syn.v4()).0.and_then(|packet| packet.options.scale), Some(used));
    }
}
