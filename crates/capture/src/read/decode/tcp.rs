//! The header of TCP (RFC 9293 §3.1).

use super::super::{Endpoint, Options, Packet, Tunnel};
use super::ip::Header;
use super::{Other, four, pair};

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
