//! Where a recovery by selective acknowledgements stands.

/// What is being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Open,
    /// A loss.
    Recovery,
    /// A timeout (RFC 6675 §5.1): no recovery begins.
    Timeout,
}

/// The repair, and the duplicate ACKs that may begin one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub phase: Phase,
    /// One past the highest sequence number sent when recovery began or the timer expired.
    pub until: u64,
    pub dupacks: u32,
}

impl Repair {
    pub const NONE: Self = Self { phase: Phase::Open, until: 0, dupacks: 0 };

    /// A loss was found, and `max` is one past the highest sequence number sent. Whether a recovery
    /// begins.
    pub fn begin(&mut self, max: u64) -> bool {
        let begins = self.phase == Phase::Open;
        if begins {
            self.phase = Phase::Recovery;
            self.until = max;
        }
        begins
    }

    /// The timer has expired.
    pub fn await_timeout(&mut self, max: u64) {
        *self = Self { phase: Phase::Timeout, until: max, dupacks: 0 };
    }

    /// Nothing is left to repair. Whether that ends a recovery.
    pub fn end(&mut self) -> bool {
        std::mem::replace(&mut self.phase, Phase::Open) == Phase::Recovery
    }

    #[inline]
    pub fn is_recovery(&self) -> bool {
        self.phase == Phase::Recovery
    }

    /// Whether nothing is repaired, and no duplicate ACK has come.
    #[inline]
    pub fn is_calm(&self) -> bool {
        self.phase == Phase::Open && self.dupacks == 0
    }
}
