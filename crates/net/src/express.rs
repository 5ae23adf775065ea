//! Shortcuts: packets that need fewer events than one per link.
//!
//! [`Express`] is planned once, when all flows are known, and then owns every shortcut. A packet
//! that it does not take goes the long way: from link to link, an event each.

mod inlet;
mod plan;

use incast_engine::Time;

use crate::packets::{PacketId, Parcel};
use crate::port::{Admission, Commons, Port, PortId, Transit, unplaced};
use inlet::Inlet;
pub use plan::plan;

/// What becomes of the packets that a port sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shortcut {
    /// They are on its link until they arrive.
    #[default]
    None,
    /// They enter the next port at once: nobody else feeds it.
    Relay,
    /// They are announced to the next port, and enter it when somebody looks.
    Announce,
}

/// Where a packet is that was to be sent by a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// Where it was: the port has no shortcut.
    Declined,
    /// On the link behind the next port, whose next arrival is to be scheduled at this time, if
    /// that is said.
    Relayed(Option<(PortId, Time)>),
    /// Announced to a port; [`Express::settle`] is due at this time, if that is said, with this
    /// place among events of the same instant.
    Announced(Option<(PortId, Time, u64)>),
}

/// A port's shortcuts: what becomes of its packets, and what was announced to it.
#[derive(Default)]
struct Lane {
    shortcut: Shortcut,
    inlet: Inlet,
}

/// The shortcuts of a network.
pub struct Express {
    /// By port.
    lanes: Vec<Lane>,
    /// Ports that are fed by a relay.
    relayed: Vec<PortId>,
    /// Ports to which packets are announced.
    inlets: Vec<PortId>,
}

impl Express {
    /// No shortcut for any of so many ports.
    pub fn none(ports: usize) -> Self {
        let lanes = (0..ports).map(|_| Lane::default()).collect();
        Self { lanes, relayed: Vec::new(), inlets: Vec::new() }
    }

    /// What becomes of the packets that a port sends.
    #[inline]
    pub fn shortcut(&self, port: PortId) -> Shortcut {
        self.lanes[port.0 as usize].shortcut
    }

    /// Sends a packet, which is about to enter `port` and `next` after it, by a shortcut.
    #[inline]
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
        // While a packet is on the link its arrival is scheduled, and settles what came before.
        let inlet = &mut self.lanes[next.0 as usize].inlet;
        let transit = Transit { arrival, sequence, parcel };
        let is_next = ports[next.0 as usize].is_link_empty()
            && inlet.first().is_none_or(|first| transit.key() < first);
        inlet.push(transit);
        Handoff::Announced(is_next.then_some((next, arrival, sequence)))
    }

    /// When the next packet enters `port` that was announced to it.
    #[inline]
    pub fn announced(&self, port: PortId) -> Option<(Time, u64)> {
        self.lanes[port.0 as usize].inlet.first()
    }

    /// Lets the packets enter `port` that were announced up to `until`, a time and a place among
    /// events of the same instant, and releases what is dropped; returns the arrival that has to be
    /// scheduled if the link was empty.
    #[inline]
    pub fn settle(
        &mut self,
        until: (Time, u64),
        id: PortId,
        port: &mut Port,
        commons: &mut Commons,
    ) -> Option<(Time, u64)> {
        let is_due = self.announced(id).is_some_and(|first| first <= until);
        if is_due { self.lanes[id.0 as usize].let_in(until, port, commons) } else { None }
    }

    /// The ports to which packets are announced.
    pub fn inlets(&self) -> &[PortId] {
        &self.inlets
    }

    /// The packets that were announced to `port` and have not entered.
    pub fn awaited(&self, port: PortId) -> impl Iterator<Item = PacketId> {
        self.lanes[port.0 as usize].inlet.contents().map(|it| it.parcel.packet)
    }

    /// Packets that have not crossed a link at `now` which has counted them.
    pub fn early(&self, now: Time, ports: &[Port]) -> u64 {
        let relayed = self.relayed.iter().filter_map(|port| ports[port.0 as usize].fifo());
        let relayed = relayed.map(|port| port.admitted_after(now)).sum::<u64>();
        let awaited = self.inlets.iter().map(|port| self.awaited(*port).count() as u64);
        relayed + awaited.sum::<u64>()
    }
}

impl Lane {
    #[inline(never)]
    fn let_in(
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
