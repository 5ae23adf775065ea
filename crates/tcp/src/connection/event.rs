//! What a connection reports to its owner.

use incast_engine::Span;

/// Something that the owner wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The client's request arrived.
    Request,
    /// In-order data reached the mark set by `Connection::notify_at`.
    Received,
    /// A retransmission timer expired.
    Timeout(TimeoutReport),
    /// Loss recovery began.
    FastRetransmit,
    /// Loss recovery ended.
    RecoveryExit,
}

/// Which timer expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// The retransmission timer of data.
    Data,
    /// The timer of a SYN or SYN-ACK.
    Handshake,
    /// The timer of a request that nothing answered.
    Request,
}

/// The state at the expiry, before the connection reacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutReport {
    /// Which timer.
    pub kind: TimeoutKind,
    /// First unacknowledged sequence number.
    pub una: u64,
    /// One past the highest sequence number sent.
    pub max: u64,
    /// One past the first unacknowledged segment.
    pub head_end: u64,
    /// How often the first unacknowledged segment was sent.
    pub transmissions: u32,
    /// Duplicate ACKs received.
    pub dupacks: u32,
    /// cwnd, bytes.
    pub cwnd: u64,
    /// ssthresh, bytes.
    pub ssthresh: u64,
    /// Outstanding bytes.
    pub flight: u64,
    /// The retransmission timeout, before the reaction backs it off.
    pub rto: Span,
    /// The first unacknowledged segment left in the first window of its block (ABTT).
    pub block_head: bool,
    /// A hook expired the timer.
    pub advised: bool,
}

/// Events that wait to be polled, each at most once. The report of a timeout lies apart, because
/// few packets meet one.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    bits: u8,
}

const ESTABLISHED: u8 = 1;
const REQUEST: u8 = 1 << 1;
const RECEIVED: u8 = 1 << 2;
const FAST_RETRANSMIT: u8 = 1 << 3;
const RECOVERY_EXIT: u8 = 1 << 4;
const TIMEOUT: u8 = 1 << 5;

impl Pending {
    pub(super) fn push(&mut self, event: Event) {
        self.bits |= match event {
            Event::Established => ESTABLISHED,
            Event::Request => REQUEST,
            Event::Received => RECEIVED,
            Event::FastRetransmit => FAST_RETRANSMIT,
            Event::RecoveryExit => RECOVERY_EXIT,
            Event::Timeout(_) => TIMEOUT,
        };
    }

    #[inline]
    pub(super) fn pop(&mut self, report: &mut Option<TimeoutReport>) -> Option<Event> {
        if self.bits == 0 {
            return None;
        }
        let lowest = self.bits & self.bits.wrapping_neg();
        self.bits &= !lowest;
        match lowest {
            ESTABLISHED => Some(Event::Established),
            REQUEST => Some(Event::Request),
            RECEIVED => Some(Event::Received),
            FAST_RETRANSMIT => Some(Event::FastRetransmit),
            RECOVERY_EXIT => Some(Event::RecoveryExit),
            _ => report.take().map(Event::Timeout),
        }
    }
}
