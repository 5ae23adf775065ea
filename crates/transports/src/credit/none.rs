//! No credit.

use incast_engine::Parameters;
use incast_host::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Credit;

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters<dyn Credit, Seat> for Params {
    fn build(&self, _: &Seat) -> Box<dyn Credit> {
        Box::new(None)
    }
}

/// The sender needs no credit.
pub struct None;

impl Credit for None {}
