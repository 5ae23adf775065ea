//! A TCP packet as it was captured.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Options, Tunnel};

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
}
