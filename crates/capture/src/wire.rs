//! The bytes of frames: Ethernet, IPv4, TCP and UDP.

mod checksum;
mod segment;

pub use checksum::Sum;
pub use segment::{Endpoint, Options, Segment, flag, write_datagram, write_segment};

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = 14;
/// Bytes of an IPv4 header without options.
pub const IPV4: usize = 20;
/// Bytes of a TCP header without options.
pub const TCP: usize = 20;
/// Bytes of a UDP header.
pub const UDP: usize = 8;
