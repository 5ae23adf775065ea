//! The common interface of remedies.

use std::fmt;

use incast_engine::{Fault, Limit, Rate, Span, Stream};
use incast_tcp::Config;
use incast_tcp::hooks::{ReceiverHook, SenderHook};

use crate::requirement::{QueueRequirement, Requirement};
use crate::schedule::{ClientPlace, RequestScheduler};

/// A part of the stack that only one remedy can own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// The congestion window.
    CongestionControl,
    /// Loss detection and retransmission.
    LossRecovery,
    /// The computation of the retransmission timeout.
    Timer,
    /// The size of segments.
    Segments,
    /// The size of headers.
    Headers,
    /// The window that the receiver advertises.
    ReceiveWindow,
    /// The departure times of ACKs.
    Acks,
    /// The order and times of the client's requests.
    Schedule,
    /// The discipline of the switch's queue.
    Queue,
    /// The size of the switch's buffer.
    Buffer,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CongestionControl => "the congestion window",
            Self::LossRecovery => "loss recovery",
            Self::Timer => "the retransmission timer",
            Self::Segments => "the size of segments",
            Self::Headers => "the size of headers",
            Self::ReceiveWindow => "the advertised window",
            Self::Acks => "the time of ACKs",
            Self::Schedule => "the order of requests",
            Self::Queue => "the switch's queue",
            Self::Buffer => "the switch's buffer",
        })
    }
}

/// The properties of the scenario that remedies may use.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Number of servers of one block.
    pub servers: u32,
    /// Bytes that the first server sends per block. Each other server sends the same number of
    /// bytes, or one byte less.
    pub sru: u64,
    /// Rate of a sender's link.
    pub sender_rate: Rate,
    /// Rate of the client's link.
    pub client_rate: Rate,
    /// Buffer of the switch's port to the client.
    pub buffer: Limit,
    /// Round trip of one full packet and its ACK on an idle network, serialisation included.
    pub base_rtt: Span,
}

/// One end of a new connection.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The configuration of both ends.
    pub config: &'a Config,
    /// The server's number, from 0.
    pub server: u32,
    /// The hook's random stream.
    pub random: Stream,
}

/// A column that a remedy adds to the rows of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// `<entry>.<name>`.
    pub name: &'static str,
    /// Unit; "1" for ratios and counts.
    pub unit: &'static str,
    /// Meaning.
    pub description: &'static str,
}

/// Counts of a group of connections after the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Timeouts that occurred because too few segments arrived after the lost segment to trigger a
    /// fast retransmit.
    pub timeouts_lack_of_dupacks: u64,
}

/// A remedy with its parameters.
pub trait Remedy {
    /// The slots that the remedy owns.
    fn slots(&self) -> &'static [Slot] {
        &[]
    }

    /// The values that the remedy requires of parameters of the transport. A scenario that gives
    /// another value is refused.
    fn requires(&self) -> Vec<Requirement> {
        Vec::new()
    }

    /// The queue discipline that the remedy needs.
    fn queue(&self) -> Option<QueueRequirement> {
        None
    }

    /// Checks that the remedy works with a buffer of this kind.
    ///
    /// # Errors
    /// A message that names the buffer that the remedy needs.
    fn accepts_buffer(&self, limit: Limit) -> Result<(), String> {
        let _ = limit;
        Ok(())
    }

    /// Columns that the remedy adds to the rows.
    fn measures(&self) -> &'static [Measure] {
        &[]
    }

    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// The problem with this parameter.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Installs the remedy for the connections of one client.
    fn install(&self, situation: &Situation) -> Box<dyn Installation>;
}

/// A remedy installed for the connections of one client.
pub trait Installation: Send {
    /// The values of [`Remedy::measures`], in their order; `None` for a missing value.
    fn measure(&self, outcome: &Outcome) -> Vec<Option<f64>> {
        let _ = outcome;
        Vec::new()
    }

    /// The remedy's hook in the sender of a new connection.
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let _ = place;
        None
    }

    /// The remedy's hook in the receiver of a new connection.
    fn receiver(&mut self, place: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        let _ = place;
        None
    }

    /// The remedy's scheduler in the client. With `None`, the client sends each request as soon as
    /// the application wants the server's part.
    fn scheduler(&mut self, client: ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        let _ = client;
        None
    }
}

/// The installation of a remedy that has neither hooks nor a scheduler.
pub(crate) struct Data;

impl Installation for Data {}
