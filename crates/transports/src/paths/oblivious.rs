//! Random paths.

use incast_engine::{Parameters, Stream};
use incast_host::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PathChooser;

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters<dyn PathChooser, Seat> for Params {
    fn build(&self, _: &Seat) -> Box<dyn PathChooser> {
        Box::new(Oblivious)
    }
}

/// Draws a path for each packet.
pub struct Oblivious;

impl PathChooser for Oblivious {
    fn next(&mut self, random: &mut Stream) -> u32 {
        // The range is far larger than the number of paths of any network, so that the remainder
        // favours no path.
        random.below(1 << 32) as u32
    }
}
