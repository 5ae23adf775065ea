//! Packets that were lost before the vantage point and left no hole, so that only the
//! identifications of IP packets show them.

/// The number of hidden packets.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Number of hidden packets since the ACK number last increased.
    count: u32,
    /// Number of packets that are missing before a retransmitted packet. Some of the missing
    /// packets may have been new.
    early: u32,
}

impl Hidden {
    /// Adds this number of packets.
    pub fn add(&mut self, packets: u32) {
        self.count += packets;
    }

    /// Adds packets that are missing before a retransmitted packet.
    pub fn add_early(&mut self, packets: u32) {
        self.early += packets;
    }

    /// When new bytes come: returns the number of packets that are missing before a retransmitted
    /// packet, and sets this number to zero.
    pub fn take_early(&mut self) -> u32 {
        std::mem::take(&mut self.early)
    }

    /// Number of packets that are missing before a retransmitted packet.
    pub fn early(&self) -> u32 {
        self.early
    }

    /// Number of hidden packets since the ACK number last increased.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Starts the count again, because the ACK number increases.
    pub fn reset(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_ones_count_until_new_bytes_come_and_others_until_the_ack_moves() {
        let mut hidden = Hidden::default();
        hidden.add(2);
        hidden.add(3);
        hidden.add_early(4);
        hidden.add_early(5);
        assert_eq!((hidden.count(), hidden.early()), (5, 9));
        hidden.reset();
        assert_eq!((hidden.count(), hidden.early()), (0, 9));
        assert_eq!((hidden.take_early(), hidden.early(), hidden.take_early()), (9, 0, 0));
    }
}
