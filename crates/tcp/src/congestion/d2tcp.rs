//! Deadline-aware data center TCP (Vamanan, Hasan, Vijaykumar: SIGCOMM 2012).

use incast_engine::{Fault, Span, Time};

use super::marks::{Law, MarkedWindow, params_over_marks};
use super::{Needs, Parameters, PathView};

params_over_marks! {
    /// Parameters of D2TCP.
    pub struct Params {
        /// Deadline of a block, from its first packet to its last, in seconds. No default: without
        /// a deadline, D2TCP behaves like DCTCP.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub deadline: Option<Span> = None,
        /// Minimum urgency d, above 0, which applies far from the deadline. A smaller d makes the
        /// reduction by α^d larger (paper §3.1: 0.5).
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        pub least_urgency: f64 = 0.5,
        /// Maximum urgency d, which applies close to the deadline. A larger d makes the reduction
        /// by α^d smaller (paper §3.1: 2).
        pub greatest_urgency: f64 = 2.0,
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        let (least, greatest) = (self.least_urgency, self.greatest_urgency);
        if greatest < least {
            let message = format!("{greatest} is below least_urgency ({least}); write e.g. 2.0");
            return Err(Fault::new("greatest_urgency", message));
        }
        Ok(())
    }
}

/// Windows that shrink by urgency.
#[derive(Clone, Debug)]
pub struct ByDeadline {
    params: Params,
    /// First byte of the current block, and the time at which this byte was sent.
    block: u64,
    began: Time,
}

impl ByDeadline {
    /// d = Tc / D (paper §3.2). D is the remaining time. Tc is the time that the rest of the block
    /// needs if each round trip carries three quarters of the window (the mean of a sawtooth).
    fn urgency(&self, window: u64, path: &PathView) -> f64 {
        let (Some(deadline), Some(srtt)) = (self.params.deadline, path.srtt) else { return 1.0 };
        let left = (self.began + deadline).saturating_since(path.now);
        let rest = path.written.saturating_sub(path.una) as f64;
        let needed = rest / (0.75 * window as f64) * srtt.as_secs_f64();
        let Params { least_urgency, greatest_urgency, .. } = self.params;
        // After the deadline, the urgency has its maximum, which is the limit of the formula.
        if left.is_zero() {
            return greatest_urgency;
        }
        (needed / left.as_secs_f64()).clamp(least_urgency, greatest_urgency)
    }
}

impl Law for ByDeadline {
    type Params = Params;

    fn new(params: &Params) -> Self {
        Self { params: params.clone(), block: 0, began: Time::ZERO }
    }

    fn penalty(&self, alpha: f64, window: u64, path: &PathView) -> f64 {
        libm::pow(alpha, self.urgency(window, path))
    }

    fn needs(&self) -> Needs {
        Needs { sent: true, ..Needs::default() }
    }

    fn on_sent(&mut self, path: &PathView) {
        if path.block_start != self.block {
            self.block = path.block_start;
            self.began = path.now;
        }
    }
}

/// See [`Params`].
pub type D2tcp = MarkedWindow<ByDeadline>;
