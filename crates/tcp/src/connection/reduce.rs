//! When a recovery begins and how fast it sends: early retransmit and proportional rate reduction.

use super::Connection;
use crate::config::EarlyRetransmit;
use crate::congestion::CongestionControl;
use crate::recovery::LossRecovery;
use crate::send::prr::Progress;

impl Connection {
    /// Duplicate ACKs that mean a loss now.
    #[inline]
    pub(super) fn dupack_threshold(&self) -> u32 {
        if self.config.early_retransmit == EarlyRetransmit::Off {
            self.config.dupack_threshold
        } else {
            self.early_threshold()
        }
    }

    /// RFC 5827 §3: with fewer than four segments outstanding and nothing new to send, one less
    /// than are outstanding.
    fn early_threshold(&self) -> u32 {
        let usual = self.config.dupack_threshold;
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

    /// Recovery begins; `held` bytes of the flight had been reported as received before this ACK.
    pub(super) fn begin_reduction(&mut self, held: u64) {
        let flight = self.in_flight();
        let announced = self.recovery.dupacks().saturating_sub(1);
        let credited = if self.is_selective() {
            0
        } else {
            u64::from(announced) * u64::from(self.segment_size)
        };
        if let Some(prr) = &mut self.prr {
            prr.begin(flight, held, credited);
        }
    }

    /// A duplicate ACK within recovery, without SACK.
    pub(super) fn reduce_on_duplicate(&mut self) {
        let segment = u64::from(self.segment_size);
        if let Some(prr) = &mut self.prr
            && prr.allowance().is_some()
        {
            let announced = prr.credit(segment);
            let pipe = self.in_flight().saturating_sub(announced);
            self.reduce(segment, pipe, false);
        }
    }

    /// A partial ACK within recovery, without SACK, of so much of the window: it shows another loss.
    pub(super) fn reduce_on_partial(&mut self, acked: u64) {
        let in_flight = self.in_flight();
        if let Some(prr) = &mut self.prr {
            let (delivered, announced) = prr.settle(acked);
            let pipe = in_flight.saturating_sub(announced);
            self.reduce(delivered, pipe, false);
        }
    }

    /// An ACK that brings news of `delivered` bytes, and leaves `pipe` in the network.
    pub(super) fn reduce(&mut self, delivered: u64, pipe: u64, safe: bool) {
        let (window, segment) = (self.congestion.window(), u64::from(self.segment_size));
        let unit = self.window_unit();
        if let Some(prr) = &mut self.prr
            && prr.allowance().is_some()
        {
            prr.on_ack(&Progress { delivered, pipe, window, segment, unit, safe });
        }
    }

    /// A segment of `len` bytes left.
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

    /// Bytes that rate reduction lets go now, if it is in force.
    #[inline]
    pub(super) fn reduced_allowance(&self) -> Option<u64> {
        self.prr.as_ref().and_then(|prr| prr.allowance())
    }
}
