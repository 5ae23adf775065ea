//! Data Center TCP (RFC 8257).

use incast_engine::Fault;

use super::marks::{MarkedWindow, answer_as_marked_window, params_over_marks};
use super::{AckSample, CeChange, CongestionControl, EcnUse, Needs, Parameters, PathView};

params_over_marks! {
    /// Parameters of DCTCP.
    pub struct Params {
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.estimate().check()
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
