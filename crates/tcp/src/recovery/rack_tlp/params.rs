//! The parameters of RACK-TLP.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recovery::Parameters;

/// Parameters of RFC 8985.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Divisor: the reordering window starts as the smallest round trip divided by this number (RFC
    /// 8985 §6.2: 4).
    #[schemars(range(min = 1))]
    pub reordering_divisor: u32,
    /// Whether the reordering window is 0 once `dupack_threshold` segments have been selectively
    /// acknowledged, if no reordering was seen so far (RFC 8985 §6.2, step 4).
    pub dupack_threshold: bool,
    /// Whether duplicates reported by the receiver widen the reordering window (RFC 8985 §6.2, step
    /// 4).
    pub dsack_adaptation: bool,
    /// Whether reported duplicates widen the reordering window only after reordering was seen, as
    /// in Linux (`tcp_dsack_seen()`). Otherwise, a copy that was sent too early would count as a
    /// sign of reordering.
    pub dsack_needs_reordering: bool,
    /// Number of recoveries without a reported duplicate after which the reordering window is reset
    /// (RFC 8985 §6.2: 16).
    pub dsack_persistence: u32,
    /// Length of the filter of the smallest round trip, in seconds (Linux: 300 s).
    pub min_rtt_window: Span,
    /// Whether the delivery of a retransmitted segment is ignored if the ACK echoes the timestamp
    /// of an earlier packet (RFC 8985 §6.2, step 2; not in Linux). If a hole precedes the segment,
    /// the ACK always echoes such a timestamp.
    pub timestamp_check: bool,
    /// Whether a lost retransmission reduces the window again, once per round trip (RFC 5681 §4.3;
    /// not in Linux).
    pub reduce_for_lost_retransmission: bool,
    /// Maximum number of tail loss probes until an ACK of new data arrives (RFC 8985 §7.3: 1); 0
    /// disables probes.
    pub probes: u32,
    /// Probe timeout in smoothed round trips (RFC 8985 §7.2: 2).
    #[schemars(range(min = 1))]
    pub probe_rtts: u32,
    /// Probe timeout before the first round-trip sample, in seconds (RFC 8985 §7.2: 1 s).
    pub probe_initial: Span,
    /// Additional time, in seconds, of two timers (none in RFC 8985; Linux's `TCP_TIMEOUT_MIN_US`:
    /// 2 ms). The two timers are the probe timeout with several segments outstanding, and the wait
    /// for segments that may be reordered.
    pub timer_margin: Span,
    /// Allowance for a delayed ACK when one segment is outstanding, in seconds (RFC 8985 §7.2:
    /// `TLP.max_ack_delay`). Default: the timeout of the receiver's `delayed_ack`, or 0 if
    /// `delayed_ack` is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ack_delay: Option<Span>,
    /// Whether the beginning of recovery restarts the retransmission timer (Linux; the RFC leaves
    /// it open).
    pub restart_timer_on_entry: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            reordering_divisor: 4,
            dupack_threshold: true,
            dsack_adaptation: true,
            dsack_needs_reordering: false,
            dsack_persistence: 16,
            min_rtt_window: Span::from_secs(300),
            timestamp_check: true,
            reduce_for_lost_retransmission: true,
            probes: 1,
            probe_rtts: 2,
            probe_initial: Span::from_secs(1),
            timer_margin: Span::ZERO,
            max_ack_delay: None,
            restart_timer_on_entry: true,
        }
    }
}

impl Parameters for Params {}
