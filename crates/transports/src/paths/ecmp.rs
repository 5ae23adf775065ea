//! All packets of a flow take the path of the flow's hash.

use incast_engine::Stream;

use super::PathChooser;

/// Chooses path 0.
#[derive(Default)]
pub struct Ecmp;

impl PathChooser for Ecmp {
    fn next(&mut self, _: &mut Stream) -> u32 {
        0
    }
}
