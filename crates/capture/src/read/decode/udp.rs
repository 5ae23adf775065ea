//! Tunnels in UDP, which the destination port of a datagram identifies. Any other datagram is plain
//! UDP.

use super::super::{Kind, Tunnel};
use super::{Layer, Other, Way, pair, split};

const UDP: Other = Other::Kind(Kind::Protocol(17));

/// The layer inside a datagram.
pub fn inside<'a>(datagram: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    let (header, payload) = split(datagram, 8).map_err(|_| UDP)?;
    let (port, length) = (pair(header, 2), pair(header, 4));
    // A sender with offloads may leave the length to the network card.
    let enough = |least: u16| length == 0 || length >= 8 + least;
    match port {
        4789 | 8472 if enough(8) => vxlan(payload, way),
        6081 if enough(8) => geneve(payload, way),
        2152 if enough(8) => gtp(payload, way),
        _ => Err(UDP),
    }
}

/// VXLAN (RFC 7348 §5). One flag shows that the header has a network number. Another flag may show
/// that it has a group (draft-smith-vxlan-group-policy).
fn vxlan<'a>(payload: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    let (header, frame) = split(payload, 8)?;
    if header[0] & 0x7f != 0x08 || header[7] != 0 {
        return Err(UDP);
    }
    way.enter(Tunnel::Vxlan)?;
    Ok(Layer::Ethernet(frame))
}

/// GENEVE (RFC 8926 §3.4).
fn geneve<'a>(payload: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    let (header, _) = split(payload, 8)?;
    if header[0] >> 6 != 0 || header[1] & 0x3f != 0 || header[7] != 0 {
        return Err(UDP);
    }
    let (_, inner) = split(payload, 8 + usize::from(header[0] & 0x3f) * 4)?;
    way.enter(Tunnel::Geneve)?;
    Ok(match pair(header, 2) {
        0x6558 => Layer::Ethernet(inner),
        kind => Layer::Ethertype(kind, inner),
    })
}

/// GTP-U (3GPP TS 29.281 §5.1 and §5.2).
fn gtp<'a>(payload: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    let (header, mut inner) = split(payload, 8)?;
    // Only user data of GTP version 1 are read. Packets of the charging protocol GTP' count as
    // plain UDP.
    if header[0] & 0xf0 != 0x30 || header[1] != 0xff {
        return Err(UDP);
    }
    if header[0] & 7 != 0 {
        let (fields, mut rest) = split(inner, 4)?;
        let mut extension = if header[0] & 4 == 0 { 0 } else { fields[3] };
        while extension != 0 {
            // With a length of zero, the loop would not advance.
            let length = usize::from(*rest.first().ok_or(Other::Short)?).max(1) * 4;
            let (whole, after) = split(rest, length)?;
            extension = whole[length - 1];
            rest = after;
        }
        inner = rest;
    }
    way.enter(Tunnel::Gtp)?;
    Ok(Layer::Ip(inner))
}
