//! Proportional rate reduction (RFC 6937, RFC 9937). During recovery, the sent data are
//! proportional to the delivered data, so that the flight falls to the congestion control's window.

use crate::config::PrrBound;

/// The counters of a recovery.
#[derive(Clone, Debug)]
pub struct Prr {
    bound: PrrBound,
    active: bool,
    /// Outstanding bytes, or cwnd, when recovery began (`RecoverFS`).
    flight: u64,
    /// Bytes delivered and bytes sent since recovery began (`prr_delivered`, `prr_out`).
    delivered: u64,
    out: u64,
    /// Bytes that may be sent until the next ACK (`sndcnt`).
    allowance: u64,
    /// Without SACK: bytes that duplicate ACKs have reported and no cumulative ACK has covered.
    credited: u64,
}

/// The properties of an ACK during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes reported as delivered (`DeliveredData`).
    pub delivered: u64,
    /// Bytes in the network after the ACK.
    pub pipe: u64,
    /// cwnd, bytes.
    pub window: u64,
    /// Segment size, bytes.
    pub segment: u64,
    /// The unit in which windows are counted, bytes: 1, or the segment size.
    pub unit: u64,
    /// Whether the ACK covers new data and indicates no further loss (`SafeACK`).
    pub safe: bool,
}

impl Prr {
    /// The counters, if proportional rate reduction is on.
    pub fn new(bound: PrrBound) -> Option<Box<Self>> {
        let (active, flight, delivered, out, allowance, credited) = (false, 0, 0, 0, 0, 0);
        let it = Self { bound, active, flight, delivered, out, allowance, credited };
        (bound != PrrBound::Off).then(|| Box::new(it))
    }

    /// Begins a recovery with `flight` bytes outstanding and an earlier cwnd of `window` bytes. The
    /// receiver had reported `held` bytes of the flight before the current ACK, and duplicate ACKs
    /// have reported `credited` bytes.
    pub fn begin(&mut self, flight: u64, window: u64, held: u64, credited: u64) {
        let flight = match self.bound {
            PrrBound::Linux => window,
            // RFC 9937 §6.1 excludes data that was selectively acknowledged before.
            PrrBound::Rfc9937 => flight.saturating_sub(held),
            PrrBound::Off | PrrBound::Crb | PrrBound::Ssrb => flight,
        };
        let flight = flight.max(1);
        let bound = self.bound;
        *self = Self { bound, active: true, flight, delivered: 0, out: 0, allowance: 0, credited };
    }

    /// Ends the recovery.
    pub fn end(&mut self) {
        self.active = false;
    }

    /// Bytes that may be sent now; `None` outside recovery.
    #[inline]
    pub fn allowance(&self) -> Option<u64> {
        self.active.then_some(self.allowance)
    }

    /// Credits the segment that a duplicate ACK without SACK reports. Returns the bytes of all such
    /// segments.
    pub fn credit(&mut self, segment: u64) -> u64 {
        self.credited += segment;
        self.credited
    }

    /// Handles a cumulative ACK of `acked` bytes, some of which duplicate ACKs had reported.
    /// Returns the number of acknowledged bytes that no duplicate ACK had reported, and the number
    /// of reported bytes that no cumulative ACK has covered yet.
    ///
    /// `hole` is the number of acknowledged bytes that were retransmitted: 0, or one segment. No
    /// duplicate ACK reports a retransmission (Linux, `tcp_remove_reno_sacks()`).
    pub fn settle(&mut self, acked: u64, hole: u64) -> (u64, u64) {
        let new = acked.saturating_sub(self.credited).max(hole);
        self.credited -= self.credited.min(acked.saturating_sub(hole));
        (new, self.credited)
    }

    /// Handles an ACK during recovery (RFC 9937 §6.2, RFC 6937 §3).
    pub fn on_ack(&mut self, progress: &Progress) {
        let Progress { delivered, pipe, window, segment, unit, safe } = *progress;
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let conserved = self.delivered.saturating_sub(self.out);
        self.allowance = if pipe > window {
            let share = u128::from(self.delivered) * u128::from(window);
            let owed = share.div_ceil(u128::from(self.flight) * u128::from(unit)) as u64 * unit;
            owed.saturating_sub(self.out)
        } else {
            let limit = match self.bound {
                PrrBound::Off | PrrBound::Crb => conserved,
                PrrBound::Ssrb => conserved.max(delivered) + segment,
                PrrBound::Rfc9937 | PrrBound::Linux => {
                    conserved.max(delivered) + if safe { segment } else { 0 }
                }
            };
            (window - pipe).min(limit)
        };
    }

