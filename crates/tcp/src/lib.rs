//! One TCP connection, without input or output of its own (sans-IO).
//!
//! A [`Connection`] uses no event queue and no topology. A connection has four kinds of methods:
//! inputs from the network and the clock (`handle_*`), calls of the application (`open`, `write`,
//! `close`, …), outputs (`poll_*`), and getters. Only `poll_transmit` emits packets.
//!
//! Only [`congestion`] writes cwnd and ssthresh. [`recovery`] decides which segments are lost and
//! how much may be sent during their repair. [`hooks`] return advice and never change the
//! connection.

pub mod config;
pub mod congestion;
pub mod connection;
pub mod hooks;
pub mod recovery;
pub mod recv;
pub mod send;
pub mod wheel;

pub use config::Config;
pub use connection::{Connection, Event, Role, TimeoutKind, TimeoutReport};
pub use hooks::{Advice, ReceiverHook, SenderHook};
