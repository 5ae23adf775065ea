//! Random paths.

use incast_engine::Stream;

use super::PathChooser;

/// Draws a path for each packet.
#[derive(Default)]
pub struct Oblivious;

impl PathChooser for Oblivious {
    fn next(&mut self, random: &mut Stream) -> u32 {
        // The range is far larger than the number of paths of any network, so that the remainder
        // favours no path.
        random.below(1 << 32) as u32
    }
}
