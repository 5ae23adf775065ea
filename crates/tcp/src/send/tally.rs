//! Sums over the marks of a scoreboard, kept as marks are set, so that no ACK looks at every segment.

use std::collections::VecDeque;

use incast_engine::Time;

use super::scoreboard::Marks;

/// Blocks of the last ACK that are remembered, so that the next one is only read where it differs.
pub(super) const SEEN: usize = 3;

/// Sums over the marks of a scoreboard.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Tally {
    /// Bytes that the receiver has beyond the cumulative ACK.
    pub(super) sacked: u64,
    /// Bytes taken for lost, and not selectively acknowledged since.
    pub(super) lost: u64,
    /// Bytes of which a copy is on its way.
    pub(super) resent: u64,
    /// Bytes taken for lost of which none is: a retransmission is due.
    pub(super) due: u64,
    pub(super) sacked_segments: u32,
    pub(super) lost_segments: u32,
    pub(super) resent_segments: u32,
    /// How often a segment was found lost.
    pub(super) losses: u64,
    /// No retransmission is due below.
    pub(super) due_from: u64,
    /// One past the highest byte selectively acknowledged.
    pub(super) highest: u64,
    /// Below, RFC 6675's `IsLost` was decided.
    pub(super) judged: u64,
    /// Below, every segment that was sent once is selectively acknowledged or lost.
    pub(super) settled: u64,
    /// Copies in the order in which they left: where, and when.
    pub(super) copies: VecDeque<(u64, Time)>,
    pub(super) seen: [(u64, u64); SEEN],
}

impl Tally {
    /// `len` bytes with these marks, and so many whole `segments`, are outstanding no more.
    #[inline(never)]
    pub(super) fn forget(&mut self, marks: Marks, len: u32, segments: u32) {
        let len = u64::from(len);
        if marks.has(Marks::SACKED) {
            self.sacked -= len;
            self.sacked_segments -= segments;
            return;
        }
        if marks.has(Marks::LOST) {
            self.lost -= len;
            self.lost_segments -= segments;
            if !marks.has(Marks::RESENT) {
                self.due -= len;
            }
        }
        if marks.has(Marks::RESENT) {
            self.resent -= len;
            self.resent_segments -= segments;
        }
    }
}
