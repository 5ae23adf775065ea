//! How much data the windows allow.

use super::Connection;
use super::extras::Extras;
use crate::congestion::CongestionControl;
use crate::recovery::LossRecovery;
use crate::send::Sent;

/// How much data the windows allow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// One past the last byte within the window. Limited transmit sends the data beyond this byte
    /// (RFC 3042).
    pub window_end: u64,
    /// One past the last byte that may be sent.
    pub end: u64,
    /// Unused bytes of the window.
    pub free: u64,
    /// Whether the pipe limits the data. If the pipe limits the data, a segment that does not fit
    /// waits; otherwise the window may truncate the segment.
    pub by_pipe: bool,
}

impl Room {
    /// Whether a segment of `len` bytes below `next` may be sent.
    pub fn holds(&self, next: u64, len: u64) -> bool {
        self.end.saturating_sub(next) >= len
    }
}

impl Connection {
    /// The limits of the windows ([`crate::recovery::Traits::by_pipe`]).
    #[inline]
    pub(super) fn room(&self) -> Room {
        if self.extras.has(Extras::BY_PIPE) { self.pipe_room() } else { self.flight_room() }
    }

    /// [`Self::room`] as a function that is not inlined, for rare calls.
    #[inline(never)]
    pub(super) fn room_anew(&self) -> Room {
        self.room()
    }

    /// The limits if the window limits the flight. Recovery inflates this window.
    #[inline]
    fn flight_room(&self) -> Room {
        let (una, next) = (self.board.una(), self.board.next());
        let limited = self.limited_transmit();
        let quota = match self.reduced_allowance() {
            None => match self.reported_in_recovery() {
                None => self.recovery.quota(self.send_window()),
                Some(reported) => self.send_window() + reported,
            },
            Some(allowance) => self.in_flight() + allowance,
        };
        let quota_end = self.window_end(quota);
        let (window_end, end) = if limited == 0 {
            (u64::MAX, quota_end)
        } else {
            (quota_end, self.window_end(quota + limited))
        };
        let mut end = end.min(una + self.peer_window);
        if let Some(forward) = self.undo.as_ref().and_then(|undo| undo.forward_end()) {
            end = end.max(forward.min(una + self.peer_window));
        }
        Room { window_end, end, free: end.saturating_sub(next), by_pipe: false }
    }

    /// Bytes that duplicate ACKs have reported during a recovery. `None` if the congestion control
    /// does not count the data in the network.
    #[inline]
    fn reported_in_recovery(&self) -> Option<u64> {
        let counts = self.delivery.is_some() && self.recovery.in_recovery();
        let segments = if counts { self.recovery.reported()? } else { return None };
        Some(segments * u64::from(self.segment_size))
    }

    /// The limits if cwnd limits the pipe. In recovery, a segment is sent if cwnd allows a full
    /// segment (RFC 6675 §5, step C).
    #[inline(never)]
    fn pipe_room(&self) -> Room {
        let next = self.board.next();
        let (pipe, window) = (self.pipe(), self.congestion.window());
        let free = window.saturating_sub(pipe);
        let in_recovery = self.recovery.in_recovery();
        let most = if pipe == 0 {
            u64::MAX
        } else if let Some(allowance) = self.reduced_allowance() {
            self.most_within(allowance)
        } else if !in_recovery {
            self.most_within(free)
        } else if free >= u64::from(self.segment_size) {
            u64::MAX
        } else {
            0
        };
        let mut room =
            Room { window_end: u64::MAX, end: next.saturating_add(most), free, by_pipe: true };
        if self.recovery.dupacks() > 0 && !in_recovery {
            // RFC 6675 §5, step 3: limited transmit sends the data that cwnd allows in the pipe but
            // not in the flight.
            let unused = window.saturating_sub(self.in_flight());
            room.window_end = next.saturating_add(self.most_within(unused));
            if !self.config.limited_transmit {
                room.end = room.end.min(room.window_end);
            }
        }
        room
    }

    /// Whether the windows are used up. Limits that hooks set are ignored. A closed window does not
    /// count, because it must be probed.
    #[inline]
    pub(super) fn is_blocked(&self, room: &Room) -> bool {
        let next = self.board.next();
        let is_full = next >= room.end && next > self.board.una() && self.peer_window > 0;
        is_full && !(room.by_pipe && self.has_sender_hooks())
    }

    /// RFC 3042: the first two duplicate ACKs each allow one new segment beyond cwnd. In ns-2 these
    /// duplicate ACKs also allow a segment that a timeout returned to the send queue.
    #[inline]
    fn limited_transmit(&self) -> u64 {
        let dupacks = self.recovery.dupacks();
        let applies = dupacks > 0
            && dupacks < self.recovery.threshold(self.config.dupack_threshold)
            && !self.recovery.in_recovery()
            && (self.config.limited_transmit_resends || self.board.resend().is_none());
        if !applies {
            return 0;
        }
        let usual = if self.config.limited_transmit { dupacks.min(2) } else { 0 };
        u64::from(self.recovery.released(usual)) * u64::from(self.segment_size)
    }

    /// One past the end of the next segment, if the windows and a hook's `ceiling` allow it.
    #[inline]
    pub(super) fn end_within(&self, room: &Room, ceiling: u64) -> Option<u64> {
        let (una, next) = (self.board.una(), self.board.next());
        let peer_end = una.saturating_add(self.peer_window.min(ceiling));
        let usable = if room.by_pipe { peer_end } else { room.end.min(peer_end) };
        if let Some(end) = self.board.resend().map(Sent::end) {
            // After a timeout the earliest segment is sent in any case (RFC 6298 (5.4)).
            return (end <= usable || next == una).then_some(end);
        }
        // A FIN is part of the last segment.
        let data = (next + u64::from(self.segment_size)).min(self.written);
        let end = if data == self.written { self.stream_end() } else { data };
        let end = if end <= usable {
            end
        } else if usable > next && (next == una || usable == self.written) {
            // Neither a window smaller than a segment nor a FIN that does not fit may delay data
            // (RFC 9293 §3.8.6.2.1).
            usable
        } else {
            return None;
        };
        (!room.by_pipe || end <= room.end).then_some(end)
    }

    /// Whether all windows allow the next data.
    pub(super) fn may_send(&self) -> bool {
        self.board.next() < self.stream_end()
            && self.is_established()
            && self.end_within(&self.room_anew(), u64::MAX).is_some()
    }
}
