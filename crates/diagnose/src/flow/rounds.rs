//! Rounds of packets, which may end at the edge of the window.

use crate::time::Span;

/// The current round.
#[derive(Debug, Default)]
pub struct Rounds {
    /// The edge of the window when the round began.
    edge: i64,
}

impl Rounds {
    /// Begins the first round, when the edge of the window is at `edge`.
    pub fn begin(&mut self, edge: i64) {
        self.edge = edge;
    }

    /// Begins the next round. Returns whether the last round filled its window, so that one more
    /// segment would have exceeded the window. `reach` is the end of such a segment.
    pub fn next(&mut self, reach: i64, edge: i64) -> bool {
        let before = std::mem::replace(&mut self.edge, edge);
        before > 0 && reach > before
    }

    /// Whether a pause separates two rounds, given the round trip `trip`.
    pub fn are_parted_by(pause: Span, trip: Span) -> bool {
        trip * 2 / 5 < pause && pause < 3 * trip
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::ns;

    #[test]
    fn a_round_is_full_if_no_further_segment_fits() {
        let mut rounds = Rounds::default();
        assert!(!rounds.next(1460, 5000), "no window was known");
        assert!(!rounds.next(5000, 9000));
        assert!(rounds.next(9001, 9000));
    }

    #[test]
    fn rounds_are_a_round_trip_apart() {
        assert_eq!(
            [40, 41, 299, 300].map(|pause| Rounds::are_parted_by(ns(pause), ns(100))),
            [false, true, true, false]
        );
    }

    #[test]
    fn a_first_round_begins_with_the_edge_of_its_window() {
        let mut rounds = Rounds::default();
        rounds.begin(5000);
        assert!(rounds.next(5001, 9000));
        rounds.begin(5000);
        assert!(!rounds.next(5000, 9000), "it fits");
    }
}
