//! Stalls: times in which no packet of a block arrives at the client, and their causes.
//!
//! Only packets of the block count; packets of other flows on the same link neither begin nor end a
//! wait (`hosts/serve.rs`).
//!
//! The cause of a stall is the [`Trigger`] of the packet that ended it. This trigger is the last
//! event that made a host send without the arrival of a packet; only events since the client last
//! received data count. A timer for repairs or probes can always be the cause. A delay by a host
//! (pacer, delayed ACK, application) can be the cause only if it is at least half as long as the
//! shortest stall.

use incast_engine::Span;
use incast_net::Trigger;

/// A wait is a stall if it is longer than this number of base round trips.
pub const ROUND_TRIPS: u64 = 10;

/// The cause of a stall: the trigger of the packet that ended the stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StallCause {
    /// A retransmission timer of data.
    Timeout,
    /// The timer of a tail loss probe, another timer of loss recovery, or a remedy's timer.
    TailProbe,
    /// The timer of a SYN, SYN-ACK or request.
    Handshake,
    /// The sender's host had delayed data.
    Pacer,
    /// A probe of a closed window.
    Persist,
    /// The receiver's host had delayed an ACK.
    DelayedAck,
    /// An application's timer.
    Application,
    /// None of the other causes: the packet was in the network during the stall, and no host had
    /// delayed it for long.
    Network,
}

impl StallCause {
    /// All causes.
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::TailProbe,
        Self::Handshake,
        Self::Pacer,
        Self::Persist,
        Self::DelayedAck,
        Self::Application,
        Self::Network,
    ];

    /// The name in event rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::TailProbe => "tail_probe",
            Self::Handshake => "handshake",
            Self::Pacer => "pacer",
            Self::Persist => "persist",
            Self::DelayedAck => "delayed_ack",
            Self::Application => "application",
            Self::Network => "network",
        }
    }
}

impl From<Trigger> for StallCause {
    fn from(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Arrival => Self::Network,
            Trigger::Timeout => Self::Timeout,
            Trigger::TailProbe => Self::TailProbe,
            Trigger::Handshake => Self::Handshake,
            Trigger::Pacer => Self::Pacer,
            Trigger::Persist => Self::Persist,
            Trigger::DelayedAck => Self::DelayedAck,
            Trigger::Application => Self::Application,
        }
    }
}

/// The stalls of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    by_cause: [u64; StallCause::ALL.len()],
    /// The longest stall.
    pub longest: Option<Span>,
}

impl StallCounts {
    /// Adds a stall.
    pub fn add(&mut self, cause: StallCause, wait: Span) {
        self.by_cause[cause as usize] += 1;
        self.longest = self.longest.max(Some(wait));
    }

    /// The counts of `self` and `others`, added up.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        for (count, other) in self.by_cause.iter_mut().zip(others.by_cause) {
            *count += other;
        }
        self.longest = self.longest.max(others.longest);
        self
    }

    /// Number of stalls with this cause.
    pub fn of(&self, cause: StallCause) -> u64 {
        self.by_cause[cause as usize]
    }

    /// Number of stalls.
    pub fn total(&self) -> u64 {
        self.by_cause.iter().sum()
    }
}

/// A stall that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The flow of the packet that ended the stall.
    pub flow: u32,
    /// The duration of the stall.
    pub wait: Span,
    /// The cause of the stall.
    pub cause: StallCause,
}
