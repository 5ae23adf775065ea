//! The receiving half: reassembly, acknowledgements, and the advertised window.

pub mod ack_policy;
pub mod buffer;
pub mod ranges;
pub mod sack;

pub use ack_policy::AckPolicy;
pub use buffer::{Reassembly, ReceiveWindow};
pub use sack::SackReport;
