//! What a recovery sees, and what it reports.

use incast_engine::{Span, Time};

use crate::congestion::RecoveryExit;

/// How a recovery works, as far as its connection has to know. It is asked once, before the first
/// packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// It reads selective acknowledgements, so that the scoreboard tells what has arrived. Else a
    /// duplicate ACK stands for a segment that has (RFC 5681 §3.2), also for rate reduction, and
    /// F-RTO is the basic one (RFC 5682 §2).
    pub selective: bool,
    /// cwnd bounds what is in the pipe ([`super::LossRecovery::pipe`]; RFC 6675 §5), and a segment
    /// that does not fit waits. Else it bounds what is in flight, with the inflation of
    /// [`super::LossRecovery::quota`] (RFC 5681 §3.2), and cuts a segment that does not fit.
    pub by_pipe: bool,
    /// It marks the segments that are lost, and these are sent again where they are. Else a timeout
    /// calls everything back (go-back-N).
    pub in_place: bool,
    /// It has deadlines, and looks at every segment that arrives.
    pub timed: bool,
}

impl Traits {
    /// A recovery by duplicate ACKs.
    pub const DUPLICATES: Self =
        Self { selective: false, by_pipe: false, in_place: false, timed: false };
    /// A recovery by selective acknowledgements.
    pub const SELECTIVE: Self =
        Self { selective: true, by_pipe: true, in_place: true, timed: false };
}

/// What a recovery sees of its connection.
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
    /// Duplicate ACKs that mean a loss.
    pub dupack_threshold: u32,
    /// Now.
    pub now: Time,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// When the retransmission timer expires.
    pub rto_at: Time,
    /// How long the other end may delay an ACK.
    pub ack_delay: Span,
}

/// The timestamp that an ACK echoes, and the tick of its clock.
pub type Echo = (u32, Span);

/// Contents of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Bytes acknowledged cumulatively.
    pub acked: u64,
    /// Bytes acknowledged selectively for the first time.
    pub sacked: u64,
    /// It is a duplicate ACK (RFC 5681 §2).
    pub is_duplicate: bool,
    /// It echoes a congestion mark.
    pub ece: bool,
    /// Data that the other end reports as received twice (RFC 2883).
    pub twice: Option<(u64, u64)>,
    /// It had no data and acknowledged nothing new.
    pub repeats: bool,
    /// It had a SACK option.
    pub has_blocks: bool,
}

/// A segment to send again although it is not lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Its first byte.
    pub seq: u64,
    /// It is a rescue retransmission (RFC 6675 §4, `NextSeg` rule 4).
    pub rescue: bool,
}

/// The effect of an ACK on loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Nothing.
    None,
    /// A loss: reduce the window and retransmit the first lost segment, which is the first
    /// unacknowledged one for recoveries by duplicate ACKs.
    Enter {
        /// Restart the retransmission timer.
        restart_timer: bool,
    },
    /// The same for a loss that has reduced the window already.
    EnterReduced {
        /// Restart the retransmission timer.
        restart_timer: bool,
    },
    /// A loss without recovery: slow start from the first unacknowledged segment on (Tahoe).
    Restart {
        /// The first segment waits for its turn to be sent.
        in_turn: bool,
    },
    /// A partial ACK.
    Partial {
        /// Restart the retransmission timer.
        restart_timer: bool,
        /// What is sent for it.
        answer: Answer,
    },
    /// All data outstanding at the loss is acknowledged.
    Exit {
        /// What becomes of cwnd.
        cwnd: RecoveryExit,
        /// The ACK that ends recovery grows cwnd (ns-2's Reno and `NewReno`; RFC 5681 §3.2, step 6,
        /// only deflates it).
        grows: bool,
    },
    /// Only reduce the window: a retransmission was lost (RFC 5681 §4.3), or a loss is likely and
    /// not repaired yet.
    Again,
    /// A probe has repaired a loss: reduce the window once; there is nothing to recover (RFC 8985
    /// §7.4).
    Repaired {
        /// Bytes outstanding when the probe was sent.
        flight: u64,
    },
    /// Send a segment to trigger an ACK: new data, or else the last segment (RFC 8985 §7.3).
    Probe,
}

impl Episode {
    /// The end of an episode as the RFCs have it.
    pub const fn exit(cwnd: RecoveryExit) -> Self {
        Self::Exit { cwnd, grows: false }
    }
}

/// What is sent for a partial ACK, beside what the windows allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The first unacknowledged segment (RFC 6582 §3.2, step 3).
    Head,
    /// A lost segment, else new data, else the first unacknowledged segment.
    Any,
    /// Nothing.
    Nothing,
}
