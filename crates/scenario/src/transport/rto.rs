//! The retransmission timer: `rto_…` and `syn_rto`.

use incast_engine::{Fault, Span};
use incast_tcp::Config;
use incast_tcp::send::rtt::{BackoffEnd, IdleTimer, RtoFloor, RtoPolicy, RttClock};
use incast_tcp::wheel::{TickPhase, TimerTicks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest tick of a timer.
const LONGEST_TICK: Span = Span::from_secs(1);

/// The computation of the RTO from SRTT and RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RtoStyle {
    /// `max(min, SRTT + max(G, 4·RTTVAR))` (RFC 6298 (2.3), (2.4)).
    Rfc,
    /// `SRTT + max(min, G, 4·RTTVAR)`: the lower bound applies to the variance term (Linux).
    Linux,
    /// As `rfc`, but any ACK of new data ends the backoff, not only a new measurement (ns-3).
    Ns3,
    /// Samples in whole ticks, SRTT and RTTVAR in fixed point, and a timeout of at least two ticks
    /// (ns-2).
    Ns2,
}

impl RtoStyle {
    const ALL: [Self; 4] = [Self::Rfc, Self::Linux, Self::Ns3, Self::Ns2];

    /// The lower bound, the clock and the end of the backoff in this style.
    fn rules(self) -> (RtoFloor, RttClock, BackoffEnd) {
        match self {
            Self::Rfc => (RtoFloor::Timeout, RttClock::Exact, BackoffEnd::Sample),
            Self::Linux => (RtoFloor::Variance, RttClock::Exact, BackoffEnd::Sample),
            Self::Ns3 => (RtoFloor::Timeout, RttClock::Exact, BackoffEnd::NewData),
            Self::Ns2 => (RtoFloor::Timeout, RttClock::Ticks, BackoffEnd::Sample),
        }
    }

    fn of(rto: &RtoPolicy) -> Self {
        let rules = (rto.floor, rto.clock, rto.backoff_ends);
        Self::ALL.into_iter().find(|style| style.rules() == rules).unwrap_or(Self::Rfc)
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Timers {
    /// Lower bound of the retransmission timeout, in seconds (RFC 6298 (2.4): 1 s).
    pub(super) rto_min: Span,
    /// Upper bound of the retransmission timeout, in seconds (RFC 6298 (2.5): at least 60 s).
    pub(super) rto_max: Span,
    /// Retransmission timeout before the first round-trip sample, in seconds (RFC 6298 (2.1): 1 s).
    pub(super) rto_initial: Span,
    /// Granularity G of the retransmission timer, in seconds (RFC 6298 §4). With `rto_style =
    /// "ns2"`, round-trip samples are rounded to G.
    pub(super) rto_granularity: Span,
    /// Maximum number of doublings of the timeout by consecutive expiries (RFC 6298 (5.5)); 0
    /// disables backoff.
    pub(super) rto_max_doublings: u32,
    /// j, a ratio: every timeout is multiplied by 1 + U(0, j) (Vasudevan et al. 2009: 0.5).
    #[schemars(range(min = 0.0))]
    pub(super) rto_jitter: f64,
    /// Whether the retransmission timer keeps running while nothing is outstanding. An expiry while
    /// nothing is outstanding is not a timeout, but prevents a fast retransmit of the next segment
    /// (ns-2).
    pub(super) rto_runs_idle: bool,
    /// Whether a fast retransmit doubles the timeout until the next round-trip sample, like an
    /// expiry (ns-2's Vegas).
    pub(super) rto_backs_off_in_recovery: bool,
    /// Computation of the timeout from round trips.
    pub(super) rto_style: RtoStyle,
    /// Timeout of a SYN and a SYN-ACK before the first round-trip sample, in seconds.
    pub(super) syn_rto: Span,
    /// Retransmission timeout after a handshake with a lost SYN or SYN-ACK, until the first
    /// round-trip sample, in seconds (RFC 6298 (5.7): 3 s).
    pub(super) rto_after_syn_loss: Span,
    /// Whether the loss of a SYN or SYN-ACK is a timeout for the connection: ssthresh falls to two
    /// segments, and the timeout stays doubled until the first round-trip sample (ns-2).
    pub(super) syn_loss_is_timeout: bool,
    /// Tick of the timers, including those of delayed ACKs and probes, in seconds (Linux: 1/HZ). A
    /// timeout is rounded up to whole ticks and lasts up to one tick longer. With 0, timers expire
    /// exactly.
    pub(super) timer_tick: Span,
    /// Phase of the ticks of a host.
    pub(super) timer_phase: TickPhase,
}

impl Timers {
    pub(super) fn check(&self) -> Result<(), Fault> {
        let timers = [
            ("rto_max", self.rto_max),
            ("rto_initial", self.rto_initial),
            ("syn_rto", self.syn_rto),
            ("rto_after_syn_loss", self.rto_after_syn_loss),
        ];
        if let Some((key, _)) = timers.iter().find(|(_, timer)| timer.is_zero()) {
            return Err(Fault::new(*key, "must be longer than 0; write e.g. \"1s\""));
        }
        if self.rto_min > self.rto_max {
            return Err(Fault::new("rto_min", "exceeds rto_max; write less, or raise rto_max"));
        }
        if self.rto_min.is_zero() && self.rto_granularity.is_zero() {
            let message = "must be longer than 0 if rto_granularity is 0; write e.g. \"200us\"";
            return Err(Fault::new("rto_min", message));
        }
        if self.timer_tick > LONGEST_TICK {
            return Err(Fault::new(
                "timer_tick",
                "must be at most 1 s, as no kernel has longer ticks",
            ));
        }
        if self.rto_style == RtoStyle::Ns2 && self.rto_granularity.is_zero() {
            let message = "must be more than 0 with rto_style = \"ns2\"; write e.g. \"10us\"";
            return Err(Fault::new("rto_granularity", message));
        }
        Ok(())
    }

    pub(super) fn policy(&self) -> RtoPolicy {
        let (floor, clock, backoff_ends) = self.rto_style.rules();
        RtoPolicy {
            min: self.rto_min,
            max: self.rto_max,
            initial: self.rto_initial,
            granularity: self.rto_granularity,
            max_doublings: self.rto_max_doublings,
            jitter: self.rto_jitter,
            floor,
            clock,
            backoff_ends,
            idle: if self.rto_runs_idle { IdleTimer::Runs } else { IdleTimer::Stops },
            backs_off_in_recovery: self.rto_backs_off_in_recovery,
        }
    }

    pub(super) fn ticks(&self) -> TimerTicks {
        TimerTicks { tick: self.timer_tick, phase: self.timer_phase }
    }

    pub(super) fn of(tcp: &Config) -> Self {
        let RtoPolicy { min, max, initial, granularity, max_doublings, jitter, .. } = tcp.rto;
        Self {
            rto_min: min,
            rto_max: max,
            rto_initial: initial,
            rto_granularity: granularity,
            rto_max_doublings: max_doublings,
            rto_jitter: jitter,
            rto_runs_idle: tcp.rto.idle == IdleTimer::Runs,
            rto_backs_off_in_recovery: tcp.rto.backs_off_in_recovery,
            rto_style: RtoStyle::of(&tcp.rto),
            syn_rto: tcp.syn_rto,
            rto_after_syn_loss: tcp.rto_after_syn_loss,
            syn_loss_is_timeout: tcp.syn_loss_is_timeout,
            timer_tick: tcp.timer_ticks.tick,
            timer_phase: tcp.timer_ticks.phase,
        }
    }
}
