//! When data is sent: `send_jitter`, `pacing`, `idle_restart`.

use incast_engine::Span;
use incast_tcp::Config;
use incast_tcp::config::{IdleRestart, Pacing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{Parameters, Switch};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Departures {
    /// Effect of an idle period on the congestion window: `none`, or the number of an RFC in
    /// quotes.
    pub(super) idle_restart: IdleRestart,
    /// x: a host waits for U(0, x) seconds before it sends the data that its window allows. The
    /// order of packets does not change (ns-2's `overhead_`).
    pub(super) send_jitter: Span,
    /// Whether a host that may send less than a third of its window waits until ACKs allow more, as
    /// Linux does even without segmentation offload (`tcp_tso_should_defer()`). The host also waits
    /// during duplicate ACKs. The host sends at once during loss recovery, if the next ACK is not
    /// expected within half a round trip or a millisecond, or if the host has sent nothing for a
    /// millisecond.
    pub(super) tso_deferral: bool,
    /// Pacing at a rate that is computed from the window: false, true, or a table with the gains of
    /// the rate. A congestion control with its own pacing (`bbr`, `swift`) always paces.
    pub(super) pacing: Switch<PacingTable>,
}

impl Departures {
    pub(super) fn pacing(&self) -> Option<Pacing> {
        self.pacing.table().map(|table| Pacing {
            slow_start_permille: (table.slow_start_gain * 1000.0).round() as u64,
            permille: (table.gain * 1000.0).round() as u64,
        })
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            idle_restart: tcp.idle_restart,
            send_jitter: tcp.send_jitter,
            tso_deferral: tcp.tso_deferral,
            pacing: tcp.pacing.map(Into::into).into(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Pacing")]
pub(super) struct PacingTable {
    /// Pacing rate in units of cwnd / SRTT while cwnd is below half of ssthresh, above 0. Default:
    /// 2.0 (Linux's `tcp_pacing_ss_ratio`).
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    slow_start_gain: f64,
    /// Pacing rate in units of cwnd / SRTT for larger windows, above 0. Default: 1.2 (Linux's
    /// `tcp_pacing_ca_ratio`).
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    gain: f64,
}

impl Parameters for PacingTable {
    const EXAMPLE: &'static str = "{ gain = 1.2 }";
}

impl Default for PacingTable {
    fn default() -> Self {
        Pacing::default().into()
    }
}

impl From<Pacing> for PacingTable {
    fn from(pacing: Pacing) -> Self {
        Self {
            slow_start_gain: pacing.slow_start_permille as f64 / 1000.0,
            gain: pacing.permille as f64 / 1000.0,
        }
    }
}
