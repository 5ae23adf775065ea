//! What receivers say: `transport.delayed_ack`, `transport.ecn` and `transport.ecn_packets`.

use incast_engine::Span;
use incast_tcp::config::{DelayedAck, EcnPackets};
use incast_tcp::congestion::{CongestionControlConfig, EcnUse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::switch::Parameters;

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DelayedAck")]
pub(super) struct DelayedAckTable {
    /// An ACK at the latest after this many full segments, at least 1. Default: 2 (RFC 5681 §4.2).
    #[schemars(range(min = 1))]
    pub(super) segments: u32,
    /// An ACK at the latest after this time, seconds. Default: 0.04 (Linux's minimum).
    pub(super) timeout: Span,
    /// Segments that are acknowledged at once, from a connection's beginning and after a duplicate,
    /// a number. Default: 0 (Linux: 16).
    pub(super) quickack: u32,
}

impl Default for DelayedAckTable {
    fn default() -> Self {
        Self { segments: 2, timeout: Span::from_millis(40), quickack: 0 }
    }
}

impl Parameters for DelayedAckTable {
    const EXAMPLE: &'static str = "{ segments = 2, timeout = \"40ms\" }";
}

impl From<DelayedAck> for DelayedAckTable {
    fn from(DelayedAck { segments, timeout, quickack }: DelayedAck) -> Self {
        Self { segments, timeout, quickack }
    }
}

impl From<DelayedAckTable> for DelayedAck {
    fn from(DelayedAckTable { segments, timeout, quickack }: DelayedAckTable) -> Self {
        Self { segments, timeout, quickack }
    }
}

/// Whether ECN is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EcnSwitch {
    /// On if the congestion control counts marks (`dctcp` and its kin).
    Auto,
    /// Off.
    Off,
    /// On.
    On,
}

/// Which packets are ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EcnScope {
    /// `data` if the congestion control counts marks, else `new-data`.
    Auto,
    /// Data that are sent for the first time (RFC 3168 §6.1.4, §6.1.5).
    NewData,
    /// All data, retransmissions included.
    Data,
    /// Everything, SYN and bare ACKs included (Linux with DCTCP; RFC 8257 §3.6 for the SYN).
    All,
}

/// Whether the congestion control cannot do without marks.
pub(super) fn counts_marks(config: &CongestionControlConfig) -> bool {
    config.needs().ecn != EcnUse::Classic
}

/// Which packets are ECN-capable, if any.
pub(super) fn ecn_packets(
    switch: EcnSwitch,
    scope: EcnScope,
    config: &CongestionControlConfig,
) -> Option<EcnPackets> {
    let counts = counts_marks(config);
    let is_on = match switch {
        EcnSwitch::Auto => counts,
        EcnSwitch::Off => false,
        EcnSwitch::On => true,
    };
    is_on.then_some(match scope {
        EcnScope::Auto if counts => EcnPackets::Data,
        EcnScope::Auto | EcnScope::NewData => EcnPackets::NewData,
        EcnScope::Data => EcnPackets::Data,
        EcnScope::All => EcnPackets::All,
    })
}

impl From<Option<EcnPackets>> for EcnScope {
    fn from(packets: Option<EcnPackets>) -> Self {
        match packets {
            None => Self::Auto,
            Some(EcnPackets::NewData) => Self::NewData,
            Some(EcnPackets::Data) => Self::Data,
            Some(EcnPackets::All) => Self::All,
        }
    }
}
