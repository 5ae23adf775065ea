//! Complete connection serialisation (Osada et al., §4.2).
//!
//! The client opens the next connection when the previous connection has delivered its SRU. The
//! client advertises the bandwidth-delay product as the window. A single connection cannot overflow
//! a buffer, but its slow start leaves the link idle.

use crate::seam::{Installation, Remedy, Situation, Slot};
use crate::serialize::formulas::Path;
use crate::serialize::{
    Method, Plan, Reached, Serialization, TriggerFrom, Window, params_of_method,
};

params_of_method! {
    /// One connection at a time.
    pub struct Params {
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
    fn plan(&self, path: &Path, _: u64) -> Plan {
        Plan {
            connections: 1,
            open_sets: 1,
            // The next connection opens only when the open connection has delivered everything.
            trigger: 0,
            from: TriggerFrom::Request,
            reached: Reached::Every,
            window: self.window.bytes(path),
            grows: false,
        }
    }
}
