//! Decodes a frame to a TCP packet, layer by layer and through tunnels.

mod gre;
mod ip;
mod link;
mod mpls;
pub mod plain;
mod ppp;
mod udp;

use super::{Kind, Packet, Tunnel};

/// Largest number of nested tunnels that are decoded.
const DEEPEST: u8 = 4;

/// The reason why a frame has no readable TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// The frame carries something other than TCP.
    Kind(Kind),
    /// The capture has cut the frame before the end of the fixed part of the TCP header.
    Short,
    /// The frame has a later part of a fragmented packet, without a TCP header.
    Fragment,
    /// The lengths in the frame contradict each other.
    Malformed,
}

/// The next layer of a frame, and its bytes. Every step to the next layer consumes bytes, so the
/// length of the frame bounds the number of steps.
enum Layer<'a> {
    Ethernet(&'a [u8]),
    /// The layer that an ethertype names.
    Ethertype(u16, &'a [u8]),
    /// PPP, from the protocol field on.
    Ppp(&'a [u8]),
    Pppoe(&'a [u8]),
    Mpls(&'a [u8]),
    Ip(&'a [u8]),
}

/// The tunnels and marks around the current layer.
#[derive(Default)]
struct Way {
    tunnel: Option<Tunnel>,
    /// Number of tunnels so far.
    depth: u8,
    /// Whether the outer packet was marked. If so, the end of the tunnel will mark the inner packet
    /// (RFC 6040 §4.2).
    marked: bool,
}

impl Way {
    /// Records MPLS labels, a `PPPoE` session or a second VLAN tag as the tunnel, unless the packet
    /// is already inside a tunnel.
    fn pass(&mut self, tunnel: Tunnel) {
        self.tunnel.get_or_insert(tunnel);
    }

    fn enter(&mut self, tunnel: Tunnel) -> Result<(), Other> {
        self.tunnel = Some(tunnel);
        self.marked &= !tunnel.is_mirror();
        self.depth += 1;
        if self.depth > DEEPEST { Err(Other::Kind(Kind::Deep)) } else { Ok(()) }
    }
}

/// The TCP packet in a frame, layer by layer. The whole frame had `length` bytes on the wire.
pub fn packet(link: u32, frame: &[u8], length: u32) -> Result<Packet, Other> {
    // Number of bytes of the frame that were not captured.
    let missing = length.saturating_sub(frame.len() as u32);
    let mut way = Way::default();
    let mut bytes = match link::first(link, frame)? {
        Layer::Ip(bytes) => bytes,
        layer => ip_in(layer, &mut way)?,
    };
    loop {
        let header = ip::header(bytes, missing, way.marked)?;
        if header.next == ip::TCP {
            return ip::packet(&header, way.tunnel);
        }
        way.marked = header.marked;
        bytes = ip_in(tunnel(header.next, header.payload, &mut way)?, &mut way)?;
    }
}

/// Follows the layers to the next IP packet.
fn ip_in<'a>(mut layer: Layer<'a>, way: &mut Way) -> Result<&'a [u8], Other> {
    loop {
        layer = match layer {
            Layer::Ethernet(bytes) => link::ethernet(bytes)?,
            Layer::Ethertype(kind, bytes) => {
                if link::is_tag(kind) {
                    way.pass(Tunnel::QinQ); // the second tag: the step before skipped the first
                }
                link::named(kind, bytes)?
            }
            Layer::Ppp(bytes) => ppp::inside(bytes)?,
            Layer::Pppoe(bytes) => {
                way.pass(Tunnel::Pppoe);
                ppp::session(bytes)?
            }
            Layer::Mpls(bytes) => mpls::inside(bytes, way)?,
            Layer::Ip(bytes) => return Ok(bytes),
        };
    }
}

/// The layer inside a protocol of IP other than TCP.
fn tunnel<'a>(protocol: u8, bytes: &'a [u8], way: &mut Way) -> Result<Layer<'a>, Other> {
    match protocol {
        // RFC 2003, 2473 and 4213.
        4 | 41 => {
            way.enter(Tunnel::IpInIp)?;
            Ok(Layer::Ip(bytes))
        }
        17 => udp::inside(bytes, way),
        47 => gre::inside(bytes, way),
        _ => Err(Other::Kind(Kind::Protocol(protocol))),
    }
}

fn pair(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The first `at` bytes and the remaining bytes, if enough bytes were captured.
fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), Other> {
    bytes.split_at_checked(at).ok_or(Other::Short)
}
