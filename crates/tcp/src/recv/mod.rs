//! The receiving half: putting bytes in order, deciding when to acknowledge and what window to
//! advertise.

pub mod ack_policy;
pub mod reassembly;
pub mod sack;
pub mod window;

pub use ack_policy::AckPolicy;
pub use reassembly::Reassembly;
pub use sack::SackReport;
pub use window::ReceiveWindow;
