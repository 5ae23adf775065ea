//! The packets announced to a port.
//!
//! When a host sends a packet, its arrival time at the switch is known, and the arrival affects
//! only one port of the switch. The packet is therefore stored here, without an event, until the
//! state of this port is needed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use incast_engine::Time;

use super::Transit;

/// The order of an empty inlet's next packet, later than all packets.
const NOTHING: u128 = u128::MAX;

/// The packets announced to a port, in the order in which they will enter.
pub(super) struct Inlet {
    /// The [order](Transit::order) of the next packet; [`NOTHING`] if there is none.
    next: u128,
    /// Packets that were announced in order.
    lane: VecDeque<Transit>,
    /// Packets that arrive before a packet that was announced earlier.
    strays: BinaryHeap<Reverse<Transit>>,
}

impl Default for Inlet {
    fn default() -> Self {
        Self { next: NOTHING, lane: VecDeque::new(), strays: BinaryHeap::new() }
    }
}

impl Inlet {
    /// Whether a packet enters the port at or before `until`, an [order](Transit::order) that must
    /// be less than `u128::MAX`.
    #[inline]
    pub(super) fn is_due(&self, until: u128) -> bool {
        self.next <= until
    }

    /// The time at which the next packet enters, and the order of this arrival among simultaneous
    /// events.
    #[inline]
    pub(super) fn first(&self) -> Option<(Time, u64)> {
        (self.next != NOTHING).then(|| Transit::key_of(self.next))
    }

    /// Adds a packet. Returns whether it is now the next packet.
    #[expect(clippy::inline_always, reason = "it has one caller on the hot path")]
    #[inline(always)]
    pub(super) fn push(&mut self, transit: Transit) -> bool {
        let order = transit.order();
        if self.lane.back().is_none_or(|last| last.order() <= order) {
            self.lane.push_back(transit);
        } else {
            self.push_stray(transit);
        }
        let is_next = order < self.next;
        self.next = self.next.min(order);
        is_next
    }

    #[inline(never)]
    fn push_stray(&mut self, transit: Transit) {
        self.strays.push(Reverse(transit));
    }

    /// Removes the next packet, if there is one.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller, and its result would go through memory"
    )]
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Transit> {
        if !self.strays.is_empty() {
            return self.pop_with_strays();
        }
        let first = self.lane.pop_front();
        self.next = self.lane.front().map_or(NOTHING, Transit::order);
        first
    }

    #[inline(never)]
    fn pop_with_strays(&mut self) -> Option<Transit> {
        let stray = self.strays.peek().map(|stray| stray.0.order());
        let first = if self.lane.front().map(Transit::order) <= stray && !self.lane.is_empty() {
            self.lane.pop_front()
        } else {
            self.strays.pop().map(|stray| stray.0)
        };
        let strays = self.strays.peek().map(|stray| stray.0.order());
        let lane = self.lane.front().map(Transit::order);
        self.next = lane.into_iter().chain(strays).min().unwrap_or(NOTHING);
        first
    }

    /// All packets of the inlet, in no particular order.
    pub(super) fn contents(&self) -> impl Iterator<Item = &Transit> {
        self.lane.iter().chain(self.strays.iter().map(|stray| &stray.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::Packet;
    use crate::packets::{Packets, Parcel};

    proptest! {
        #[test]
        fn whatever_is_announced_enters_in_order(
            times in prop::collection::vec(0_u64..100, 1..60),
            until in 0_u64..100,
        ) {
            let packet = Packets::default().insert(Packet::default());
            let parcel = Parcel::new(packet, 1500, 0);
            let mut inlet = Inlet::default();
            let mut keys: Vec<(Time, u64)> = Vec::new();
            for (time, sequence) in times.into_iter().zip(0..) {
                let transit = Transit { arrival: Time::from_picos(time), sequence, parcel };
                let before = keys.first().copied();
                let is_next = inlet.push(transit);
                prop_assert_eq!(is_next, before.is_none_or(|before| transit.key() < before));
                keys.push(transit.key());
                keys.sort_unstable();
                prop_assert_eq!(inlet.first(), keys.first().copied());
                prop_assert_eq!(inlet.contents().count(), keys.len());
            }
            let until = (Time::from_picos(until), 7);
            while inlet.is_due(Transit::order_of(until)) {
                let next = inlet.pop().expect("one is due");
                prop_assert_eq!(next.key(), keys.remove(0));
            }
            prop_assert!(keys.first().is_none_or(|first| *first > until));
        }
    }
}
