//! Simulated time, the event queue, named random streams, quantities with units, and the base of
//! the registries.
//!
//! This crate is independent of networks.

pub mod cell;
pub mod event_queue;
pub mod quantity;
pub mod random;
pub mod registry;
pub mod time;

pub use cell::Cell;
pub use event_queue::EventQueue;
pub use quantity::{Limit, Name, OrName, QuantityError, Rate, Size, Window};
pub use random::Stream;
pub use registry::{Elsewhere, Entry, Fault, Foreign, Here, Parameters};
pub use time::{Span, Time};
