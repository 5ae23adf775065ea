//! Selective acknowledgements: `sack`, `dsack`, `sack_option_bytes`.

use incast_engine::Fault;
use incast_tcp::Config;
use incast_tcp::config::Sack;
use incast_tcp::recovery::RecoveryConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Selective {
    /// Selective acknowledgements (RFC 2018). Default: true if `recovery` needs them, else false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sack: Option<bool>,
    /// Whether selective acknowledgements also report duplicate segments (RFC 2883). No effect
    /// while `sack` is off.
    pub(super) dsack: bool,
    /// Whether selective acknowledgements lengthen packets without payload, by 4 bytes plus 8 bytes
    /// per block (RFC 2018 §3, padded). No effect while `sack` is off.
    pub(super) sack_option_bytes: bool,
}

impl Selective {
    pub(super) fn check(&self, recovery: &RecoveryConfig) -> Result<(), Fault> {
        if self.sack == Some(false) && recovery.traits().selective {
            let message = "false excludes selective acknowledgements, which the recovery needs; \
                           write true, or another recovery";
            return Err(Fault::new("sack", message));
        }
        Ok(())
    }

    pub(super) fn sack(&self, recovery: &RecoveryConfig) -> Option<Sack> {
        let is_on = self.sack.unwrap_or(recovery.traits().selective);
        is_on.then_some(Sack { dsack: self.dsack, takes_room: self.sack_option_bytes })
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            sack: Some(tcp.sack.is_some()),
            dsack: tcp.sack.is_none_or(|sack| sack.dsack),
            sack_option_bytes: tcp.sack.is_some_and(|sack| sack.takes_room),
        }
    }
}
