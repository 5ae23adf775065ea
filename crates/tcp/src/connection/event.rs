//! Events that a connection reports to its owner.

use incast_engine::Span;

/// An event for the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// The client's request arrived.
    Request,
    /// The data up to `Connection::notify_at` has arrived in order.
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
    /// The timer of an unanswered request.
    Request,
}

/// The state at the expiry, before the connection reacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutReport {
    /// Which timer expired.
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
    /// The retransmission timeout, before its backoff.
    pub rto: Span,
    /// Whether the first unacknowledged segment belongs to the first window of its block (ABTT).
    pub block_head: bool,
    /// Whether a hook caused the expiry.
    pub advised: bool,
}

/// Events to be polled, in the order in which they happened, each at most once. The report of a
/// timeout is stored separately, because timeouts are rare.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// Four bits per event; the lowest bits are the first event.
    codes: u32,
}

const WIDTH: u32 = 4;
const ESTABLISHED: u32 = 1;
const REQUEST: u32 = 2;
const RECEIVED: u32 = 3;
const FAST_RETRANSMIT: u32 = 4;
const RECOVERY_EXIT: u32 = 5;
const TIMEOUT: u32 = 6;

impl Pending {
    pub(super) fn push(&mut self, event: Event) {
        let code = match event {
            Event::Established => ESTABLISHED,
            Event::Request => REQUEST,
            Event::Received => RECEIVED,
            Event::FastRetransmit => FAST_RETRANSMIT,
            Event::RecoveryExit => RECOVERY_EXIT,
            Event::Timeout(_) => TIMEOUT,
        };
        let mut place = 0;
        while self.codes >> place != 0 {
            if self.codes >> place & ((1 << WIDTH) - 1) == code {
                return;
            }
            place += WIDTH;
        }
        self.codes |= code << place;
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.codes == 0
    }

    #[inline]
    pub(super) fn pop(&mut self, report: &mut Option<Box<TimeoutReport>>) -> Option<Event> {
        if self.is_empty() {
            return None;
        }
        let first = self.codes & ((1 << WIDTH) - 1);
        self.codes >>= WIDTH;
        match first {
            ESTABLISHED => Some(Event::Established),
            REQUEST => Some(Event::Request),
            RECEIVED => Some(Event::Received),
            FAST_RETRANSMIT => Some(Event::FastRetransmit),
            RECOVERY_EXIT => Some(Event::RecoveryExit),
            _ => report.take().map(|report| Event::Timeout(*report)),
        }
    }
}
