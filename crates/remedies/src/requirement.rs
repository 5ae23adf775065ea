//! Requirements of a remedy on the transport and on the switch, as typed values.

use std::fmt;

use incast_engine::Span;
use incast_net::queue::QueueConfig;
use incast_tcp::congestion::ReactAt;
use incast_tcp::recovery::efr;

/// A parameter of the transport and the value that it must have.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    /// Lower bound of the retransmission timeout.
    RtoMin(Span),
    /// Granularity of the retransmission timer.
    RtoGranularity(Span),
    /// Timers that expire exactly, not at ticks.
    ExactTimers,
    /// Random extension of every timeout, as a ratio of the timeout.
    RtoJitter(f64),
    /// Congestion window of a new connection, bytes.
    InitialWindow(u64),
    /// The timestamps option.
    Timestamps,
    /// Tick of the timestamp clock.
    TimestampGranularity(Span),
    /// An ACK for every packet.
    NoDelayedAck,
    /// The first two duplicate ACKs allow new data to be sent.
    LimitedTransmit,
    /// TCP-EFR's loss recovery.
    Efr(efr::Params),
    /// DCTCP as the congestion control; its other parameters are free.
    Dctcp {
        /// α before the first ACK.
        alpha: f64,
        /// Weight of a new observation in α.
        g: f64,
        /// When an ACK with a mark reduces the window.
        react_at: ReactAt,
    },
}

impl Requirement {
    /// The required key of `[transport]`.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::RtoMin(_) => "rto_min",
            Self::RtoGranularity(_) => "rto_granularity",
            Self::ExactTimers => "timer_tick",
            Self::RtoJitter(_) => "rto_jitter",
            Self::InitialWindow(_) => "initial_window",
            Self::Timestamps => "timestamps",
            Self::TimestampGranularity(_) => "timestamp_granularity",
            Self::NoDelayedAck => "delayed_ack",
            Self::LimitedTransmit => "limited_transmit",
            Self::Efr(_) => "recovery",
            Self::Dctcp { .. } => "congestion_control",
        }
    }
}

/// The queue discipline that a remedy needs.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRequirement {
    /// The discipline that is used if the scenario names none.
    pub default: QueueConfig,
    /// The ability that any other discipline must have.
    pub ability: Ability,
}

/// An ability of a queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// The discipline marks ECN-capable packets.
    Mark,
    /// Packets with this label have priority.
    Prefer(u16),
    /// The discipline is that of RAPID. If there is a label, packets with this label have priority.
    Rapid(Option<u16>),
}

impl Ability {
    /// Whether `queue` has this ability.
    pub fn is_met_by(self, queue: &QueueConfig) -> bool {
        match self {
            Self::Mark => queue.marks(),
            Self::Prefer(label) => queue.prefers(label),
            Self::Rapid(label) => {
                matches!(queue, QueueConfig::Rapid(_))
                    && label.is_none_or(|label| queue.prefers(label))
            }
        }
    }
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark => f.write_str(
                "the remedy needs a switch that marks packets; write e.g. \"ecn-threshold\", or \
                 leave the key out",
            ),
            Self::Prefer(label) => write!(
                f,
                "the remedy needs a switch that prefers packets with label {label}; write e.g. \
                 \"label-threshold\" or \"push-out\", or leave the key out"
            ),
            Self::Rapid(None) => f.write_str(
                "the remedy is a discipline of the switch; write \"rapid\", or leave the key out",
            ),
            Self::Rapid(Some(label)) => write!(
                f,
                "the remedy is a discipline of the switch, which must know label {label}; write \
                 {{ name = \"rapid\", label = {label} }}, or leave the key out"
            ),
        }
    }
}
