//! The used part of a window, in bytes or in packets. A short packet counts as a full one (as in
//! Linux's `snd_cwnd` and `packets_out`; `tcp_cwnd_test()`).

use incast_engine::Time;

use super::Connection;
use super::extras::Extras;
use crate::congestion::{CongestionControl, Limit};
use crate::recovery::LossRecovery;

impl Connection {
    #[inline]
    fn counts_packets(&self) -> bool {
        self.extras.has(Extras::PACKETS)
    }

    /// The unit of windows, bytes.
    #[inline]
    pub(super) fn window_unit(&self) -> u64 {
        if self.counts_packets() { u64::from(self.segment_size) } else { 1 }
    }

    /// The part of a window that `bytes` in this many `segments` use.
    #[inline]
    pub(super) fn room_of(&self, bytes: u64, segments: u64) -> u64 {
        if !self.counts_packets() {
            return bytes;
        }
        // A FIN has a sequence number but uses no window. Earlier segments may have been longer (a
        // remedy's advice).
        (segments * u64::from(self.segment_size)).max(bytes.saturating_sub(1))
    }

    /// Notifies the congestion control of a limit on its window.
    pub(super) fn limit(&mut self, now: Time, limit: Limit) {
        let path = self.path(now, self.in_flight());
        self.congestion.on_limit(limit, &path);
    }

    /// The part of the window in flight (RFC 5681 `FlightSize`).
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.room_of(self.board.flight(), self.board.flight_segments())
    }

    /// The largest segment that uses at most `room` of a window, bytes.
    pub(super) fn most_within(&self, room: u64) -> u64 {
        if !self.counts_packets() {
            room
        } else if room >= u64::from(self.segment_size) {
            room + 1
        } else {
            0
        }
    }

    /// The part of the window in the network, by loss recovery's estimate.
    #[inline]
    pub(super) fn pipe(&self) -> u64 {
        let pipe = self.recovery.pipe(&self.board);
        if self.counts_packets() { self.room_of(pipe, self.board.pipe_segments()) } else { pipe }
    }

    /// The part of the window that has arrived beyond the cumulative ACK.
    pub(super) fn held(&self) -> u64 {
        self.room_of(self.board.sacked(), self.board.sacked_segments().into())
    }

    /// One past the last byte that a window of `allowed` bytes allows.
    #[inline]
    pub(super) fn window_end(&self, allowed: u64) -> u64 {
        let (una, next) = (self.board.una(), self.board.next());
        if !self.counts_packets() || next == una {
            return una + allowed;
        }
        let segment = u64::from(self.segment_size);
        next + allowed.saturating_sub(self.in_flight()) / segment * segment
    }
}
