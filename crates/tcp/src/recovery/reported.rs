//! What duplicate ACKs without SACK report, as Linux counts it (`tcp_add_reno_sack()` and
//! `tcp_remove_reno_sacks()`): each reports a segment. More reports than segments that can have
//! arrived come from reordering, or from data that were sent twice; then the duplicate ACKs that
//! signal a loss become as many as the outstanding segments (`tcp_check_reno_reordering()`).

use super::RecoveryView;

/// `tcp_max_reordering`.
const MOST: u32 = 300;

/// See the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// Reported segments that no cumulative ACK has covered (`sacked_out`).
    segments: u32,
    /// Duplicate ACKs that signal a loss (`reordering`), if they have changed.
    threshold: Option<u32>,
    /// Everything below was lost at the last timeout.
    lost_until: u64,
}

fn segments(bytes: u64, view: &RecoveryView) -> u32 {
    u32::try_from(bytes.div_ceil(view.segment.max(1))).unwrap_or(u32::MAX)
}

impl Reported {
    /// A duplicate ACK. While a timeout is repaired it counts once new data were sent.
    pub fn on_duplicate(&mut self, view: &RecoveryView) {
        if view.max > self.lost_until {
            self.segments += 1;
            self.limit(0, view);
        }
    }

    /// A cumulative ACK covered `acked` bytes. The first segment was not reported before.
    pub fn on_covered(&mut self, acked: u64, view: &RecoveryView) {
        let covered = segments(acked, view);
        self.segments -= self.segments.min(covered.saturating_sub(1));
        self.limit(covered, view);
    }

    /// No loss is being repaired.
    pub fn forget(&mut self) {
        self.segments = 0;
    }

    /// A timeout: all that was sent is lost.
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
        // A large number is bounded, a small one is taken as well.
        duplicates(&mut reported, 500, &view(1, 400_001));
        assert_eq!(reported.threshold(), Some(MOST));
        reported.forget();
        reported.on_duplicate(&view(1, 1001));
        assert_eq!((reported.segments(), reported.threshold()), (0, Some(1)));
        // With an ACK of new data, what it covered counts, too.
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
        // Five are lost, and two can have arrived.
        reported.on_duplicate(&view(5001, 12_001));
        assert_eq!((reported.segments(), reported.threshold()), (2, Some(7)));
    }
}
