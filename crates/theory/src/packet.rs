//! Packets from the servers to the client.

/// A time or a span, in ticks. It is an integer, so that sums of packet times are exact, and ties
/// are exact, too.
pub type Ticks = u64;

/// A time after all events.
pub const NEVER: Ticks = Ticks::MAX;

/// Ticks per packet time.
pub const PACKET: Ticks = 1 << 20;

/// Converts packet times to ticks.
pub fn ticks(times: f64) -> Ticks {
    (times * PACKET as f64).round() as Ticks
}

/// The three kinds of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A full segment.
    #[default]
    Full,
    /// The last segment of an SRU.
    Last,
    /// A SYN-ACK.
    Bare,
}

/// A packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// When the packet was sent; [`NEVER`] for a retransmission.
    pub sent: Ticks,
    /// Number of the segment.
    pub segment: u32,
    /// The server that sent the packet.
    pub who: u32,
    /// The kind of the packet.
    pub kind: Kind,
}
