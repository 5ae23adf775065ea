//! The parameters of RACK-TLP.

use incast_engine::{Fault, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recovery::Parameters;

/// Parameters of RFC 8985.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The reordering window starts as the smallest round trip divided by this number (RFC 8985
    /// §6.2: 4).
    #[schemars(range(min = 1))]
    pub reordering_divisor: u32,
    /// Without reordering so far there is no reordering window once `dupack_threshold` segments
    /// have been selectively acknowledged (RFC 8985 §6.2, step 4).
    pub dupack_threshold: bool,
    /// Duplicates that the receiver reports widen the reordering window (RFC 8985 §6.2, step 4).
    pub dsack_adaptation: bool,
    /// Recoveries without such a report after which the window is as at the start, a number
    /// (RFC 8985 §6.2: 16).
    pub dsack_persistence: u32,
    /// Time over which the smallest round trip is taken, seconds (Linux: 300 s).
    pub min_rtt_window: Span,
    /// A retransmission that is lost reduces the window once more per round trip (RFC 5681 §4.3;
    /// Linux does not).
    pub reduce_for_lost_retransmission: bool,
    /// Most probes for a loss at the tail until an ACK of new data arrives, a number (RFC 8985
    /// §7.3: 1); 0 sends none.
    pub probes: u32,
    /// The probe timeout in smoothed round trips, a number (RFC 8985 §7.2: 2).
    #[schemars(range(min = 1))]
    pub probe_rtts: u32,
    /// The probe timeout before the first round trip was measured, seconds (RFC 8985 §7.2: 1 s).
    pub probe_initial: Span,
    /// The least probe timeout, seconds (RFC 8985 has none; Linux waits two ticks of its clock).
    pub probe_min: Span,
    /// Allowance for an ACK held back when one segment is outstanding, seconds (RFC 8985 §7.2:
    /// `TLP.max_ack_delay`). No default: what the receiver's `delayed_ack` says, 0 if it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ack_delay: Option<Span>,
    /// The beginning of recovery restarts the retransmission timer (Linux; the RFC leaves it open).
    pub restart_timer_on_entry: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            reordering_divisor: 4,
            dupack_threshold: true,
            dsack_adaptation: true,
            dsack_persistence: 16,
            min_rtt_window: Span::from_secs(300),
            reduce_for_lost_retransmission: true,
            probes: 1,
            probe_rtts: 2,
            probe_initial: Span::from_secs(1),
            probe_min: Span::ZERO,
            max_ack_delay: None,
            restart_timer_on_entry: true,
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        let zeros = [
            ("reordering_divisor", self.reordering_divisor, "divides nothing; write e.g. 4"),
            ("probe_rtts", self.probe_rtts, "round trips are no timeout; write e.g. 2"),
        ];
        match zeros.into_iter().find(|(_, value, _)| *value == 0) {
            Some((key, _, message)) => Err(Fault::new(key, format!("0 {message}"))),
            None => Ok(()),
        }
    }
}
