//! The inputs and outputs of a loss recovery.

use incast_engine::{Span, Time};

use crate::congestion::RecoveryExit;
use crate::wheel::Wheel;

/// The properties of a recovery that the connection must know. The connection reads these
/// properties once, before the first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether the recovery uses selective acknowledgements, so that the scoreboard records which
    /// segments have arrived. Otherwise each duplicate ACK represents an arrived segment (RFC 5681
    /// §3.2), also for rate reduction. F-RTO then is the basic variant (RFC 5682 §2).
    pub selective: bool,
    /// Whether cwnd limits the pipe ([`super::LossRecovery::pipe`]; RFC 6675 §5), so that a segment
    /// that does not fit waits. Otherwise cwnd limits the flight, with the inflation of
    /// [`super::LossRecovery::quota`] (RFC 5681 §3.2), and a segment that does not fit is
    /// truncated.
    pub by_pipe: bool,
    /// Whether the recovery marks lost segments, and the marked segments are retransmitted
    /// individually. Otherwise a timeout returns all segments to the send queue (go-back-N).
    pub in_place: bool,
    /// Whether the recovery has deadlines, and examines every arrived segment.
    pub timed: bool,
}

impl Traits {
    /// A recovery that uses duplicate ACKs.
    pub const DUPLICATES: Self =
        Self { selective: false, by_pipe: false, in_place: false, timed: false };
    /// A recovery that uses selective acknowledgements.
    pub const SELECTIVE: Self =
        Self { selective: true, by_pipe: true, in_place: true, timed: false };
}

/// The inputs of a recovery from its connection.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryView {
    /// First unacknowledged sequence number, after the current ACK.
    pub una: u64,
    /// One past the highest sequence number sent.
    pub max: u64,
    /// Current segment size, bytes.
    pub segment: u64,
    /// cwnd, bytes.
    pub window: u64,
    /// Number of duplicate ACKs that signals a loss.
    pub dupack_threshold: u32,
    /// Now.
    pub now: Time,
    /// The ticks of the recovery's timers.
    pub wheel: Wheel,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// When the retransmission timer expires.
    pub rto_at: Time,
    /// Maximum delay of the other end's ACKs.
    pub ack_delay: Span,
}

/// The timestamp that an ACK echoes, and the tick of the timestamp clock.
pub type Echo = (u32, Span);

/// The properties of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Bytes acknowledged cumulatively.
    pub acked: u64,
    /// Bytes acknowledged selectively for the first time.
    pub sacked: u64,
    /// Whether the ACK is a duplicate ACK (RFC 5681 §2).
    pub is_duplicate: bool,
    /// Whether the ACK echoes a congestion mark.
    pub ece: bool,
    /// Data that the other end reports as a duplicate (RFC 2883).
    pub twice: Option<(u64, u64)>,
    /// Whether the ACK has no data and acknowledges nothing new.
    pub repeats: bool,
    /// Whether the ACK has a SACK option.
    pub has_blocks: bool,
}

/// A segment to send again although it is not lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The first byte of the segment.
    pub seq: u64,
    /// Whether this is a rescue retransmission (RFC 6675 §4, `NextSeg` rule 4).
    pub rescue: bool,
}

/// The effect of an ACK on loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Nothing.
    None,
    /// A loss: reduce the window and retransmit the first lost segment. For recoveries by duplicate
    /// ACKs, the first lost segment is the first unacknowledged segment.
    Enter {
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
    },
    /// A loss for which the window was already reduced. The loss is handled as `Enter`, without the
    /// reduction.
    EnterReduced {
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
    },
    /// A loss without recovery: slow start from the first unacknowledged segment (Tahoe).
    Restart {
        /// Whether the first segment waits for its turn like other data, instead of being sent at
        /// once.
        in_turn: bool,
    },
    /// A partial ACK.
    Partial {
        /// Whether to restart the retransmission timer.
        restart_timer: bool,
        /// The segment to send.
        answer: Answer,
    },
    /// The end of recovery: all data outstanding at the loss is acknowledged.
    Exit {
        /// The new value of cwnd.
        cwnd: RecoveryExit,
        /// Whether the ACK that ends recovery grows cwnd (ns-2's Reno and `NewReno`; in RFC 5681
        /// §3.2, step 6, this ACK only deflates cwnd).
        grows: bool,
    },
    /// Only reduce the window: a retransmission was lost (RFC 5681 §4.3), or a loss is likely but
    /// not yet repaired.
    Again,
    /// A probe has repaired a loss: reduce the window once, without a recovery (RFC 8985 §7.4).
    Repaired {
        /// Bytes outstanding when the probe was sent.
        flight: u64,
    },
    /// Send a segment to elicit an ACK: new data, or else the last segment (RFC 8985 §7.3).
    Probe,
}

impl Episode {
    /// The end of an episode according to the RFCs.
    pub const fn exit(cwnd: RecoveryExit) -> Self {
        Self::Exit { cwnd, grows: false }
    }
}

/// The segment that answers a partial ACK. This segment is sent regardless of the windows, except
/// with `Reduced`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The first unacknowledged segment (RFC 6582 §3.2, step 3).
    Head,
    /// The first unacknowledged segment, as soon as rate reduction allows a segment.
    Reduced,
    /// A lost segment, else new data, else the first unacknowledged segment.
    Any,
    /// Nothing.
    Nothing,
}
