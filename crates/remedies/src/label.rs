//! Labels of packets, one bit each. `incast_tcp::hooks::ANSWER` is a further bit of the same field.

/// A packet that the switch should admit (PLATO). `label-threshold` checks this bit.
pub const PRIORITY: u16 = 1;

/// A copy sent by probabilistic retransmission.
pub const RANDOM_COPY: u16 = 1 << 1;

/// PLATO's heartbeat: a segment that the receiver acknowledges with the same label, or the ACK of
/// such a segment.
pub const HEARTBEAT: u16 = 1 << 2;

/// PLATO's dummy, or the answer to it.
pub const DUMMY: u16 = 1 << 3;

/// Distinguishes the dummies of successive stalls (PLATO).
pub const TURN: u16 = 1 << 4;

/// One of the last three segments of a sender's data (RAPID).
pub const LAST: u16 = 1 << 5;

/// The end of a stream without FIN (`ICaT`), or the answer to it.
pub const END: u16 = 1 << 6;
