//! The hosts: the ends of flows, their deadlines, and the waits of blocks.
//!
//! The hosts are sans-IO, like TCP: the caller passes times and packets, and polls for packets and
//! events. Hosts use neither the event queue nor the topology. Their requests to the queue and the
//! network are collected in an outbox ([`Demand`]).

pub mod blueprint;
pub mod cause;
pub mod demand;
pub mod end;
mod ends;
pub mod event;
pub mod guest;
pub mod hosts;
pub mod ids;
pub mod kind;
pub mod milestone;
pub mod nic;
pub mod stalls;
pub mod state;
pub mod transport;

pub use blueprint::Blueprint;
pub use demand::Demand;
pub use end::End;
pub use event::Event;
pub use guest::Guest;
pub use hosts::Hosts;
pub use ids::{BlueprintId, EndId};
pub use kind::{Kind, Needs, Seat};
pub use nic::{Nic, NicSite};
pub use state::{Counters, State};
pub use transport::{Family, Opener, Tcp, Transport};

#[cfg(test)]
mod tests;
