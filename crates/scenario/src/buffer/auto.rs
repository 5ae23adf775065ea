//! `network.buffer = "auto"`: room for every packet that the senders may have outstanding.
//!
//! The rule is `B = N·E[W]` (Khalid et al. 2021, equations 1 and 5): N flows share the port, and
//! each has a window of W packets in the network. The mean window is not known before the run, so
//! its upper bound is used unless the scenario gives a window.

use incast_engine::quantity::MOST_BYTES;
use incast_engine::{Name, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Group, ScenarioError};

/// The type of the name `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Auto;

impl Name for Auto {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("auto", Self, "A buffer that can hold all data that the senders may have outstanding.")];
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct AutoDocument {
    /// E[W], the data that each flow has in the network, in segments or bytes. Default: the smaller
    /// of `transport.receive_window` and the SRU; for a long flow, the receive window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
}

impl AutoDocument {
    /// The buffer of a port, in packets, if all flows of the scenario share this port. `key` is the
    /// dotted key of the buffer, for errors.
    pub(super) fn packets(&self, key: &str, groups: &[Group<'_>]) -> Result<u64, ScenarioError> {
        if self.window.is_some_and(|window| window.bytes(1) == 0) {
            let message = "must be above 0, or there is no buffer; write e.g. \"64KiB\" or 10";
            return Err(ScenarioError::new(format!("{key}.window"), message));
        }
        let room = |flows: u32, bound: u64, mss: u32| {
            let window = self.window.map_or(bound, |window| window.bytes(mss));
            u64::from(flows).saturating_mul(window.div_ceil(u64::from(mss)))
        };
        // No window limits a datagram source. A server never has more than its part of the block in
        // flight.
        let rooms = groups.iter().filter_map(Group::load).map(|(load, transport)| {
            let bound = transport.window().min(load.most);
            room(load.at_once, bound, transport.full_packet().payload)
        });
        let packets = rooms.fold(0, u64::saturating_add);
        if packets > MOST_BYTES {
            let message = format!(
                "makes a buffer of {packets} packets, which is out of range; write a smaller window"
            );
            return Err(ScenarioError::new(format!("{key}.window"), message));
        }
        Ok(packets)
    }
}
