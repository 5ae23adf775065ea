//! The phases of a recovery that uses selective acknowledgements.

/// The loss event that is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// None.
    Open,
    /// A loss.
    Recovery,
    /// A timeout (RFC 6675 §5.1): recovery cannot begin.
    Timeout,
}

/// The current phase, and the duplicate ACKs so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub phase: Phase,
    /// One past the highest sequence number sent when recovery began or the timer expired.
    pub until: u64,
    pub dupacks: u32,
}

impl Repair {
    pub const NONE: Self = Self { phase: Phase::Open, until: 0, dupacks: 0 };

    /// A loss was detected; `max` is one past the highest sequence number sent. Returns whether
    /// recovery begins.
    pub fn begin(&mut self, max: u64) -> bool {
        let begins = self.phase == Phase::Open;
        if begins {
            self.phase = Phase::Recovery;
            self.until = max;
        }
        begins
    }

    /// The retransmission timer has expired.
    pub fn await_timeout(&mut self, max: u64) {
        *self = Self { phase: Phase::Timeout, until: max, dupacks: 0 };
    }

    /// The repair is complete. Returns whether recovery ends.
    pub fn end(&mut self) -> bool {
        std::mem::replace(&mut self.phase, Phase::Open) == Phase::Recovery
    }

    #[inline]
    pub fn is_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    /// Whether there is no repair and no duplicate ACK.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.phase == Phase::Open && self.dupacks == 0
    }
}
