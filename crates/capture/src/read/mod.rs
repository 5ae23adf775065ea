//! Reads capture files.
//!
//! A [`Merge`] reads several files as one stream of TCP packets in order of time. A [`File`] is one
//! of these files: pcap or pcapng, plain, gzip or zstd. Input is not trusted. If a file claims a
//! length, memory for that length is reserved only as the bytes arrive.

mod buffer;
mod count;
mod decode;
mod file;
mod kind;
mod merge;
mod packet;
mod pcap;
mod pcapng;
mod pump;
mod record;
mod source;
mod tally;
mod tunnel;

pub use count::Count;
pub use file::{End, File, OpenError};
pub use kind::Kind;
pub use merge::Merge;
pub use packet::{Address, Endpoint, Options, Packet, Timestamps, flags};
pub use tally::Tally;
pub use tunnel::Tunnel;
