//! No flow control.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FlowControl, Ingress, Signal};
use crate::buffer::Pool;

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl super::Parameters for Params {}

/// See [`Params`].
pub struct None;

impl None {
    pub(super) fn new(_: &Params) -> Self {
        Self
    }
}

impl FlowControl for None {
    fn entered(&mut self, _: &Ingress, _: usize, _: Option<&Pool>) -> Option<Signal> {
        Option::None
    }

    fn left(&mut self, _: &Ingress, _: usize, _: Option<&Pool>) -> Option<Signal> {
        Option::None
    }
}
