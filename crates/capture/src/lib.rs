//! Packet captures: files of packets with their times, written and read. Knows packets and time,
//! and no simulator.
//!
//! `read` is for files that come in, `write` for files that go out, `wire` for the bytes of frames.

pub mod read;
pub mod wire;
pub mod write;
