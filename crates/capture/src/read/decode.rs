//! Decodes a frame to a TCP packet, layer by layer, also inside tunnels.

mod ethernet;
mod gre;
mod ip;
mod link;
mod mpls;
mod ppp;
mod tcp;
mod udp;

use super::{Kind, Packet, Tunnel};

/// Tunnels in tunnels that are followed.
const DEEPEST: u8 = 4;

/// Why a frame is no packet for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Something else than TCP.
    Kind(Kind),
    /// Cut before the end of the TCP header's fixed part, by the capture's length of frames.
    Short,
    /// A later part of a fragmented packet: it has no TCP header.
    Fragment,
    /// Lengths that contradict each other.
    Malformed,
}

/// What comes next in a frame, and its bytes. Every step from one to the next consumes some, so that
/// the length of the frame bounds their number.
enum Layer<'a> {
    Ethernet(&'a [u8]),
    /// What an ethertype names.
    Ethertype(u16, &'a [u8]),
    /// From the protocol field on.
    Ppp(&'a [u8]),
    Pppoe(&'a [u8]),
    Mpls(&'a [u8]),
    Ip(&'a [u8]),
}

/// What has been passed on the way.
#[derive(Default)]
struct Way {
    tunnel: Option<Tunnel>,
    /// Tunnels so far.
    depth: u8,
    /// The packet around this one was marked, and the end of the tunnel will say so in this one
    /// (RFC 6040 §4.2).
    marked: bool,
}

impl Way {
    /// Labels, a session or a second tag of the link; what is carried in a tunnel is named by that.
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

/// The TCP packet in a frame, of which `length` bytes were on the wire.
#[inline]
pub fn packet(link: u32, frame: &[u8], length: u32) -> Result<Packet, Other> {
    // Beyond those that were captured.
    let missing = length.saturating_sub(frame.len() as u32);
    let mut way = Way::default();
    let mut bytes = match link::first(link, frame)? {
        Layer::Ip(bytes) => bytes,
        layer => ip_in(layer, &mut way)?,
    };
    loop {
        let header = ip::header(bytes, missing, way.marked)?;
        if header.next == ip::TCP {
            return tcp::packet(&header, way.tunnel);
        }
        way.marked = header.marked;
        bytes = ip_in(tunnel(header.next, header.payload, &mut way)?, &mut way)?;
    }
}

/// The next IP packet.
fn ip_in<'a>(mut layer: Layer<'a>, way: &mut Way) -> Result<&'a [u8], Other> {
    loop {
        layer = match layer {
            Layer::Ethernet(bytes) => ethernet::inside(bytes)?,
            Layer::Ethertype(kind, bytes) => {
                if ethernet::is_tag(kind) {
                    way.pass(Tunnel::QinQ); // the first one has been passed with the addresses
                }
                ethernet::named(kind, bytes)?
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

/// What a protocol of IP that is not TCP carries.
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

/// The first bytes and the rest, if enough were captured.
fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), Other> {
    bytes.split_at_checked(at).ok_or(Other::Short)
}
