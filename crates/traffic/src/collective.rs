//! Collective operations: rounds of messages among ranks, which are clients.
//!
//! An [`Algorithm`] says which messages are sent in each step of a round. [`Rounds`] requests these
//! messages, counts the messages that have arrived, and begins the next step when the last message
//! has arrived. A [`Collective`] is a workload. Each has a file in this folder, and a line in the
//! list below.

pub(crate) mod all_to_all;
mod operation;
mod rounds;
#[cfg(test)]
mod tests;

use incast_engine::Span;

pub use operation::{Collective, Members, Operation, Peak};
pub use rounds::Rounds;

/// Adds the list of collective operations to another list.
macro_rules! with_collectives {
    ($list:ident: $($rest:tt)*) => {
        $list! {
            collectives:
            "all-to-all" => AllToAll(all_to_all): "Rounds in which every client fetches a message from every other client; the next round begins when the last message has arrived.";
            $($rest)*
        }
    };
}
pub(crate) use with_collectives;

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
    /// The messages of a step. A step has at least one message, and at most one from each rank to
    /// each other rank.
    fn sends(&self, step: u32) -> Vec<Message>;
}

/// The number of rounds of a collective operation, and the random delay of its requests.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Number of rounds; `None` for rounds without end.
    pub rounds: Option<u32>,
    /// Maximum random delay of a request.
    pub spread: Span,
}

/// The number of the flow from one rank to another, among the flows of `ranks` ranks. The flows of
/// each receiver are adjacent, in the order of their senders.
pub const fn flow_of(from: u32, to: u32, ranks: u32) -> u32 {
    to * (ranks - 1) + from - (from > to) as u32
}
