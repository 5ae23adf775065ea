//! What stands at the end of a link: connections, their deadlines, what blocks wait for.
//!
//! Sans-IO, like TCP: hosts are told the time, given packets and polled. They know neither event
//! queue nor topology, and what they want of both they leave in an outbox ([`Demand`]).

pub mod blueprint;
pub mod cause;
pub mod demand;
pub mod guest;
pub mod hosts;
pub mod ids;
pub mod milestone;
pub mod stalls;
pub mod transport;

pub use blueprint::Blueprint;
pub use demand::Demand;
pub use guest::Guest;
pub use hosts::{End, Hosts};
pub use ids::{BlueprintId, EndId};
pub use transport::{Opener, Transport};
