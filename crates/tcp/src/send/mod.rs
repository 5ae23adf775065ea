//! The sending half: what was sent, how long a round trip takes, when to give up waiting.

pub mod idle;
pub mod rtt;
pub mod scoreboard;

pub use rtt::RttEstimator;
pub use scoreboard::Scoreboard;
