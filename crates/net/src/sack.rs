//! The SACK option of a packet (RFC 2018). The option is small enough to be stored in the packet
//! itself.

/// Number of blocks that fit beside the timestamps option (RFC 2018 §3).
const BLOCKS: usize = 3;

/// A range of sequence numbers, relative to the packet's acknowledgement number. A block that
/// reports a duplicate (RFC 2883) is below this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    start: i32,
    /// Length in bytes; 0 if there is no block.
    len: u32,
}

/// Up to three ranges that the receiver has, the most recent first. A range that begins 2 GiB or
/// more from the acknowledgement number cannot be represented, and is omitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks([Block; BLOCKS]);

impl SackBlocks {
    /// No option.
    pub const NONE: Self = Self([Block { start: 0, len: 0 }; BLOCKS]);

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0[0].len == 0
    }

    /// Whether there is no room for another block.
    pub const fn is_full(&self) -> bool {
        self.0[BLOCKS - 1].len != 0
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|block| block.len > 0).count()
    }

    /// Adds the range from `start` to `end`, if it fits. The packet acknowledges `ack`.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let offset = i32::try_from(start.cast_signed().wrapping_sub(ack.cast_signed()));
        let len = u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX);
        if let Some(free) = self.0.iter_mut().find(|block| block.len == 0)
            && let Ok(start) = offset
        {
            *free = Block { start, len };
        }
    }

    /// The ranges of a packet that acknowledges `ack`. Each range is its first sequence number, and
    /// one past its last.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        self.0.into_iter().take_while(|block| block.len > 0).map(move |block| {
            let start = ack.saturating_add_signed(block.start.into());
            (start, start + u64::from(block.len))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_in_order_and_relative_to_the_acknowledgement() {
        let mut blocks = SackBlocks::NONE;
        assert!(blocks.is_empty());
        for (start, end) in [(1, 101), (5001, 6001), (3001, 4001), (8001, 9001)] {
            blocks.push(1001, start, end);
        }
        assert!(blocks.is_full());
        let ranges: Vec<_> = blocks.ranges(1001).collect();
        assert_eq!(ranges, [(1, 101), (5001, 6001), (3001, 4001)]);
    }

    #[test]
    fn what_is_too_far_away_is_left_out() {
        let mut blocks = SackBlocks::NONE;
        blocks.push(1, 1 << 40, (1 << 40) + 5);
        assert!(blocks.is_empty());
        blocks.push(1 << 40, (1 << 40) + 5, (1 << 40) + 6);
        assert_eq!(blocks.ranges(1 << 40).count(), 1);
    }
}
