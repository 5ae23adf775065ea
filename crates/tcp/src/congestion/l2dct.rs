//! L2DCT: least attained service first, by weights (Munir et al.: INFOCOM 2013).

use incast_engine::{Fault, Size};

use super::marks::{MarkedWindow, answer_as_marked_window, params_over_marks};
use super::{AckSample, CongestionControl, EcnUse, Needs, Parameters, PathView};

params_over_marks! {
    /// Parameters of L2DCT: the less a block has sent, the larger its weight; with a large weight
    /// its window grows fast and shrinks little.
    pub struct Params {
        /// Weight of a block up to `short`, above 0 (paper §3: 2.5).
        pub greatest_weight: f64 = 2.5,
        /// Weight of a block from `long` on, above 0 (paper §3: 0.125).
        pub least_weight: f64 = 0.125,
        /// Acknowledged bytes at which the weight begins to fall.
        pub short: Size = Size(200_000),
        /// Acknowledged bytes at which the weight stops falling (linearly).
        pub long: Size = Size(1_000_000),
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        for (key, weight) in
            [("greatest_weight", self.greatest_weight), ("least_weight", self.least_weight)]
        {
            if !(weight > 0.0 && weight.is_finite()) {
                let message = format!("{weight} is out of range; must be above 0, e.g. 2.5");
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
            let message = format!("{} must be more than short ({})", self.long.0, self.short.0);
            return Err(Fault::new("long", message));
        }
        self.estimate().check()
    }
}

impl Params {
    /// The bytes acknowledged so far decide.
    fn weight(&self, path: &PathView) -> f64 {
        let Self { greatest_weight, least_weight, short, long, .. } = *self;
        let got = path.una.saturating_sub(path.block_start);
        let fallen = got.saturating_sub(short.0) as f64 / (long.0 - short.0) as f64;
        greatest_weight - (greatest_weight - least_weight) * fallen.min(1.0)
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
}

impl CongestionControl for L2dct {
    answer_as_marked_window!();

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        let Self { params, window } = self;
        // Computed only when needed: divisions are slow.
        let weight = || params.weight(path);
        let penalty = |alpha| libm::pow(alpha, weight());
        window.on_ack(ack, path, penalty, |reno| {
            if reno.window() < reno.ssthresh() {
                reno.on_ack(ack, path);
            } else {
                reno.avoid_congestion(weight() / params.greatest_weight, path.segment);
            }
        });
    }

    fn needs(&self) -> Needs {
        let ecn = EcnUse::PerAck(self.params.ce_change);
        Needs { ecn, every_ack: true, ..Needs::default() }
    }
}
