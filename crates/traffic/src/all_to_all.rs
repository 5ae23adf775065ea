//! All to all: in every round each client fetches a message from every other client. The next round
//! begins when the last message has arrived, as in the shuffle of a map-reduce job.

use incast_engine::{Fault, Size, Span};
use incast_host::Hosts;
use incast_net::topology::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::collective::{Algorithm, Message, Rounds, Timing};
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Role, Senders, Setting, Workload};

/// Rounds of messages among clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// The clients that take part, at least 2: a list of numbers from 0. Default: all of
    /// `network.clients`.
    #[serde(skip_serializing_if = "Option::is_none")]
    among: Option<Numbers>,
    /// The size of each message, in bytes. No default.
    message: Size,
    /// Number of rounds. Background traffic without this key never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 1))]
    rounds: Option<u32>,
    /// x: every request of a round is delayed by U(0, x) seconds, independently of the others.
    #[serde(default)]
    start_spread: Span,
}

/// The largest message, bytes. A round of a thousand clients has a million messages of this size.
const LARGEST_MESSAGE: u64 = 1_000_000_000;
/// The largest number of clients. A thousand clients form a million pairs, and each open connection
/// needs some kilobytes.
const MOST_CLIENTS: usize = 1000;

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        let Size(message) = self.message;
        if !(1..=LARGEST_MESSAGE).contains(&message) {
            let message =
                format!("{message} is out of range; must be 1 to {LARGEST_MESSAGE} bytes");
            return Err(Fault::new("message", message));
        }
        let named = self.among.as_ref();
        let among = match named {
            Some(_) => Numbers::clients(named, layout.clients)
                .map_err(|message| Fault::new("among", message))?,
            None => (0..layout.clients).collect(),
        };
        let mut sorted = among.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < among.len() {
            return Err(Fault::new("among", "must name each client once"));
        }
        if !(2..=MOST_CLIENTS).contains(&among.len()) {
            let message = format!(
                "must be 2 to {MOST_CLIENTS} clients, not {}; change network.clients, or name some of \
                 them",
                among.len()
            );
            return Err(Fault::new("among", message));
        }
        if role == Role::Workload {
            self.rounds.get_or_insert(1);
        }
        self.among = Some(Numbers::of(among));
        Ok(())
    }

    fn senders(&self, _: &Layout) -> Senders {
        Senders::Clients
    }

    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.among.as_ref())
    }

    /// The two hosts of each flow; the flows of each receiver are adjacent.
    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        let others = |to: HostId| senders.iter().filter(move |from| **from != to);
        senders.iter().flat_map(|to| others(*to).map(|from| (*from, *to))).collect()
    }

    fn count(&self, senders: u32) -> u32 {
        senders * (senders - 1)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(Load {
            most: self.message.0,
            least: self.message.0,
            at_once: senders - 1,
            fan_in: senders - 1,
            is_asked_for: false,
            is_shared: true,
            endless: Some("all-to-all keeps its connections"),
        })
    }

    fn ends(&self) -> bool {
        self.rounds.is_some()
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let ranks = setting.senders;
        let algorithm = AllToAll { ranks, message: self.message.0 };
        let timing = Timing { rounds: self.rounds, spread: self.start_spread };
        Box::new(Rounds::new(Box::new(algorithm), ranks, timing, &setting))
    }
}

/// Every rank sends a message to every other rank, all at once.
struct AllToAll {
    ranks: u32,
    message: u64,
}

impl Algorithm for AllToAll {
    fn steps(&self) -> u32 {
        1
    }

    fn sends(&self, _: u32) -> Vec<Message> {
        let of = |to| (0..self.ranks).filter(move |from| *from != to).map(move |from| (from, to));
        let message = |(from, to)| Message { from, to, bytes: self.message };
        (0..self.ranks).flat_map(of).map(message).collect()
    }
}
