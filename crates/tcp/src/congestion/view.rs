//! The inputs of a congestion control.

use incast_engine::{Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fraction bits of cwnd. With a large window, congestion avoidance adds less than a byte per ACK.
pub(super) const FRACTION: u32 = 16;

/// What a congestion control sees of its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// Now.
    pub now: Time,
    /// Current segment size, bytes.
    pub segment: u64,
    /// Unit of windows, bytes: 1, or a segment.
    pub unit: u64,
    /// Outstanding bytes (RFC 5681 `FlightSize`). If windows count packets, short segments count as
    /// full ones. For an ACK, this is the value after the ACK. For a congestion signal, this is the
    /// value before the signal.
    pub flight: u64,
    /// Window that the receiver advertised, bytes.
    pub receive_window: u64,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// First unacknowledged sequence number, after the current ACK. This number delimits rounds: a
    /// round that began at `max` ends when `una` reaches that value of `max`.
    pub una: u64,
    /// One past the highest sequence number sent.
    pub max: u64,
    /// First sequence number of the current block (data written while nothing was outstanding).
    pub block_start: u64,
    /// One past the last byte that the application wrote.
    pub written: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Span>,
}

impl PathView {
    /// `window` rounded down to whole packets, if windows count packets.
    #[inline]
    pub fn whole(&self, window: u64) -> u64 {
        if self.unit == 1 { window } else { window / self.unit * self.unit }
    }
}

/// The first unacknowledged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When the segment was sent last.
    pub sent_at: Time,
    /// How often the segment was sent.
    pub transmissions: u16,
    /// Whether the current ACK made this segment the first unacknowledged one. If not, the ACK was
    /// a duplicate.
    pub is_new: bool,
}

/// The properties of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckSample {
    /// Bytes newly acknowledged. If windows count packets, short segments count as full ones.
    pub acked: u64,
    /// The bytes by which `acked` is too large because short segments count as full ones.
    pub padding: u64,
    /// Round trip of the youngest acknowledged segment, to the picosecond. `None` if any
    /// acknowledged segment was sent twice (Karn's rule, RFC 6298 §3).
    pub rtt: Option<Span>,
    /// Whether the ACK carries the ECN-Echo flag.
    pub ece: bool,
    /// Whether the window may grow: no loss is being repaired, and RFC 7661 does not freeze the
    /// window. If the window may not grow, only controls with [`Needs::every_ack`] get the ACK.
    pub may_grow: bool,
    /// Whether the unused part of the window was below a segment before this ACK.
    pub limited: bool,
    /// The delivery rate ([`Needs::delivery_rate`]).
    pub delivery: Option<Delivery>,
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Bytes delivered since the start of the connection.
    pub delivered: u64,
    /// Bytes that this ACK reports as delivered: by the cumulative ACK, by SACK, or by a duplicate
    /// ACK without SACK.
    pub newly: u64,
    /// Bytes estimated to be in the network, without bytes that are known to be lost.
    pub in_flight: u64,
    /// Number of segments that this ACK showed to be lost.
    pub losses: u64,
    /// Number of segments declared lost since the start of the connection.
    pub lost: u64,
    /// The value of `delivered` when the youngest acknowledged segment was sent. A round begins
    /// when this value exceeds the value of `delivered` at the beginning of the previous round.
    /// `None` for a duplicate ACK without SACK.
    pub prior_delivered: Option<u64>,
    /// The delivery rate from the transmission of the youngest acknowledged segment to this ACK;
    /// `None` if unknown.
    pub rate: Option<Rate>,
    /// Whether the application, and not the window, limited the rate.
    pub app_limited: bool,
    /// Whether duplicate ACKs do not report which data arrived (Linux without SACK).
    pub unnamed: bool,
}

/// Why the window must be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss recovery began.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout {
        /// Whether the same segment timed out before (RFC 5681 §3.1: ssthresh then does not
        /// change).
        repeated: bool,
    },
    /// The network marked a packet of this window (RFC 3168 §6.1.2); at most once per window, and
    /// only to controls with [`EcnUse::Classic`].
    Ecn,
}

/// The effect of the end of loss recovery on cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// `cwnd = ssthresh` (RFC 6582 §3.2, step 3, option 2).
    Ssthresh,
    /// `cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)` (option 1).
    Flight,
    /// cwnd is the reduced window minus the bytes that partial ACKs deducted (ns-2, which halves
    /// cwnd and rounds ssthresh).
    Reduced {
        /// Bytes that partial ACKs deducted.
        deficit: u64,
    },
}

/// The use of congestion marks by a congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnUse {
    /// If ECN is on, the window is reduced once per window with a mark (RFC 3168).
    #[default]
    Classic,
    /// Marks are counted ACK by ACK (RFC 8257). ECN must be on.
    PerAck(CeChange),
}

/// The reaction of a receiver that delays ACKs to the beginning or end of marks (RFC 8257 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeChange {
    /// The delayed ACK is sent with the old echo, and a second ACK is sent for the current packet
    /// with the new echo (Linux; the RFC permits this). The sender's count is then exact.
    #[default]
    TwoAcks,
    /// One ACK with the new echo is sent at once, in place of the delayed ACK.
    OneAck,
    /// The delayed ACK is sent with the old echo; the ACK of the current packet may be delayed
    /// (Alizadeh et al. 2010, figure 10).
    Flush,
}

/// Optional inputs and outputs of a congestion control. Unused inputs and outputs have no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The control's use of marks.
    pub ecn: EcnUse,
    /// Whether `on_ack` is also called during loss recovery.
    pub every_ack: bool,
    /// Whether [`AckSample::delivery`] is filled in.
    pub delivery_rate: bool,
    /// Whether `is_lost` is called for the first unacknowledged segment.
    pub head: bool,
    /// Whether `on_sent` is called.
    pub sent: bool,
    /// Whether segments are paced, at the control's own rate or by the window.
    pub pacing: bool,
    /// Whether the control also sets the window during loss recovery and after idle times.
    /// Proportional rate reduction and the idle restart then do not apply (Linux's `cong_control`).
    pub whole_window: bool,
    /// Whether the window may fall below a segment. The gap between segments is then longer than a
    /// round trip.
    pub fractional_window: bool,
    /// Maximum delay of an ACK in the receiver's round trips; with 0 the delayed-ACK timer decides.
    pub ack_round_trips: u32,
}
