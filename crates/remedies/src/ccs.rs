//! Complete connection serialisation (Osada et al., §4.2).
//!
//! The client opens the next connection when the previous connection has delivered its SRU. The
//! client advertises the bandwidth-delay product as the window. A single connection cannot overflow
//! a buffer, but its slow start leaves the link idle.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seam::{Installation, Remedy, Situation, Slot};
use crate::serialize::formulas::Path;
use crate::serialize::{Client, Method, Plan, Reached, Serialization, Source, TriggerFrom, Window};

/// One connection at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The window that the client advertises. Default: `segments`.
    pub window: Window,
    /// Source of `BaseRTT`. Default: `given`, from the network.
    pub base_rtt: Source,
    /// Source of S, the size of an SRU. Default: `given`, from the application.
    pub sru: Source,
    /// Number of connections to measure before `learned` values are used, at least 1. Default: 1.
    #[schemars(range(min = 1))]
    pub observed: u32,
    /// Maximum time between consecutive requests of a group, in seconds. Default: none; the
    /// application says which requests form a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_gap: Option<Span>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            window: Window::Segments,
            base_rtt: Source::Given,
            sru: Source::Given,
            observed: 1,
            group_gap: None,
        }
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

    fn client(&self) -> Client {
        let Self { base_rtt, sru, observed, group_gap, .. } = *self;
        Client { base_rtt, sru, observed, group_gap }
    }
}
