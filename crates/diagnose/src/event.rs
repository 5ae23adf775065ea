//! The events that a connection reports while its packets are read.

use crate::stall::{Place, Stall};
use crate::time::{Span, Time};

/// Why a flow did not continue, although nothing was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The sender's application had nothing to send, before the first byte of an answer.
    FirstByte,
    /// It had nothing to send in the middle of one.
    Middle,
    /// The receiver did not read: its window let no segment through.
    Paused,
    /// And did not until the capture ended.
    StillPaused,
    /// The receiver held its ACK.
    DelayedAck,
}

/// How a flow went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// With new bytes.
    New,
    /// With bytes that had been sent, or were missing.
    Again,
    /// With bytes that the other end had acknowledged: its ACKs were lost.
    Acknowledged,
}

/// A wait without a loss.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub reason: Reason,
    pub start: Time,
    pub end: Time,
    pub before: Place,
    pub after: Place,
    /// The share of it in which the receiver's link was idle.
    pub idle: f64,
}

impl Wait {
    /// How long it was.
    pub fn length(&self) -> Span {
        self.end - self.start
    }
}

/// Bytes in one direction, up to the next in the other: a request or its answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message {
    /// When it was requested, or its first byte if there was no request.
    pub start: Time,
    /// Its first and last byte.
    pub first: Time,
    pub last: Time,
    pub bytes: i64,
    /// The number of its first byte in the flow.
    pub first_byte: i64,
    /// Its packets, and those of them that were sent again.
    pub packets: u32,
    pub again: u32,
}

/// What has happened; `side` is the number of the end that sends.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message that was asked for at `start` begins with the packet at `first`; `opens` if its sender
    /// has opened the connection for it.
    Begun { side: usize, start: Time, first: Time, opens: bool },
    /// A message has ended.
    Ended { side: usize, message: Message },
    /// The first data after a long silence of its flow, whose last data was at `last`; `asks` says
    /// that it is a request.
    Resumed { side: usize, last: Time, how: Resumed, asks: bool },
    /// A request was sent again, whose first bytes had been sent at `asked`.
    AskedAgain { side: usize, asked: Time, at: Time },
    /// Bytes came again that had been acknowledged; `first` if a silence was before them, so that no
    /// other loss is repaired.
    InVain { side: usize, first: bool },
    /// Full segments do not get through, although smaller ones do; `certain` if they were seen to be
    /// sent again and again.
    BlackHole { side: usize, certain: bool, places: (Place, Place) },
    /// Data was waited for.
    Stalled { side: usize, stall: Stall },
    /// Nothing was lost, and yet the flow waited.
    Waited { side: usize, wait: Wait },
    /// Packets were lost; how many is a guess. `at_once` if the next packet of the flow came as soon
    /// as its queue let it.
    Lost { side: usize, packets: u32, at_once: bool },
    /// A packet that was taken for lost has come late instead.
    Reordered { side: usize },
    /// Bytes were acknowledged that the capture does not have.
    Unseen { side: usize, bytes: i64 },
    /// A round of packets has ended; `full` if it ended where the window does.
    Round { side: usize, full: bool },
    /// New data was acknowledged; `full` if the window before it was used up. `bytes` is 0 if they
    /// need not have come one after the other.
    Acked { side: usize, full: bool, bytes: i64, step: i64, at: Time },
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
