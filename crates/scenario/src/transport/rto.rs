//! The retransmission timer: `rto_…` and `syn_rto`.

use incast_engine::{Fault, Span};
use incast_tcp::Config;
use incast_tcp::config::{RtoPolicy, RtoStyle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Timer {
    /// Lower bound of the retransmission timeout, seconds (RFC 6298 (2.4): 1 s).
    pub(super) rto_min: Span,
    /// Upper bound of the retransmission timeout, seconds (RFC 6298 (2.5): at least 60 s).
    pub(super) rto_max: Span,
    /// Retransmission timeout before the first round trip was measured, seconds (RFC 6298 (2.1):
    /// 1 s).
    pub(super) rto_initial: Span,
    /// Granularity G of the retransmission timer, seconds (RFC 6298 §4); with `rto_style = "ns2"`
    /// the tick that samples are rounded to.
    pub(super) rto_granularity: Span,
    /// How often consecutive timeouts may double the timeout, a number (RFC 6298 (5.5)); 0 switches
    /// backoff off.
    pub(super) rto_max_doublings: u32,
    /// j: every timeout is multiplied by 1 + U(0, j), a ratio (Vasudevan et al. 2009: 0.5).
    #[schemars(range(min = 0.0))]
    pub(super) rto_jitter: f64,
    /// The retransmission timer keeps running while nothing is outstanding, and its expiry, which
    /// is no timeout, ends the chance of a fast retransmit for the next segment (ns-2).
    pub(super) rto_runs_idle: bool,
    /// A fast retransmit doubles the timeout until a round trip is measured, as an expiry does
    /// (ns-2's Vegas).
    pub(super) rto_backs_off_in_recovery: bool,
    /// Whose arithmetic turns round trips into a timeout.
    pub(super) rto_style: RtoStyle,
    /// Timeout of a SYN and a SYN-ACK before any round trip was measured, seconds.
    pub(super) syn_rto: Span,
    /// Retransmission timeout after a handshake that lost its SYN or SYN-ACK, until a round trip is
    /// measured, seconds (RFC 6298 (5.7): 3 s).
    pub(super) rto_after_syn_loss: Span,
}

impl Timer {
    pub(super) fn check(&self) -> Result<(), Fault> {
        let timers = [
            ("rto_max", self.rto_max),
            ("rto_initial", self.rto_initial),
            ("syn_rto", self.syn_rto),
            ("rto_after_syn_loss", self.rto_after_syn_loss),
        ];
        if let Some((key, _)) = timers.iter().find(|(_, timer)| timer.is_zero()) {
            return Err(Fault::new(key, "0 is no timeout; write e.g. \"1s\""));
        }
        if self.rto_min > self.rto_max {
            return Err(Fault::new("rto_min", "exceeds rto_max; write less, or raise rto_max"));
        }
        if self.rto_min.is_zero() && self.rto_granularity.is_zero() {
            let message = "0 is no timeout while rto_granularity is 0, too; write e.g. \"200us\"";
            return Err(Fault::new("rto_min", message));
        }
        if self.rto_style == RtoStyle::Ns2 && self.rto_granularity.is_zero() {
            let message = "must be more than 0 with rto_style = \"ns2\"; write e.g. \"10us\"";
            return Err(Fault::new("rto_granularity", message));
        }
        Ok(())
    }

    pub(super) fn policy(&self) -> RtoPolicy {
        RtoPolicy {
            min: self.rto_min,
            max: self.rto_max,
            initial: self.rto_initial,
            granularity: self.rto_granularity,
            max_doublings: self.rto_max_doublings,
            jitter: self.rto_jitter,
            style: self.rto_style,
            runs_idle: self.rto_runs_idle,
            backs_off_in_recovery: self.rto_backs_off_in_recovery,
        }
    }

    pub(super) fn of(tcp: &Config) -> Self {
        let RtoPolicy { min, max, initial, granularity, max_doublings, jitter, style, .. } =
            tcp.rto;
        Self {
            rto_min: min,
            rto_max: max,
            rto_initial: initial,
            rto_granularity: granularity,
            rto_max_doublings: max_doublings,
            rto_jitter: jitter,
            rto_runs_idle: tcp.rto.runs_idle,
            rto_backs_off_in_recovery: tcp.rto.backs_off_in_recovery,
            rto_style: style,
            syn_rto: tcp.syn_rto,
            rto_after_syn_loss: tcp.rto_after_syn_loss,
        }
    }
}
