//! Nearly complete connection serialisation (Osada et al., §4.3).
//!
//! This scheme is like CCS, but the next connection starts when the newest connection has delivered
//! S - T₁V bits (condition I) and fewer than K connections are open. The slow start of the next
//! connection then overlaps with the end of the previous connection. In both cases that the paper
//! evaluates, S - T₁V is negative. The next connection then starts when the newest connection is
//! established.

use crate::seam::{Installation, Remedy, Situation, Slot};
use crate::serialize::formulas::Path;
use crate::serialize::{
    Method, Plan, Reached, Serialization, Trigger, TriggerFrom, Window, params_of_method,
};

params_of_method! {
    /// At most K connections at a time.
    pub struct Params {
        /// K, the maximum number of open connections, at least 1. Default: 4; the paper uses 2, 4 and
        /// 8.
        #[schemars(range(min = 1))]
        pub k: u32 = 4,
        /// Amount of data that the newest connection must have delivered before the next connection
        /// starts. In the formulas, n is K. Default: `printed`.
        pub trigger: Trigger = Trigger::Printed,
        /// Event that lets the next connection start if the trigger is 0 bytes. Default: `established`,
        /// because in the paper's abstract a connection overlaps with the "current established" one.
        pub trigger_from: TriggerFrom = TriggerFrom::default(),
        /// The window that the client advertises. Default: `segments`.
        pub window: Window = Window::Segments,
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Schedule, Slot::ReceiveWindow]
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Serialization { method: self.clone(), situation: situation.clone() })
    }
}

impl Method for Params {
    fn plan(&self, path: &Path, sru: u64) -> Plan {
        Plan {
            connections: 1,
            open_sets: self.k as usize,
            trigger: self.trigger.bytes(path, sru, self.k.into()),
            from: self.trigger_from,
            reached: Reached::Every,
            window: self.window.bytes(path),
            grows: false,
        }
    }
}
