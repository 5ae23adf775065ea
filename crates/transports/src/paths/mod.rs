//! Path choosers, which choose the path of each packet that an end sends. Each chooser has a file,
//! and a line in the list below.

use incast_engine::Stream;
use incast_host::Seat;

mod ecmp;
mod oblivious;
mod round_robin;

/// What became of a packet on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The packet arrived.
    Good,
    /// The packet arrived with a congestion mark.
    Marked,
    /// The packet's header arrived, and a switch had cut off the payload.
    Trimmed,
    /// The packet did not arrive.
    Lost,
}

/// Chooses the path of each packet of an end.
pub trait PathChooser: Send {
    /// The number of the next packet's path. The network takes this number modulo the number of
    /// paths. Path 0 is the path of the flow's hash.
    fn next(&mut self, random: &mut Stream) -> u32;
    /// Notes what became of a packet that took `path`.
    fn heard(&mut self, path: u32, feedback: Feedback) {
        let _ = (path, feedback);
    }
}

incast_engine::parts! {
    /// One of the list, with its parameters.
    Paths of PathChooser at Seat:
    "ecmp" => Ecmp(ecmp): "All packets of a flow take the path of the flow's hash.";
    "oblivious" => Oblivious(oblivious): "Each packet takes a random path.";
    "round-robin" => RoundRobin(round_robin): "The packets of a flow take all paths in turn.";
}

impl Default for Paths {
    fn default() -> Self {
        Self::Ecmp(ecmp::Params::default())
    }
}
