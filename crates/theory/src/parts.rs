//! Windows in fractions of a segment.

/// A window or another number of segments. A unit is one segment divided by [`SEGMENT`].
pub type Parts = u64;

/// Units per segment.
pub const SEGMENT: Parts = 1 << BITS;
pub(crate) const BITS: u32 = 16;

/// Converts segments to units.
pub fn parts(segments: f64) -> Parts {
    (segments * SEGMENT as f64) as Parts
}
