//! The phases of a recovery that uses selective acknowledgements.

/// The loss event that is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss is being repaired.
    Open,
    /// A loss is being repaired.
    Recovery,
    /// A timeout is being repaired, so recovery cannot begin (RFC 6675 §5.1).
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

    /// Handles a detected loss. `max` is one past the highest sequence number sent. Returns whether
    /// recovery begins.
    pub fn begin(&mut self, max: u64) -> bool {
        let begins = self.phase == Phase::Open;
        if begins {
            self.phase = Phase::Recovery;
            self.until = max;
        }
        begins
    }

    /// Begins the repair of a timeout.
    pub fn await_timeout(&mut self, max: u64) {
        *self = Self { phase: Phase::Timeout, until: max, dupacks: 0 };
    }

    /// Ends the repair. Returns whether this repair was a recovery.
    pub fn end(&mut self) -> bool {
        std::mem::replace(&mut self.phase, Phase::Open) == Phase::Recovery
    }

    #[inline]
    pub fn is_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    /// Whether no loss is being repaired and no duplicate ACK has arrived.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.phase == Phase::Open && self.dupacks == 0
    }
}
