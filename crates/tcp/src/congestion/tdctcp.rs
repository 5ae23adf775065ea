//! After TDCTCP: a faster DCTCP, with a delayed-ACK timer that depends on the round trip (Das &
//! Sivalingam: "TCP improvements for data center networks", COMSNETS 2013).

use incast_engine::Fault;

use super::marks::{MarkedWindow, answer_as_marked_window, params_over_marks};
use super::{AckSample, CongestionControl, EcnUse, Needs, Parameters, PathView};

params_over_marks! {
    /// Parameters of a control after TDCTCP, whose text is not public: per round trip in congestion
    /// avoidance the window grows by `increase` + 1/(1 + α/2) segments.
    pub struct Params {
        /// Constant part of the growth, segments per round trip, at least 0 (1 in a public
        /// reimplementation; with 0 growth is at most that of standard TCP).
        pub increase: f64 = 1.0,
        /// Maximum delay of an ACK in the receiver's smoothed round trips, once it has measured
        /// one; `delayed_ack` remains an upper bound. 0: only `delayed_ack` counts.
        pub ack_round_trips: u32 = 1,
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        let increase = self.increase;
        if !(increase >= 0.0 && increase.is_finite()) {
            let message = format!("{increase} is out of range; must be at least 0, e.g. 1.0");
            return Err(Fault::new("increase", message));
        }
        self.estimate().check()
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
