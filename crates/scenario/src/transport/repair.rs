//! Loss detection and sending during repair, for all recoveries: `dupack_…`, `limited_transmit…`,
//! `early_retransmit`, `prr`, `undo`, `recovery_burst`.

use incast_engine::{Fault, Name, OrName};
use incast_tcp::Config;
use incast_tcp::config::{EarlyRetransmit, PrrBound, UndoKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unlimited;

impl Name for Unlimited {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("unlimited", Self, "As many as the window allows.")];
}

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Repair {
    /// Whether fewer duplicate ACKs signal a loss when little data is outstanding (RFC 5827).
    pub(super) early_retransmit: EarlyRetransmit,
    /// Proportional rate reduction, which spreads the sending of data over a recovery (RFC 6937,
    /// RFC 9937).
    pub(super) prr: PrrBound,
    /// Detection of spurious timeouts, whose effect is then undone (RFC 4015).
    pub(super) undo: UndoKind,
    /// Whether each of the first two duplicate ACKs lets the sender send a new segment (RFC 3042).
    pub(super) limited_transmit: bool,
    /// Whether limited transmit also sends segments that a timeout returned to the send queue
    /// (ns-2). No effect while `limited_transmit` is off.
    pub(super) limited_transmit_resends: bool,
    /// Number of duplicate ACKs that signal a loss, at least 1 (RFC 5681 §3.2: 3).
    #[schemars(range(min = 1))]
    pub(super) dupack_threshold: u32,
    /// Whether a duplicate ACK must have the same window as the previous ACK (RFC 5681 §2,
    /// condition (e)).
    pub(super) dupack_requires_same_window: bool,
    /// Maximum number of new segments per ACK in fast recovery, or a name.
    pub(super) recovery_burst: OrName<Unlimited, u32>,
}

impl Repair {
    pub(super) fn check(&self, timestamps: bool) -> Result<(), Fault> {
        if self.undo == UndoKind::Eifel && !timestamps {
            let message = "\"eifel\" needs timestamps; write timestamps = true, or \"f-rto\"";
            return Err(Fault::new("undo", message));
        }
        Ok(())
    }

    /// Maximum number of new segments per ACK in fast recovery.
    pub(super) fn burst(&self) -> Option<u32> {
        match self.recovery_burst {
            OrName::Name(Unlimited) => None,
            OrName::Quantity(segments) => Some(segments),
        }
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            early_retransmit: tcp.early_retransmit,
            prr: tcp.prr,
            undo: tcp.undo,
            limited_transmit: tcp.limited_transmit,
            limited_transmit_resends: tcp.limited_transmit_resends,
            dupack_threshold: tcp.dupack_threshold,
            dupack_requires_same_window: tcp.dupack_requires_same_window,
            recovery_burst: tcp.recovery_burst.map_or(OrName::Name(Unlimited), OrName::Quantity),
        }
    }
}
