//! The laboratory: builds a world from a scenario, runs it, and returns the results.

pub mod column;
pub mod control;
pub mod core;
pub mod oracle;
pub mod probe;
pub mod relay;
pub mod results;
mod run;
mod stopwatch;
pub mod tap;
mod wiring;
pub mod world;

pub use control::Control;
pub use probe::{Trace, TraceRequest};
pub use relay::Relay;
pub use results::Row;
pub use run::{Run, RunError, run, run_and_capture, run_and_spill};
pub use tap::Tap;
