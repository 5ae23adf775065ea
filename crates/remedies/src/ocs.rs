//! Optimised connection serialisation (Osada et al., §4.4), and its adaptive variant (§6).
//!
//! The client opens sets of n connections, where n is the smallest number for which two overlapping
//! sets fill the link. All handshakes take place at the beginning, with a window of zero. When a
//! set has delivered the amount of data that the trigger demands, the client opens the next set
//! with window updates. At most two sets are open. If fewer connections than a set remain, they
//! share the whole bandwidth-delay product.

use incast_engine::Span;

use crate::requirement::Requirement;
use crate::seam::{Installation, Remedy, Situation, Slot};
use crate::serialize::formulas::Path;
use crate::serialize::{
    Adaptive, Method, Plan, Reached, Serialization, Trigger, TriggerFrom, params_of_method,
};

params_of_method! {
    /// Sets of connections, two at a time.
    pub struct Params {
        /// Amount of data that each connection of the newest set must have delivered before the next
        /// set opens. In the formulas, n is the size of a set. Default: `scaled`, because the printed
        /// formula gives a negative amount for the paper's SRU.
        pub trigger: Trigger = Trigger::Scaled,
        /// Which connections of the newest set must have delivered the amount that `trigger` sets.
        /// Default: `every`.
        pub reached: Reached = Reached::Every,
        /// Whether to open more sets while the client's link is not full. This helps if the servers
        /// have slower links. If true, the remedy also requires a fine-grained timer. Default: false.
        pub adaptive: bool = false,
        /// Share of the link's payload rate at which the link counts as full, 0 to 1. Default: 0.9.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub full: f64 = 0.9,
        /// Duration of a measurement, in round trips. Default: 2.
        #[schemars(range(min = 1))]
        pub round_trips: u32 = 2,
        /// With `adaptive`: lower bound of the retransmission timeout, in seconds. Default: 200 us.
        pub rto_min: Span = Span::from_micros(200),
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        if self.adaptive {
            &[Slot::Schedule, Slot::ReceiveWindow, Slot::Timer]
        } else {
            &[Slot::Schedule, Slot::ReceiveWindow]
        }
    }

    fn requires(&self) -> Vec<Requirement> {
        if !self.adaptive {
            return Vec::new();
        }
        let granularity = Span::from_micros(1);
        vec![
            Requirement::RtoMin(self.rto_min),
            Requirement::RtoGranularity(granularity),
            Requirement::ExactTimers,
        ]
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Serialization { method: self.clone(), situation: situation.clone() })
    }
}

impl Method for Params {
    fn plan(&self, path: &Path, sru: u64) -> Plan {
        let set = path.set(sru);
        Plan {
            connections: set.connections as usize,
            open_sets: 2,
            trigger: self.trigger.bytes(path, sru, set.connections),
            from: TriggerFrom::Request,
            reached: self.reached,
            window: set.window * u64::from(path.mss),
            grows: true,
        }
    }

    fn adaptive(&self) -> Option<Adaptive> {
        self.adaptive.then(|| Adaptive::new(self.full, self.round_trips))
    }

    fn connects_early(&self) -> bool {
        true
    }
}
