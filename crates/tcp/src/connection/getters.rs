//! The readable state of a connection.

use super::{Connection, Counters, FIRST_BYTE, State};
use crate::config::IdleRestart;
use crate::congestion::CongestionControl;
use crate::recovery::LossRecovery;
use crate::recv::Reassembly;
use crate::send::RttEstimator;

impl Connection {
    /// cwnd, bytes.
    pub fn cwnd(&self) -> u64 {
        self.congestion.window()
    }

    /// ssthresh, bytes.
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// An internal value of the congestion control, by name.
    pub fn congestion_gauge(&self, name: &str) -> Option<f64> {
        self.congestion.gauge(name)
    }

    /// Outstanding bytes.
    pub fn flight(&self) -> u64 {
        self.board.flight()
    }

    /// First unacknowledged sequence number.
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// Consecutive duplicate ACKs.
    pub fn dupacks(&self) -> u32 {
        self.recovery.dupacks()
    }

    /// Whether loss recovery is in progress.
    pub fn in_recovery(&self) -> bool {
        self.recovery.in_recovery()
    }

    /// Round-trip estimator.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Received data.
    pub fn received(&self) -> &Reassembly {
        &self.inbound.data
    }

    /// Bytes that the application wrote so far.
    pub fn written(&self) -> u64 {
        self.written - FIRST_BYTE
    }

    /// Unacknowledged bytes that the application wrote.
    pub fn unacknowledged(&self) -> u64 {
        self.written.saturating_sub(self.board.una())
    }

    /// Whether a write affects the connection even if earlier data is still unsent. Window
    /// validation runs when the application writes (RFC 2861, RFC 7661), and hooks may treat a
    /// write as a message.
    pub fn heeds_writes(&self) -> bool {
        matches!(self.config.idle_restart, IdleRestart::Rfc2861 | IdleRestart::Rfc7661)
            || self.has_sender_hooks()
    }

    /// How often the first unacknowledged segment was sent; 0 if there is none.
    pub fn head_transmissions(&self) -> u32 {
        self.board.head().map_or(0, |head| head.transmissions.into())
    }

    /// Whether all written data, and the FIN if there is one, have been acknowledged.
    pub fn is_drained(&self) -> bool {
        self.board.una() == self.stream_end()
    }

    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Ordinal number of the last request that arrived.
    pub fn requests_seen(&self) -> u64 {
        self.opening.requests_seen
    }

    /// Ordinal number of the last request made.
    pub fn requests_made(&self) -> u64 {
        self.opening.request.ordinal
    }

    /// The incarnation of the flow.
    pub fn epoch(&self) -> u8 {
        self.template.epoch
    }

    /// Whether an ACK is being delayed (delayed ACK, or a receiver hook).
    pub fn is_holding_ack(&self) -> bool {
        self.acks.policy.is_holding() || self.hooks.held().is_some_and(|held| !held.is_empty())
    }

    /// The connection's counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
