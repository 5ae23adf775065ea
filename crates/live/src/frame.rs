//! Converts Ethernet frames of TCP over IPv4 to the simulator's packets.

use incast_net::{Ecn, Flags, Packet, RouteId};

/// The TCP port of flow 0 at its server; flow `f` has the port `FIRST_PORT + f`. The ports of a
/// frame therefore identify its flow and its direction.
pub const FIRST_PORT: u16 = 10_000;

const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
/// Offsets in the IP header.
const TOS: usize = ETHERNET + 1;
const CHECKSUM: usize = ETHERNET + 10;

/// The packet in a frame; `None` if the frame is not TCP over IPv4, or does not belong to one of
/// the `flows` flows.
///
/// The packet's label is the frame's DSCP. The packet's sequence numbers are the 32-bit numbers of
/// the TCP header, which wrap.
pub fn parse(frame: &[u8], flows: u32) -> Option<Packet> {
    let ip = frame.get(ETHERNET..)?;
    if frame.get(12..ETHERNET)? != IPV4 || *ip.get(9)? != TCP {
        return None;
    }
    let ip_header = usize::from(ip[0] & 0xf) * 4;
    let tcp = ip.get(ip_header..)?;
    let tcp_header = usize::from(tcp.get(12)? >> 4) * 4;
    let header = ip_header + tcp_header;
    let payload = usize::from(word(ip, 2)?).checked_sub(header)?;
    let flow_at = |port: u16| {
        let flow = u32::from(port.checked_sub(FIRST_PORT)?);
        (flow < flows).then_some(flow)
    };
    let route = match (flow_at(word(tcp, 0)?), flow_at(word(tcp, 2)?)) {
        (Some(flow), None) => RouteId::new(flow, true),
        (None, Some(flow)) => RouteId::new(flow, false),
        _ => return None,
    };
    let long = |at| Some(u64::from(word(tcp, at)?) << 16 | u64::from(word(tcp, at + 2)?));
    Some(Packet {
        seq: long(4)?,
        ack: long(8)?,
        route,
        window: word(tcp, 14)?.into(),
        payload: payload as u16,
        header: u8::try_from(header).ok()?,
        flags: control(*tcp.get(13)?).with_ecn(ecn(ip[1])),
        label: u16::from(ip[1] >> 2),
        ..Packet::default()
    })
}

