//! Data Center TCP (RFC 8257).

use incast_net::queue::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marks::{Estimate, MarkedWindow, ReactAt, answer_as_marked_window};
use super::{AckSample, CeChange, CongestionControl, EcnUse, Needs, Parameters, PathView};

/// Parameters of DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// α before the first ACK, a ratio from 0 to 1 (RFC 8257 §4.2: 1; the paper's code: 0).
    pub alpha: f64,
    /// g: weight of a new observation in α, a ratio above 0 and at most 1 (RFC 8257 §4.2: 1/16).
    pub g: f64,
    /// Least window after a reduction by marks, segments, at least 1 (Linux: 2).
    pub floor: u32,
    /// When the window is reduced.
    pub react_at: ReactAt,
    /// What the receiver does when marks begin or end.
    pub ce_change: CeChange,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            g: 1.0 / 16.0,
            floor: 2,
            react_at: ReactAt::default(),
            ce_change: CeChange::default(),
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.estimate().check()
    }
}

impl Params {
    fn estimate(&self) -> Estimate {
        let Self { alpha, g, floor, react_at, .. } = *self;
        Estimate { alpha, g, floor, react_at }
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: MarkedWindow,
    ce_change: CeChange,
}

impl Dctcp {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let window = MarkedWindow::new(params.estimate(), window, ssthresh);
        Self { window, ce_change: params.ce_change }
    }
}

impl CongestionControl for Dctcp {
    answer_as_marked_window!();

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        self.window.on_ack(ack, path, |alpha| alpha, |reno| reno.on_ack(ack, path));
    }

    fn needs(&self) -> Needs {
        Needs { ecn: EcnUse::PerAck(self.ce_change), every_ack: true, ..Needs::default() }
    }
}
