//! Swift (Kumar et al.: "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter", SIGCOMM 2020), algorithm 1 with the fabric delay but without the endpoint delay.

use incast_engine::{Fault, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, Congestion, CongestionControl, Limit, Needs, Parameters, PathView, RecoveryExit,
};

/// Parameters of Swift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Base target of the round-trip time, in seconds, without the additions below. Default:
    /// `target_ratio` times the round trip of a full segment on the idle network (the paper
    /// configures 25 us, §3.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_target: Option<Span>,
    /// Base target in units of the idle network's round trip, at least 1.
    #[schemars(range(min = 1.0))]
    pub target_ratio: f64,
    /// Number of links on the path. Each link adds `hop` to the target (paper §3.5).
    pub hops: u32,
    /// Addition to the target per hop, in seconds.
    pub hop: Span,
    /// Maximum addition of flow scaling, in units of the base target. Flow scaling follows 1/√cwnd,
    /// which grows as √N, like the queue of N flows (paper §3.5).
    pub flow_scaling: f64,
    /// Window below which the addition of flow scaling no longer increases, in segments, above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub least_scaled_window: f64,
    /// Window at and above which flow scaling adds nothing, in segments.
    pub greatest_scaled_window: f64,
    /// ai: growth per round trip while the delay is below the target, in segments, above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub increase: f64,
    /// β: weight of the excess delay in a decrease, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// Maximum relative decrease, 0 to below 1.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub max_decrease: f64,
    /// Minimum window, in segments, above 0. With a window below one segment, the gap between
    /// segments is the round trip divided by the window.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub least_window: f64,
    /// Number of consecutive timeouts after which the window falls to its minimum, at least 1.
    #[schemars(range(min = 1))]
    pub timeout_reset: u32,
}

impl Default for Params {
    /// The paper's values, with a base target that follows from the distance.
    fn default() -> Self {
        Self {
            base_target: None,
            target_ratio: 1.5,
            hops: 0,
            hop: Span::from_micros(1),
            flow_scaling: 1.0,
            least_scaled_window: 0.1,
            greatest_scaled_window: 100.0,
            increase: 1.0,
            beta: 0.8,
            max_decrease: 0.5,
            least_window: 0.001,
            timeout_reset: 5,
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        let Self { least_scaled_window: least, greatest_scaled_window: greatest, .. } = *self;
        if greatest <= least {
            let message = format!("{greatest} must be above least_scaled_window ({least})");
            return Err(Fault::new("greatest_scaled_window", message));
        }
        if self.base_target == Some(Span::ZERO) {
            return Err(Fault::new("base_target", "must be longer than 0; write e.g. \"150us\""));
        }
        Ok(())
    }

    fn know_distance(&mut self, round_trip: &dyn Fn() -> Span) {
        let ratio = self.target_ratio;
        let target = || Span::from_picos((round_trip().as_picos() as f64 * ratio).ceil() as u64);
        self.base_target.get_or_insert_with(target);
    }
}

/// See [`Params`]. Fields that every ACK needs are first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Swift {
    /// cwnd, bytes.
    window: f64,
    /// The smallest round trip, and the base target in seconds that is derived from it if the
    /// distance is not configured.
    base: (Span, f64),
    /// Addition of the hops to the target, seconds.
    hops: f64,
    timeouts: u32,
    /// Whether the base target is derived from the smallest round trip.
    adapts: bool,
    /// Whether the target depends on the window.
    scales: bool,
    last_decrease: Option<Time>,
    params: Params,
    /// 1/√cwnd at the bounds of flow scaling.
    least_root: f64,
    most_root: f64,
}

/// 1/√cwnd for a window in segments.
fn root(window: f64) -> f64 {
    1.0 / window.sqrt()
}

impl Swift {
    pub(super) fn new(params: &Params, window: u64, _: u64) -> Self {
        Self {
            params: params.clone(),
            window: window as f64,
            last_decrease: None,
            timeouts: 0,
            adapts: params.base_target.is_none(),
            scales: params.flow_scaling > 0.0,
            base: (Span::ZERO, params.base_target.unwrap_or_default().as_secs_f64()),
            hops: f64::from(params.hops) * params.hop.as_secs_f64(),
            least_root: root(params.greatest_scaled_window),
            most_root: root(params.least_scaled_window),
        }
    }

    /// Target round trip without flow scaling, seconds.
    fn base_target(&mut self, path: &PathView) -> f64 {
        let smallest = path.min_rtt.unwrap_or_default();
        if self.adapts && smallest != self.base.0 {
            self.base = (smallest, self.params.target_ratio * smallest.as_secs_f64());
        }
        self.base.1
    }

    /// Target round trip, seconds (paper §3.5).
    fn target(&mut self, path: &PathView) -> f64 {
        let base = self.base_target(path);
        let range = self.params.flow_scaling * base;
        let window = self.window / path.segment as f64;
        let share = range * (root(window) - self.least_root) / (self.most_root - self.least_root);
        base + self.hops + share.clamp(0.0, range)
    }

    /// Whether the window may decrease now. It decreases at most once per round trip.
    fn may_decrease(&self, path: &PathView) -> bool {
        let round = path.srtt.unwrap_or_default();
        self.last_decrease.is_none_or(|last| path.now.saturating_since(last) >= round)
    }

    fn scale(&mut self, factor: f64, path: &PathView) {
        self.window *= factor;
        self.last_decrease = Some(path.now);
        self.bound(path);
    }

    fn bound(&mut self, path: &PathView) {
        // A window that rounds to 0 bytes would stop the flow.
        let least = (self.params.least_window * path.segment as f64).max(1.0);
        self.window = self.window.clamp(least, path.receive_window.max(path.segment) as f64);
    }
}

impl CongestionControl for Swift {
    fn window(&self) -> u64 {
        self.window as u64
    }

    /// Swift has no slow start.
    fn ssthresh(&self) -> u64 {
        self.window()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        self.timeouts = 0;
        let Some(delay) = ack.rtt.map(Span::as_secs_f64) else { return };
        // Flow scaling only increases the target. Its square root takes time, so it is computed
        // only if the delay is at least `least`.
        let least = self.base_target(path) + self.hops;
        let target = if delay < least || !self.scales { least } else { self.target(path) };
        if delay < target {
            if ack.may_grow && ack.limited {
                let (acked, segment) = (ack.acked as f64, path.segment as f64);
                let growth = self.params.increase * acked;
                self.window +=
                    if self.window < segment { growth } else { growth * segment / self.window };
                self.bound(path);
            }
        } else if self.may_decrease(path) {
            let excess = (delay - target) / delay;
            let factor = (1.0 - self.params.beta * excess).max(1.0 - self.params.max_decrease);
            self.scale(factor, path);
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        let timed_out = matches!(why, Congestion::Timeout { .. });
        self.timeouts = if timed_out { self.timeouts + 1 } else { 0 };
        if self.timeouts >= self.params.timeout_reset {
            self.scale(0.0, path);
        } else if self.may_decrease(path) {
            self.scale(1.0 - self.params.max_decrease, path);
        }
    }

    fn on_recovery_exit(&mut self, _: RecoveryExit, _: &PathView) {}

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        let (most, _) = limit.bounds(self.window(), self.ssthresh(), path);
        self.window = self.window.min(most as f64);
    }

    fn needs(&self) -> Needs {
        Needs { every_ack: true, fractional_window: true, ..Needs::default() }
    }
}
