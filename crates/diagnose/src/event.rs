//! The events that a connection reports while its packets are read.

use crate::stall::{Place, Stall, Wait};
use crate::time::Time;

/// The kind of bytes with which a flow continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// The flow continued with new bytes.
    New,
    /// The flow continued with bytes that had been sent before, or were missing.
    Again,
    /// The flow continued with bytes that the other end had acknowledged, because the ACKs were
    /// lost.
    Acknowledged,
}

/// Bytes in one direction, up to the next bytes in the other direction: a request or its answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message {
    /// Time of the request, or of the first byte if there was no request.
    pub start: Time,
    /// Times of the first byte and of the last byte.
    pub first: Time,
    pub last: Time,
    pub bytes: i64,
    /// The position of the message's first byte in the flow.
    pub first_byte: i64,
    /// Number of the message's packets, and number of these packets that were sent again.
    pub packets: u32,
    pub again: u32,
}

/// An ACK of new data.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Whether the window was used up before the ACK.
    pub full: bool,
    /// Number of bytes that have arrived, or 0 if the ACK may end a repair, so that the data may
    /// have arrived with pauses in between.
    pub bytes: i64,
    /// Number of acknowledged bytes.
    pub step: i64,
    pub at: Time,
}

/// An event; `side` is the number of the end that sends.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message that was requested at `start` begins with the packet at `first`. `opens` is true
    /// if the sender has opened the connection for this message.
    Begun { side: usize, start: Time, first: Time, opens: bool },
    /// A message has ended.
    Ended { side: usize, message: Message },
    /// The first data after a long silence of a flow. The data before the silence came at `last`.
    /// `asks` is true if the first data are a request.
    Resumed { side: usize, last: Time, how: Resumed, asks: bool },
    /// A request was sent again at `at`. Its first bytes had first been sent at `asked`. If the
    /// request had been sent again before, and no packet answered it since, `in_vain` is the time
    /// of that packet.
    AskedAgain { side: usize, asked: Time, at: Time, in_vain: Option<Time> },
    /// Bytes that had been acknowledged came again. `first` is true if they came after a silence,
    /// so that they do not belong to another repair.
    InVain { side: usize, first: bool },
    /// Full segments do not get through, although smaller segments do. `certain` is true if the
    /// capture shows that full segments were sent repeatedly.
    BlackHole { side: usize, certain: bool, places: (Place, Place) },
    /// The flow waited for a retransmission.
    Stalled { side: usize, stall: Stall },
    /// The flow waited, although nothing was lost.
    Waited { side: usize, wait: Wait },
    /// Packets were lost; their number is an estimate. `at_once` is true if the next packet of the
    /// flow came without a pause.
    Lost { side: usize, packets: u32, at_once: bool },
    /// A packet that was taken for lost has come late.
    Reordered { side: usize },
    /// Bytes were acknowledged that the capture does not contain.
    Unseen { side: usize, bytes: i64 },
    /// A round of packets has ended. `full` is true if the round ended at the edge of the window.
    Round { side: usize, full: bool },
    /// New data were acknowledged.
    Acked { side: usize, acked: Acked },
}

impl Event {
    /// The end that sends.
    pub fn side(&self) -> usize {
        match self {
            Self::Begun { side, .. }
            | Self::Ended { side, .. }
            | Self::Resumed { side, .. }
            | Self::AskedAgain { side, .. }
            | Self::InVain { side, .. }
            | Self::BlackHole { side, .. }
            | Self::Stalled { side, .. }
            | Self::Waited { side, .. }
            | Self::Lost { side, .. }
            | Self::Reordered { side }
            | Self::Unseen { side, .. }
            | Self::Acked { side, .. }
            | Self::Round { side, .. } => *side,
        }
    }
}
