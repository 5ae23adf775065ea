//! The causes of timeouts.

use serde::Serialize;

/// The cause of a timer's expiry. If several causes apply, the first one in this order counts.
///
/// `incast-diagnose` judges the same causes from a capture. It has a type of its own, because it
/// must work without the simulator. A test in `tests/internal` compares the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A SYN, SYN-ACK or request was lost.
    Handshake,
    /// The timer was premature, because the segment or its ACK is still in the network.
    Spurious,
    /// The segment arrived, but all its ACKs were dropped.
    AckLoss,
    /// The segment was retransmitted, and the retransmission was dropped, too.
    LostRetransmission,
    /// All outstanding segments were dropped.
    FullWindow,
    /// Too few segments arrived after the lost segment for a fast retransmit, and fewer than three
    /// segments follow it in its SRU.
    Tail,
    /// Too few segments arrived after the lost segment for a fast retransmit, although three or
    /// more segments follow it in its SRU.
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
    /// Number of outstanding segments that were dropped and have not been repaired yet.
    pub lost_in_window: u32,
}
