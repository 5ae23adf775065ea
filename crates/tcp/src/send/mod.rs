//! The sending half: sent data, round trips and timeouts.

pub mod delivery;
mod detection;
pub mod idle;
mod peaks;
pub mod prr;
pub mod rtt;
pub mod scoreboard;
mod selective;
mod ticks;

pub use delivery::DeliveryRate;
pub use detection::{Detection, Horizon};
pub use prr::Prr;
pub use rtt::RttEstimator;
pub use scoreboard::{Marks, Scoreboard, Sent};
