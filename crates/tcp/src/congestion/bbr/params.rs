//! Parameters of BBR.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::Parameters;

/// Parameters of BBR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Gain of rate and window in Startup, a ratio above 1 (§4.3.2.1: 2/ln 2); Drain uses its
    /// reciprocal.
    #[schemars(extend("exclusiveMinimum" = 1.0))]
    pub startup_gain: f64,
    /// Gain of the window in `ProbeBW`, a ratio above 0 (§4.2.3: 2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cwnd_gain: f64,
    /// Gain of the rate while `ProbeBW` probes, a ratio above 1 and below 2 (§4.3.4: 1.25). The
    /// gain of the next phase is as far below 1 as this gain is above 1.
    #[schemars(extend("exclusiveMinimum" = 1.0, "exclusiveMaximum" = 2.0))]
    pub probe_gain: f64,
    /// Length of the maximum filter of the delivery rate, in rounds, at least 1 (§4.1.1.3: 10).
    #[schemars(range(min = 1))]
    pub bandwidth_rounds: u32,
    /// Time after which the smallest round trip expires, in seconds (§4.1.2.3: 10 s).
    pub round_trip_time: Span,
    /// Duration of `ProbeRTT`, in seconds (§4.3.5: 200 ms).
    pub probe_rtt_time: Span,
    /// Minimum window, in segments, at least 1 (§4.2.3.2: 4).
    #[schemars(range(min = 1))]
    pub least_window: u32,
    /// Startup ends when the bandwidth has not grown by a quarter for this many rounds, at least 1
    /// (§4.3.2.2: 3).
    #[schemars(range(min = 1))]
    pub full_rounds: u32,
    /// Margin m of the pacing rate, from 0 to below 1: the rate is (1 - m) · gain · bandwidth
    /// (Linux's `bbr_pacing_margin_percent`: m = 0.01).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub pacing_margin: f64,
    /// Number of segments in a burst, which are sent back to back. Three bursts are added to the
    /// window (§4.2.3.2).
    pub burst: u32,
    /// Minimum duration of a burst at the pacing rate, in seconds (Linux: 1 ms). The resulting
    /// minimum size of a burst is at most 64 KiB. If `burst_time` is not 0, data leaves in such
    /// bursts, with or without segmentation offload, and a burst is at most half the window
    /// (Linux's `tcp_tso_autosize()` and `tcp_cwnd_test()`).
    pub burst_time: Span,
    /// A burst is enlarged by 64 KiB. This addition is halved as often as this time, in seconds,
    /// fits into the smallest round trip (Linux's `tcp_tso_rtt_log` of 9: 512 us). If `burst_rtt`
    /// is 0, bursts are not enlarged.
    pub burst_rtt: Span,
    /// Gain of the addition to the window for ACKs that arrive in bursts (0: no addition; Linux's
    /// `bbr_extra_acked_gain`: 1). The addition is this gain times the largest amount by which
    /// acknowledged data exceeded the bandwidth in the last five to ten rounds.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub aggregation_gain: f64,
    /// Whether the window is an even number of segments, plus two while `ProbeBW` probes (Linux's
    /// `bbr_quantization_budget()`).
    pub even_window: bool,
    /// Whether to assume a policer on a path that loses at least a fifth of the data at a steady
    /// rate. The sender then uses the policer's rate for 48 rounds (Linux's
    /// `bbr_lt_bw_sampling()`).
    pub long_term: bool,
    /// Whether a loss recovery begins a round, and whether Startup looks for growth again after a
    /// timeout (Linux's `bbr_set_cwnd_to_recover_or_restore()` and `bbr_set_state()`).
    pub loss_begins_round: bool,
    /// Whether only ACKs that give a delivery rate count for rounds, for the search for a policer
    /// and for bursts of ACKs (Linux's `bbr_update_bw()`). An ACK gives a delivery rate if its
    /// interval is at least the smallest round trip.
    pub valid_rounds: bool,
}

impl Default for Params {
    /// The draft's values.
    fn default() -> Self {
        Self {
            startup_gain: 2.885,
            cwnd_gain: 2.0,
            probe_gain: 1.25,
            bandwidth_rounds: 10,
            round_trip_time: Span::from_secs(10),
            probe_rtt_time: Span::from_millis(200),
            least_window: 4,
            full_rounds: 3,
            pacing_margin: 0.0,
            burst: 1,
            burst_time: Span::ZERO,
            burst_rtt: Span::ZERO,
            aggregation_gain: 0.0,
            even_window: false,
            long_term: false,
            loss_begins_round: false,
            valid_rounds: false,
        }
    }
}

impl Parameters for Params {}
