//! What is on its way to a port, in the order in which it will enter.
//!
//! What a host sends arrives at its switch at a time that is known at once, and nothing but the
//! switch's port cares when. So it waits here, not in the event queue, until the port is looked at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use incast_engine::Time;

use crate::port::Transit;

/// See the module.
#[derive(Default)]
pub struct Inlet {
    /// What was announced in order.
    lane: VecDeque<Transit>,
    /// What overtakes something in the lane.
    strays: BinaryHeap<Reverse<Transit>>,
}

impl Inlet {
    /// When the next packet enters.
    #[inline]
    pub fn first(&self) -> Option<(Time, u64)> {
        let lane = self.lane.front().map(Transit::key);
        if self.strays.is_empty() { lane } else { self.first_with_strays(lane) }
    }

    #[inline(never)]
    fn first_with_strays(&self, lane: Option<(Time, u64)>) -> Option<(Time, u64)> {
        self.strays.peek().map(|stray| stray.0.key()).into_iter().chain(lane).min()
    }

    /// Adds a packet.
    #[inline]
    pub fn push(&mut self, transit: Transit) {
        if self.lane.back().is_none_or(|last| last.key() <= transit.key()) {
            self.lane.push_back(transit);
        } else {
            self.strays.push(Reverse(transit));
        }
    }

    /// Takes the next packet if it enters by `until`.
    #[inline]
    pub fn pop_until(&mut self, until: (Time, u64)) -> Option<Transit> {
        if self.strays.is_empty() {
            let is_due = self.lane.front()?.key() <= until;
            return if is_due { self.lane.pop_front() } else { None };
        }
        self.pop_with_strays(until)
    }

    #[inline(never)]
    fn pop_with_strays(&mut self, until: (Time, u64)) -> Option<Transit> {
        let stray = self.strays.peek()?.0.key();
        let in_lane = self.lane.front().map(Transit::key).filter(|lane| *lane <= stray);
        if in_lane.unwrap_or(stray) > until {
            return None;
        }
        if in_lane.is_some() {
            self.lane.pop_front()
        } else {
            self.strays.pop().map(|stray| stray.0)
        }
    }

    /// What it holds, in no particular order.
    pub fn contents(&self) -> impl Iterator<Item = &Transit> {
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
                inlet.push(transit);
                keys.push(transit.key());
                keys.sort_unstable();
                prop_assert_eq!(inlet.first(), keys.first().copied());
                prop_assert_eq!(inlet.contents().count(), keys.len());
            }
            let until = (Time::from_picos(until), 7);
            while let Some(transit) = inlet.pop_until(until) {
                prop_assert_eq!(transit.key(), keys.remove(0));
            }
            prop_assert!(keys.first().is_none_or(|first| *first > until));
        }
    }
}
