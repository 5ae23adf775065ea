//! Collective operations: rounds of messages among ranks, which are clients.
//!
//! An [`Algorithm`] says which messages are sent in each step of a round. [`Rounds`] requests them,
//! counts what has arrived, and begins the next step when the last message has arrived. Each
//! algorithm is part of a workload's file.

mod rounds;
#[cfg(test)]
mod tests;

use incast_engine::Span;

pub use rounds::Rounds;

/// A message from one rank to another. Ranks are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// The size of the message, bytes.
    pub bytes: u64,
}

/// The messages of a collective operation.
pub trait Algorithm: Send {
    /// Number of steps of a round, at least 1.
    fn steps(&self) -> u32;
    /// The messages of a step, at least one: at most one from each rank to each other rank.
    fn sends(&self, step: u32) -> Vec<Message>;
}

/// How often, and how evenly, a collective operation is done.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Number of rounds; `None` for rounds without end.
    pub rounds: Option<u32>,
    /// Every request is delayed by a random time up to this one.
    pub spread: Span,
}

/// The number of the flow from one rank to another, among the flows of `ranks` ranks. The flows of
/// each receiver are adjacent, in the order of their senders.
pub const fn flow_of(from: u32, to: u32, ranks: u32) -> u32 {
    to * (ranks - 1) + from - (from > to) as u32
}
