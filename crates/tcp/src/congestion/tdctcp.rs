//! After TDCTCP: a faster DCTCP, with a delayed-ACK timer that knows the round trip (Das & Sivalingam:
//! "TCP improvements for data center networks", COMSNETS 2013).

use incast_net::queue::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::marks::{Estimate, MarkedWindow, ReactAt, answer_as_marked_window};
use super::{AckSample, CeChange, CongestionControl, EcnUse, Needs, Parameters, PathView};

/// Parameters of what follows TDCTCP, whose text is not public: per round trip in congestion
/// avoidance the window grows by `increase` + 1/(1 + α/2) segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// What α does not govern of the growth, segments per round trip, at least 0 (1 by a public
    /// reimplementation; 0 never grows faster than any TCP).
    pub increase: f64,
    /// A delayed ACK waits for at most so many of the receiver's smoothed round trips, as far as it
    /// has measured one, and never for longer than `delayed_ack` says. 0: only the latter counts.
    pub ack_round_trips: u32,
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
            increase: 1.0,
            ack_round_trips: 1,
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
        let increase = self.increase;
        if !(increase >= 0.0 && increase.is_finite()) {
            let message = format!("{increase} is no growth; write 0 or more, e.g. 1.0");
            return Err(Fault::new("increase", message));
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
pub struct Tdctcp {
    params: Params,
    window: MarkedWindow,
}

impl Tdctcp {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let window = MarkedWindow::new(params.estimate(), window, ssthresh);
        Self { params: params.clone(), window }
    }
}

impl CongestionControl for Tdctcp {
    answer_as_marked_window!();

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        let share = self.params.increase + 1.0 / (1.0 + self.window.alpha() / 2.0);
        self.window.on_ack(
            ack,
            path,
            |alpha| alpha,
            |reno| {
                if reno.is_starting() {
                    reno.on_ack(ack, path);
                } else {
                    reno.avoid_congestion(share, path.segment);
                }
            },
        );
    }

    fn needs(&self) -> Needs {
        Needs {
            ecn: EcnUse::PerAck(self.params.ce_change),
            every_ack: true,
            ack_round_trips: self.params.ack_round_trips,
            ..Needs::default()
        }
    }
}
