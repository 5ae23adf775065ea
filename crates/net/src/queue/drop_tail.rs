//! Drop-tail: only the buffer's limit applies.

use incast_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// Drop-tail has no parameters: `network.buffer` is the limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    fn marks(&self) -> bool {
        false
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct DropTail;

impl DropTail {
    pub(super) fn new(_: &Params, _: &Site) -> Self {
        Self
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }
}
