//! MPLS: labels, and the protocol after the last label.

use super::super::{Kind, Tunnel};
use super::{Layer, Other, Way, link, split};

/// The layer behind MPLS labels (RFC 3032 §2.1). No field identifies this layer. As in routers, the
/// first four bits are taken for an IP version if they are 4 or 6 (RFC 4928 §3).
pub fn inside<'a>(mut bytes: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    loop {
        let (label, rest) = split(bytes, 4)?;
        bytes = rest;
        if label[2] & 1 == 1 {
            break;
        }
    }
    match bytes.first().ok_or(Other::Short)? >> 4 {
        4 | 6 => {
            way.pass(Tunnel::Mpls);
            return Ok(Layer::Ip(bytes));
        }
        1 => return Err(Other::Kind(Kind::Channel)),
        _ => {}
    }
    way.enter(Tunnel::Pseudowire)?;
    // A control word begins with 16 zero bits, followed by its sequence number (RFC 4448 §4.6). MAC
    // addresses of virtual routers also begin with 16 zero bits, but these frames have an ethertype
    // at the usual position.
    let word = bytes.starts_with(&[0, 0]) && !link::begins(bytes);
    let (_, frame) = split(bytes, if word { 4 } else { 0 })?;
    Ok(Layer::Ethernet(frame))
}
