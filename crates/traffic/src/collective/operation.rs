//! What all collective operations have in common: their ranks, their rounds, and their flows.

use std::borrow::Cow;

use incast_engine::{Fault, Span};
use incast_host::Hosts;
use incast_net::topology::HostId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{Algorithm, Rounds, Timing};
use crate::application::Application;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Role, Senders, Setting, Workload};

/// The common keys of a collective operation. The macro `collective!` implements this trait.
pub trait Members {
    /// The clients that take part, if they are given.
    fn among(&self) -> Option<&Numbers>;
    /// Number of rounds; `None` for rounds without end.
    fn rounds(&self) -> Option<u32>;
    /// Maximum random delay of a request.
    fn start_spread(&self) -> Span;
    /// Sets the clients that take part, and the number of rounds.
    fn set(&mut self, among: Numbers, rounds: Option<u32>);
}

/// The largest load of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The size of the largest message, bytes.
    pub most: u64,
    /// The size of the smallest message, bytes.
    pub least: u64,
    /// The largest number of messages to one rank.
    pub fan_in: u32,
}

/// The parameters of a collective operation.
pub trait Collective: Members {
    /// Finds the first invalid parameter, apart from the common keys.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault>;
    /// The largest load of a step among `ranks` ranks.
    fn peak(&self, ranks: u32) -> Peak;
    /// The messages among `ranks` ranks.
    fn algorithm(&self, ranks: u32) -> Box<dyn Algorithm>;
}

/// The largest message, bytes. A round of a thousand clients has a million messages of this size.
const LARGEST_MESSAGE: u64 = 1_000_000_000;
/// The largest number of clients. A thousand clients form a million pairs, and each open connection
/// needs some kilobytes.
const MOST_CLIENTS: usize = 1000;

/// Refuses a size that no message can have. `key` is its key.
pub(crate) fn check_size(key: &'static str, size: u64) -> Result<(), Fault> {
    if (1..=LARGEST_MESSAGE).contains(&size) {
        return Ok(());
    }
    let message = format!("{size} is out of range; must be 1 to {LARGEST_MESSAGE} bytes");
    Err(Fault::new(key, message))
}

/// A collective operation as a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operation<C>(pub C);

impl<C: JsonSchema> JsonSchema for Operation<C> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        C::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        C::json_schema(generator)
    }
}

impl<C: Collective> Workload for Operation<C> {
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        self.0.check()?;
        let named = self.0.among();
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
        let rounds = match role {
            Role::Workload => self.0.rounds().or(Some(1)),
            Role::Background => self.0.rounds(),
        };
        self.0.set(Numbers::of(among), rounds);
        Ok(())
    }

    fn senders(&self, _: &Layout) -> Senders {
        Senders::Clients
    }

    fn clients(&self) -> Vec<u32> {
        Numbers::or_first(self.0.among())
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
        let Peak { most, least, fan_in } = self.0.peak(senders);
        Some(Load {
            most,
            least,
            at_once: fan_in,
            fan_in,
            is_asked_for: false,
            is_shared: true,
            endless: Some("a collective operation keeps its connections"),
        })
    }

    fn ends(&self) -> bool {
        self.0.rounds().is_some()
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let ranks = setting.senders;
        let timing = Timing { rounds: self.0.rounds(), spread: self.0.start_spread() };
        Box::new(Rounds::new(self.0.algorithm(ranks), ranks, timing, &setting))
    }
}

/// Declares the parameters of a collective operation: its own keys, and the common keys.
macro_rules! collective {
    (
        $(#[$about:meta])*
        pub struct Keys { $($(#[$meaning:meta])* $key:ident: $type:ty,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub struct Keys {
            /// The clients that take part, at least 2: a list of numbers from 0. Default: all of
            /// `network.clients`.
            #[serde(skip_serializing_if = "Option::is_none")]
            among: Option<$crate::Numbers>,
            $($(#[$meaning])* $key: $type,)+
            /// Number of rounds. Background traffic without this key never ends.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1), extend("default" = 1))]
            rounds: Option<u32>,
            /// x: every request of a round is delayed by U(0, x) seconds, independently of the
            /// others.
            #[serde(default)]
            start_spread: incast_engine::Span,
        }

        /// The operation, as the list of workloads names it.
        pub type Params = $crate::collective::Operation<Keys>;

        impl $crate::collective::Members for Keys {
            fn among(&self) -> Option<&$crate::Numbers> {
                self.among.as_ref()
            }

            fn rounds(&self) -> Option<u32> {
                self.rounds
            }

            fn start_spread(&self) -> incast_engine::Span {
                self.start_spread
            }

            fn set(&mut self, among: $crate::Numbers, rounds: Option<u32>) {
                (self.among, self.rounds) = (Some(among), rounds);
            }
        }
    };
}
pub(crate) use collective;