    /// Counts `len` sent bytes.
    pub fn on_sent(&mut self, len: u64) {
        if self.active {
            self.out += len;
            self.allowance = self.allowance.saturating_sub(len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1000;

    /// One segment of twenty is lost. Each ACK reports one more segment, and cwnd is halved.
    #[test]
    fn rfc6937_3_1_a_light_loss_spreads_the_reduction_over_a_round_trip() {
        for bound in [PrrBound::Crb, PrrBound::Ssrb, PrrBound::Rfc9937] {
            let mut prr = Prr::new(bound).unwrap();
            prr.begin(20 * SEGMENT, 20 * SEGMENT, 0, 0);
            let (mut pipe, mut sent) = (19 * SEGMENT, 0);
            for _ in 0..19 {
                pipe -= SEGMENT;
                prr.on_ack(&Progress {
                    delivered: SEGMENT,
                    pipe,
                    window: 10 * SEGMENT,
                    segment: SEGMENT,
                    unit: 1,
                    safe: false,
                });
                while prr.allowance().unwrap() >= SEGMENT {
                    prr.on_sent(SEGMENT);
                    pipe += SEGMENT;
                    sent += 1;
                }
            }
            assert_eq!((sent, pipe), (10, 10 * SEGMENT), "{bound:?}");
        }
    }

    /// After a loss of most of the flight the bounds differ (RFC 6937 §3.1, second example).
    #[test]
    fn rfc6937_3_1_after_a_heavy_loss_the_bound_decides() {
        let after = |bound, safe| {
            let mut prr = Prr::new(bound).unwrap();
            prr.begin(20 * SEGMENT, 20 * SEGMENT, 0, 0);
            let window = 10 * SEGMENT;
            let delivered = SEGMENT;
            prr.on_ack(&Progress {
                delivered,
                pipe: 4 * SEGMENT,
                window,
                segment: SEGMENT,
                unit: 1,
                safe,
            });
            prr.allowance().unwrap() / SEGMENT
        };
        assert_eq!(after(PrrBound::Crb, true), 1);
        assert_eq!(after(PrrBound::Ssrb, false), 2);
        assert_eq!(after(PrrBound::Rfc9937, false), 1);
        assert_eq!(after(PrrBound::Rfc9937, true), 2);
    }

    /// RFC 6937 §3: `limit = MAX(prr_delivered - prr_out, DeliveredData) + MSS`.
    #[test]
    fn rfc6937_3_a_segment_more_than_the_ack_reports_or_than_is_owed() {
        for (bound, safe) in [(PrrBound::Ssrb, false), (PrrBound::Rfc9937, true)] {
            let mut prr = Prr::new(bound).unwrap();
            prr.begin(20 * SEGMENT, 20 * SEGMENT, 0, 0);
            let mut after = |pipe: u64, sent: u64| {
                let (delivered, window) = (SEGMENT, 10 * SEGMENT);
                let pipe = pipe * SEGMENT;
                prr.on_ack(&Progress { delivered, pipe, window, segment: SEGMENT, unit: 1, safe });
                let allowance = prr.allowance().unwrap() / SEGMENT;
                prr.on_sent(sent * SEGMENT);
                allowance
            };
            assert_eq!(after(4, 2), 2, "{bound:?}");
            // After each of the next two ACKs, at most one segment is owed, and `DeliveredData` is
            // one segment.
            assert_eq!(after(5, 0), 2, "{bound:?}");
            assert_eq!(after(5, 0), 2, "{bound:?}");
            // Two segments are owed.
            assert_eq!(after(5, 0), 3, "{bound:?}");
            // The window has space for one segment.
            assert_eq!(after(9, 0), 1, "{bound:?}");
            assert_eq!(after(10, 0), 0, "{bound:?}");
        }
    }

    /// RFC 9937 §6.1: `RecoverFS` leaves out the data that were selectively acknowledged before
    /// recovery.
    #[test]
    fn rfc9937_6_1_what_was_reported_before_is_no_part_of_the_flight() {
        let after = |bound| {
            let mut prr = Prr::new(bound).unwrap();
            prr.begin(20 * SEGMENT, 20 * SEGMENT, 4 * SEGMENT, 0);
            prr.on_ack(&Progress {
                delivered: 4 * SEGMENT,
                pipe: 12 * SEGMENT,
                window: 10 * SEGMENT,
                segment: SEGMENT,
                unit: 1,
                safe: false,
            });
            prr.allowance()
        };
        assert_eq!(after(PrrBound::Rfc9937), Some(2500), "4/16 of a window of 10 segments");
        assert_eq!(after(PrrBound::Crb), Some(2000), "4/20 of a window of 10 segments");
    }

    #[test]
    fn without_sack_an_ack_is_no_news_of_what_duplicates_announced() {
        let mut prr = Prr::new(PrrBound::Crb).unwrap();
        prr.begin(10 * SEGMENT, 10 * SEGMENT, 0, 2 * SEGMENT);
        assert_eq!(prr.credit(SEGMENT), 3 * SEGMENT);
        assert_eq!(prr.settle(4 * SEGMENT, 0), (SEGMENT, 0));
        assert_eq!(prr.settle(SEGMENT, 0), (SEGMENT, 0));
    }

    /// Eight segments of a window of twenty were in flight. The window is halved, and four segments
    /// have arrived.
    #[test]
    fn linux_reduces_in_proportion_to_the_window_and_not_the_flight() {
        let owed = |bound| {
            let mut prr = Prr::new(bound).unwrap();
            prr.begin(8 * SEGMENT, 20 * SEGMENT, 0, 0);
            let progress = Progress {
                delivered: 4 * SEGMENT,
                pipe: 11 * SEGMENT,
                window: 10 * SEGMENT,
                segment: SEGMENT,
                unit: SEGMENT,
                safe: false,
            };
            prr.on_ack(&progress);
            prr.allowance().unwrap() / SEGMENT
        };
        assert_eq!([PrrBound::Linux, PrrBound::Rfc9937].map(owed), [2, 5]);
    }

    #[test]
    fn linux_takes_the_hole_for_delivered_and_the_rest_for_announced() {
        let settled = |acked: u64| {
            let mut prr = Prr::new(PrrBound::Rfc9937).unwrap();
            prr.begin(10 * SEGMENT, 10 * SEGMENT, 0, 3 * SEGMENT);
            let (new, left) = prr.settle(acked * SEGMENT, SEGMENT);
            (new / SEGMENT, left / SEGMENT)
        };
        assert_eq!([1, 2, 4, 6].map(settled), [(1, 3), (1, 2), (1, 0), (3, 0)]);
    }
}
