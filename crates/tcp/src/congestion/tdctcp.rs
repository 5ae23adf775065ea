//! A control modelled on TDCTCP: a faster DCTCP, with a delayed-ACK timer that depends on the round
//! trip (Das & Sivalingam: "TCP improvements for data center networks", COMSNETS 2013).

use super::marks::{Law, MarkedWindow, params_over_marks};
use super::reno::Reno;
use super::{AckSample, CongestionControl, Needs, Parameters, PathView};

params_over_marks! {
    /// Parameters of a control modelled on TDCTCP. The text of TDCTCP is not public. In this
    /// control, the window grows by `increase` + 1/(1 + α/2) segments per round trip of congestion
    /// avoidance.
    pub struct Params {
        /// Constant part of the growth, in segments per round trip, at least 0. A public
        /// reimplementation of TDCTCP has 1. With 0, the window grows at most as fast as in
        /// standard TCP.
        pub increase: f64 = 1.0,
        /// Maximum delay of an ACK, in smoothed round trips of the receiver. This maximum applies
        /// once the receiver has measured a round trip. `delayed_ack` remains an upper bound. With
        /// 0, only `delayed_ack` limits the delay of an ACK.
        pub ack_round_trips: u32 = 1,
    }
}

impl Parameters for Params {}

/// Windows that grow faster with fewer marks.
#[derive(Clone, Debug)]
pub struct Faster {
    params: Params,
    /// Growth for the current ACK, segments per round trip.
    share: f64,
}

impl Law for Faster {
    type Params = Params;

    fn new(params: &Params) -> Self {
        Self { params: params.clone(), share: 0.0 }
    }

    fn observe(&mut self, _: &AckSample, _: &PathView, alpha: f64) {
        self.share = self.params.increase + 1.0 / (1.0 + alpha / 2.0);
    }

    fn grow(&mut self, reno: &mut Reno, ack: &AckSample, path: &PathView) {
        if reno.is_starting() {
            reno.on_ack(ack, path);
        } else {
            reno.avoid_congestion(self.share, path.segment);
        }
    }

    fn needs(&self) -> Needs {
        Needs { ack_round_trips: self.params.ack_round_trips, ..Needs::default() }
    }
}

/// See [`Params`].
pub type Tdctcp = MarkedWindow<Faster>;
