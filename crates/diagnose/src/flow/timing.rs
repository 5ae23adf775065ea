//! Times of a flow: the answers of the other end, waits in queues, and rounds of packets. An answer is
//! matched to a segment by the segment's end or by its timestamp.

use crate::time::{Span, Time};

/// The segment and the timestamp that are timed now.
#[derive(Debug, Default)]
pub struct Timing {
    /// The end of a segment, and the time at which it was sent.
    pub(super) segment: Option<(i64, Time)>,
    /// A timestamp, and the time at which it was first seen.
    pub(super) stamp: Option<(u32, Time)>,
    /// The newest timestamp.
    pub(super) newest: Option<u32>,
}

impl Timing {
    /// Notes a segment that ends at `end`.
    pub fn send(&mut self, end: i64, now: Time) {
        self.segment.get_or_insert((end, now));
    }

    /// Stops the timing of a segment, because data are sent again, and the ACK may be for either
    /// transmission.
    pub fn cancel(&mut self) {
        self.segment = None;
    }

    /// Returns the time of the segment that is acknowledged, and whether `ack` is exactly the end
    /// of this segment.
    pub fn acknowledged(&mut self, ack: i64) -> Option<(Time, bool)> {
        let (end, sent) = self.segment.filter(|&(end, _)| ack >= end)?;
        self.segment = None;
        Some((sent, ack == end))
    }

    /// Notes the timestamp of a packet.
    pub fn stamp(&mut self, value: u32, now: Time) {
        if self.newest.is_none_or(|last| value.wrapping_sub(last) as i32 > 0) {
            self.newest = Some(value);
            self.stamp.get_or_insert((value, now));
        }
    }

    /// Takes a timestamp that the other end echoes (RFC 7323 §3). If the echo answers the timestamp
    /// that is being timed, returns the time of this timestamp.
    pub fn echoed(&mut self, echo: u32) -> Option<Time> {
        let (_, sent) = self.stamp.filter(|&(value, _)| echo.wrapping_sub(value) as i32 >= 0)?;
        self.stamp = None;
        Some(sent)
    }

    /// Whether packets have timestamps.
    pub fn has_stamps(&self) -> bool {
        self.newest.is_some()
    }
}

/// The longest time that can be a wait in a queue.
pub const LONGEST_QUEUE: Span = Span::from_millis(10);

/// The longest wait, and the state that prevents a measurement.
#[derive(Debug, Default)]
pub struct Queued {
    /// Time of the last data that the flow sent although no ACK had released them.
    pub(super) resumed: Time,
    pub(super) longest: Span,
}

impl Queued {
    /// Notes that the flow continues although no ACK has released data.
    pub fn resume(&mut self, now: Time) {
        self.resumed = now;
    }

    /// Takes a wait in a queue.
    pub fn take(&mut self, wait: Span) {
        self.longest = self.longest.max(wait);
    }

    /// The longest wait, if a wait was seen.
    pub fn longest(&self) -> Option<Span> {
        Some(self.longest).filter(|wait| *wait > Span::ZERO)
    }
}

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
    use crate::time::tests::{at, ns};

    #[test]
    fn one_segment_is_timed_at_a_time() {
        let mut timing = Timing::default();
        timing.send(1000, at(5));
        timing.send(2000, at(6));
        assert_eq!(timing.acknowledged(999), None);
        assert_eq!(timing.acknowledged(2000), Some((at(5), false)), "two are acknowledged");
        timing.send(3000, at(9));
        assert_eq!(timing.acknowledged(3000), Some((at(9), true)));
        timing.send(4000, at(11));
        timing.cancel();
        assert_eq!(timing.acknowledged(4000), None);
    }

    #[test]
    fn a_timestamp_is_timed_from_its_first_packet_on() {
        let mut timing = Timing::default();
        timing.stamp(u32::MAX, at(5));
        timing.stamp(u32::MAX, at(6));
        timing.stamp(1, at(7));
        assert_eq!(timing.echoed(u32::MAX - 1), None);
        assert_eq!(timing.echoed(1), Some(at(5)));
        timing.stamp(1, at(8));
        assert_eq!(timing.echoed(1), None, "it was seen before");
    }

    #[test]
    fn only_newer_timestamps_are_timed() {
        let mut timing = Timing::default();
        assert!(!timing.has_stamps());
        timing.stamp(10, at(5));
        assert!(timing.has_stamps());
        assert_eq!(timing.echoed(10), Some(at(5)));
        timing.stamp(10, at(6));
        timing.stamp(9, at(7));
        assert_eq!(timing.echoed(20), None, "they were seen before");
        timing.stamp(11, at(8));
        assert_eq!(timing.echoed(10), None);
        assert_eq!(timing.echoed(11), Some(at(8)));
    }

    #[test]
    fn the_longest_wait_in_a_queue_is_kept() {
        let mut queued = Queued::default();
        assert_eq!(queued.longest(), None);
        for (wait, longest) in [(3, 3), (2, 3), (9, 9)] {
            queued.take(ns(wait));
            assert_eq!(queued.longest(), Some(ns(longest)));
        }
        queued.take(ns(-5));
        assert_eq!(queued.longest(), Some(ns(9)));
    }

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
