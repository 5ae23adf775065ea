//! Measurement of round trips: `rtt_sampling`, `timestamps`, `timestamp_granularity`.

use incast_engine::{Fault, Span};
use incast_tcp::Config;
use incast_tcp::config::RttSampling;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RoundTrips {
    /// Segments used for round-trip samples (RFC 6298 §3). With `timestamps`, every ACK of new data
    /// is a sample.
    pub(super) rtt_sampling: RttSampling,
    /// Timestamps option (RFC 7323); adds 12 bytes to `header_size` and `ack_size` unless these
    /// are given.
    pub(super) timestamps: bool,
    /// Tick of the timestamp clock, in seconds (RFC 7323 §5.4: 1 ms to 1 s). No effect while
    /// `timestamps` is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp_granularity: Option<Span>,
}

impl RoundTrips {
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.timestamps && self.timestamp_granularity == Some(Span::ZERO) {
            return Err(Fault::new(
                "timestamp_granularity",
                "must be longer than 0; write e.g. \"1ms\"",
            ));
        }
        Ok(())
    }

    /// The tick of the timestamp clock, if in use.
    pub(super) fn tick(&self) -> Option<Span> {
        self.timestamp_granularity.filter(|_| self.timestamps)
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            rtt_sampling: tcp.rtt_sampling,
            timestamps: tcp.timestamps.is_some(),
            timestamp_granularity: tcp.timestamps,
        }
    }
}
