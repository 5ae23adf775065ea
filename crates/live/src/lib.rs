//! A switch for real hosts: frames of the hosts pass through the simulator's ports and queue
//! disciplines, in real time. Linux only; elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod frame;
mod lateness;
mod recorder;
mod switch;
mod sys;

pub use frame::FIRST_PORT;
pub use recorder::{Output, Wanted};
pub use switch::{Report, Switch};
pub use sys::{Haste, Namespace, hurry};

#[cfg(test)]
mod testbed;
