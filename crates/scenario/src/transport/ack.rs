//! When receivers send ACKs: `delayed_ack`.

use incast_engine::Span;
use incast_tcp::Config;
use incast_tcp::config::DelayedAck;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{Parameters, Switch};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ack {
    /// Delayed ACKs: false (one ACK per packet), true, or a table (RFC 1122 §4.2.3.2).
    pub(super) delayed_ack: Switch<DelayedAckTable>,
}

impl Ack {
    pub(super) fn delayed(&self) -> Option<DelayedAck> {
        self.delayed_ack.table().map(Into::into)
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self { delayed_ack: tcp.delayed_ack.map(Into::into).into() }
    }
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DelayedAck")]
pub(super) struct DelayedAckTable {
    /// Maximum number of full segments per ACK, at least 1. Default: 2 (RFC 5681 §4.2).
    #[schemars(range(min = 1))]
    pub(super) segments: u32,
    /// Maximum delay of an ACK, in seconds. Default: 0.04 (Linux's minimum).
    pub(super) timeout: Span,
    /// Number of segments that are acknowledged immediately, from the beginning of a connection and
    /// after a duplicate segment. Default: 0 (Linux: 16).
    pub(super) quickack: u32,
    /// Whether immediate ACKs (`quickack`) stop while the host answers within `timeout`, and start
    /// again after a silence of one retransmission timeout. Default: false (Linux: true, its
    /// ping-pong mode).
    pub(super) pingpong: bool,
    /// Whether the delay is at most `rto_min` minus a tick (`timer_tick`), but at least a tick, so
    /// that the ACK arrives before the sender's timeout. Default: false (Linux since 6.7: true,
    /// `tcp_delack_max()`).
    pub(super) below_rto_min: bool,
}

impl Default for DelayedAckTable {
    fn default() -> Self {
        Self {
            segments: 2,
            timeout: Span::from_millis(40),
            quickack: 0,
            pingpong: false,
            below_rto_min: false,
        }
    }
}

impl Parameters for DelayedAckTable {
    const EXAMPLE: &'static str = "{ segments = 2, timeout = \"40ms\" }";
}

impl From<DelayedAck> for DelayedAckTable {
    fn from(it: DelayedAck) -> Self {
        let DelayedAck { segments, timeout, quickack, pingpong, below_rto_min } = it;
        Self { segments, timeout, quickack, pingpong, below_rto_min }
    }
}

impl From<DelayedAckTable> for DelayedAck {
    fn from(it: DelayedAckTable) -> Self {
        let DelayedAckTable { segments, timeout, quickack, pingpong, below_rto_min } = it;
        Self { segments, timeout, quickack, pingpong, below_rto_min }
    }
}
