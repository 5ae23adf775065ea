//! Fine-grained retransmission timeouts.
//!
//! An incast collapse is caused by a minimum RTO of 200 ms on a network with round trips of 100 us.
//! With microsecond timers, the same losses cost a thousandth of the time. Phanishayee et al. (FAST
//! 2008) and Vasudevan et al. (SIGCOMM 2009) proposed such timers. Vasudevan et al. also randomise
//! the timeouts, so that senders do not retransmit at the same time.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::requirement::Requirement;
use crate::seam::{Data, Installation, Remedy, Situation, Slot};

/// Microsecond retransmission timeouts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Lower bound of the retransmission timeout, in seconds. Default: 200 us.
    pub min: Span,
    /// Granularity of the timer, in seconds. Default: 1 us, a high-resolution timer.
    pub granularity: Span,
    /// j, a ratio: every timeout is multiplied by 1 + U(0, j). Default: 0; Vasudevan et al. propose
    /// 0.5 for more than about 1000 servers.
    pub jitter: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { min: Span::from_micros(200), granularity: Span::from_micros(1), jitter: 0.0 }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Timer]
    }

    fn requires(&self) -> Vec<Requirement> {
        vec![
            Requirement::RtoMin(self.min),
            Requirement::RtoGranularity(self.granularity),
            Requirement::ExactTimers,
            Requirement::RtoJitter(self.jitter),
        ]
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Data)
    }
}
