//! All paths in turn.

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
        Box::new(RoundRobin(0))
    }
}

/// Counts the packets, and takes the count as the number of the path.
pub struct RoundRobin(u32);

impl PathChooser for RoundRobin {
    fn next(&mut self, _: &mut Stream) -> u32 {
        let path = self.0;
        self.0 = path.wrapping_add(1);
        path
    }
}
