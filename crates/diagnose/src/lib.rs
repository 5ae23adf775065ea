//! What happened in a capture: its connections, their stalls by cause, episodes of incast, and what
//! resembles incast but is not. Reads captures; independent of the simulator.
//!
//! An [`Analysis`] takes packets in order of time and keeps only the state of open connections. A
//! place of capture is a vantage point (`point`); the same connection may be seen at several. Each
//! `connection` follows the bytes of both `flow`s, wherever the capture was taken: if a packet was
//! lost after the vantage point, its retransmission is seen as a repetition; if it was lost before,
//! the retransmission fills a hole.

mod analysis;
mod burst;
mod chain;
mod connection;
mod episode;
mod event;
mod flow;
mod hosts;
mod intake;
mod known;
mod load;
mod look_alikes;
mod losses;
mod numbering;
mod outage;
mod parameters;
mod point;
mod receiver;
mod report;
mod severity;
mod stall;
mod time;
mod trip;
mod vantage;
mod verdict;

pub use analysis::{Analysis, Options};
pub use report::Report;
pub use vantage::Vantage;
