//! Request batching (after Podlesny & Williamson 2011): groups of n servers, one after the other.
//!
//! Each group is so small that the windows of its servers fit into the buffer. The client sends
//! requests to the next group when all responses of the previous group have arrived. No packet is
//! lost if n·w ≤ B. After each group, the link is idle for a round trip, and is not full during the
//! slow start of the next group.

use incast_engine::{Fault, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::{Admission, Refill, packets_in};
use crate::or_auto::OrAuto;
use crate::schedule::{ClientPlace, RequestScheduler};
use crate::seam::{Installation, Remedy, Situation, Slot};

/// Groups of servers, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BatchingRemedy")]
pub struct Params {
    /// n, servers per group, at least 1; or `auto`, ⌊B/w⌋ for a buffer of B packets and w packets
    /// per server. Default: `auto`.
    #[schemars(extend("minimum" = 1))]
    pub n: OrAuto<u32>,
    /// Window that the client advertises to each server, in segments or bytes. This window limits
    /// w. Default: none, so that w is the smaller of `receive_window` and the SRU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// When other servers replace servers that have finished. With `group`, they wait until the
    /// whole group has finished. With `each`, one server replaces another at once, so that n
    /// servers are always active. Default: `group`.
    pub refill: Refill,
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        match self.window {
            Some(_) => &[Slot::Schedule, Slot::ReceiveWindow],
            None => &[Slot::Schedule],
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.window.is_some_and(|window| window.bytes(1) == 0) {
            return Err(Fault::new("window", "must be above 0; write e.g. 4 or \"8KiB\""));
        }
        Ok(())
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Batching { params: self.clone(), situation: situation.clone() })
    }
}

struct Batching {
    params: Params,
    situation: Situation,
}

impl Batching {
    /// n if it is `auto`: ⌊B/w⌋, at least 1.
    fn fitting(&self, client: &ClientPlace, window: Option<u64>) -> u32 {
        let bytes = window.unwrap_or(u64::MAX).min(client.receive_window).min(self.situation.sru);
        let packets = bytes.div_ceil(client.packet.payload.into()).max(1);
        let servers = packets_in(self.situation.buffer, client.packet) / packets;
        u32::try_from(servers).unwrap_or(u32::MAX).max(1)
    }
}

impl Installation for Batching {
    fn scheduler(&mut self, client: ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        let window = self.params.window.map(|window| window.bytes(client.packet.payload));
        let n = self.params.n.quantity_or_else(|_| self.fitting(&client, window));
        Some(Box::new(Admission::new(n.into(), self.params.refill, window)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::desk::{Desk, MSS};
    use crate::schedule::{Note, Order};

    /// The servers that get a request, all with the transport's window.
    fn asked(orders: &[Order]) -> Vec<u32> {
        let ask = |order: &Order| match order {
            Order::Ask { server, window: None } => *server,
            other => panic!("{other:?}"),
        };
        orders.iter().map(ask).collect()
    }

    fn batching(parameters: &Value, servers: u32, sru: u64) -> Desk {
        let mut remedy = parameters.clone();
        remedy["name"] = json!("batching");
        Desk::new(&remedy, servers, sru)
    }

    #[test]
    fn the_next_group_waits_for_the_last_answer_of_the_one_before() {
        let mut desk = batching(&json!({ "n": 2 }), 5, 65_536);
        assert_eq!(asked(&desk.wants_all()), [0, 1]);
        assert_eq!(desk.hears(Note::Complete(1)), []);
        assert_eq!(asked(&desk.hears(Note::Complete(0))), [2, 3]);
        assert_eq!(desk.hears(Note::Complete(2)), []);
        assert_eq!(asked(&desk.hears(Note::Complete(3))), [4]);
        desk.ends_block(4);
        assert_eq!(asked(&desk.wants_all()), [0, 1], "the same in the next block");
    }

    #[test]
    fn who_comes_late_joins_a_group_that_has_room() {
        let mut desk = batching(&json!({ "n": 2 }), 4, 65_536);
        assert_eq!(asked(&desk.hears(Note::Wanted(3))), [3]);
        assert_eq!(asked(&desk.hears(Note::Wanted(1))), [1]);
        assert_eq!(desk.hears(Note::Wanted(0)), []);
        assert_eq!(desk.hears(Note::Complete(3)), []);
        // Server 3 is complete, but no other server takes its place: server 2 must wait for the
        // next group.
        assert_eq!(desk.hears(Note::Wanted(2)), []);
        assert_eq!(asked(&desk.hears(Note::Complete(1))), [0, 2]);
    }

    #[test]
    fn places_may_be_given_away_one_by_one() {
        let mut desk = batching(&json!({ "n": 2, "refill": "each" }), 4, 65_536);
        assert_eq!(asked(&desk.wants_all()), [0, 1]);
        assert_eq!(asked(&desk.hears(Note::Complete(1))), [2]);
        assert_eq!(asked(&desk.hears(Note::Complete(2))), [3]);
        assert_eq!(desk.hears(Note::Complete(0)), []);
        desk.ends_block(3);
        assert_eq!(asked(&desk.wants_all()), [0, 1]);
    }

    /// The buffer holds 40 packets.
    #[test]
    fn auto_asks_as_many_servers_as_the_buffer_has_windows() {
        for (parameters, sru, n) in [
            (json!({}), 10 * MSS, 4),
            (json!({}), 10 * MSS + 1, 3),
            (json!({}), 1, 40),
            (json!({}), 1 << 20, 1),
            (json!({ "window": 4 }), 1 << 20, 10),
            (json!({ "window": 4 }), 2 * MSS, 20),
            (json!({ "window": 41 }), 1 << 20, 1),
            (json!({ "window": "1461B" }), 1 << 20, 20),
        ] {
            let mut desk = batching(&parameters, 100, sru);
            assert_eq!(desk.wants_all().len(), n, "{parameters} {sru}");
        }
    }

    #[test]
    fn a_window_is_advertised_with_the_request() {
        let mut desk = batching(&json!({ "window": 4 }), 1, 65_536);
        assert_eq!(desk.wants_all(), [Order::Ask { server: 0, window: Some(4 * MSS) }]);
    }
}
