//! Small bursts that wait until ACKs allow larger bursts (Linux's `tcp_tso_should_defer`). A host
//! that segments in software also defers bursts.

use incast_engine::{Span, Time};

use super::Connection;
use super::extras::Extras;
use crate::config::Config;
use crate::congestion::CongestionControl;
use crate::recovery::LossRecovery;

/// The largest burst without segmentation offload, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: u32 = 65_536;
/// A burst must be at least this fraction of the window (`tcp_tso_win_divisor`).
const DIVISOR: u64 = 3;
/// A host sends at once if it has sent nothing for this time, or if its next ACK is farther away
/// than this time.
const SOON: Span = Span::from_millis(1);

/// The decision about the data that the last event allows to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Open,
    Send,
    Wait,
}

/// The state of deferral.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferral {
    /// A burst of this many bytes does not wait.
    largest: u32,
    decision: Decision,
    /// Data below this number are sent at once, to repair a timeout.
    repaired_below: u64,
    /// While the data below this number were sent, deferral was the only reason for an unused part
    /// of the window.
    limited_below: u64,
}

impl Deferral {
    pub fn new(config: &Config) -> Self {
        let largest = config.segmentation_offload.unwrap_or(LARGEST);
        Self { largest, decision: Decision::Open, repaired_below: 0, limited_below: 0 }
    }
}

impl Connection {
    /// Whether new data at `next` wait for further ACKs, if the windows allow `allowed` bytes in
    /// all. The decision is made once for each packet that arrives, each write, and each timeout.
    pub(super) fn defers(&mut self, now: Time, next: u64, allowed: u64) -> bool {
        if self.deferral.decision == Decision::Open {
            let waits = self.waits(now, next, allowed);
            self.deferral.decision = if waits { Decision::Wait } else { Decision::Send };
        }
        self.deferral.decision == Decision::Wait
    }

    /// Makes the decision again after an event that may let data leave.
    #[inline]
    pub(super) fn reconsider(&mut self) {
        // Without deferral an ACK must not touch this cache line.
        if self.extras.has(Extras::DEFERS) {
            self.deferral.decision = Decision::Open;
        }
    }

    /// Whether data wait. Data do not wait
    ///
    /// - during the repair of a loss, or if nothing is outstanding;
    /// - if `allowed` is a full burst, a third of the window, or an entire piece of the send queue
    ///   that the application cannot extend;
    /// - if nothing was sent for a millisecond;
    /// - if the next ACK is farther away than the smaller of half a round trip and a millisecond.
    fn waits(&mut self, now: Time, next: u64, allowed: u64) -> bool {
        let segment = u64::from(self.segment_size);
        let largest = if self.needs.pacing {
            self.congestion.pacing_burst(segment).max(segment)
        } else {
            u64::from(self.deferral.largest)
        };
        // The send queue consists of pieces of at most `largest` bytes. A full piece cannot grow.
        let piece = largest - (next - self.block.start.min(next)) % largest;
        let unsent = self.stream_end() - next;
        let (is_last, piece) = (unsent <= piece, piece.min(unsent));
        let window = self.congestion.window().min(self.peer_window);
        if piece <= segment
            || allowed >= largest.min(window / DIVISOR)
            || (allowed >= piece && !is_last)
            || (allowed > piece && self.closing)
            || self.recovery.in_recovery()
            || self.board.una() < self.deferral.repaired_below
            || next == self.board.una()
        {
            return false;
        }
        let (Some(head), Some(last)) = (self.board.head(), self.board.last()) else { return false };
        if now.saturating_since(last.sent_at) > SOON {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or_default();
        let ack_in = (head.sent_at + srtt).saturating_since(now);
        if ack_in > SOON.min(srtt / 2) {
            return false;
        }
        if allowed <= piece {
            self.deferral.limited_below = self.board.next();
        }
        true
    }

    /// Whether deferral left a part of the window unused, which then counts as used.
    #[inline]
    pub(super) fn was_deferred(&self) -> bool {
        self.board.una() <= self.deferral.limited_below
    }

    /// Switches deferral off until the repair of a timeout ends.
    pub(super) fn send_at_once_until_repaired(&mut self) {
        self.deferral.repaired_below = self.board.max();
        self.reconsider();
    }

    /// Switches deferral on again after a premature timeout.
    pub(super) fn defer_again(&mut self) {
        self.deferral.repaired_below = 0;
    }
}
