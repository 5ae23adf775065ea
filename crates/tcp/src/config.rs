//! The configuration of a connection, as plain data.

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::CongestionControlConfig;
use crate::recovery::RecoveryConfig;
use crate::send::rtt::RtoPolicy;
use crate::wheel::TimerTicks;

/// Parameters of one connection; both ends share them.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full segment, in bytes (SMSS, RFC 5681 §2).
    pub mss: u32,
    /// TCP/IP header of a data segment on the wire, bytes.
    pub header: u8,
    /// Size of a packet without payload (ACK, SYN, FIN, request) on the wire, bytes.
    pub ack_size: u8,
    /// Unit in which windows are counted.
    pub window_unit: WindowUnit,
    /// Initial window, bytes (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes (RFC 5681 §3.1: arbitrarily high).
    pub initial_ssthresh: u64,
    /// The receiver's buffer, bytes, which is also the largest window that is advertised.
    pub receive_window: u64,
    /// The packets before the first data.
    pub handshake: Handshake,
    /// Whether a request packet without a size is as long as an ACK. If not, the request packet has
    /// one byte, to model a simulator whose script starts the sender.
    pub request_on_wire: bool,
    /// Whether `close` sends a FIN (RFC 9293 §3.6).
    pub fin: bool,
    /// Retransmission timer.
    pub rto: RtoPolicy,
    /// The ticks at which timers expire.
    pub timer_ticks: TimerTicks,
    /// Timeout of a SYN and a SYN-ACK before the first round-trip sample.
    pub syn_rto: Span,
    /// RTO before the first sample, if the SYN or SYN-ACK was retransmitted (RFC 6298 (5.7): 3 s).
    pub rto_after_syn_loss: Span,
    /// Whether the loss of a SYN or SYN-ACK is a timeout for the connection: ssthresh falls to its
    /// minimum, and the backoff of the RTO lasts until the first sample (ns-2).
    pub syn_loss_is_timeout: bool,
    /// Which segments are timed if the connection has no timestamps.
    pub rtt_sampling: RttSampling,
    /// Clock granularity of the timestamps option (RFC 7323); `None` without the option.
    pub timestamps: Option<Span>,
    /// Selective acknowledgements (RFC 2018); `None` without them.
    pub sack: Option<Sack>,
    /// Whether fewer duplicate ACKs signal a loss when few segments are outstanding (RFC 5827).
    pub early_retransmit: EarlyRetransmit,
    /// Proportional rate reduction during a recovery.
    pub prr: PrrBound,
    /// How a premature timeout is detected and undone.
    pub undo: UndoKind,
    /// Whether each of the first two duplicate ACKs lets the sender send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// Whether limited transmit also sends segments that a timeout returned to the send queue
    /// (ns-2).
    pub limited_transmit_resends: bool,
    /// Number of duplicate ACKs that signals a loss (RFC 5681 §3.2).
    pub dupack_threshold: u32,
    /// Whether a duplicate ACK must carry the same window as the previous ACK (RFC 5681 §2,
    /// condition (e)).
    pub dupack_requires_same_window: bool,
    /// Delayed acknowledgements (RFC 1122 §4.2.3.2); `None` for one ACK per packet.
    pub delayed_ack: Option<DelayedAck>,
    /// The ECN-capable packets (RFC 3168); `None` without ECN.
    pub ecn: Option<EcnPackets>,
    /// The effect of an idle period on cwnd.
    pub idle_restart: IdleRestart,
    /// Whether small bursts wait until ACKs allow larger bursts (Linux's `tcp_tso_should_defer()`).
    /// With `segmentation_offload`, small bursts wait in any case.
    pub tso_deferral: bool,
    /// Random delay, uniform in `[0, x)`, before a host sends data that its window allows (ns-2's
    /// `overhead_`). Packets keep their order. Fast retransmissions are not delayed.
    pub send_jitter: Span,
    /// Largest number of new segments that one duplicate ACK in fast recovery may release; `None`
    /// for no limit.
    pub recovery_burst: Option<u32>,
    /// Pacing by the window; `None` if only the congestion control decides about pacing.
    pub pacing: Option<Pacing>,
    /// Maximum burst of segmentation offload, bytes; `None` without it.
    pub segmentation_offload: Option<u32>,
    /// Receive offload; `None` without it.
    pub receive_offload: Option<ReceiveOffload>,
    /// Loss recovery.
    pub recovery: RecoveryConfig,
    /// Congestion control.
    pub congestion_control: CongestionControlConfig,
}

/// The unit of cwnd, ssthresh and the flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowUnit {
    /// Bytes (RFC 5681 §2).
    Bytes,
    /// Packets. A short packet counts as a full one (Linux: `tcp_packets_in_flight()`).
    Packets,
}

/// The packets before the first data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// SYN, SYN-ACK, ACK (RFC 9293 §3.5).
    ThreeWay,
    /// SYN and its ACK (ns-2's one-way agents).
    SynOnly,
    /// Both ends are established from the start.
    None,
}

