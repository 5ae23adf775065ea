//! GRE, and the protocols inside it that have a header of their own.

use super::super::{Kind, Tunnel};
use super::{Layer, Other, Way, pair, split};

const CHECKSUM: u16 = 0x8000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ROUTING_AND_VERSION: u16 = 0x4007;

/// The layer inside a GRE packet (RFC 2784 §2, RFC 2890 §2).
pub fn inside<'a>(bytes: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    let (fixed, _) = split(bytes, 4)?;
    let (flags, protocol) = (pair(fixed, 0), pair(fixed, 2));
    // Packets with the routing flag (RFC 1701) or of version 1 (PPTP, RFC 2637) are not read.
    if flags & ROUTING_AND_VERSION != 0 {
        return Err(Other::Kind(Kind::Gre(protocol)));
    }
    let fields = [CHECKSUM, KEY, SEQUENCE].into_iter().filter(|flag| flags & flag != 0);
    let (_, inner) = split(bytes, 4 + 4 * fields.count())?;
    match protocol {
        // Transparent bridging. NVGRE has only a key, whose upper 24 bits are the number of a
        // network, 0x1000 or more (RFC 7637 §3.2).
        0x6558 => {
            let only_key = flags & (CHECKSUM | KEY | SEQUENCE) == KEY;
            let number =
                if only_key { u32::from(pair(bytes, 4)) << 8 | u32::from(bytes[6]) } else { 0 };
            way.enter(if number >= 0x1000 { Tunnel::Nvgre } else { Tunnel::Gre })?;
            Ok(Layer::Ethernet(inner))
        }
        0x88be if flags & SEQUENCE == 0 => {
            way.enter(Tunnel::Erspan1)?;
            Ok(Layer::Ethernet(inner))
        }
        0x88be => {
            way.enter(Tunnel::Erspan2)?;
            Ok(Layer::Ethernet(split(inner, 8)?.1))
        }
        0x22eb => {
            way.enter(Tunnel::Erspan3)?;
            third(inner)
        }
        0x0800 | 0x86dd => {
            way.enter(Tunnel::Gre)?;
            Ok(Layer::Ip(inner))
        }
        // RFC 4023.
        0x8847 | 0x8848 => {
            way.enter(Tunnel::Gre)?;
            Ok(Layer::Mpls(inner))
        }
        _ => Err(Other::Kind(Kind::Gre(protocol))),
    }
}

/// ERSPAN type III (draft-foschiano-erspan §4.3). The header gives the type of the layer inside,
/// and the header's last bit tells whether a platform-specific subheader follows.
fn third(bytes: &[u8]) -> Result<Layer<'_>, Other> {
    let (header, _) = split(bytes, 12)?;
    let (_, inner) = split(bytes, if header[11] & 1 == 1 { 20 } else { 12 })?;
    Ok(match header[10] >> 2 & 0x1f {
        2 => Layer::Ip(inner),
        _ => Layer::Ethernet(inner),
    })
}
