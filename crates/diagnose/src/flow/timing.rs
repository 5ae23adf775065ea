//! Timing of the other end's answers. An answer is matched to a segment by the segment's end or by
//! its timestamp.

use crate::time::Time;

/// The segment and the timestamp that are timed now.
#[derive(Debug, Default)]
pub struct Timing {
    /// The end of a segment, and the time at which it was sent.
    segment: Option<(i64, Time)>,
    /// A timestamp, and the time at which it was first seen.
    stamp: Option<(u32, Time)>,
    /// The newest timestamp.
    newest: Option<u32>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::at;

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
}
