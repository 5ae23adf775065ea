//! Buffers of a switch's output ports: a buffer per port, or a shared buffer.

mod accounting;
mod alpha;
mod pool;

use incast_engine::Limit;

pub use accounting::Accounting;
pub use alpha::Alpha;
pub use pool::{Pool, PoolConfig, PoolId};

use crate::packet::Packet;

/// The limit of one port: the size of its own buffer, or its limit in a shared [`Pool`].
///
/// The buffer holds waiting packets. A packet that arrives at an idle line is sent at once and does
/// not wait, so a port with a limit of n packets holds n + 1 packets. If the packet being sent
/// occupies buffer space, the port holds n packets.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The limit, in bytes or in packets.
    pub limit: Limit,
    /// Whether the packet being sent occupies the buffer. In ns-2, this packet counts towards
    /// `limit_`: with a limit of 32, 31 packets wait and one is being sent. Most switches free the
    /// space of a packet before they send it.
    pub counts_in_service: bool,
    /// The limit of trimmed headers at a port that trims. These headers have a limit of their own,
    /// so that a packet can be trimmed when the buffer is full.
    pub headers: Limit,
}

impl Buffer {
    /// A buffer with this limit, and with the same limit for trimmed headers.
    pub fn new(limit: Limit, counts_in_service: bool) -> Self {
        Self { limit, counts_in_service, headers: limit }
    }

    /// Whether two packets of any size fit, so that a packet can be admitted while another is being
    /// sent.
    pub fn holds_two(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => limit >= 2,
            Limit::Bytes(limit) => limit >= 2 * u64::from(Packet::MAX_SIZE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Load;

    const BUSY: Load = Load { packets: 2, bytes: 3000, in_service_bytes: 1500 };

    #[test]
    fn packets_are_counted_with_or_without_the_one_in_service() {
        let room = |limit, counts_in_service| {
            BUSY.has_room(Limit::Packets(limit), counts_in_service, 1500)
        };
        assert!(room(3, false) && !room(2, false));
        assert!(room(4, true) && !room(3, true));
    }

    #[test]
    fn bytes_may_fill_the_buffer_exactly() {
        let room =
            |limit, counts_in_service| BUSY.has_room(Limit::Bytes(limit), counts_in_service, 1500);
        assert!(room(4500, false) && !room(4499, false));
        assert!(room(6000, true) && !room(5999, true));
    }

    #[test]
    fn two_packets_fit_if_the_largest_two_do() {
        let holds_two = |limit| Buffer::new(limit, false).holds_two();
        assert!(holds_two(Limit::Packets(2)) && !holds_two(Limit::Packets(1)));
        let both = 2 * u64::from(Packet::MAX_SIZE);
        assert!(holds_two(Limit::Bytes(both)) && !holds_two(Limit::Bytes(both - 1)));
    }

    #[test]
    fn an_idle_link_needs_no_buffer() {
        let idle = Load::default();
        assert!(idle.has_room(Limit::Packets(0), false, 1500));
    }
}
