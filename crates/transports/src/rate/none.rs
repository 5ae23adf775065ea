//! No rate law.

use incast_engine::Parameters;
use incast_host::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RateLaw;

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters<dyn RateLaw, Seat> for Params {
    fn build(&self, _: &Seat) -> Box<dyn RateLaw> {
        Box::new(None)
    }
}

/// Sends at the rate of the line.
pub struct None;

impl RateLaw for None {}
