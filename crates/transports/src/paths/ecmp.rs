//! All packets of a flow take the path of the flow's hash.

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
        Box::new(Ecmp)
    }
}

/// Chooses path 0.
pub struct Ecmp;

impl PathChooser for Ecmp {
    fn next(&mut self, _: &mut Stream) -> u32 {
        0
    }
}
