//! A TCP packet as it was captured, with the options of its header.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Tunnel;

/// Bits of the TCP header.
pub mod flags {
    /// The sender has no more data.
    pub const FIN: u8 = 1;
    /// A connection is opened.
    pub const SYN: u8 = 2;
    /// A connection is aborted.
    pub const RST: u8 = 4;
    /// The data are to be delivered at once.
    pub const PSH: u8 = 8;
    /// The acknowledgment number is valid.
    pub const ACK: u8 = 16;
    /// The sender echoes a congestion mark.
    pub const ECE: u8 = 64;
}

/// An IP address. An IPv4 address is stored as its mapped IPv6 address (RFC 4291 §2.5.5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(u128);

impl Address {
    /// An IPv4 address.
    pub fn v4(bytes: [u8; 4]) -> Self {
        Self(0xffff_0000_0000 | u128::from(u32::from_be_bytes(bytes)))
    }

    /// An IPv6 address.
    pub fn v6(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from(self.0);
        let address =
            address.to_ipv4_mapped().map_or(IpAddr::V6(address), |v4: Ipv4Addr| IpAddr::V4(v4));
        address.fmt(f)
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The host.
    pub address: Address,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.address.to_string();
        if text.contains(':') {
            write!(f, "[{text}]:{}", self.port)
        } else {
            write!(f, "{text}:{}", self.port)
        }
    }
}

/// A TCP packet: its headers, without its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// The number of the frame in its file, counted from 1 as in Wireshark.
    pub frame: u64,
    /// The number of the file, in the order in which the files were given.
    pub file: u16,
    /// The number of the vantage point. Files that follow each other have the same number.
    pub point: u16,
    /// The sending end.
    pub source: Endpoint,
    /// The receiving end.
    pub target: Endpoint,
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// See [`flags`].
    pub flags: u8,
    /// Window field, before scaling.
    pub window: u16,
    /// Bytes of data, including bytes that were not captured.
    pub payload: u32,
    /// Bytes of the IP packet.
    pub size: u32,
    /// Identification of the IPv4 packet.
    pub id: Option<u16>,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Whether congestion was experienced (RFC 3168 §5).
    pub marked: bool,
    /// The tunnel that carried the packet between two other hosts. The addresses, sizes and marks
    /// are those of the inner packet.
    pub tunnel: Option<Tunnel>,
    /// The options that were captured.
    pub options: Options,
}

impl Packet {
    /// Whether one of these flags is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The two ends of the connection, in the same order for packets of both directions.
    pub fn ends(&self) -> [Endpoint; 2] {
        [self.source.min(self.target), self.source.max(self.target)]
    }
}

/// Times that the ends of a connection exchange (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The time of the sender's clock.
    pub value: u32,
    /// The last time of the other end's clock that the sender has received.
    pub echo: u32,
}

impl Timestamps {
    /// Reads the eight bytes of the option.
    fn read(bytes: &[u8]) -> Self {
        Self { value: long(&bytes[..4]), echo: long(&bytes[4..]) }
    }
}

/// The options that the diagnosis uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment that the sender of a SYN accepts.
    pub mss: Option<u16>,
    /// The window scale: the shift of the window fields of later packets.
    pub scale: Option<u8>,
    /// Whether the sender of a SYN understands selective acknowledgments.
    pub sack_permitted: bool,
    /// The timestamps (RFC 7323 §3).
    pub timestamps: Option<Timestamps>,
    blocks: [(u32, u32); 4],
    count: u8,
}

impl Options {
    /// Timestamps, if any, and no other option.
    pub(super) fn only(timestamps: Option<Timestamps>) -> Self {
        Self { timestamps, ..Self::default() }
    }

    /// Ranges that have arrived out of order, each as its first sequence number and its last
    /// sequence number + 1 (RFC 2018 §3). The first range may be a duplicate (RFC 2883).
    pub fn sacks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Reads the options of a header. An invalid length ends the list.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Self {
        // Nearly every packet has only timestamps, in the form that RFC 7323 §3.2 and appendix A
        // recommend.
        if let ([1, 1, 8, 10, times @ ..], 12) = (bytes, bytes.len()) {
            return Self::only(Some(Timestamps::read(times)));
        }
        Self::listed(bytes)
    }

