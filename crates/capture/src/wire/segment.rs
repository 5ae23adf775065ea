//! Frames that are built from their fields. Their payload consists of zeros, which are not stored.

use super::{ETHERNET, IPV4, Sum, TCP, UDP};

/// The bits of a TCP header (RFC 9293 §3.1).
pub mod flag {
    /// No more data.
    pub const FIN: u8 = 0x01;
    /// Synchronise.
    pub const SYN: u8 = 0x02;
    /// The segment is the last one of the data that the application wrote.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement is valid.
    pub const ACK: u8 = 0x10;
    /// ECN-Echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// An IPv4 address and a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub address: [u8; 4],
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// A locally administered MAC address that contains the IPv4 address.
    fn mac(self) -> [u8; 6] {
        let [a, b, c, d] = self.address;
        [0x02, 0x00, a, b, c, d]
    }
}

/// Options of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// On a SYN: the maximum segment size.
    pub mss: Option<u16>,
    /// On a SYN: whether the sender understands selective acknowledgements (RFC 2018).
    pub sack_permitted: bool,
    /// On a SYN: the window scale, which is the shift of the window fields of later segments (RFC
    /// 7323).
    pub window_scale: Option<u8>,
    /// Timestamp value and echo (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// Selective acknowledgements, each as its first sequence number and its last sequence number +
    /// 1; empty ranges are unused.
    pub sack: [(u32, u32); 3],
}

/// The fields of a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The sender of the segment.
    pub from: Endpoint,
    /// The receiver of the segment.
    pub to: Endpoint,
    /// DSCP and ECN field of the IP header.
    pub tos: u8,
    /// Identification of the IP packet.
    pub id: u16,
    /// The bits of [`flag`].
    pub flags: u8,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement.
    pub ack: u32,
    /// The window field as on the wire, before scaling.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Bytes of payload.
    pub payload: u32,
}

const END: u8 = 0;
const NOP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

