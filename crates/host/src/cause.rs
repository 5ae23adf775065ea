//! The causes of timeouts.

use serde::Serialize;

/// Why a timer expired; the first that matches, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A SYN, SYN-ACK or request was lost.
    Handshake,
    /// The segment or its ACK is still on the way: the timer was premature.
    Spurious,
    /// The segment arrived, but all its ACKs were dropped.
    AckLoss,
    /// The segment was sent again, and the copy was dropped too.
    LostRetransmission,
    /// Everything outstanding was dropped.
    FullWindow,
    /// Too few segments arrived behind the lost one; fewer than three follow it in its SRU.
    Tail,
    /// Too few segments arrived behind the lost one, although three or more follow it in its SRU.
    LackOfDupacks,
}

impl Cause {
    /// As written in event rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Spurious => "spurious",
            Self::AckLoss => "ack_loss",
            Self::LostRetransmission => "lost_retransmission",
            Self::FullWindow => "full_window",
            Self::Tail => "tail",
            Self::LackOfDupacks => "lack_of_dupacks",
        }
    }
}

/// What the oracle says of an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Why.
    pub cause: Cause,
    /// Segments of the outstanding window that were dropped and not yet repaired.
    pub lost_in_window: u32,
}
