//! Packets on their way to the client.

/// A moment or a span, in ticks; integers, so that packets that meet every packet time meet in the
/// same instant.
pub type Ticks = u64;

/// What never comes.
pub const NEVER: Ticks = Ticks::MAX;

/// Ticks of a packet time.
pub const PACKET: Ticks = 1 << 20;

/// A time in packet times as ticks.
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
    /// When it was sent; never, if it had been sent before.
    pub sent: Ticks,
    /// Number of the segment.
    pub segment: u32,
    /// The server that sent it.
    pub who: u32,
    /// What it is.
    pub kind: Kind,
}