/// Writes the headers of a segment's frame to `out`. Returns the length of the whole frame.
///
/// If the IP packet has 64 KiB or more, which is possible only with offloads, its length field is
/// 0, as in Linux.
pub fn write_segment(segment: &Segment, out: &mut Vec<u8>) -> usize {
    out.clear();
    out.resize(ETHERNET + IPV4 + TCP, 0);
    write_options(&segment.options, out);
    let tcp = out.len() - ETHERNET - IPV4;
    let length = tcp + segment.payload as usize;
    write_ip(segment, PROTOCOL_TCP, length, out);
    let pseudo = pseudo_header(segment, PROTOCOL_TCP, length);
    let bytes = &mut out[ETHERNET + IPV4..];
    write_ports(segment, bytes);
    bytes[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    bytes[8..12].copy_from_slice(&segment.ack.to_be_bytes());
    bytes[12] = (tcp as u8 / 4) << 4;
    bytes[13] = segment.flags;
    bytes[14..16].copy_from_slice(&segment.window.to_be_bytes());
    let sum = pseudo.bytes(bytes).field();
    bytes[16..18].copy_from_slice(&sum.to_be_bytes());
    ETHERNET + IPV4 + length
}

/// Writes the headers of a frame with a UDP datagram. The addresses, ports and payload are those of
/// the segment. Returns the length of the whole frame.
pub fn write_datagram(segment: &Segment, out: &mut Vec<u8>) -> usize {
    out.clear();
    out.resize(ETHERNET + IPV4 + UDP, 0);
    let length = UDP + segment.payload as usize;
    write_ip(segment, PROTOCOL_UDP, length, out);
    let pseudo = pseudo_header(segment, PROTOCOL_UDP, length);
    let bytes = &mut out[ETHERNET + IPV4..];
    write_ports(segment, bytes);
    bytes[4..6].copy_from_slice(&(length as u16).to_be_bytes());
    // RFC 768: a sum of zero is sent as all ones.
    let sum = match pseudo.bytes(bytes).field() {
        0 => u16::MAX,
        sum => sum,
    };
    bytes[6..8].copy_from_slice(&sum.to_be_bytes());
    ETHERNET + IPV4 + length
}

fn write_ports(segment: &Segment, bytes: &mut [u8]) {
    bytes[..2].copy_from_slice(&segment.from.port.to_be_bytes());
    bytes[2..4].copy_from_slice(&segment.to.port.to_be_bytes());
}

/// Writes the Ethernet and IPv4 headers before `length` bytes of the protocol with number
/// `protocol`.
fn write_ip(segment: &Segment, protocol: u8, length: usize, out: &mut [u8]) {
    out[..6].copy_from_slice(&segment.to.mac());
    out[6..12].copy_from_slice(&segment.from.mac());
    out[12..14].copy_from_slice(&[0x08, 0x00]);
    let ip = &mut out[ETHERNET..ETHERNET + IPV4];
    ip[0] = 0x45;
    ip[1] = segment.tos;
    ip[2..4].copy_from_slice(&u16::try_from(IPV4 + length).unwrap_or(0).to_be_bytes());
    ip[4..6].copy_from_slice(&segment.id.to_be_bytes());
    // Don't fragment.
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = protocol;
    ip[12..16].copy_from_slice(&segment.from.address);
    ip[16..20].copy_from_slice(&segment.to.address);
    let sum = Sum::default().bytes(ip).field();
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn pseudo_header(segment: &Segment, protocol: u8, length: usize) -> Sum {
    Sum::default()
        .bytes(&segment.from.address)
        .bytes(&segment.to.address)
        .word(protocol.into())
        .word(length as u16)
}

/// Appends the options in Linux's order, padded to a multiple of four bytes.
fn write_options(options: &Options, out: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
    }
    if options.sack_permitted {
        out.extend([NOP, NOP, 4, 2]);
    }
    if let Some((value, echo)) = options.timestamps {
        out.extend([NOP, NOP, 8, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        out.extend([NOP, 3, 3, shift]);
    }
    let blocks = options.sack.iter().filter(|(start, end)| start != end);
    let count = blocks.clone().count() as u8;
    if count > 0 {
        out.extend([NOP, NOP, 5, 2 + 8 * count]);
        for (start, end) in blocks {
            out.extend(start.to_be_bytes());
            out.extend(end.to_be_bytes());
        }
    }
    while !(out.len() - ETHERNET).is_multiple_of(4) {
        out.push(END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Segment {
        let end = |last, port| Endpoint { address: [10, 0, 0, last], port };
        Segment {
            from: end(2, 5000),
            to: end(1, 40_000),
            tos: 2,
            id: 0x0708,
            flags: flag::ACK | flag::ECE,
            seq: 0x0102_0304,
            ack: 77,
            window: 500,
            payload: 1448,
            options: Options {
                timestamps: Some((1, 2)),
                sack: [(10, 20), (0, 0), (30, 40)],
                ..Options::default()
            },
        }
    }

    /// The checksum over a frame's IP header, and the checksum over its pseudo header, TCP header
    /// and payload of zeros.
    fn sums(frame: &[u8], length: usize) -> (u16, u16) {
        let ip = &frame[ETHERNET..];
        let payload = (length - ETHERNET - IPV4) as u16;
        let of_payload = Sum::default().bytes(&ip[12..20]).word(ip[9].into()).word(payload);
        (Sum::default().bytes(&ip[..IPV4]).field(), of_payload.bytes(&ip[IPV4..]).field())
    }

    #[test]
    fn a_segment_has_its_fields_in_their_places_and_right_sums() {
        let mut frame = Vec::new();
        let length = write_segment(&segment(), &mut frame);
        // The options are 12 bytes of timestamps and 20 bytes of two blocks.
        assert_eq!(frame.len(), ETHERNET + IPV4 + TCP + 32);
        assert_eq!(length, frame.len() + 1448);
        assert_eq!(&frame[..6], [2, 0, 10, 0, 0, 1]);
        assert_eq!(frame[ETHERNET + 1], 2);
        assert_eq!(&frame[ETHERNET + 4..ETHERNET + 6], [7, 8]);
        let tcp = &frame[ETHERNET + IPV4..];
        assert_eq!(&tcp[..8], [0x13, 0x88, 0x9c, 0x40, 1, 2, 3, 4]);
        assert_eq!((tcp[12] >> 4, tcp[13]), (13, 0x50));
        assert_eq!(sums(&frame, length), (0, 0));
    }

    #[test]
    fn a_syn_has_the_options_of_linux() {
        let mut frame = Vec::new();
        let options = Options {
            mss: Some(1460),
            sack_permitted: true,
            window_scale: Some(7),
            ..Options::default()
        };
        let syn = Segment { flags: flag::SYN, payload: 0, options, ..segment() };
        let length = write_segment(&syn, &mut frame);
        let written = &frame[ETHERNET + IPV4 + TCP..];
        assert_eq!(written, [2, 4, 0x05, 0xb4, 1, 1, 4, 2, 1, 3, 3, 7]);
        assert_eq!((length, sums(&frame, length)), (frame.len(), (0, 0)));
    }

    #[test]
    fn a_datagram_has_right_sums_too() {
        let mut frame = Vec::new();
        let length = write_datagram(&segment(), &mut frame);
        assert_eq!(frame.len(), ETHERNET + IPV4 + UDP);
        assert_eq!((length, sums(&frame, length)), (frame.len() + 1448, (0, 0)));
    }

    #[test]
    fn an_offloaded_segment_beyond_64_kilobytes_has_length_zero() {
        let mut frame = Vec::new();
        write_segment(&Segment { payload: 100_000, ..segment() }, &mut frame);
        assert_eq!(&frame[ETHERNET + 2..ETHERNET + 4], [0, 0]);
    }
}
