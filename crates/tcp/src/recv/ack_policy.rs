//! Decides when to acknowledge received segments.

use incast_engine::{Span, Time};

use super::buffer::Arrival;
use crate::config::{DelayedAck, ReceiveOffload};
use crate::wheel::Wheel;

/// Decides whether a received segment is acknowledged at once or later. By default, each segment is
/// acknowledged at once.
#[derive(Clone, Debug)]
pub struct AckPolicy(Option<Box<Delays>>);

/// The state of ACKs that may be delayed.
#[derive(Clone, Debug)]
struct Delays {
    /// Number of segments that are still acknowledged at once.
    quick: u32,
    /// Whether data go both ways, so that no segment is acknowledged at once.
    is_pingpong: bool,
    /// When the last data arrived.
    heard_at: Time,
    /// After a silence of this length, segments are acknowledged at once again.
    silence: Span,
    /// Full segments received since the last ACK.
    pending: u32,
    /// When a delayed ACK is due: at the expiry of the delayed-ACK timer, or when the host passes
    /// its batch to TCP.
    deadline: Time,
    hand_up: Time,
    delayed: Option<DelayedAck>,
    /// Delay of an ACK.
    delay: Span,
    offload: Option<ReceiveOffload>,
    wheel: Wheel,
    /// Bytes in the host's batch.
    collected: u64,
}

