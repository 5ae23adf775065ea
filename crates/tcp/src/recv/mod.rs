//! The receiving half: putting bytes in order, deciding when to acknowledge and what window to
//! advertise.

pub mod ack_policy;
pub mod buffer;
pub mod sack;

pub use ack_policy::AckPolicy;
pub use buffer::{Reassembly, ReceiveWindow};
pub use sack::SackReport;
