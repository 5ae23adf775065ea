//! Hosts whose network card decides which end sends next.

use incast_engine::Time;
use incast_host::{End, EndId, Nic};
use incast_net::topology::{HostId, Network};
use incast_net::{Packet, PortId};
use incast_tcp::connection::Polled;

use super::{Core, Event, Wires};
use crate::probe::Probe;

/// A card, and its deadline in the event queue.
struct Slot {
    card: Box<dyn Nic>,
    armed: Time,
}

/// The cards of the hosts that have one.
#[derive(Default)]
pub(super) struct Cards(Vec<Option<Slot>>);

impl Cards {
    fn of(&mut self, HostId(host): HostId) -> Option<&mut Slot> {
        self.0.get_mut(host as usize)?.as_mut()
    }
}

/// The host at the beginning of an end's route.
fn host_of(network: &Network, end: EndId) -> HostId {
    HostId(network.host_port(end.route()).0 / 2)
}

impl<P: Probe> Core<P> {
    /// Gives a host a card, if it has none. `card` builds the card, and is called only in this
    /// case.
    pub(crate) fn give_card(&mut self, host: HostId, card: impl FnOnce() -> Option<Box<dyn Nic>>) {
        let index = host.0 as usize;
        if self.cards.as_ref().is_some_and(|cards| matches!(cards.0.get(index), Some(Some(_)))) {
            return;
        }
        let Some(card) = card() else { return };
        let Cards(slots) = &mut **self.cards.get_or_insert_default();
        slots.resize_with(slots.len().max(index + 1), || None);
        slots[index] = Some(Slot { card, armed: Time::NEVER });
        self.wires.network.step(Network::uplink(host));
    }

    /// Tells the card of an end's host that the end may have packets to send, and lets the card
    /// send. Returns false if the host has no card.
    #[inline(never)]
    pub(super) fn flush_by_card(&mut self, id: EndId) -> bool {
        let host = host_of(&self.wires.network, id);
        let Some(slot) = self.cards.as_mut().and_then(|cards| cards.of(host)) else {
            return false;
        };
        slot.card.wants(id);
        let Self { hosts, wires, .. } = self;
        wires.arm_later(id, hosts.end_mut(id));
        self.pump(host);
        true
    }

    /// Shows an arriving packet to the card of its host.
    #[inline(never)]
    pub(super) fn show_card(&mut self, now: Time, packet: &Packet) {
        let host = host_of(&self.wires.network, EndId(packet.route.reverse().0));
        if let Some(slot) = self.cards.as_mut().and_then(|cards| cards.of(host)) {
            slot.card.handle(now, packet);
            self.pump(host);
        }
    }

    /// Lets the card of a host send, if `port` is the host's port.
    #[inline(never)]
    pub(super) fn pump_port(&mut self, PortId(port): PortId) {
        if port.is_multiple_of(2) && port / 2 < self.wires.network.hosts() {
            self.pump(HostId(port / 2));
        }
    }

    /// Lets the card of a host send until its line is busy.
    pub(crate) fn pump(&mut self, host: HostId) {
        let now = self.now();
        loop {
            let Some(stopped) = self.wires.network.port(Network::uplink(host)).is_free() else {
                return;
            };
            let Some(slot) = self.cards.as_mut().and_then(|cards| cards.of(host)) else { return };
            let Some(end) = slot.card.next(now, stopped) else {
                let due = slot.card.poll_timeout();
                if due > now && due < slot.armed {
                    slot.armed = due;
                    let sequence = self.wires.queue.number();
                    self.wires.queue.push_deadline(due, sequence, Event::Card(host));
                }
                return;
            };
            self.send_one(host, end);
        }
    }

    /// Handles a deadline of a host's card.
    pub(crate) fn wake_card(&mut self, host: HostId) {
        if let Some(slot) = self.cards.as_mut().and_then(|cards| cards.of(host)) {
            slot.armed = Time::NEVER;
        }
        self.pump(host);
    }

    /// Sends one packet of an end, if the end has a packet to send.
    fn send_one(&mut self, host: HostId, id: EndId) {
        let now = self.now();
        let Self { hosts, wires, cards, .. } = self;
        // The flow may have been freed.
        let Some(end) = hosts.get_mut(id) else { return };
        let probes = if P::ON { end.counters().tail_probes } else { 0 };
        let polled = end.poll_transmit_into(now, wires.network.packets().draft());
        if polled != Polled::Nothing {
            let packet = wires.network.packets().take();
            wires.transmit(packet);
        }
        if polled == Polled::Packet
            && !end.is_quiet()
            && let Some(slot) = cards.as_mut().and_then(|cards| cards.of(host))
        {
            slot.card.wants(id);
        }
        wires.show_served(now, id, end, probes);
        wires.arm_later(id, end);
    }
}

impl<P: Probe> Wires<P> {
    /// Schedules the deadline of an end whose host has a card. If the end could send already, it
    /// waits for its turn at the card, which needs no event.
    fn arm_later(&mut self, id: EndId, end: &mut End) {
        if end.poll_timeout() > self.queue.now() {
            self.arm(id, end);
        }
    }
}
