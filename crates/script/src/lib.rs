//! Packet-by-packet tests of one TCP connection, in a small language.
//!
//! A script takes the place of the peer. It defines, packet by packet, which packets arrive and
//! when, and which packets the connection must send. Between two lines, the clock advances from one
//! deadline of the connection to the next. The grammar is in this crate's `README.md`.
//!
//! ```
//! use incast_script::Script;
//!
//! let script = Script::parse(
//!     "two_segments.pkt",
//!     "# The initial window lets two segments go.
//!      write 5000
//!      > data 1:1001
//!      > data 1001:2001
//!      +1ms < ack 1001
//!      > data 2001:4001 by 1000
//!      assert cwnd == 3000, srtt == 1ms",
//! )?;
//! script.run()?;
//! # Ok::<(), incast_script::Failure>(())
//! ```

mod assertion;
mod failure;
mod packet;
mod run;
mod script;
mod settings;

pub use failure::Failure;
pub use script::Script;
