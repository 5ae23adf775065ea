//! The header of TCP (RFC 9293 §3.1).

use super::super::{Options, Packet};
use super::{Other, four, pair};

/// Completes a packet by its segment; `before` bytes of it stand before the segment.
#[inline]
pub fn packet(mut packet: Packet, segment: &[u8], before: u32) -> Result<Packet, Other> {
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
