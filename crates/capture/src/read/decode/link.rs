//! The first header of a frame, which depends on the link type of the capture
//! (<https://www.tcpdump.org/linktypes.html>), and the protocols that ethertypes identify.

use super::super::Kind;
use super::{Layer, Other, four, pair, split};

/// The first layer of a frame.
#[inline]
pub fn first(link: u32, frame: &[u8]) -> Result<Layer<'_>, Other> {
    Ok(match link {
        1 => return ethernet(frame),
        0 | 108 => return loopback(frame),
        9 => Layer::Ppp(without_address(frame)),
        50 | 104 => return serial(frame),
        51 => Layer::Pppoe(frame),
        12 | 14 | 101 | 228 | 229 => Layer::Ip(frame),
        // Linux cooked capture, of the device `any` and of other devices without Ethernet.
        113 => cooked(frame, 14, 16)?,
        276 => cooked(frame, 0, 20)?,
        _ => return Err(Other::Kind(Kind::Link(link))),
    })
}

fn cooked(frame: &[u8], protocol: usize, length: usize) -> Result<Layer<'_>, Other> {
    let (header, rest) = split(frame, length)?;
    Ok(Layer::Ethertype(pair(header, protocol), rest))
}

/// BSD loopback: the header is an address family in the byte order of the capturing host. This
/// order may differ from ours.
fn loopback(frame: &[u8]) -> Result<Layer<'_>, Other> {
    let (header, rest) = split(frame, 4)?;
    let family = four(header, 0);
    let family = family.min(family.swap_bytes());
    match family {
        // INET, and the numbers of INET6 in Linux, NetBSD and OpenBSD, FreeBSD, and macOS.
        2 | 10 | 24 | 28 | 30 => Ok(Layer::Ip(rest)),
        _ => Err(Other::Kind(Kind::Family(family))),
    }
}

/// PPP in HDLC-like frames (RFC 1662 §3.1), or Cisco HDLC, whose frames have ethertypes.
fn serial(frame: &[u8]) -> Result<Layer<'_>, Other> {
    let (header, rest) = split(frame, 4)?;
    match header[..2] {
        [0x0f | 0x8f, 0] => Ok(Layer::Ethertype(pair(header, 2), rest)),
        _ => Ok(Layer::Ppp(without_address(frame))),
    }
}

/// Removes the address and control fields, which may be absent (RFC 1661 §6.6).
fn without_address(frame: &[u8]) -> &[u8] {
    frame.strip_prefix(&[0xff, 3]).unwrap_or(frame)
}

const HEADER: usize = 14;

/// The layer that follows the addresses.
#[inline]
pub fn ethernet(frame: &[u8]) -> Result<Layer<'_>, Other> {
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
    match ethernet(bytes) {
        Ok(_) => true,
        Err(other) => other == Other::Kind(Kind::Ethertype(0x0806)),
    }
}
