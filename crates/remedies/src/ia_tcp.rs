//! A remedy modelled on IA-TCP: by the advertised window and by delayed ACKs, the client limits
//! every server to a share of the path (Hwang, Yoo & Choi, ICC 2012).
//!
//! The path holds a bandwidth-delay product, of which each server may use a share as its window. If
//! there are more servers than packets in this product, the share is less than one segment. The
//! window is then one segment, and each ACK is delayed so that the round trip is as long as the
//! transmission of n packets on the link.

use incast_engine::{Rate, Span, Stream, Time};
use incast_net::Flags;
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::hooks::{AckEvent, Advice, ReceiverHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::requirement::Requirement;
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// Windows and delayed ACKs that divide the path among the servers (after IA-TCP).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// n, the number of servers that share the path. Default: the workload's number of servers.
    #[schemars(range(min = 1))]
    pub workers: Option<u32>,
    /// Share of the client's link that is divided among all servers, above 0 and at most 1.
    /// Default: 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub utilization: f64,
    /// When a server may begin.
    pub start: Start,
}

/// When the request, or the last ACK of the handshake that carries it, is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At a random moment within the delay of an ACK.
    #[default]
    Random,
    /// One packet time after the previous server, in the order of the servers' numbers.
    InTurn,
    /// At once.
    Together,
}

impl Default for Params {
    fn default() -> Self {
        Self { workers: None, utilization: 1.0, start: Start::default() }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::ReceiveWindow, Slot::Acks]
    }

    /// With a window of one segment, ACKs delayed by TCP would stall the sender.
    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::NoDelayedAck]
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Aggregator {
            workers: u64::from(self.workers.unwrap_or(situation.servers).max(1)),
            rate: Rate((situation.client_rate.0 as f64 * self.utilization) as u64),
            base_rtt: situation.base_rtt,
            start: self.start,
        })
    }
}

struct Aggregator {
    workers: u64,
    /// The total rate at which all servers may send.
    rate: Rate,
    base_rtt: Span,
    start: Start,
}

impl Aggregator {
    /// The window of each server, in segments, and the delay of each ACK. `slot` is the
    /// transmission time of a packet on the link.
    fn share(&self, slot: Span) -> (u64, Span) {
        let pipe = self.base_rtt.as_picos() / slot.as_picos().max(1);
        let turn = slot.as_picos().saturating_mul(self.workers);
        let hold = Span::from_picos(turn).saturating_sub(self.base_rtt);
        if self.workers > pipe { (1, hold) } else { (pipe / self.workers, Span::ZERO) }
    }
}

impl Installation for Aggregator {
    fn receiver(&mut self, place: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        let segment = u64::from(place.config.mss);
        let slot = self.rate.transmission_time(segment + u64::from(place.config.header));
        let (window, hold) = self.share(slot);
        let turn = u64::from(place.server) % self.workers;
        Some(Box::new(Worker {
            window: window * segment,
            hold,
            start: self.start,
            turn: Span::from_picos(slot.as_picos().saturating_mul(turn)).min(hold),
            random: place.random,
        }))
    }
}

/// The client's end of a connection to a server.
struct Worker {
    /// Window, bytes.
    window: u64,
    hold: Span,
    start: Start,
    turn: Span,
    random: Stream,
}

impl ReceiverHook for Worker {
    fn on_ack(&mut self, event: AckEvent<'_>, now: Time) -> Advice {
        let AckEvent::Ready(packet) = event else { return Advice::NONE };
        let wait = if packet.flags.contains(Flags::REQUEST) {
            match self.start {
                Start::Random => self.random.uniform(self.hold),
                Start::InTurn => self.turn,
                Start::Together => Span::ZERO,
            }
        } else if packet.ack > FIRST_BYTE {
            self.hold
        } else {
            Span::ZERO
        };
        Advice { hold_ack_until: now + wait, ..Advice::NONE }
    }

    fn shape(&self, _: Time) -> Advice {
        Advice { receive_window_cap: self.window, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link sends a packet in 10 us, so it sends ten packets in the round trip of 105 us.
    fn share(workers: u64) -> (u64, u64) {
        let base_rtt = Span::from_micros(105);
        let rate = Rate(1_000_000_000);
        let aggregator = Aggregator { workers, rate, base_rtt, start: Start::Random };
        let (window, hold) = aggregator.share(Span::from_micros(10));
        (window, hold.as_picos() / 1_000_000)
    }

    #[test]
    fn the_path_is_shared_out_by_windows_and_beyond_that_by_time() {
        assert_eq!([1, 3, 5, 6, 10].map(share), [(10, 0), (3, 0), (2, 0), (1, 0), (1, 0)]);
        assert_eq!([11, 20, 1000].map(share), [(1, 5), (1, 95), (1, 9895)]);
    }
}
