//! Datagrams at equal intervals in bursts, with pauses between them.

use incast_engine::{Fault, Rate, Size, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bursts::{OnOff, half_a_second};
use crate::datagrams::{Datagrams, Interval, Source};
use crate::numbers::Numbers;
use crate::seam::From;

/// Datagrams in bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Keys", from = "Keys")]
#[schemars(with = "Keys")]
pub struct Params {
    /// The datagrams; their rate is the rate within a burst.
    datagrams: Datagrams,
    /// Mean lengths of bursts and pauses.
    on_off: OnOff,
}

/// The keys of a scenario.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(inline)]
struct Keys {
    /// Rate of each source within a burst, in bits per second, without layer 2; 0 sends nothing. No
    /// default.
    rate: Rate,
    /// Mean length of a burst, in seconds.
    #[serde(default = "half_a_second")]
    burst: Span,
    /// Mean length of a pause, in seconds.
    #[serde(default = "half_a_second")]
    idle: Span,
    /// Size of a datagram, in bytes, with its header but without layer 2, 1 to 65535. Default: a
    /// full packet of the transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_size: Option<Size>,
    /// The hosts that send.
    #[serde(default)]
    from: From,
    /// Number of sources, each on a host of its own. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    count: Option<u32>,
    /// The switches to which the sources' own hosts are connected: a number from 0, or a list of
    /// numbers that are assigned to the hosts in turn. Default: the switches where the topology
    /// places servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Numbers>,
    /// The clients to which the sources send: a number from 0, or a list of numbers that are
    /// assigned to the sources in turn. Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// Earliest time of the first burst, in seconds.
    #[serde(default)]
    start: Span,
}

impl std::convert::From<Keys> for Params {
    fn from(keys: Keys) -> Self {
        let Keys { rate, burst, idle, packet_size, from, count, at, to, start } = keys;
        Self {
            datagrams: Datagrams { rate, packet_size, from, count, at, to, start },
            on_off: OnOff { burst, idle },
        }
    }
}

impl std::convert::From<Params> for Keys {
    fn from(Params { datagrams, on_off: OnOff { burst, idle } }: Params) -> Self {
        let Datagrams { rate, packet_size, from, count, at, to, start } = datagrams;
        Self { rate, burst, idle, packet_size, from, count, at, to, start }
    }
}

impl Source for Params {
    fn datagrams(&self) -> &Datagrams {
        &self.datagrams
    }

    fn datagrams_mut(&mut self) -> &mut Datagrams {
        &mut self.datagrams
    }

    fn interval(&self) -> Interval {
        Interval::Bursts(self.on_off)
    }

    fn check(&self) -> Result<(), Fault> {
        if self.on_off.burst.is_zero() {
            return Err(Fault::new("burst", "must be longer than 0; write e.g. \"500ms\""));
        }
        Ok(())
    }
}
