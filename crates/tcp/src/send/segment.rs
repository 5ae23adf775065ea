//! A sent segment, and its state.

use incast_engine::Time;

/// The state of an outstanding segment: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub(super) u8);

impl Marks {
    /// The receiver has it (RFC 2018).
    pub const SACKED: Self = Self(1);
    /// It counts as lost.
    pub const LOST: Self = Self(1 << 1);
    /// A copy of it is in flight.
    pub const RESENT: Self = Self(1 << 2);

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it includes any of `other`.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A segment that was sent at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// How often it was sent.
    pub transmissions: u16,
    /// Its state.
    pub marks: Marks,
    /// When it was sent last.
    pub sent_at: Time,
}

impl Sent {
    /// A copy of it is sent.
    pub(super) fn note_copy(&mut self, now: Time) {
        self.transmissions = self.transmissions.saturating_add(1);
        self.sent_at = now;
    }

    /// One past its last byte.
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }
}
