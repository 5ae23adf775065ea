//! When to acknowledge.

use incast_engine::Time;

use super::reassembly::Arrival;
use crate::config::DelayedAck;

/// Decides whether a received segment is acknowledged at once or a little later.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    delayed: Option<DelayedAck>,
    /// Full segments received since the last ACK.
    pending: u32,
    deadline: Time,
}

impl AckPolicy {
    /// One ACK per packet, or delayed ones.
    pub fn new(delayed: Option<DelayedAck>) -> Self {
        Self { delayed, pending: 0, deadline: Time::NEVER }
    }

    /// Whether the segment that just arrived has to be acknowledged now (RFC 5681 §4.2).
    #[inline]
    pub fn on_segment(&mut self, now: Time, arrival: Arrival) -> bool {
        let Some(delayed) = self.delayed else {
            return true;
        };
        self.pending += 1;
        if arrival != Arrival::InOrder || self.pending >= delayed.segments {
            return true;
        }
        if self.deadline == Time::NEVER {
            self.deadline = now + delayed.timeout;
        }
        false
    }

    /// An ACK left, alone or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        self.pending = 0;
        self.deadline = Time::NEVER;
    }

    /// When a held ACK is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether an ACK is being held.
    pub fn is_holding(&self) -> bool {
        self.pending > 0
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Span;

    use super::*;

    #[test]
    fn rfc5681_4_2_at_least_every_second_segment_and_at_once_out_of_order() {
        let timeout = Span::from_millis(40);
        let mut policy = AckPolicy::new(Some(DelayedAck { segments: 2, timeout }));
        assert!(!policy.on_segment(Time::ZERO, Arrival::InOrder));
        assert_eq!(policy.deadline(), Time::ZERO + timeout);
        assert!(policy.on_segment(Time::ZERO + Span::from_millis(1), Arrival::InOrder));
        policy.on_ack_sent();
        assert_eq!((policy.deadline(), policy.is_holding()), (Time::NEVER, false));
        for arrival in [Arrival::OutOfOrder, Arrival::FilledGap, Arrival::Duplicate] {
            assert!(policy.on_segment(Time::ZERO, arrival));
            policy.on_ack_sent();
        }
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged() {
        let mut policy = AckPolicy::new(None);
        assert!(policy.on_segment(Time::ZERO, Arrival::InOrder));
        assert_eq!(policy.deadline(), Time::NEVER);
    }
}
