//! From a frame to a TCP packet.

use super::{Address, Endpoint, Options, Packet, link};

const TCP: u8 = 6;

/// Why a frame is no packet for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Not IP, or a link type that is not known.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// Cut before the end of the TCP header's fixed part, by the capture's length of frames.
    Short,
    /// A later part of a fragmented packet: it has no TCP header.
    Fragment,
    /// Lengths that contradict each other.
    Malformed,
}

/// The TCP packet in a frame, of which `length` bytes were on the wire.
pub fn packet(link: u32, frame: &[u8], length: u32) -> Result<Packet, Other> {
    let ip = match link::ip(link, frame) {
        Some(ip) => ip,
        None if link::known(link) && frame.len() < 16 => return Err(Other::Short),
        None => return Err(Other::NotIp),
    };
    let before = (frame.len() - ip.len()) as u32;
    let on_wire = length.max(frame.len() as u32) - before;
    match ip.first().ok_or(Other::Short)? >> 4 {
        4 => v4(ip, on_wire),
        6 => v6(ip, on_wire),
        _ => Err(Other::NotIp),
    }
}

fn v4(ip: &[u8], on_wire: u32) -> Result<Packet, Other> {
    let header = ip.get(..20).ok_or(Other::Short)?;
    let length = usize::from(header[0] & 15) * 4;
    if length < 20 {
        return Err(Other::Malformed);
    }
    if header[9] != TCP {
        return Err(Other::NotTcp);
    }
    if pair(header, 6) & 0x1fff != 0 {
        return Err(Other::Fragment);
    }
    // A sender's offload may leave the length to the network card, and then it is 0.
    let size = match pair(header, 2) {
        0 => on_wire,
        size => size.into(),
    };
    let address = |from: usize| {
        Address::v4([header[from], header[from + 1], header[from + 2], header[from + 3]])
    };
    let packet = Packet {
        size,
        id: Some(pair(header, 4)),
        ttl: header[8],
        marked: header[1] & 3 == 3,
        source: Endpoint { address: address(12), port: 0 },
        target: Endpoint { address: address(16), port: 0 },
        ..Packet::default()
    };
    tcp(packet, ip.get(length..).ok_or(Other::Short)?, length as u32)
}

fn v6(ip: &[u8], on_wire: u32) -> Result<Packet, Other> {
    let header = ip.get(..40).ok_or(Other::Short)?;
    let address = |from: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&header[from..from + 16]);
        Address::v6(bytes)
    };
    let size = match pair(header, 4) {
        0 => on_wire,
        size => u32::from(size) + 40,
    };
    let packet = Packet {
        size,
        ttl: header[7],
        marked: header[1] >> 4 & 3 == 3,
        source: Endpoint { address: address(8), port: 0 },
        target: Endpoint { address: address(24), port: 0 },
        ..Packet::default()
    };
    let (mut next, mut at) = (header[6], 40);
    // Extension headers, RFC 8200 §4; each is at least 8 bytes, so the frame bounds the walk.
    loop {
        match next {
            TCP => return tcp(packet, &ip[at..], at as u32),
            0 | 43 | 60 => {
                let header = ip.get(at..at + 8).ok_or(Other::Short)?;
                next = header[0];
                at += (usize::from(header[1]) + 1) * 8;
            }
            51 => {
                let header = ip.get(at..at + 8).ok_or(Other::Short)?;
                next = header[0];
                at += (usize::from(header[1]) + 2) * 4;
            }
            44 => {
                let header = ip.get(at..at + 8).ok_or(Other::Short)?;
                if pair(header, 2) & 0xfff8 != 0 {
                    return Err(Other::Fragment);
                }
                next = header[0];
                at += 8;
            }
            _ => return Err(Other::NotTcp),
        }
        if at > ip.len() {
            return Err(Other::Short);
        }
    }
}

fn tcp(mut packet: Packet, segment: &[u8], before: u32) -> Result<Packet, Other> {
    let header = segment.get(..20).ok_or(Other::Short)?;
    let length = usize::from(header[12] >> 4) * 4;
    let payload = packet.size.checked_sub(before + length as u32);
    let (Some(payload), true) = (payload, length >= 20) else { return Err(Other::Malformed) };
    packet.source.port = pair(header, 0);
    packet.target.port = pair(header, 2);
    packet.seq = four(header, 4);
    packet.ack = four(header, 8);
    packet.flags = header[13];
    packet.window = pair(header, 14);
    packet.payload = payload;
    packet.options = Options::parse(&segment[20..length.min(segment.len())]);
    Ok(packet)
}

fn pair(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
