//! Shortcuts, with which a packet needs fewer events than one per link.
//!
//! [`Express`] contains all shortcuts of a network. They are planned once all flows are known.
//! Without a shortcut, a packet needs one event per link.

mod plan;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use incast_engine::Time;

use crate::packets::Parcel;
use crate::port::{Admission, Commons, Port, PortId, Transit, unplaced};
pub use plan::plan;

/// The mechanism that brings packets from a port to the next port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shortcut {
    /// An arrival event at the end of the link brings each packet to the next port.
    #[default]
    None,
    /// Packets enter the next port at once. This is possible because no other port sends to the
    /// next port.
    Relay,
    /// Packets are announced to the next port, and enter it only when the state of that port is
    /// needed.
    Announce,
}

/// The result of sending a packet by a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// The port has no shortcut; the packet was not sent.
    Declined,
    /// The packet has passed the next port and is on the link behind it. If `Some`, the next
    /// arrival at the end of this link must be scheduled at this time.
    Relayed(Option<(PortId, Time)>),
    /// The packet was announced to a port. If `Some`, [`Express::settle`] must be scheduled at this
    /// time, with this order among simultaneous events.
    Announced(Option<(PortId, Time, u64)>),
}

/// A port's shortcut, and the packets announced to the port.
#[derive(Default)]
struct Lane {
    shortcut: Shortcut,
    inlet: Inlet,
}

/// The shortcuts of a network.
pub struct Express {
    /// The lane of each port.
    lanes: Vec<Lane>,
    /// Ports fed by a relay.
    relayed: Vec<PortId>,
    /// Ports to which packets are announced.
    inlets: Vec<PortId>,
}

impl Express {
    /// `ports` ports without shortcuts.
    pub fn none(ports: usize) -> Self {
        let lanes = (0..ports).map(|_| Lane::default()).collect();
        Self { lanes, relayed: Vec::new(), inlets: Vec::new() }
    }

    /// The shortcut of a port.
    #[inline]
    pub fn shortcut(&self, port: PortId) -> Shortcut {
        self.lanes[port.0 as usize].shortcut
    }

    /// Sends a packet through `port` to the port `next`, by the shortcut of `port`.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller on the hot path, and its result would go through memory"
    )]
    #[inline(always)]
    pub fn send(
        &mut self,
        ports: &mut [Port],
        now: Time,
        [port, next]: [PortId; 2],
        parcel: Parcel,
        sequence: u64,
    ) -> Handoff {
        let Some(first) = ports[port.0 as usize].fifo_mut() else { return Handoff::Declined };
        if self.shortcut(port) == Shortcut::Relay {
            let enters = first.forward(now, parcel.size());
            let Some(second) = ports[next.0 as usize].fifo_mut() else { return Handoff::Declined };
            return Handoff::Relayed(match second.admit(enters, parcel.onward(), sequence) {
                Admission::Scheduled(at) => Some((next, at)),
                _ => None,
            });
        }
        let (arrival, sequence) = first.forward_placed(now, parcel.size(), sequence);
        // `settle` must be scheduled only if the next port's link is empty. Otherwise, the arrival
        // event of a packet on this link also settles the announced packets.
        let inlet = &mut self.lanes[next.0 as usize].inlet;
        let transit = Transit { arrival, sequence, parcel };
        let is_next = ports[next.0 as usize].is_link_empty()
            && inlet.first().is_none_or(|first| transit.key() < first);
        inlet.push(transit);
        Handoff::Announced(is_next.then_some((next, arrival, sequence)))
    }

    /// The time at which the next announced packet enters `port`, and the order of this arrival
    /// among simultaneous events.
    #[inline]
    pub fn announced(&self, port: PortId) -> Option<(Time, u64)> {
        self.lanes[port.0 as usize].inlet.first()
    }

    /// Lets announced packets enter `port` up to `until`, which is a time and an order among
    /// simultaneous events. Dropped packets are released. If the port's link was empty, returns the
    /// arrival that must be scheduled.
    #[inline]
    pub fn settle(
        &mut self,
        until: (Time, u64),
        id: PortId,
        port: &mut Port,
        commons: &mut Commons,
    ) -> Option<(Time, u64)> {
        let is_due = self.announced(id).is_some_and(|first| first <= until);
        if is_due { self.lanes[id.0 as usize].admit_arrivals(until, port, commons) } else { None }
    }

    /// The ports to which packets are announced.
    pub fn inlets(&self) -> &[PortId] {
        &self.inlets
    }

    /// The packets announced to `port` that have not entered yet.
    pub fn awaited(&self, port: PortId) -> impl Iterator<Item = Parcel> {
        self.lanes[port.0 as usize].inlet.contents().map(|transit| transit.parcel)
    }

    /// Number of packets that a port has already counted as delivered, although they are still on
    /// its link at `now`.
    pub fn early(&self, now: Time, ports: &[Port]) -> u64 {
        let relayed = self.relayed.iter().filter_map(|port| ports[port.0 as usize].fifo());
        let relayed = relayed.map(|port| port.admitted_after(now)).sum::<u64>();
        let awaited = self.inlets.iter().map(|port| self.awaited(*port).count() as u64);
        relayed + awaited.sum::<u64>()
    }
}

impl Lane {
    #[inline(never)]
    fn admit_arrivals(
        &mut self,
        until: (Time, u64),
        port: &mut Port,
        commons: &mut Commons,
    ) -> Option<(Time, u64)> {
        let mut scheduled = None;
        while let Some(Transit { arrival, sequence, parcel }) = self.inlet.pop_until(until) {
            let sequence = unplaced(sequence);
            match port.offer(arrival, parcel.onward(), sequence, commons) {
                Admission::Scheduled(at) => scheduled = Some((at, sequence)),
                Admission::Dropped(_) => commons.packets.release(parcel.packet),
                Admission::Queued | Admission::QueuedWithEffects | Admission::Started => {}
            }
        }
        scheduled
    }
}

/// The packets announced to a port, in the order in which they will enter.
///
/// When a host sends a packet, its arrival time at the switch is known, and the arrival affects
/// only one port of the switch. The packet is therefore stored here, without an event, until the
/// state of this port is needed.
#[derive(Default)]
struct Inlet {
    /// Packets that were announced in order.
    lane: VecDeque<Transit>,
    /// Packets that arrive before a packet that was announced earlier.
    strays: BinaryHeap<Reverse<Transit>>,
}

impl Inlet {
    /// The time at which the next packet enters, and the order of this arrival among simultaneous
    /// events.
    #[inline]
    fn first(&self) -> Option<(Time, u64)> {
        let lane = self.lane.front().map(Transit::key);
        if self.strays.is_empty() { lane } else { self.first_with_strays(lane) }
    }

    #[inline(never)]
    fn first_with_strays(&self, lane: Option<(Time, u64)>) -> Option<(Time, u64)> {
        self.strays.peek().map(|stray| stray.0.key()).into_iter().chain(lane).min()
    }

    /// Adds a packet.
    #[inline]
    fn push(&mut self, transit: Transit) {
        if self.lane.back().is_none_or(|last| last.key() <= transit.key()) {
            self.lane.push_back(transit);
        } else {
            self.strays.push(Reverse(transit));
        }
    }

    /// Removes the next packet if it enters the port at or before `until`.
    #[inline]
    fn pop_until(&mut self, until: (Time, u64)) -> Option<Transit> {
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

    /// All packets of the inlet, in no particular order.
    fn contents(&self) -> impl Iterator<Item = &Transit> {
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
