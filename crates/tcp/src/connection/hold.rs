//! ACKs and requests that a receiver hook delays.
//!
//! Delayed packets are kept unchanged and in order, so that the sender sees every duplicate and
//! every window. The delay is bounded.

use std::collections::VecDeque;

use incast_engine::Time;
use incast_net::{Flags, Packet};

use super::Connection;
use super::demand::Demand;
use super::timer::TimerKind;
use crate::hooks::{AckEvent, Advice, HOLD_LIMIT};

/// The delayed packets, in order of departure.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(VecDeque<Waiting>);

#[derive(Clone, Debug)]
struct Waiting {
    packet: Packet,
    /// When the hooks are called again. The delay ends at `latest` in any case.
    due: Time,
    latest: Time,
    /// Whether a data packet has carried the acknowledgement, so that this packet is not needed.
    is_void: bool,
}

impl Held {
    pub fn deadline(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |first| first.due)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Connection {
    /// Whether the hooks delay this packet, which is about to leave.
    #[inline]
    pub(super) fn holds_back(&mut self, now: Time, packet: &Packet) -> bool {
        self.has_receiver_hooks() && self.keep(now, packet)
    }

    fn keep(&mut self, now: Time, packet: &Packet) -> bool {
        let until = self.ask(now, AckEvent::Ready(packet));
        if until <= now && self.hooks.parts_mut().held.0.is_empty() {
            self.ask(now, AckEvent::Left);
            return false;
        }
        let latest = now + HOLD_LIMIT;
        let due = until.min(latest);
        self.hooks.parts_mut().held.0.push_back(Waiting {
            packet: *packet,
            due,
            latest,
            is_void: false,
        });
        true
    }

    /// The latest of the times until which the hooks delay the packet.
    fn ask(&mut self, now: Time, event: AckEvent<'_>) -> Time {
        let hooks = self.hooks.parts_mut().receivers.iter_mut();
        hooks.fold(Advice::NONE, |sum, hook| sum.merge(hook.on_ack(event, now))).hold_ack_until
    }

    /// Releases the delayed packets whose deadline has passed.
    pub(super) fn release_due(&mut self, now: Time) {
        self.waive(Demand::Held);
        while self.hooks.parts_mut().held.deadline() <= now {
            let until = self.ask(now, AckEvent::Expired);
            let Some(first) = self.hooks.parts_mut().held.0.front_mut() else { return };
            first.due = until.min(first.latest);
            if first.due > now {
                return;
            }
            if !first.is_void {
                self.owe(Demand::Held);
                return;
            }
            self.hooks.parts_mut().held.0.pop_front();
            self.ask(now, AckEvent::Left);
        }
    }

    /// Sends the first delayed packet.
    pub(super) fn send_held(&mut self, now: Time, out: &mut Packet) -> bool {
        let first = self.hooks.parts_mut().held.0.pop_front();
        if let Some(first) = &first {
            *out = first.packet;
            out.flags = out.flags.with_trigger(self.trigger());
            self.ask(now, AckEvent::Left);
            if out.flags.contains(Flags::REQUEST) {
                self.time_request(now);
            }
        }
        self.release_due(now);
        first.is_some()
    }

    /// Marks delayed pure ACKs as obsolete, because a sent data packet carried the cumulative ACK.
    pub(super) fn void_held(&mut self) {
        for waiting in &mut self.hooks.parts_mut().held.0 {
            waiting.is_void |= !waiting.packet.flags.contains(Flags::REQUEST);
        }
    }

    /// Sets the timer of a request that is being sent.
    pub(super) fn time_request(&mut self, now: Time) {
        if self.opening.request.outstanding && !self.request_rides() {
            self.arm(now, TimerKind::Request);
        }
    }
}
