//! IPv4 and IPv6, with the extension headers before their payload, and the TCP header in them (RFC
//! 9293 §3.1).

use super::super::{Address, Endpoint, Kind, Options, Packet, Tunnel};
use super::{Other, four, pair, split};

/// The protocol number of TCP.
pub const TCP: u8 = 6;
const AUTHENTICATION: u8 = 51;

/// The headers of an IP packet, and the payload behind them.
pub struct Header<'a> {
    /// Sender and receiver.
    pub addresses: [Address; 2],
    /// Bytes of the IP packet.
    pub size: u32,
    /// Identification; only IPv4 has one.
    pub id: Option<u16>,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Whether congestion was experienced.
    pub marked: bool,
    /// The number of the protocol that follows.
    pub next: u8,
    /// Bytes of the headers.
    pub length: u32,
    /// The captured bytes behind the headers.
    pub payload: &'a [u8],
}

/// Reads the headers. `missing` bytes of the frame were not captured; `marked` is the mark of an
/// outer packet.
#[inline]
pub fn header(ip: &[u8], missing: u32, marked: bool) -> Result<Header<'_>, Other> {
    match ip.first().ok_or(Other::Short)? >> 4 {
        4 => v4(ip, missing, marked),
        6 => v6(ip, missing, marked),
        version => Err(Other::Kind(Kind::Version(version))),
    }
}

#[inline]
fn v4(ip: &[u8], missing: u32, marked: bool) -> Result<Header<'_>, Other> {
    let header = ip.get(..20).ok_or(Other::Short)?;
    let length = usize::from(header[0] & 15) * 4;
    if length < 20 {
        return Err(Other::Malformed);
    }
    if pair(header, 6) & 0x1fff != 0 {
        return Err(Other::Fragment);
    }
    // A sender with offloads may leave the length to the network card, and then the length is 0.
    let size = match pair(header, 2) {
        0 => ip.len() as u32 + missing,
        size => size.into(),
    };
    let address = |from: usize| {
        Address::v4([header[from], header[from + 1], header[from + 2], header[from + 3]])
    };
    let mut next = header[9];
    let mut payload = ip.get(length..).ok_or(Other::Short)?;
    while next == AUTHENTICATION {
        (next, payload) = authenticated(payload)?;
    }
    Ok(Header {
        addresses: [address(12), address(16)],
        size,
        id: Some(pair(header, 4)),
        ttl: header[8],
        marked: is_marked(header[1], marked),
        next,
        length: (ip.len() - payload.len()) as u32,
        payload,
    })
}

fn v6(ip: &[u8], missing: u32, marked: bool) -> Result<Header<'_>, Other> {
    let header = ip.get(..40).ok_or(Other::Short)?;
    let address = |from: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&header[from..from + 16]);
        Address::v6(bytes)
    };
    let size = match pair(header, 4) {
        0 => ip.len() as u32 + missing,
        size => u32::from(size) + 40,
    };
    let (mut next, mut payload) = (header[6], &ip[40..]);
    // Extension headers, RFC 8200 §4; each has at least 8 bytes, so the length of the frame bounds
    // the number of steps.
    loop {
        (next, payload) = match next {
            // Hop by hop, routing, destination, and mobility (RFC 6275 §6.1).
            0 | 43 | 60 | 135 => {
                let fixed = payload.get(..8).ok_or(Other::Short)?;
                let (_, rest) = split(payload, (usize::from(fixed[1]) + 1) * 8)?;
                (fixed[0], rest)
            }
            AUTHENTICATION => authenticated(payload)?,
            44 => {
                let (fragment, rest) = split(payload, 8)?;
                if pair(fragment, 2) & 0xfff8 != 0 {
                    return Err(Other::Fragment);
                }
                (fragment[0], rest)
            }
            _ => break,
        };
    }
    Ok(Header {
        addresses: [address(8), address(24)],
        size,
        id: None,
        ttl: header[7],
        marked: is_marked(header[1] >> 4, marked),
        next,
        length: (ip.len() - payload.len()) as u32,
        payload,
    })
}

/// The protocol and the bytes behind an authentication header. The length field of this header
/// counts words of four bytes (RFC 4302 §2.2).
fn authenticated(bytes: &[u8]) -> Result<(u8, &[u8]), Other> {
    let fixed = bytes.get(..8).ok_or(Other::Short)?;
    let (_, rest) = split(bytes, (usize::from(fixed[1]) + 2) * 4)?;
    Ok((fixed[0], rest))
}

/// Whether a packet has the mark "congestion experienced" in its lowest two bits (RFC 3168 §5). A
/// packet that allows marks also gets the mark at the end of a tunnel if the outer packet has it
/// (RFC 6040 §4.2).
fn is_marked(bits: u8, outer: bool) -> bool {
    match bits & 3 {
        0 => false,
        3 => true,
        _ => outer,
    }
}

/// The packet of a TCP segment in IP.
#[inline]
pub fn packet(ip: &Header<'_>, tunnel: Option<Tunnel>) -> Result<Packet, Other> {
    let header = ip.payload.get(..20).ok_or(Other::Short)?;
    let length = usize::from(header[12] >> 4) * 4;
    let payload = ip.size.checked_sub(ip.length + length as u32);
    let (Some(payload), true) = (payload, length >= 20) else { return Err(Other::Malformed) };
    let [source, target] = ip.addresses;
    Ok(Packet {
        source: Endpoint { address: source, port: pair(header, 0) },
        target: Endpoint { address: target, port: pair(header, 2) },
        seq: four(header, 4),
        ack: four(header, 8),
        flags: header[13],
        window: pair(header, 14),
        payload,
        size: ip.size,
        id: ip.id,
        ttl: ip.ttl,
        marked: ip.marked,
        tunnel,
        options: Options::parse(&ip.payload[20..length.min(ip.payload.len())]),
        ..Packet::default()
    })
}
