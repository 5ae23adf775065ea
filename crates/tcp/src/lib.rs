//! One TCP connection, sans-IO.
//!
//! A [`Connection`] knows no event queue and no topology. It has four kinds of method:
//! what the network and the clock tell it (`handle_*`), what the application asks (`open`,
//! `write`, `close`, …), what it wants to do (`poll_*`), and getters. `poll_transmit` is the only
//! place that emits a packet.
//!
//! [`congestion`] alone owns cwnd and ssthresh; [`recovery`] decides what is lost and how much may
//! be sent meanwhile; [`hooks`] give advice and never touch the connection.

pub mod config;
pub mod congestion;
pub mod connection;
pub mod hooks;
pub mod recovery;
pub mod recv;
pub mod send;

pub use config::Config;
pub use connection::{Connection, Event, Role, TimeoutKind, TimeoutReport};
pub use hooks::{Advice, ReceiverHook, SenderHook};
