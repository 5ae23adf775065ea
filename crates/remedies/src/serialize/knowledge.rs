//! The client's knowledge of the path and the SRU, given or learned from its first connections
//! (§6).

use incast_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formulas::Path;
use crate::schedule::{FullPacket, Order};
use crate::seam::Situation;

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The value is configured.
    Given,
    /// The value is measured. The client opens the first connections one by one, without limits on
    /// their windows, and uses the largest measured value.
    Learned,
}

/// The values that the client is given or must measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) base_rtt: Source,
    pub(crate) sru: Source,
    /// Number of connections to measure.
    pub(crate) observed: u32,
    /// Maximum time between consecutive requests of a group. With `None`, the application defines
    /// groups.
    pub(crate) group_gap: Option<Span>,
}

/// Parameters that contain those of the client.
pub(crate) trait AboutClient {
    fn client(&self) -> Client;
}

/// The parameters of a method: first the method's own parameters with their defaults, then the
/// client's parameters. For the user, all these parameters are one table. `serde(flatten)` would
/// lose the list of known keys in errors.
macro_rules! params_of_method {
    (
        $(#[$about:meta])*
        pub struct Params {
            $($(#[$meaning:meta])* pub $own:ident: $kind:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Params {
            $($(#[$meaning])* pub $own: $kind,)*
            /// Source of `BaseRTT`. Default: `given`, from the network.
            pub base_rtt: $crate::serialize::Source,
            /// Source of S, the size of an SRU. Default: `given`, from the application.
            pub sru: $crate::serialize::Source,
            /// Number of connections to measure before `learned` values are used, at least 1.
            /// Default: 1.
            #[schemars(range(min = 1))]
            pub observed: u32,
            /// Maximum time between consecutive requests of a group, in seconds. Default: none; the
            /// application says which requests form a group.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub group_gap: Option<incast_engine::Span>,
        }

        impl Default for Params {
            fn default() -> Self {
                Self {
                    $($own: $default,)*
                    base_rtt: $crate::serialize::Source::Given,
                    sru: $crate::serialize::Source::Given,
                    observed: 1,
                    group_gap: None,
                }
            }
        }

        impl $crate::serialize::AboutClient for Params {
            fn client(&self) -> $crate::serialize::Client {
                let Self { base_rtt, sru, observed, group_gap, .. } = *self;
                $crate::serialize::Client { base_rtt, sru, observed, group_gap }
            }
        }
    };
}

pub(crate) use params_of_method;

/// A value that is known or still to be measured.
#[derive(Clone, Copy, Debug)]
struct Lesson<T> {
    value: T,
    /// Number of missing samples.
    missing: u32,
}

impl<T: Ord + Default> Lesson<T> {
    fn new(given: T, source: Source, samples: u32) -> Self {
        match source {
            Source::Given => Self { value: given, missing: 0 },
            Source::Learned => Self { value: T::default(), missing: samples },
        }
    }

    fn learn(&mut self, sample: T) {
        if let Some(missing) = self.missing.checked_sub(1) {
            self.missing = missing;
            if sample > self.value {
                self.value = sample;
            }
        }
    }
}

/// The client's knowledge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge {
    path: Path,
    base_rtt: Lesson<Span>,
    sru: Lesson<u64>,
    /// The connection whose round trip is being measured, and when its request left.
    measured: Option<(u32, Time)>,
}

impl Knowledge {
    pub(crate) fn new(client: Client, situation: &Situation, packet: FullPacket) -> Self {
        let path = Path {
            rate: situation.client_rate,
            base_rtt: situation.base_rtt,
            mss: packet.payload,
            header: packet.header,
        };
        Self {
            path,
            base_rtt: Lesson::new(situation.base_rtt, client.base_rtt, client.observed),
            sru: Lesson::new(situation.sru, client.sru, client.observed),
            measured: None,
        }
    }

    /// Path and SRU, or the current estimates if they are not known.
    pub(super) fn best(&self) -> (Path, u64) {
        (Path { base_rtt: self.base_rtt.value, ..self.path }, self.sru.value)
    }

    /// Path and SRU, once both are known.
    pub(super) fn known(&self) -> Option<(Path, u64)> {
        (self.base_rtt.missing == 0 && self.sru.missing == 0).then(|| self.best())
    }

    /// Handles a sent request. The time from the request to the first byte of the response is a
    /// round trip of a full packet.
    pub(super) fn on_ask(&mut self, server: u32, now: Time, orders: &mut Vec<Order>) {
        if self.base_rtt.missing > 0 && self.measured.is_none() {
            self.measured = Some((server, now));
            orders.push(Order::Mark { server, bytes: 1 });
        }
    }

    /// Handles the departure of a request that waited for the handshake.
    pub(super) fn on_request(&mut self, server: u32, now: Time) {
        if let Some((measured, since)) = &mut self.measured
            && *measured == server
        {
            *since = now;
        }
    }

    /// Handles a mark that a server reached. Returns whether the mark belongs to the measurement.
    pub(super) fn on_mark(&mut self, server: u32, now: Time) -> bool {
        match self.measured {
            Some((measured, since)) if measured == server => {
                self.measured = None;
                self.base_rtt.learn(now - since);
                true
            }
            _ => false,
        }
    }

    /// Handles the completion of a part of this many bytes.
    pub(super) fn on_complete(&mut self, bytes: u64) {
        self.sru.learn(bytes);
    }
}
