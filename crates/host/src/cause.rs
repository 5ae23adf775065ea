//! The causes of timeouts.

use serde::Serialize;

/// Why a timer expired. The first cause that applies counts, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A SYN, SYN-ACK or request was lost.
    Handshake,
    /// The segment or its ACK is still in the network: the timer was premature.
    Spurious,
    /// The segment arrived, but all its ACKs were dropped.
    AckLoss,
    /// The segment was retransmitted, and the retransmission was dropped, too.
    LostRetransmission,
    /// Everything outstanding was dropped.
    FullWindow,
    /// Too few segments arrived after the lost one, and fewer than three follow it in its SRU.
    Tail,
    /// Too few segments arrived after the lost one, although three or more follow it in its SRU.
    LackOfDupacks,
}

impl Cause {
    /// The name in event rows.
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

/// The oracle's result for an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The cause.
    pub cause: Cause,
    /// Outstanding segments that were dropped and not yet repaired.
    pub lost_in_window: u32,
}
