//! Packet captures: reads and writes files of packets with timestamps. This crate is independent of
//! the simulator.
//!
//! `read` reads capture files, `write` writes them, and `wire` has the byte layout of frames.

pub mod read;
pub mod wire;
pub mod write;
