//! Labels of packets, a bit each: who sets which.

/// A copy sent by probabilistic retransmission.
pub const RANDOM_COPY: u8 = 1 << 1;