impl AckPolicy {
    /// A policy with one ACK per packet, with ACKs delayed by at most `delay`, or with one ACK per
    /// batch of the host.
    pub fn new(
        delayed: Option<DelayedAck>,
        delay: Span,
        offload: Option<ReceiveOffload>,
        wheel: Wheel,
    ) -> Self {
        let is_prompt = delayed.is_none() && offload.is_none();
        let delays = || {
            Box::new(Delays {
                quick: delayed.map_or(0, |delayed| delayed.quickack),
                is_pingpong: false,
                heard_at: Time::NEVER,
                silence: Span::MAX,
                delayed,
                delay,
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
        if let Some(delays) = &mut self.0 {
            delays.delay = delays.delay.min(timeout);
        }
    }

    /// Sets the retransmission timeout of this host.
    pub fn know_timeout(&mut self, rto: Span) {
        if let Some(delays) = &mut self.0 {
            delays.silence = rto;
        }
    }

    /// Notes that this host sends data (Linux's `tcp_event_data_sent()`).
    pub fn on_data_sent(&mut self, now: Time) {
        if let Some(delays) = &mut self.0
            && let Some(delayed) = delays.delayed.filter(|delayed| delayed.pingpong)
            && delays.heard_at != Time::NEVER
        {
            delays.is_pingpong |= now.saturating_since(delays.heard_at) < delayed.timeout;
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

    /// Handles an expired deadline. Returns whether an ACK must be sent.
    pub fn on_deadline(&mut self, now: Time) -> bool {
        self.0.as_mut().is_some_and(|delays| {
            // The host did not answer in time, so ping-pong mode ends.
            delays.is_pingpong &= delays.deadline > now;
            delays.deadline <= now || (delays.hand_up <= now && delays.is_due())
        })
    }

    /// Notes that an ACK was sent, alone or with data.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        if let Some(delays) = &mut self.0 {
            let counts_acks = delays.delayed.is_some_and(|delayed| delayed.pingpong);
            if counts_acks && delays.pending > 0 {
                delays.quick = delays.quick.saturating_sub(1);
            }
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
        if let Some(delayed) = self.delayed.filter(|delayed| delayed.pingpong) {
            if self.heard_at != Time::NEVER && now.saturating_since(self.heard_at) > self.silence {
                self.quick = delayed.quickack;
            }
            self.heard_at = now;
        }
        if self.delayed.is_some() && self.deadline == Time::NEVER {
            self.deadline = self.wheel.after(now, self.delay);
        }
        if arrival != Arrival::InOrder {
            if arrival == Arrival::Duplicate
                && let Some(delayed) = self.delayed
            {
                // The sender may have timed out (Linux's `tcp_enter_quickack_mode`).
                self.quick = delayed.quickack;
                self.is_pingpong = false;
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
        if self.quick > 0 && !self.is_pingpong {
            if !self.delayed.is_some_and(|delayed| delayed.pingpong) {
                self.quick = self.quick.saturating_sub(self.pending);
            }
            return true;
        }
        self.delayed.is_none_or(|delayed| self.pending >= delayed.segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Span = Span::from_millis(40);
    const NONE: DelayedAck = DelayedAck {
        segments: 2,
        timeout: DELAY,
        quickack: 0,
        pingpong: false,
        below_rto_min: false,
    };

    fn policy(delayed_ack: Option<DelayedAck>) -> AckPolicy {
        AckPolicy::new(delayed_ack, DELAY, None, Wheel::default())
    }

    #[test]
    fn rfc5681_4_2_at_least_every_second_segment_and_at_once_out_of_order() {
        let mut policy = policy(Some(NONE));
        assert!(!policy.on_segment(Time::ZERO, Arrival::InOrder, 1000));
        assert_eq!(policy.deadline(), Time::ZERO + DELAY);
        assert!(policy.on_segment(Time::ZERO + Span::from_millis(1), Arrival::InOrder, 1000));
        policy.on_ack_sent();
        assert_eq!((policy.deadline(), policy.is_holding()), (Time::NEVER, false));
        for arrival in [Arrival::OutOfOrder, Arrival::FilledGap, Arrival::Duplicate] {
            assert!(policy.on_segment(Time::ZERO, arrival, 1000));
            policy.on_ack_sent();
        }
    }

    fn linux() -> AckPolicy {
        let delayed = DelayedAck { quickack: 16, pingpong: true, ..NONE };
        let mut policy = policy(Some(delayed));
        policy.know_timeout(Span::from_millis(200));
        policy
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Whether a segment in order is acknowledged at once.
    fn is_prompt(policy: &mut AckPolicy, now: Time) -> bool {
        let prompt = policy.on_segment(now, Arrival::InOrder, 1000);
        if prompt {
            policy.on_ack_sent();
        }
        prompt
    }

    #[test]
    fn linux_sixteen_acks_are_sent_at_once() {
        let mut policy = linux();
        assert!((0..16).all(|i| is_prompt(&mut policy, at(i))));
        assert!(!is_prompt(&mut policy, at(16)));
        assert!(is_prompt(&mut policy, at(17)), "every second segment");
        // tcp_event_data_recv(): the silence is longer than the timeout.
        assert!(!is_prompt(&mut policy, at(217)));
        policy.on_ack_sent();
        assert!((0..16).all(|i| is_prompt(&mut policy, at(418 + i))));
    }

    #[test]
    fn linux_a_host_that_answers_delays_until_the_delay_is_over() {
        let mut policy = linux();
        assert!(is_prompt(&mut policy, at(0)));
        policy.on_data_sent(at(40));
        assert!(is_prompt(&mut policy, at(41)), "the answer came too late");
        policy.on_data_sent(at(80));
        assert!(!is_prompt(&mut policy, at(81)));
        assert!(policy.on_deadline(at(121)));
        policy.on_ack_sent();
        assert!(is_prompt(&mut policy, at(122)));
        policy.on_data_sent(at(123));
        assert!(!is_prompt(&mut policy, at(124)));
        assert!(policy.on_segment(at(125), Arrival::Duplicate, 1000));
        policy.on_ack_sent();
        assert!(is_prompt(&mut policy, at(126)), "tcp_enter_quickack_mode()");
    }

    #[test]
    fn without_delay_every_segment_is_acknowledged() {
        let mut policy = policy(None);
        assert!(policy.on_segment(Time::ZERO, Arrival::InOrder, 1000));
        assert_eq!(policy.deadline(), Time::NEVER);
    }
}