/// Which segments are timed (RFC 6298 §3). The timestamps option times every ACK of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSampling {
    /// Every ACK of a segment that was sent once.
    PerAck,
    /// One segment at a time.
    PerWindow,
    /// As `per-ack`. Segments that a duplicate ACK reports for the first time are also timed
    /// (Linux's `tcp_ack_update_rtt()`).
    Linux,
}

/// Selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// Whether duplicates are reported (RFC 2883).
    pub dsack: bool,
    /// Whether the option lengthens the packet: 2 bytes and 8 per block (RFC 2018 §3), padded to a
    /// multiple of four.
    pub takes_room: bool,
}

/// Early retransmit (RFC 5827 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyRetransmit {
    /// The threshold does not depend on the outstanding data.
    Off,
    /// Outstanding data is counted in bytes and converted to segments (RFC 5827 §3.1).
    Bytes,
    /// Outstanding segments are counted (RFC 5827 §3.2).
    Segments,
}

/// How a premature timeout is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndoKind {
    /// Premature timeouts are not detected.
    None,
    /// After the timeout, the sender sends new data instead of further retransmissions. The next
    /// ACKs show whether the timeout was premature (RFC 5682).
    FRto,
    /// The timestamp that the first ACK echoes shows whether the timeout was premature (RFC 3522).
    Eifel,
    /// As `f-rto`, and also as `eifel` if the connection has timestamps. Both `f-rto` and `eifel`
    /// also apply after a second timeout without progress in between (Linux's
    /// `tcp_process_loss()`).
    Linux,
}

/// The bound of proportional rate reduction while the pipe is below cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrrBound {
    /// No proportional rate reduction: cwnd is reduced at once.
    Off,
    /// While the pipe is below cwnd, the sender sends at most as much data as was delivered, which
    /// is packet conservation (RFC 6937 §3, PRR-CRB).
    Crb,
    /// As `crb`, plus one segment per ACK, as in slow start (RFC 6937 §3, PRR-SSRB).
    Ssrb,
    /// As `crb`, plus one segment for an ACK of new data that indicates no further loss (RFC 9937
    /// §6.2).
    Rfc9937,
    /// As `rfc9937`, but in proportion to cwnd instead of the flight: `prior_cwnd` of Linux's
    /// `tcp_init_cwnd_reduction()`.
    Linux,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// Maximum number of full segments per ACK (RFC 5681 §4.2: 2).
    pub segments: u32,
    /// Maximum delay of an ACK (RFC 1122: below 500 ms; Linux: 40 ms).
    pub timeout: Span,
    /// Number of segments that are acknowledged without delay at the start of a connection and
    /// after a duplicate, so that slow start is not slowed down (Linux: 16).
    pub quickack: u32,
    /// Whether a host that sends an answer within `timeout` delays its ACKs from then on. The host
    /// delays its ACKs until an ACK has waited for the whole `timeout`, or until a duplicate
    /// arrives. After a silence as long as the retransmission timeout, the host counts `quickack`
    /// segments again (Linux's `inet_csk_in_pingpong_mode()`, `tcp_event_data_recv()`).
    pub pingpong: bool,
    /// Whether an ACK is delayed by less than the minimum of the retransmission timeout, so that
    /// the ACK comes before the timeout (Linux's `tcp_delack_max()`, since 6.7).
    pub below_rto_min: bool,
}

impl Config {
    /// The longest delay of an ACK at the receiver; 0 if the receiver delays no ACK.
    pub fn longest_ack_delay(&self) -> Span {
        self.delayed_ack.map_or(Span::ZERO, |delayed| {
            let most = if delayed.below_rto_min {
                self.timer_ticks.below(self.rto.min)
            } else {
                Span::MAX
            };
            delayed.timeout.min(most)
        })
    }
}

/// The packets that a switch may mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPackets {
    /// Data sent for the first time (RFC 3168 §6.1.4, §6.1.5).
    NewData,
    /// All data, retransmissions included.
    Data,
    /// All packets, including SYN and pure ACKs (Linux with DCTCP; RFC 8257 §3.6 for the SYN).
    All,
}

/// Receive offload and interrupt coalescing: consecutive segments that arrive within `timeout` are
/// acknowledged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveOffload {
    /// Maximum batch, bytes.
    pub size: u32,
    /// Maximum delay after the first segment.
    pub timeout: Span,
}

/// Pacing by the window, at the rate gain · cwnd / SRTT.
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

/// The effect of an idle period on cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IdleRestart {
    /// An idle period does not change cwnd (ns-2 with `slow_start_restart_ 0`).
    #[serde(rename = "none")]
    None,
    /// After an idle period of one RTO, `cwnd = min(IW, cwnd)` (RFC 5681 §4.1).
    #[serde(rename = "5681")]
    Rfc5681,
    /// cwnd is halved for each RTO of an idle period, and validated while the sender is
    /// application-limited (RFC 2861).
    #[serde(rename = "2861")]
    Rfc2861,
    /// cwnd does not grow while less than half of it is used (RFC 7661).
    #[serde(rename = "7661")]
    Rfc7661,
}
