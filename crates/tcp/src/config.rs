//! Everything that one connection is told at birth: plain data, no constants hidden elsewhere.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::CongestionControlConfig;
use crate::recovery::RecoveryConfig;

/// Parameters of one connection; both ends share them.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full segment, bytes (SMSS, RFC 5681 §2).
    pub mss: u32,
    /// TCP/IP header of a data segment on the wire, bytes.
    pub header: u8,
    /// Size of a packet without payload (ACK, SYN, FIN, request) on the wire, bytes.
    pub ack_size: u8,
    /// What a window counts.
    pub window_unit: WindowUnit,
    /// Initial window, bytes (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes (RFC 5681 §3.1: arbitrarily high).
    pub initial_ssthresh: u64,
    /// The receiver's buffer and thereby the largest window it advertises, bytes.
    pub receive_window: u64,
    /// Who sends what before the first data.
    pub handshake: Handshake,
    /// Whether `close` sends a FIN (RFC 9293 §3.6).
    pub fin: bool,
    /// Retransmission timer.
    pub rto: RtoPolicy,
    /// Timer of a SYN and a SYN-ACK before any round trip was measured.
    pub syn_rto: Span,
    /// RTO without a sample when the SYN or SYN-ACK was retransmitted (RFC 6298 (5.7): 3 s).
    pub rto_after_syn_loss: Span,
    /// Which segments are timed without timestamps.
    pub rtt_sampling: RttSampling,
    /// Timestamps option with this clock granularity (RFC 7323), or none.
    pub timestamps: Option<Span>,
    /// Selective acknowledgements (RFC 2018), or none.
    pub sack: Option<Sack>,
    /// Fewer duplicate ACKs mean a loss when little is outstanding (RFC 5827).
    pub early_retransmit: EarlyRetransmit,
    /// How sending is spread over a recovery.
    pub prr: PrrBound,
    /// How a timeout is found to have been premature, and undone.
    pub undo: UndoKind,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// There it also releases what a timeout has called back (ns-2).
    pub limited_transmit_resends: bool,
    /// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
    pub dupack_threshold: u32,
    /// RFC 5681 §2, condition (e): a duplicate ACK carries the same window as the one before.
    pub dupack_requires_same_window: bool,
    /// Delayed acknowledgements (RFC 1122 §4.2.3.2), or one ACK per packet.
    pub delayed_ack: Option<DelayedAck>,
    /// Which packets are ECN-capable (RFC 3168), or no ECN.
    pub ecn: Option<EcnPackets>,
    /// What happens to cwnd after an idle time.
    pub idle_restart: IdleRestart,
    /// Random delay, uniform in `[0, x)`, before a host sends what its window allows (ns-2's
    /// `overhead_`); order is kept and retransmissions by fast retransmit are not delayed.
    pub send_jitter: Span,
    /// Largest number of new segments that one duplicate ACK in fast recovery may release.
    pub recovery_burst: Option<u32>,
    /// Pacing by the window, or none but what the congestion control does itself.
    pub pacing: Option<Pacing>,
    /// Most bytes that the host hands to the line as one burst (segmentation offload), or none.
    pub segmentation_offload: Option<u32>,
    /// Segments that the host hands up together (receive offload), or none.
    pub receive_offload: Option<ReceiveOffload>,
    /// Loss recovery.
    pub recovery: RecoveryConfig,
    /// Congestion control.
    pub congestion_control: CongestionControlConfig,
}

/// What cwnd, ssthresh and what is in flight count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowUnit {
    /// Bytes (RFC 5681 §2).
    Bytes,
    /// Packets, of which a short one is as much as a full one (Linux: `tcp_packets_in_flight()`).
    Packets,
}

/// Who sends what before the first data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK (RFC 9293 §3.5).
    ThreeWay,
    /// SYN and its ACK, as ns-2's one-way agents do.
    SynOnly,
    /// Both ends are established from the start.
    None,
}

/// The retransmission timer as data (RFC 6298): the minimum is this project's chief axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoPolicy {
    /// Lower bound (RFC 6298 (2.4): 1 s; Linux: 200 ms).
    pub min: Span,
    /// Upper bound of the backed-off value (RFC 6298 (2.5): at least 60 s).
    pub max: Span,
    /// Value before the first sample (RFC 6298 (2.1): 1 s).
    pub initial: Span,
    /// Clock granularity G (RFC 6298 §4); with [`RttClock::Ticks`] the tick.
    pub granularity: Span,
    /// Largest number of doublings (RFC 6298 (5.5)); 0 switches backoff off.
    pub max_doublings: u32,
    /// Random extension: each timeout is multiplied by `1 + U(0, jitter)` (Vasudevan et al. 2009).
    pub jitter: f64,
    /// What `min` bounds.
    pub floor: RtoFloor,
    /// What round trips are measured in.
    pub clock: RttClock,
    /// What ends the backoff.
    pub backoff_ends: BackoffEnd,
    /// What the timer does while nothing is outstanding.
    pub idle: IdleTimer,
    /// A fast retransmit doubles the timeout, as an expiry does (ns-2's Vegas:
    /// `reset_rtx_timer(1)`).
    pub backs_off_in_recovery: bool,
}

