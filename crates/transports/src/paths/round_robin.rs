//! All paths in turn.

use incast_engine::Stream;

use super::PathChooser;

/// Counts the packets, and takes the count as the number of the path.
#[derive(Default)]
pub struct RoundRobin(u32);

impl PathChooser for RoundRobin {
    fn next(&mut self, _: &mut Stream) -> u32 {
        let path = self.0;
        self.0 = path.wrapping_add(1);
        path
    }
}
