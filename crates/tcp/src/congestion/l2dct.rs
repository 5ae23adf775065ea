//! L2DCT: least attained service first, by weights (Munir et al.: INFOCOM 2013).

use incast_engine::Size;
use incast_net::queue::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marks::{Estimate, MarkedWindow, ReactAt, answer_as_marked_window};
use super::{AckSample, CeChange, CongestionControl, EcnUse, Needs, Parameters, PathView};

/// Parameters of L2DCT: a block that has sent little keeps a large weight, with which its window
/// grows fast and shrinks little.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Weight of a block up to `short`, a number above 0 (paper §3: 2.5).
    pub greatest_weight: f64,
    /// Weight of a block from `long` on, a number above 0 (paper §3: 0.125).
    pub least_weight: f64,
    /// The weight begins to fall when this much was acknowledged, bytes.
    pub short: Size,
    /// It falls, in proportion, until this much was acknowledged, bytes.
    pub long: Size,
    /// α before the first ACK, a ratio from 0 to 1.
    pub alpha: f64,
    /// g: weight of a new observation in α, a ratio above 0 and at most 1.
    pub g: f64,
    /// Least window after a reduction by marks, segments, at least 1.
    pub floor: u32,
    /// When the window is reduced.
    pub react_at: ReactAt,
    /// What the receiver does when marks begin or end.
    pub ce_change: CeChange,
}

impl Default for Params {
    fn default() -> Self {
        let dctcp = super::dctcp::Params::default();
        Self {
            greatest_weight: 2.5,
            least_weight: 0.125,
            short: Size(200_000),
            long: Size(1_000_000),
            alpha: dctcp.alpha,
            g: dctcp.g,
            floor: dctcp.floor,
            react_at: dctcp.react_at,
            ce_change: dctcp.ce_change,
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        for (key, weight) in
            [("greatest_weight", self.greatest_weight), ("least_weight", self.least_weight)]
        {
            if !(weight > 0.0 && weight.is_finite()) {
                let message = format!("{weight} is no weight; write more than 0, e.g. 2.5");
                return Err(Fault::new(key, message));
            }
        }
        if self.least_weight > self.greatest_weight {
            let message = format!(
                "{} exceeds greatest_weight ({}); write less",
                self.least_weight, self.greatest_weight
            );
            return Err(Fault::new("least_weight", message));
        }
        if self.long.0 <= self.short.0 {
            let message =
                format!("{} is not beyond short ({}); write more", self.long.0, self.short.0);
            return Err(Fault::new("long", message));
        }
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
pub struct L2dct {
    params: Params,
    window: MarkedWindow,
}

impl L2dct {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let window = MarkedWindow::new(params.estimate(), window, ssthresh);
        Self { params: params.clone(), window }
    }

    /// What the block has got so far decides.
    fn weight(&self, path: &PathView) -> f64 {
        let Params { greatest_weight, least_weight, short, long, .. } = self.params;
        let got = path.una.saturating_sub(path.block_start);
        let fallen = got.saturating_sub(short.0) as f64 / (long.0 - short.0) as f64;
        greatest_weight - (greatest_weight - least_weight) * fallen.min(1.0)
    }
}

impl CongestionControl for L2dct {
    answer_as_marked_window!();

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        let weight = self.weight(path);
        let share = weight / self.params.greatest_weight;
        let penalty = |alpha| libm::pow(alpha, weight);
        self.window.on_ack(ack, path, penalty, |reno| {
            if reno.window() < reno.ssthresh() {
                reno.on_ack(ack, path);
            } else {
                reno.avoid_congestion(share, path.segment);
            }
        });
    }

    fn needs(&self) -> Needs {
        let ecn = EcnUse::PerAck(self.params.ce_change);
        Needs { ecn, every_ack: true, ..Needs::default() }
    }
}