    fn listed(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                0 => break,
                1 => bytes = rest,
                _ => {
                    let Some(&length) = rest.first() else { break };
                    let Some(value) = bytes.get(2..usize::from(length)) else { break };
                    options.set(kind, value);
                    bytes = &bytes[usize::from(length)..];
                }
            }
        }
        options
    }

    fn set(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (2, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (3, &[shift]) => self.scale = Some(shift.min(14)),
            (4, &[]) => self.sack_permitted = true,
            (5, blocks) => {
                let free = self.blocks.iter_mut().skip(usize::from(self.count));
                for (place, block) in free.zip(blocks.chunks_exact(8)) {
                    *place = (long(&block[..4]), long(&block[4..]));
                    self.count += 1;
                }
            }
            (8, times) if times.len() == 8 => {
                self.timestamps = Some(Timestamps::read(times));
            }
            _ => {}
        }
    }
}

fn long(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_set_if_one_of_those_asked_for_is() {
        let packet = Packet { flags: flags::SYN | flags::ACK, ..Packet::default() };
        assert!(packet.has(flags::SYN) && packet.has(flags::ACK));
        assert!(packet.has(flags::SYN | flags::RST) && !packet.has(flags::FIN | flags::RST));
        let bits = [flags::FIN, flags::SYN, flags::RST, flags::PSH, flags::ACK, flags::ECE];
        assert_eq!(bits, [1, 2, 4, 8, 16, 64]);
        assert!(bits.iter().all(|bit| !Packet::default().has(*bit)));
    }

    #[test]
    fn addresses_are_written_as_their_family_has_them() {
        let four = Endpoint { address: Address::v4([10, 1, 2, 250]), port: 80 };
        assert_eq!(four.to_string(), "10.1.2.250:80");
        let mut bytes = [0; 16];
        (bytes[0], bytes[15]) = (0xfd, 7);
        let six = Endpoint { address: Address::v6(bytes), port: 65_535 };
        assert_eq!(
            (six.address.to_string(), six.to_string()),
            ("fd00::7".into(), "[fd00::7]:65535".into())
        );
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 250];
        assert_eq!(Address::v6(mapped), Address::v4([10, 1, 2, 250]));
    }

    #[test]
    fn reads_what_a_syn_says() {
        let options =
            Options::parse(&[2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 3, 3, 7]);
        assert_eq!(
            (options.mss, options.scale, options.sack_permitted),
            (Some(1460), Some(7), true)
        );
        assert_eq!(options.timestamps, Some(Timestamps { value: 7, echo: 9 }));
    }

    #[test]
    fn a_fifth_block_and_a_second_list_are_passed_over() {
        let mut bytes = vec![5, 34];
        bytes.extend([0; 32]);
        bytes.extend([5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(Options::parse(&bytes).sacks().len(), 4);
    }

    #[test]
    fn lengths_that_lead_nowhere_end_the_list() {
        for bytes in [&[2_u8, 0][..], &[2, 1], &[2], &[8, 10, 0], &[5, 255, 0]] {
            assert_eq!(Options::parse(bytes), Options::default());
        }
    }

    #[test]
    fn numbers_have_four_bytes_the_highest_first() {
        let times = [8, 10, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0];
        let stamps = Some(Timestamps { value: 0x1234_5678, echo: 0x9abc_def0 });
        for before in [&[1, 1][..], &[], &[1], &[4, 2]] {
            let bytes = [before, &times].concat();
            assert_eq!(Options::parse(&bytes).timestamps, stamps, "{before:?}");
        }
        let bytes = [5, 18, 0, 0, 1, 0, 0, 0, 2, 3, 0xff, 0, 0, 0, 0xff, 0, 0, 9];
        let options = Options::parse(&bytes);
        assert_eq!(options.sacks(), [(0x100, 0x203), (0xff00_0000, 0xff00_0009)]);
    }

    #[test]
    fn an_option_of_another_length_says_nothing() {
        let bytes =
            [2, 3, 5, 3, 4, 7, 7, 4, 3, 1, 8, 9, 0, 0, 0, 7, 0, 0, 0, 3, 3, 9, 0, 2, 4, 1, 1];
        let options = Options::parse(&bytes);
        assert_eq!((options.mss, options.scale, options.timestamps), (None, Some(9), None));
        assert!(!options.sack_permitted);
        assert!(options.sacks().is_empty());
    }

    #[test]
    fn blocks_are_as_many_as_there_are_whole_ones() {
        for (length, count) in [(2, 0), (9, 0), (10, 1), (17, 1), (18, 2), (34, 4), (42, 4)] {
            let mut bytes = vec![5, length];
            bytes.resize(usize::from(length), 3);
            assert_eq!(Options::parse(&bytes).sacks().len(), count, "{length}");
        }
        let two = [5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 10, 0, 0, 0, 3, 0, 0, 0, 4];
        assert_eq!(Options::parse(&two).sacks(), [(1, 2), (3, 4)], "of two lists");
    }
}