impl RtoPolicy {
    /// RFC 6298 to the letter, with a clock of a microsecond and doublings up to `max`.
    pub const RFC_6298: Self = Self {
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        initial: Span::from_secs(1),
        granularity: Span::from_micros(1),
        max_doublings: 32,
        jitter: 0.0,
        floor: RtoFloor::Timeout,
        clock: RttClock::Exact,
        backoff_ends: BackoffEnd::Sample,
        idle: IdleTimer::Stops,
        backs_off_in_recovery: false,
    };
}

/// What the lower bound of a retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFloor {
    /// All of it: `max(min, SRTT + max(G, 4·RTTVAR))` (RFC 6298 (2.3), (2.4)).
    Timeout,
    /// The variance term: `SRTT + max(min, G, 4·RTTVAR)` (Linux: `tcp_set_rto()`).
    Variance,
}

/// What round trips are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttClock {
    /// Picoseconds.
    Exact,
    /// Whole ticks, with SRTT and RTTVAR in fixed point, and timeouts of at least two ticks (Jacobson
    /// and Karels 1988, appendix A; ns-2: `rtt_update()`, `rtt_timeout()`).
    Ticks,
}

/// What ends the backoff of a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffEnd {
    /// A new measurement, which copies cannot give (RFC 6298 §5).
    Sample,
    /// Any ACK of new data (ns-3: `TcpSocketBase::NewAck()`).
    NewData,
}

/// What the retransmission timer does while nothing is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleTimer {
    /// It is off (RFC 6298 (5.2)).
    Stops,
    /// It is restarted. Its expiry only moves `recover` (RFC 6582 §3.2, step 4), so that the next
    /// segment cannot be retransmitted fast (ns-2: `newtimer()`, `timeout()`).
    Runs,
}

/// Which segments are timed when the timestamps option is off (RFC 6298 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSampling {
    /// Every ACK of a segment that was sent once.
    PerAck,
    /// One segment at a time.
    PerWindow,
}

/// Selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// Duplicates are reported, too (RFC 2883).
    pub dsack: bool,
    /// What the option takes on the wire counts: 2 bytes and 8 per block (RFC 2018 §3), padded to
    /// four.
    pub takes_room: bool,
}

/// Early retransmit (RFC 5827 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyRetransmit {
    /// The threshold holds whatever is outstanding.
    Off,
    /// Outstanding bytes are counted, in segments (RFC 5827 §3.1).
    Bytes,
    /// Outstanding segments are counted (RFC 5827 §3.2).
    Segments,
}

/// How a timeout is found to have been premature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndoKind {
    /// Not at all.
    None,
    /// By new data that are sent instead of further retransmissions (RFC 5682).
    FRto,
    /// By the timestamp that the first ACK echoes (RFC 3522).
    Eifel,
}

/// What proportional rate reduction lets go while less than cwnd is in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrrBound {
    /// No rate reduction: cwnd is halved at once.
    Off,
    /// What has arrived, no more: packet conservation (RFC 6937 §3, PRR-CRB).
    Crb,
    /// A segment more per ACK, as in slow start (RFC 6937 §3, PRR-SSRB).
    Ssrb,
    /// A segment more only on an ACK of new data that shows no further loss (RFC 9937 §6.2).
    Rfc9937,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// An ACK at the latest after this many full segments (RFC 5681 §4.2: 2).
    pub segments: u32,
    /// An ACK at the latest after this time (RFC 1122: below 500 ms; Linux: 40 ms).
    pub timeout: Span,
    /// Segments that are acknowledged at once, from the beginning and after a duplicate, so that
    /// slow start is not slowed down (Linux: 16).
    pub quickack: u32,
}

/// Which packets a switch may mark instead of dropping them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPackets {
    /// Data that are sent for the first time (RFC 3168 §6.1.4, §6.1.5).
    NewData,
    /// All data, retransmissions included.
    Data,
    /// Everything, SYN and bare ACKs included (Linux with DCTCP; RFC 8257 §3.6 for the SYN).
    All,
}

/// Receive offload and interrupt coalescing: segments in order that arrive within a time are
/// acknowledged as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveOffload {
    /// At most so many bytes.
    pub size: u32,
    /// Within this time after the first.
    pub timeout: Span,
}

/// Pacing by the window: data leave at gain · cwnd / SRTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Gain while cwnd is below half of ssthresh, in thousandths.
    pub slow_start_permille: u64,
    /// Gain otherwise, in thousandths.
    pub permille: u64,
}

impl Default for Pacing {
    /// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
    fn default() -> Self {
        Self { slow_start_permille: 2000, permille: 1200 }
    }
}

/// What happens to cwnd when the sender was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IdleRestart {
    /// Nothing: cwnd survives (ns-2 with `slow_start_restart_ 0`).
    #[serde(rename = "none")]
    None,
    /// Idle for an RTO: `cwnd = min(IW, cwnd)` (RFC 5681 §4.1).
    #[serde(rename = "5681")]
    Rfc5681,
    /// Halved per idle RTO, validated while application-limited (RFC 2861).
    #[serde(rename = "2861")]
    Rfc2861,
    /// Frozen while less than half of it is used (RFC 7661).
    #[serde(rename = "7661")]
    Rfc7661,
}
