//! The buffer space of a packet.

use crate::packets::Occupancy;

/// How a switch counts buffer space. A switch divides its memory into cells, and a packet occupies
/// whole cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accounting {
    /// Cell size in bytes. With a size of 1, exact bytes are counted.
    pub cell: u32,
    /// Additional bytes per packet, for descriptors and internal headers.
    pub packet_overhead: u32,
}

impl Accounting {
    /// Counts exact bytes, without cells and overhead.
    pub const EXACT: Self = Self { cell: 1, packet_overhead: 0 };

    /// The buffer space of a packet of `size` bytes.
    #[inline]
    pub fn space(self, size: u32) -> Occupancy {
        let bytes = u64::from(size) + u64::from(self.packet_overhead);
        // A division takes as long as ten other instructions.
        let is_exact = self.cell == 1;
        let bytes = if is_exact { bytes } else { bytes.next_multiple_of(u64::from(self.cell)) };
        Occupancy { packets: 1, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_occupies_whole_cells() {
        let bytes =
            |cell, packet_overhead, size| Accounting { cell, packet_overhead }.space(size).bytes;
        assert_eq!(Accounting::EXACT.space(64).bytes, 64);
        // A 64-byte ACK and a full packet with a common cell size.
        assert_eq!((bytes(208, 0, 64), bytes(208, 0, 1500)), (208, 1664));
        assert_eq!((bytes(208, 0, 208), bytes(208, 0, 209)), (208, 416));
        assert_eq!((bytes(208, 16, 192), bytes(208, 16, 193)), (208, 416));
        assert_eq!(bytes(1, 24, 40), 64);
    }
}
