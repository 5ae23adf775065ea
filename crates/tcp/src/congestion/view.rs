//! The inputs of a congestion control.

use incast_engine::{Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fraction bits of cwnd: congestion avoidance adds less than a byte per ACK to a large window.
pub(super) const FRACTION: u32 = 16;

/// What a congestion control sees of its connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// Now.
    pub now: Time,
    /// Current segment size, bytes.
    pub segment: u64,
    /// Unit of windows: 1 for bytes, or a segment.
    pub unit: u64,
    /// Outstanding bytes (RFC 5681 `FlightSize`), short segments as full ones if windows count
    /// packets. At an ACK this is the value after it, at a congestion signal the value before.
    pub flight: u64,
    /// Window that the receiver advertised, bytes.
    pub receive_window: u64,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// First unacknowledged sequence number, after the current ACK. It delimits rounds: a round
    /// that began at `max` ends when `una` reaches that number.
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
    /// `window` without the part of a packet, where packets are counted.
    #[inline]
    pub fn whole(&self, window: u64) -> u64 {
        if self.unit == 1 { window } else { window / self.unit * self.unit }
    }
}

/// The first unacknowledged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When it was sent last.
    pub sent_at: Time,
    /// How often it was sent.
    pub transmissions: u16,
    /// The ACK at hand has made it the first; else that was a duplicate ACK.
    pub is_new: bool,
}

/// Contents of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckSample {
    /// Bytes newly acknowledged, short segments as full ones if windows count packets.
    pub acked: u64,
    /// The difference that this makes.
    pub padding: u64,
    /// Round trip of the youngest segment acknowledged, to the picosecond; `None` if any of them
    /// was sent twice (Karn's rule, RFC 6298 §3).
    pub rtt: Option<Span>,
    /// It carries the ECN-Echo flag.
    pub ece: bool,
    /// The window may grow: no loss is being repaired, and RFC 7661 does not freeze it. Otherwise
    /// only controls that want every ACK see the ACK ([`Needs::every_ack`]).
    pub may_grow: bool,
    /// Less than a segment of the window was unused before this ACK.
    pub limited: bool,
    /// How fast data arrive ([`Needs::delivery_rate`]).
    pub delivery: Option<Delivery>,
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Bytes delivered since the connection began.
    pub delivered: u64,
    /// Bytes that this ACK delivered, selectively or not.
    pub newly: u64,
    /// Bytes that are sent and not delivered.
    pub in_flight: u64,
    /// The value of `delivered` when the youngest acknowledged segment was sent. A round begins
    /// when this exceeds the value of `delivered` at the beginning of the previous one.
    pub prior_delivered: u64,
    /// The rate between these two moments; `None` if unknown.
    pub rate: Option<Rate>,
    /// The application, not the window, limited it.
    pub app_limited: bool,
}

/// Why the window must be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss recovery began.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout {
        /// The same segment timed out before (RFC 5681 §3.1: ssthresh is held).
        repeated: bool,
    },
    /// The network marked a packet of this window (RFC 3168 §6.1.2); at most once per window, and
    /// only to controls with [`EcnUse::Classic`].
    Ecn,
}

/// What happens to cwnd when loss recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// `cwnd = ssthresh` (RFC 6582 §3.2, step 3, option 2).
    Ssthresh,
    /// `cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)` (option 1).
    Flight,
    /// cwnd is what the reduction left of it, less what partial ACKs took (ns-2, which halves cwnd
    /// and rounds ssthresh).
    Reduced {
        /// Bytes that partial ACKs deducted.
        deficit: u64,
    },
}

/// What a congestion control does with congestion marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnUse {
    /// It reduces its window once per window with a mark (RFC 3168), if ECN is on.
    #[default]
    Classic,
    /// It counts them ACK by ACK (RFC 8257) and needs ECN on.
    PerAck(CeChange),
}

/// What a receiver does when the marks begin or end and ACKs are delayed (RFC 8257 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeChange {
    /// The delayed ACK is sent with the old echo, and another one for the current packet with the
    /// new echo (Linux; a MAY of the RFC): the sender's count is exact.
    #[default]
    TwoAcks,
    /// One ACK with the new echo is sent at once and also covers the delayed one.
    OneAck,
    /// The delayed ACK is sent with the old echo; the ACK of the current packet may be delayed
    /// (Alizadeh et al. 2010, figure 10).
    Flush,
}

/// Special needs of a congestion control. They cost nothing for controls that do not use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What it does with marks.
    pub ecn: EcnUse,
    /// `on_ack` for ACKs of new data in loss recovery, too.
    pub every_ack: bool,
    /// [`AckSample::delivery`].
    pub delivery_rate: bool,
    /// `is_lost` for the first unacknowledged segment.
    pub head: bool,
    /// `on_sent`.
    pub sent: bool,
    /// It paces, by its own rate or the window's.
    pub pacing: bool,
    /// Its window may fall below a segment: the gap between segments is then longer than a round
    /// trip.
    pub fractional_window: bool,
    /// Maximum delay of an ACK in the receiver's round trips; 0 leaves it to the delayed-ACK timer.
    pub ack_round_trips: u32,
}
