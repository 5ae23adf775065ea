//! How data leave and ACKs are collected: `transport.pacing` and the offloads.

use incast_engine::{Name, Size, Span};
use incast_tcp::config::{Pacing, ReceiveOffload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::switch::{Parameters, Switch};

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Pacing")]
pub(super) struct PacingTable {
    /// Data leave at this times cwnd / SRTT while cwnd is below half of ssthresh, a ratio above 0.
    /// Default: 2.0 (Linux's `tcp_pacing_ss_ratio`).
    #[schemars(range(min = 0.001))]
    slow_start_gain: f64,
    /// And at this times cwnd / SRTT otherwise, a ratio above 0. Default: 1.2 (Linux's
    /// `tcp_pacing_ca_ratio`).
    #[schemars(range(min = 0.001))]
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

impl Switch<PacingTable> {
    /// Refuses gains that are no gains.
    pub(super) fn check(&self, table: &str) -> Result<(), ScenarioError> {
        let Some(gains) = self.table() else { return Ok(()) };
        for (key, gain) in [("slow_start_gain", gains.slow_start_gain), ("gain", gains.gain)] {
            if !(0.001..=1e6).contains(&gain) {
                let message = format!("{gain} is no gain; write 0.001 to 1000000, e.g. 1.2");
                return Err(ScenarioError::new(format!("{table}.pacing.{key}"), message));
            }
        }
        Ok(())
    }

    pub(super) fn pacing(&self) -> Option<Pacing> {
        self.table().map(|table| Pacing {
            slow_start_permille: (table.slow_start_gain * 1000.0).round() as u64,
            permille: (table.gain * 1000.0).round() as u64,
        })
    }
}

/// No segmentation offload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Off;

impl Name for Off {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("off", Self, "Segments leave one by one.")];
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ReceiveOffload")]
pub(super) struct ReceiveOffloadTable {
    /// Segments are handed up when they amount to this, bytes, at least 1. Default: 65536 (Linux's
    /// GRO).
    #[schemars(range(min = 1))]
    size: Size,
    /// And this long after the first of them at the latest, seconds. Default: 0.00002.
    timeout: Span,
}

impl Parameters for ReceiveOffloadTable {
    const EXAMPLE: &'static str = "{ size = \"64KiB\", timeout = \"20us\" }";
}

impl Default for ReceiveOffloadTable {
    fn default() -> Self {
        Self { size: Size(64 << 10), timeout: Span::from_micros(20) }
    }
}

impl From<ReceiveOffload> for ReceiveOffloadTable {
    fn from(ReceiveOffload { size, timeout }: ReceiveOffload) -> Self {
        Self { size: Size(size.into()), timeout }
    }
}

impl Switch<ReceiveOffloadTable> {
    /// Refuses a size that nothing fits into, or that nobody has.
    pub(super) fn check(&self, table: &str) -> Result<(), ScenarioError> {
        match self.table() {
            Some(ReceiveOffloadTable { size: Size(size), .. }) if !is_burst(size) => {
                let message = format!("{size} is out of range; write 1 to 4294967295 bytes");
                Err(ScenarioError::new(format!("{table}.receive_offload.size"), message))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn offload(&self) -> Option<ReceiveOffload> {
        self.table().map(|ReceiveOffloadTable { size, timeout }| ReceiveOffload {
            size: size.0 as u32,
            timeout,
        })
    }
}

/// Whether so many bytes can be a burst.
pub(super) fn is_burst(bytes: u64) -> bool {
    (1..=u64::from(u32::MAX)).contains(&bytes)
}
