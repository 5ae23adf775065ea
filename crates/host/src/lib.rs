//! The hosts: connections, their deadlines, and the waits of blocks.
//!
//! The hosts are sans-IO, like TCP: the caller passes times and packets, and polls for packets and
//! events. Hosts use neither the event queue nor the topology. Their requests to the queue and the
//! network are collected in an outbox ([`Demand`]).

pub mod blueprint;
pub mod cause;
pub mod demand;
pub mod ends;
pub mod guest;
pub mod hosts;
pub mod ids;
pub mod milestone;
pub mod stalls;
pub mod transport;

pub use blueprint::Blueprint;
pub use demand::Demand;
pub use ends::End;
pub use guest::Guest;
pub use hosts::Hosts;
pub use ids::{BlueprintId, EndId};
pub use transport::{Opener, Transport};

#[cfg(test)]
mod tests;
