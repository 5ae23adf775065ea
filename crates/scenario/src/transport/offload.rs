//! Batches of segments in hosts: `segmentation_offload`, `receive_offload`.

use incast_engine::{Fault, Name, OrName, Size, Span};
use incast_tcp::Config;
use incast_tcp::config::ReceiveOffload;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{Parameters, Switch};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Offload {
    /// Segmentation offload: the largest burst of back-to-back segments, in bytes. A smaller burst
    /// waits for further ACKs while it is less than a third of the window.
    pub(super) segmentation_offload: OrName<Off, Size>,
    /// Receive offload and interrupt coalescing: segments that arrive in order within `timeout` are
    /// acknowledged as one. False, true, or a table.
    pub(super) receive_offload: Switch<ReceiveOffloadTable>,
}

impl Offload {
    pub(super) fn check(&self) -> Result<(), Fault> {
        if let Some(ReceiveOffloadTable { size: Size(size), .. }) = self.receive_offload.table()
            && !is_burst(size)
        {
            let message = format!("{size} is out of range; must be 1 to 4294967295 bytes");
            return Err(Fault::new("receive_offload.size", message));
        }
        if let OrName::Quantity(Size(size)) = self.segmentation_offload
            && !is_burst(size)
        {
            let message =
                format!("{size} is out of range; must be 1 to 4294967295 bytes, or \"off\"");
            return Err(Fault::new("segmentation_offload", message));
        }
        Ok(())
    }

    /// Largest burst, bytes.
    pub(super) fn burst(&self) -> Option<u32> {
        match self.segmentation_offload {
            OrName::Name(Off) => None,
            OrName::Quantity(Size(size)) => Some(size as u32),
        }
    }

    pub(super) fn receive(&self) -> Option<ReceiveOffload> {
        self.receive_offload.table().map(|ReceiveOffloadTable { size, timeout }| ReceiveOffload {
            size: size.0 as u32,
            timeout,
        })
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            segmentation_offload: tcp
                .segmentation_offload
                .map_or(OrName::Name(Off), |size| OrName::Quantity(Size(size.into()))),
            receive_offload: tcp.receive_offload.map(Into::into).into(),
        }
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
    /// Number of bytes at which segments are passed up, at least 1. Default: 65536 (Linux's GRO).
    #[schemars(range(min = 1))]
    size: Size,
    /// Maximum delay after the first of these segments, in seconds. Default: 0.00002.
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

/// Whether a burst can have this many bytes.
pub(super) fn is_burst(bytes: u64) -> bool {
    (1..=u64::from(u32::MAX)).contains(&bytes)
}
