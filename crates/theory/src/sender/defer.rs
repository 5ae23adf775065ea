//! Small bursts that wait until ACKs allow larger bursts (Linux's `tcp_tso_should_defer`).

use std::collections::VecDeque;

use super::{Rules, Sender};
use crate::packet::Ticks;
use crate::parts::SEGMENT;
use crate::read::Read;

/// The largest burst, bytes (`GSO_LEGACY_MAX_SIZE`).
const LARGEST: u64 = 65_536;
/// A burst must be at least as large as the window divided by this number (`tcp_tso_win_divisor`).
const DIVISOR: u64 = 3;

/// The common parameters of all senders.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Payload of a full segment, and number of bytes by which the last segment of an SRU is
    /// shorter.
    pub segment: u64,
    /// See `segment`.
    pub short: u64,
    /// A millisecond. A host sends at once if it has sent nothing for this time, or if it expects
    /// its next ACK only after a longer time.
    pub soon: Ticks,
}

impl Bounds {
    /// The parameters of a read.
    pub fn new(read: &Read, soon: Ticks) -> Self {
        let segment = read.packet - read.header;
        let short = segment * (1.0 - read.last);
        Self { segment: (segment.round() as u64).max(1), short: short.round() as u64, soon }
    }
}

/// The state of one connection.
#[derive(Clone, Debug, Default)]
pub struct Deferral {
    /// Whether new data wait for an ACK.
    pub waits: bool,
    /// Segments below this number are sent at once, to repair a timeout.
    repaired_below: u32,
    /// While the segments below this number were sent, deferral was the only reason for an unused
    /// part of the window.
    limited_below: u32,
    /// Times at which the segments from `first` on were sent; used only without a scoreboard.
    sent: VecDeque<Ticks>,
    first: u32,
}

impl Deferral {
    /// Records sent segments. The first unacknowledged segment is `una`.
    pub fn note(&mut self, now: Ticks, una: u32, segment: u32, count: u32) {
        while self.first < una && self.sent.pop_front().is_some() {
            self.first += 1;
        }
        self.first = self.first.max(una);
        for each in segment.max(una)..segment + count {
            match self.sent.get_mut((each - self.first) as usize) {
                Some(at) => *at = now,
                None => self.sent.push_back(now),
            }
        }
    }

    fn at(&self, segment: u32) -> Option<Ticks> {
        self.sent.get(segment.checked_sub(self.first)? as usize).copied()
    }

    /// Switches deferral off until the repair of a timeout ends. `max` is one past the highest
    /// segment.
    pub fn time_out(&mut self, max: u32) {
        self.repaired_below = max;
    }

    /// Switches deferral on again after a premature timeout.
    pub fn defer_again(&mut self) {
        self.repaired_below = 0;
    }

    /// Whether deferral left a part of the window unused before an ACK of all segments below `una`.
    /// The unused part of the window then counts as used.
    pub fn was_limited(&self, una: u32) -> bool {
        una <= self.limited_below
    }
}

impl Sender {
    /// Whether new data wait for further ACKs, if the window allows `allowed` segments. The data do
    /// not wait
    ///
    /// - within a burst, during the repair of a loss, or if nothing is outstanding;
    /// - if `allowed` is at least a full burst, a third of the window, or a whole piece of the send
    ///   queue to which the application cannot add data;
    /// - if nothing was sent for a millisecond;
    /// - if the next ACK is expected only after more than half a round trip, or after more than a
    ///   millisecond.
    pub(crate) fn defers(&mut self, now: Ticks, allowed: u32, rules: &Rules) -> bool {
        let srtt = self.rto.smoothed();
        let (una, next, limit) = (self.una, self.next, rules.most_window);
        let Some(it) = self.deferral.as_deref_mut() else { return false };
        it.waits = false;
        let bounds = &rules.defer;
        let closes = rules.flavour.closes;
        let allowed = u64::from(allowed) * bounds.segment;
        // The application cannot add data to a full piece of the send queue.
        let piece = LARGEST - u64::from(next - self.block.min(next)) * bounds.segment % LARGEST;
        let unsent = u64::from(self.end - next) * bounds.segment - bounds.short + u64::from(closes);
        let (is_last, piece) = (unsent <= piece, piece.min(unsent));
        let window = self.window.min(limit) * bounds.segment / SEGMENT;
        if piece <= bounds.segment
            || allowed >= LARGEST.min(window / DIVISOR)
            || (allowed >= piece && !is_last)
            || (allowed > piece && closes)
            || self.in_recovery
            || una < it.repaired_below
            || next == una
        {
            return false;
        }
        let (first, last) = match self.selective.as_deref() {
            Some(it) => (it.board.first_at(), it.board.last_at()),
            None => (it.at(una), it.at(next - 1)),
        };
        let (Some(first), Some(last)) = (first, last) else { return false };
        let ack_in = (first + srtt).saturating_sub(now);
        if last == now || now - last > bounds.soon || ack_in > bounds.soon.min(srtt / 2) {
            return false;
        }
        if allowed <= piece {
            it.limited_below = next;
        }
        it.waits = true;
        true
    }

    /// Ends the wait of new data. The next call of [`Self::defers`] decides again whether the data
    /// wait.
    pub(crate) fn forget_deferral(&mut self) {
        if let Some(it) = self.deferral.as_deref_mut() {
            it.waits = false;
        }
    }

    /// Records sent segments of a sender without a scoreboard.
    pub(crate) fn note_departure(&mut self, now: Ticks, segment: u32, count: u32) {
        let una = self.una;
        if let Some(it) = self.deferral.as_deref_mut() {
            it.note(now, una, segment, count);
        }
    }

    /// Whether new data wait for an ACK.
    pub(crate) fn is_deferred(&self) -> bool {
        self.deferral.as_deref().is_some_and(|it| it.waits)
    }
}
