//! PPP, and PPP over Ethernet.

use super::super::Kind;
use super::{Layer, Other, pair, split};

/// The layer inside a PPP frame (RFC 1661 §2). The bytes begin with the protocol field.
pub fn inside(bytes: &[u8]) -> Result<Layer<'_>, Other> {
    // A protocol number whose first byte is odd has been compressed to that byte (RFC 1661 §6.5).
    let compressed = bytes.first().ok_or(Other::Short)? & 1 == 1;
    let (field, rest) = split(bytes, if compressed { 1 } else { 2 })?;
    let protocol = if compressed { u16::from(field[0]) } else { pair(field, 0) };
    Ok(match protocol {
        0x0021 | 0x0057 => Layer::Ip(rest),
        0x0281 | 0x0283 => Layer::Mpls(rest),
        _ => return Err(Other::Kind(Kind::Ppp(protocol))),
    })
}

/// The layer inside a session of PPP over Ethernet (RFC 2516 §4).
pub fn session(bytes: &[u8]) -> Result<Layer<'_>, Other> {
    let (header, rest) = split(bytes, 6)?;
    match header[..2] {
        [0x11, 0] => Ok(Layer::Ppp(rest)),
        [0x11, _] => Err(Other::Kind(Kind::Ethertype(0x8863))),
        _ => Err(Other::Malformed),
    }
}
