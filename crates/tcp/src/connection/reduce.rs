//! Early retransmit, which decides when a recovery begins, and proportional rate reduction, which
//! decides how fast data is sent during a recovery.

use incast_engine::Time;

use super::Connection;
use super::extras::Extras;
use crate::config::EarlyRetransmit;
use crate::congestion::CongestionControl;
use crate::recovery::{LossRecovery, News};
use crate::send::prr::Progress;
use crate::send::scoreboard::Acked;

impl Connection {
    /// Number of duplicate ACKs that currently signals a loss.
    #[inline]
    pub(super) fn dupack_threshold(&self) -> u32 {
        if self.config.early_retransmit == EarlyRetransmit::Off {
            self.recovery.threshold(self.config.dupack_threshold)
        } else {
            self.early_threshold()
        }
    }

    /// RFC 5827 §3: with fewer than four outstanding segments and no new data, the threshold is one
    /// less than the number of these segments.
    fn early_threshold(&self) -> u32 {
        let usual = self.recovery.threshold(self.config.dupack_threshold);
        let next = self.board.next();
        let more = next < self.stream_end() && next < self.board.una() + self.peer_window;
        if more || self.recovery.in_recovery() {
            return usual;
        }
        let segments = match self.config.early_retransmit {
            EarlyRetransmit::Off => return usual,
            EarlyRetransmit::Bytes => {
                self.board.flight().div_ceil(u64::from(self.segment_size)) as usize
            }
            EarlyRetransmit::Segments => self.board.outstanding_segments(),
        };
        if segments < 4 { usual.min(segments.saturating_sub(1).max(1) as u32) } else { usual }
    }

    /// Begins rate reduction for a recovery that starts with a cwnd of `window` bytes. `held` bytes
    /// of the flight had been reported as received before this ACK.
    pub(super) fn begin_reduction(&mut self, window: u64, held: u64) {
        let flight = self.in_flight();
        let announced = self.recovery.dupacks().saturating_sub(1);
        let credited = if self.extras.has(Extras::SELECTIVE) {
            0
        } else {
            u64::from(announced) * u64::from(self.segment_size)
        };
        if let Some(prr) = &mut self.prr {
            prr.begin(flight, window, held, credited);
        }
    }

    /// Handles a partial ACK. Without SACK, a partial ACK confirms the data that duplicate ACKs
    /// reported, and indicates another loss.
    pub(super) fn settle_delivery(&mut self, acked: &Acked) {
        if self.reduced_allowance().is_none()
            || self.extras.has(Extras::SELECTIVE)
            || acked.bytes == 0
        {
            return;
        }
        let (in_flight, hole) = (self.in_flight(), self.hole());
        let covered = self.room_of(acked.bytes, acked.segments);
        let Some(prr) = &mut self.prr else { return };
        let (delivered, announced) = prr.settle(covered, hole);
        self.reduce(delivered, in_flight.saturating_sub(announced + hole), false);
    }

    /// Counts `segments` segments that duplicate ACKs without SACK have reported for the first
    /// time.
    pub(super) fn note_reported(&mut self, now: Time, segments: u64) {
        if segments > 0
            && let Some(delivery) = &mut self.delivery
        {
            delivery.on_reported(now, segments * u64::from(self.segment_size));
        }
    }

    /// Counts segments that were found to be lost without SACK. With SACK, the scoreboard counts
    /// lost segments.
    pub(super) fn note_silent_losses(&mut self, segments: u64) {
        if let Some(delivery) = &mut self.delivery
            && !self.extras.has(Extras::SELECTIVE)
        {
            delivery.on_silent_losses(segments);
        }
    }

    /// Bytes of the window that are known to be lost and wait for rate reduction.
    fn hole(&self) -> u64 {
        if self.recovery.has_hole() { u64::from(self.segment_size) } else { 0 }
    }

    /// Handles an ACK that reports `delivered` new bytes. `is_safe` says whether the ACK indicates
    /// no further loss. Without SACK, a duplicate ACK reports one segment.
    pub(super) fn note_delivery(&mut self, news: &News, delivered: u64, is_safe: bool) {
        if self.reduced_allowance().is_none() {
            return;
        }
        if self.extras.has(Extras::SELECTIVE) {
            let pipe = self.room_of(self.board.pipe(), self.board.pipe_segments());
            return self.reduce(delivered, pipe, is_safe);
        }
        let (in_flight, segment) = (self.in_flight(), u64::from(self.segment_size));
        let hole = self.hole();
        if let Some(prr) = self.prr.as_mut().filter(|_| news.is_duplicate) {
            let announced = prr.credit(segment);
            self.reduce(segment, in_flight.saturating_sub(announced + hole), false);
        }
    }

    /// Reduces the rate for an ACK that reports `delivered` new bytes and leaves `pipe` bytes in
    /// the network.
    fn reduce(&mut self, delivered: u64, pipe: u64, safe: bool) {
        let (window, segment) = (self.congestion.window(), u64::from(self.segment_size));
        let unit = self.window_unit();
        if let Some(prr) = &mut self.prr
            && prr.allowance().is_some()
        {
            prr.on_ack(&Progress { delivered, pipe, window, segment, unit, safe });
        }
    }

    /// Counts a sent segment of `len` bytes.
    pub(super) fn note_reduced(&mut self, len: u64) {
        let room = self.room_of(len, 1);
        if let Some(prr) = &mut self.prr {
            prr.on_sent(room);
        }
    }

    pub(super) fn end_reduction(&mut self) {
        if let Some(prr) = &mut self.prr {
            prr.end();
        }
    }

    /// Bytes that rate reduction allows now; `None` if rate reduction is not active.
    #[inline]
    pub(super) fn reduced_allowance(&self) -> Option<u64> {
        self.prr.as_ref().and_then(|prr| prr.allowance())
    }
}
