//! Datagrams at exponentially distributed intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datagrams::{Datagrams, Interval, Source};

/// Datagrams at exponentially distributed intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Params(Datagrams);

impl Source for Params {
    fn datagrams(&self) -> &Datagrams {
        &self.0
    }

    fn datagrams_mut(&mut self) -> &mut Datagrams {
        &mut self.0
    }

    fn interval(&self) -> Interval {
        Interval::Exponential
    }
}
