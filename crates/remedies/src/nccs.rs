//! Nearly complete connection serialisation (Osada et al., §4.3).
//!
//! This scheme is like CCS, but the next connection starts when the newest connection has delivered
//! S - T₁V bits (condition I) and fewer than K connections are open. The slow start of the next
//! connection then overlaps with the end of the previous connection. In both cases that the paper
//! evaluates, S - T₁V is negative. The next connection then starts when the newest connection is
//! established.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seam::{Installation, Remedy, Situation, Slot};
use crate::serialize::formulas::Path;
use crate::serialize::{
    Client, Method, Plan, Reached, Serialization, Source, Trigger, TriggerFrom, Window,
};

/// At most K connections at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// K, the maximum number of open connections, at least 1. Default: 4; the paper uses 2, 4 and
    /// 8.
    #[schemars(range(min = 1))]
    pub k: u32,
    /// Amount of data that the newest connection must have delivered before the next connection
    /// starts. In the formulas, n is K. Default: `printed`.
    pub trigger: Trigger,
    /// Event that lets the next connection start if the trigger is 0 bytes. Default: `established`,
    /// because in the paper's abstract a connection overlaps with the "current established" one.
    pub trigger_from: TriggerFrom,
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
            k: 4,
            trigger: Trigger::Printed,
            trigger_from: TriggerFrom::default(),
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

    fn client(&self) -> Client {
        let Self { base_rtt, sru, observed, group_gap, .. } = *self;
        Client { base_rtt, sru, observed, group_gap }
    }
}
