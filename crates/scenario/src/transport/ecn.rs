//! Explicit congestion notification: `ecn`, `ecn_packets`.

use incast_engine::Fault;
use incast_tcp::Config;
use incast_tcp::config::EcnPackets;
use incast_tcp::congestion::{CongestionControlConfig, EcnUse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ecn {
    /// Explicit congestion notification (RFC 3168), without negotiation.
    pub(super) ecn: EcnSwitch,
    /// Which packets are ECN-capable when ECN is on.
    pub(super) ecn_packets: EcnScope,
}

impl Ecn {
    pub(super) fn check(&self, control: &CongestionControlConfig) -> Result<(), Fault> {
        if self.ecn == EcnSwitch::Off && counts_marks(control) {
            let message = "\"off\" excludes marks, which this congestion control needs; write \
                           \"auto\" or \"on\"";
            return Err(Fault::new("ecn", message));
        }
        Ok(())
    }

    /// Which packets are ECN-capable, if any.
    pub(super) fn packets(&self, control: &CongestionControlConfig) -> Option<EcnPackets> {
        let counts = counts_marks(control);
        let is_on = match self.ecn {
            EcnSwitch::Auto => counts,
            EcnSwitch::Off => false,
            EcnSwitch::On => true,
        };
        is_on.then_some(match self.ecn_packets {
            EcnScope::Auto if counts => EcnPackets::Data,
            EcnScope::Auto | EcnScope::NewData => EcnPackets::NewData,
            EcnScope::Data => EcnPackets::Data,
            EcnScope::All => EcnPackets::All,
        })
    }

    pub(super) fn of(tcp: &Config) -> Self {
        let ecn = if tcp.ecn.is_some() { EcnSwitch::On } else { EcnSwitch::Off };
        Self { ecn, ecn_packets: tcp.ecn.into() }
    }
}

/// Whether ECN is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EcnSwitch {
    /// On if the congestion control counts marks (`dctcp` and its variants).
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

/// Whether the congestion control requires marks.
pub(crate) fn counts_marks(config: &CongestionControlConfig) -> bool {
    config.needs().ecn != EcnUse::Classic
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
