//! Ethernet, and the protocols that ethertypes identify.

use super::super::Kind;
use super::{Layer, Other, pair, split};

const HEADER: usize = 14;

/// The layer that follows the addresses.
#[inline]
pub fn inside(frame: &[u8]) -> Result<Layer<'_>, Other> {
    let (header, rest) = split(frame, HEADER)?;
    named(pair(header, 12), rest)
}

/// The layer that an ethertype names. VLAN tags (IEEE 802.1Q, 802.1ad, and older numbers) are
/// skipped.
#[inline]
pub fn named(kind: u16, bytes: &[u8]) -> Result<Layer<'_>, Other> {
    Ok(match kind {
        0x0800 | 0x86dd => Layer::Ip(bytes),
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
            let (tag, rest) = split(bytes, 4)?;
            Layer::Ethertype(pair(tag, 2), rest)
        }
        0x8847 | 0x8848 => Layer::Mpls(bytes),
        0x8864 => Layer::Pppoe(bytes),
        _ => return Err(Other::Kind(Kind::Ethertype(kind))),
    })
}

/// Whether an ethertype names a VLAN tag.
pub fn is_tag(kind: u16) -> bool {
    matches!(kind, 0x8100 | 0x88a8 | 0x9100 | 0x9200)
}

/// Whether these bytes can be the start of a frame: their ethertype is ARP or one that the decoder
/// reads.
pub fn begins(bytes: &[u8]) -> bool {
    match inside(bytes) {
        Ok(_) => true,
        Err(other) => other == Other::Kind(Kind::Ethertype(0x0806)),
    }
}