/// Marks a frame with congestion experienced in its IP header, and updates the checksum (RFC 1071).
pub fn mark(frame: &mut [u8]) {
    frame[TOS] |= 3;
    frame[CHECKSUM..CHECKSUM + 2].fill(0);
    let end = ETHERNET + usize::from(frame[ETHERNET] & 0xf) * 4;
    let words = frame[ETHERNET..end].chunks_exact(2);
    let sum: u32 = words.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    frame[CHECKSUM..CHECKSUM + 2].copy_from_slice(&(!folded as u16).to_be_bytes());
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn control(bits: u8) -> Flags {
    let known = [
        (0x01, Flags::FIN),
        (0x02, Flags::SYN),
        (0x10, Flags::ACK),
        (0x40, Flags::ECE),
        (0x80, Flags::CWR),
    ];
    let set = known.into_iter().filter(|(bit, _)| bits & bit != 0);
    set.fold(Flags::NONE, |flags, (_, flag)| flags.with(flag))
}

fn ecn(tos: u8) -> Ecn {
    match tos & 3 {
        0 => Ecn::NotCapable,
        3 => Ecn::CongestionExperienced,
        _ => Ecn::Capable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame from port `from` to port `to` with 8 bytes of payload, ECT(0), and its checksum.
    fn frame(from: u16, to: u16) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET + 20 + 32 + 8];
        frame[12..14].copy_from_slice(&IPV4);
        let ip = &mut frame[ETHERNET..];
        ip[..4].copy_from_slice(&[0x45, 2, 0, 60]);
        ip[8..10].copy_from_slice(&[64, TCP]);
        ip[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
        ip[20..22].copy_from_slice(&from.to_be_bytes());
        ip[22..24].copy_from_slice(&to.to_be_bytes());
        ip[24..32].copy_from_slice(&[0, 1, 0, 0, 0, 0, 2, 0]);
        ip[32..34].copy_from_slice(&[8 << 4, 0x10 | 0x40]);
        frame
    }

    #[test]
    fn a_frame_tells_its_flow_direction_and_sizes() {
        let packet = parse(&frame(FIRST_PORT + 3, 40_000), 4).expect("it is TCP");
        assert_eq!(packet.route, RouteId::new(3, true));
        assert_eq!((packet.header, packet.payload, packet.size()), (52, 8, 60));
        assert_eq!((packet.seq, packet.ack), (0x1_0000, 0x200));
        assert_eq!(packet.ecn(), Ecn::Capable);
        assert_eq!(packet.flags.control(), Flags::ACK.with(Flags::ECE));
        let back = parse(&frame(40_000, FIRST_PORT), 4).expect("it is TCP");
        assert_eq!(back.route, RouteId::new(0, false));
    }

    #[test]
    fn a_frame_of_something_else_is_none_of_the_switch() {
        assert_eq!(parse(&frame(FIRST_PORT + 4, 40_000), 4), None, "there is no such flow");
        assert_eq!(parse(&frame(1, 2), 4), None);
        let whole = frame(FIRST_PORT, 40_000);
        for end in 0..ETHERNET + 34 {
            assert_eq!(parse(&whole[..end], 4), None, "cut off at {end}");
        }
        let mut other = whole.clone();
        other[ETHERNET + 9] = 17;
        assert_eq!(parse(&other, 4), None, "UDP");
        let mut other = whole;
        other[12] = 0x86;
        assert_eq!(parse(&other, 4), None, "not IPv4");
    }

    #[test]
    fn a_marked_frame_has_a_valid_checksum() {
        let mut frame = frame(FIRST_PORT, 40_000);
        mark(&mut frame);
        let packet = parse(&frame, 1).expect("it is TCP");
        assert_eq!(packet.ecn(), Ecn::CongestionExperienced);
        let words = frame[ETHERNET..ETHERNET + 20].chunks_exact(2);
        let sum: u32 = words.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    }

    #[test]
    fn every_field_is_read_from_its_place() {
        let mut frame = frame(FIRST_PORT, 40_000);
        frame.resize(ETHERNET + 200, 0);
        let ip = &mut frame[ETHERNET..];
        // Four bytes of IP options move the TCP header. The IP packet has 200 bytes, of which 144
        // are TCP payload.
        ip[..4].copy_from_slice(&[0x46, 0x2a << 2 | 1, 0, 200]);
        let mut tcp = vec![];
        tcp.extend(FIRST_PORT.to_be_bytes());
        tcp.extend([0x9c, 0x40, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0]);
        tcp.extend([8 << 4 | 0xf, 0x13, 0xfe, 0xdc]);
        ip[24..24 + tcp.len()].copy_from_slice(&tcp);
        let packet = parse(&frame, 1).expect("it is TCP");
        assert_eq!((packet.seq, packet.ack), (0x1234_5678, 0x9abc_def0));
        assert_eq!((packet.header, packet.payload, packet.window), (56, 144, 0xfedc));
        assert_eq!((packet.label, packet.ecn()), (0x2a, Ecn::Capable));
        assert_eq!(packet.flags.control(), Flags::ACK.with(Flags::SYN).with(Flags::FIN));
        frame[ETHERNET + 3] = 56;
        assert_eq!(parse(&frame, 1).expect("an ACK").payload, 0);
        frame[ETHERNET + 3] = 55;
        assert_eq!(parse(&frame, 1), None, "shorter than its headers");
    }

    #[test]
    fn each_bit_is_a_flag_of_its_own() {
        let known = [
            (0x01, Flags::FIN),
            (0x02, Flags::SYN),
            (0x10, Flags::ACK),
            (0x40, Flags::ECE),
            (0x80, Flags::CWR),
        ];
        for (bit, flag) in known {
            assert_eq!(control(bit), flag);
        }
        assert_eq!(control(0x08 | 0x20 | 0x04), Flags::NONE, "PSH, URG and RST");
        let fields = [Ecn::NotCapable, Ecn::Capable, Ecn::Capable, Ecn::CongestionExperienced];
        for (tos, field) in (0..).zip(fields) {
            assert_eq!((ecn(tos), ecn(0x2a << 2 | tos)), (field, field));
        }
    }

    #[test]
    fn a_frame_between_ports_of_two_flows_is_of_none() {
        assert_eq!(parse(&frame(FIRST_PORT, FIRST_PORT + 1), 2), None);
        assert!(parse(&frame(FIRST_PORT, FIRST_PORT + 2), 2).is_some(), "there is no flow 2");
        assert_eq!(parse(&frame(FIRST_PORT - 1, 40_000), 2), None);
        assert_eq!(parse(&frame(40_000, FIRST_PORT + 2), 2), None);
        let last = parse(&frame(40_000, FIRST_PORT + 1), 2).expect("it is TCP");
        assert_eq!(last.route, RouteId::new(1, false));
    }

    #[test]
    fn a_mark_changes_two_bits_and_the_checksum_of_the_whole_header() {
        // The first header has options. The sum of the second header's words is 0x1_ffff, so the
        // carry must be added twice.
        let options = [
            0x46, 0xa8, 0, 60, 0, 1, 0, 0, 64, 6, 0xab, 0xcd, 10, 0, 0, 2, 10, 0, 0, 1, 0x94, 4,
            0x12, 0x34,
        ];
        let carries =
            [0x45, 0xa8, 0, 60, 0, 1, 0, 0, 64, 6, 0xab, 0xcd, 0xff, 0xff, 0x7a, 0x12, 0, 0, 0, 0];
        let cases: [(&[u8], [u8; 2]); 2] = [(&options, [0xbe, 0xd5]), (&carries, [0xff, 0xfe])];
        for (header, expected) in cases {
            let mut frame = vec![7; ETHERNET];
            frame.extend(header);
            frame.extend([0xff; 40]);
            let before = frame.clone();
            mark(&mut frame);
            assert_eq!(frame[TOS], header[1] | 3);
            assert_eq!(frame[CHECKSUM..CHECKSUM + 2], expected);
            for at in (0..frame.len()).filter(|at| ![TOS, CHECKSUM, CHECKSUM + 1].contains(at)) {
                assert_eq!(frame[at], before[at], "{at}");
            }
        }
    }
}
