//! Windows count in parts of a segment.

/// A window or another number of segments, in parts of a segment of which this is one.
pub type Parts = u64;

/// Parts of a segment.
pub const SEGMENT: Parts = 1 << BITS;
pub(crate) const BITS: u32 = 16;

/// Segments as parts.
pub fn parts(segments: f64) -> Parts {
    (segments * SEGMENT as f64) as Parts
}
