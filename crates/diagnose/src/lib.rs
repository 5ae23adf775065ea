//! Diagnosis of a capture: its connections, their stalls with causes, episodes of incast, and
//! phenomena that resemble incast. This crate reads captures, and is independent of the simulator.
//!
//! An [`Analysis`] takes packets in order of time and keeps only the state of open connections. A
//! place of capture is a vantage point (`point`). The capture may show the same connection at
//! several points. Each `connection` follows the bytes of its two `flow`s, wherever the capture was
//! taken. If a packet was lost after the vantage point, its retransmission is seen as a repetition.
//! If a packet was lost before the vantage point, its retransmission fills a hole.

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
