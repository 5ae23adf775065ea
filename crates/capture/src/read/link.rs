//! What stands before the IP packet.

/// The IP packet in a frame, or nothing if it carries something else or is cut.
///
/// Link types are those of <https://www.tcpdump.org/linktypes.html>.
pub fn ip(link: u32, frame: &[u8]) -> Option<&[u8]> {
    match link {
        0 | 108 => frame.get(4..), // BSD loopback: the family, in the host's order or the network's
        1 => ethertype(frame, 12),
        12 | 14 | 101 | 228 | 229 => Some(frame),
        113 => ethertype(frame, 14), // Linux cooked
        276 => {
            let kind = frame.get(..2)?; // Linux cooked, version 2
            tagged(kind, frame.get(20..)?)
        }
        _ => None,
    }
}

/// Whether [`ip`] knows the link type.
pub fn known(link: u32) -> bool {
    matches!(link, 0 | 1 | 12 | 14 | 101 | 108 | 113 | 228 | 229 | 276)
}

fn ethertype(frame: &[u8], place: usize) -> Option<&[u8]> {
    tagged(frame.get(place..place + 2)?, frame.get(place + 2..)?)
}

/// Passes VLAN tags (IEEE 802.1Q, 802.1ad) and MPLS labels.
fn tagged<'a>(kind: &[u8], mut rest: &'a [u8]) -> Option<&'a [u8]> {
    let mut kind = [kind[0], kind[1]];
    loop {
        match u16::from_be_bytes(kind) {
            0x0800 | 0x86dd => return Some(rest),
            0x8100 | 0x88a8 | 0x9100 => {
                kind = [*rest.get(2)?, *rest.get(3)?];
                rest = rest.get(4..)?;
            }
            0x8847 => {
                let bottom = rest.get(2)? & 1 == 1;
                rest = rest.get(4..)?;
                if bottom {
                    return Some(rest);
                }
            }
            _ => return None,
        }
    }
}
