//! When to acknowledge.

use incast_engine::{Span, Time};

use super::buffer::Arrival;
use crate::config::{DelayedAck, ReceiveOffload};
use crate::wheel::Wheel;

/// Decides whether a received segment is acknowledged at once or later; at once if nothing says
/// otherwise.
#[derive(Clone, Debug)]
pub struct AckPolicy(Option<Box<Delays>>);

/// The state of ACKs that may be delayed.
#[derive(Clone, Debug)]
struct Delays {
    /// Number of segments that are still acknowledged at once.
    quick: u32,
    /// Full segments received since the last ACK.
    pending: u32,
    /// When a delayed ACK is due: by the delayed-ACK timer, or when the host passes its batch to
    /// TCP.
    deadline: Time,
    hand_up: Time,
    delayed: Option<DelayedAck>,
    offload: Option<ReceiveOffload>,
    wheel: Wheel,
    /// Bytes in the host's batch.
    collected: u64,
}

impl AckPolicy {
    /// One ACK per packet, delayed ACKs, or one ACK per batch of the host.
    pub fn new(delayed: Option<DelayedAck>, offload: Option<ReceiveOffload>, wheel: Wheel) -> Self {
        let is_prompt = delayed.is_none() && offload.is_none();
        let delays = || {
            Box::new(Delays {
                quick: delayed.map_or(0, |delayed| delayed.quickack),
                delayed,
                offload,
                wheel,
                pending: 0,
                deadline: Time::NEVER,
                hand_up: Time::NEVER,
                collected: 0,
            })
        };
        Self((!is_prompt).then(delays))
    }

    /// Limits the delay of an ACK to `timeout`.
    pub fn shorten(&mut self, timeout: Span) {
        if let Some(delayed) = self.0.as_mut().and_then(|delays| delays.delayed.as_mut()) {
            delayed.timeout = delayed.timeout.min(timeout);
        }
    }

    /// Whether the arrived segment of `bytes` bytes must be acknowledged now (RFC 5681 §4.2).
    #[inline]
    pub fn on_segment(&mut self, now: Time, arrival: Arrival, bytes: u64) -> bool {
        match &mut self.0 {
            None => true,
            Some(delays) => delays.on_segment(now, arrival, bytes),
        }
    }

    /// The deadline has passed. Returns whether an ACK must be sent.
    pub fn on_deadline(&mut self, now: Time) -> bool {
        self.0.as_mut().is_some_and(|delays| {
            delays.deadline <= now || (delays.hand_up <= now && delays.is_due())
        })
    }

    /// An ACK was sent, alone or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        if let Some(delays) = &mut self.0 {
            delays.pending = 0;
            delays.deadline = Time::NEVER;
            delays.hand_up = Time::NEVER;
            delays.collected = 0;
        }
    }

    /// When a delayed ACK is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |delays| delays.deadline.min(delays.hand_up))
    }

    /// Whether an ACK is being delayed.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.0.as_ref().is_some_and(|delays| delays.pending > 0)
    }
}

impl Delays {
    #[inline]
    fn on_segment(&mut self, now: Time, arrival: Arrival, bytes: u64) -> bool {
        self.pending += 1;
        if let Some(delayed) = self.delayed
            && self.deadline == Time::NEVER
        {
            self.deadline = self.wheel.after(now, delayed.timeout);
        }
        if arrival != Arrival::InOrder {
            if arrival == Arrival::Duplicate
                && let Some(delayed) = self.delayed
            {
                // The sender may have timed out (Linux's `tcp_enter_quickack_mode`).
                self.quick = delayed.quickack;
            }
            return true;
        }
        if let Some(offload) = self.offload {
            self.collected += bytes;
            if self.collected < u64::from(offload.size) {
                if self.hand_up == Time::NEVER {
                    self.hand_up = now + offload.timeout;
                }
                return false;
            }
        }
        self.is_due()
    }

    /// Whether the batch requires an ACK.
    fn is_due(&mut self) -> bool {
        self.hand_up = Time::NEVER;
        self.collected = 0;
        if self.quick > 0 {
            self.quick = self.quick.saturating_sub(self.pending);
            return true;
        }
        self.delayed.is_none_or(|delayed| self.pending >= delayed.segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc5681_4_2_at_least_every_second_segment_and_at_once_out_of_order() {
        let timeout = Span::from_millis(40);
        let mut policy = AckPolicy::new(
            Some(DelayedAck { segments: 2, timeout, quickack: 0 }),
            None,
            Wheel::default(),
        );
        assert!(!policy.on_segment(Time::ZERO, Arrival::InOrder, 1000));
        assert_eq!(policy.deadline(), Time::ZERO + timeout);
        assert!(policy.on_segment(Time::ZERO + Span::from_millis(1), Arrival::InOrder, 1000));
        policy.on_ack_sent();
        assert_eq!((policy.deadline(), policy.is_holding()), (Time::NEVER, false));
        for arrival in [Arrival::OutOfOrder, Arrival::FilledGap, Arrival::Duplicate] {
            assert!(policy.on_segment(Time::ZERO, arrival, 1000));
            policy.on_ack_sent();
        }
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged() {
        let mut policy = AckPolicy::new(None, None, Wheel::default());
        assert!(policy.on_segment(Time::ZERO, Arrival::InOrder, 1000));
        assert_eq!(policy.deadline(), Time::NEVER);
    }
}
