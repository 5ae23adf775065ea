//! The segments that duplicate ACKs without SACK report, counted as in Linux (`tcp_add_reno_sack()`
//! and `tcp_remove_reno_sacks()`): each duplicate ACK reports one segment. If there are more
//! reports than segments that can have arrived, packets were reordered or data were sent twice. The
//! number of duplicate ACKs that signals a loss then rises to the number of outstanding segments
//! (`tcp_check_reno_reordering()`).

use super::RecoveryView;

/// `tcp_max_reordering`.
const MOST: u32 = 300;

/// The count of reported segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// Reported segments that no cumulative ACK has covered (`sacked_out`).
    segments: u32,
    /// Number of duplicate ACKs that signals a loss (`reordering`), if it has changed.
    threshold: Option<u32>,
    /// All data below this number were lost at the last timeout.
    lost_until: u64,
}

fn segments(bytes: u64, view: &RecoveryView) -> u32 {
    u32::try_from(bytes.div_ceil(view.segment.max(1))).unwrap_or(u32::MAX)
}

impl Reported {
    /// Counts a duplicate ACK. During the repair of a timeout, a duplicate ACK counts only after
    /// new data were sent.
    pub fn on_duplicate(&mut self, view: &RecoveryView) {
        if view.max > self.lost_until {
            self.segments += 1;
            self.limit(0, view);
        }
    }

    /// Handles a cumulative ACK of `acked` bytes. The first segment of these bytes was lost, so no
    /// duplicate ACK has reported it.
    pub fn on_covered(&mut self, acked: u64, view: &RecoveryView) {
        let covered = segments(acked, view);
        self.segments -= self.segments.min(covered.saturating_sub(1));
        self.limit(covered, view);
    }

    /// Forgets the reports once no loss is being repaired.
    pub fn forget(&mut self) {
        self.segments = 0;
    }

    /// Handles a timeout, which declares all sent data lost.
    pub fn on_timeout(&mut self, view: &RecoveryView) {
        self.segments = 0;
        self.lost_until = view.max;
    }

    pub fn segments(&self) -> u32 {
        self.segments
    }

    pub fn threshold(&self) -> Option<u32> {
        self.threshold
    }

    fn limit(&mut self, covered: u32, view: &RecoveryView) {
        let outstanding = segments(view.max - view.una, view);
        let lost = segments(self.lost_until.saturating_sub(view.una), view);
        let can_have_arrived = outstanding - lost.clamp(1, outstanding.max(1)).min(outstanding);
        if self.segments > can_have_arrived {
            self.segments = can_have_arrived;
            self.threshold = Some((outstanding + covered).min(MOST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SEGMENT, view};
    use super::*;

    fn duplicates(reported: &mut Reported, count: u32, view: &RecoveryView) {
        (0..count).for_each(|_| reported.on_duplicate(view));
    }

    #[test]
    fn linux_tcp_remove_reno_sacks_takes_all_but_the_hole() {
        let mut reported = Reported::default();
        duplicates(&mut reported, 4, &view(1, 10_001));
        reported.on_covered(3 * SEGMENT, &view(3001, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (2, None));
        reported.on_covered(7 * SEGMENT, &view(10_001, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (0, None));
    }

    #[test]
    fn linux_tcp_check_reno_reordering_raises_the_threshold_to_what_is_outstanding() {
        let mut reported = Reported::default();
        duplicates(&mut reported, 9, &view(1, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (9, None));
        reported.on_duplicate(&view(1, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (9, Some(10)));
        // A large threshold is bounded, and a small threshold is used unchanged.
        duplicates(&mut reported, 500, &view(1, 400_001));
        assert_eq!(reported.threshold(), Some(MOST));
        reported.forget();
        reported.on_duplicate(&view(1, 1001));
        assert_eq!((reported.segments(), reported.threshold()), (0, Some(1)));
        // The segments that an ACK of new data covers also count.
        duplicates(&mut reported, 9, &view(1, 10_001));
        reported.on_covered(2 * SEGMENT, &view(2001, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (7, Some(10)));
    }

    #[test]
    fn linux_after_a_timeout_duplicates_report_new_data_only() {
        let mut reported = Reported::default();
        duplicates(&mut reported, 2, &view(1, 10_001));
        reported.on_timeout(&view(1, 10_001));
        duplicates(&mut reported, 3, &view(1, 10_001));
        assert_eq!((reported.segments(), reported.threshold()), (0, None));
        duplicates(&mut reported, 2, &view(5001, 12_001));
        assert_eq!((reported.segments(), reported.threshold()), (2, None));
        // Five segments are lost, and two can have arrived.
        reported.on_duplicate(&view(5001, 12_001));
        assert_eq!((reported.segments(), reported.threshold()), (2, Some(7)));
    }
}
