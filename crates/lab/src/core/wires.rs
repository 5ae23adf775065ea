//! From the ends of connections into the network, and from one link to the next.

use std::collections::BTreeMap;

use incast_engine::{EventQueue, Time};
use incast_host::{End, EndId};
use incast_net::express::Handoff;
use incast_net::topology::{Network, NextEvent};
use incast_net::{Admission, PacketId, Parcel, PortId, Service};

use super::event::Event;
use crate::probe::Probe;

/// A packet that arrives in the very instant in which a timer expires comes after it, however
/// many links one event spares.
const AFTER_TIMERS: u64 = 1 << 63;

/// A packet that was kept leaves before anything else happens in that instant, the end of the run
/// included, as if its host's port had always known.
const BEFORE_ALL: u64 = 0;

/// Packets that hosts keep, by departure and by sequence number, which they have from the moment at
/// which they were handed over.
pub type Kept = BTreeMap<(Time, u64), PacketId>;

/// What a packet needs on its way from one link to the next.
pub(super) struct Wires<'a, P> {
    pub(super) queue: &'a mut EventQueue<Event>,
    pub(super) network: &'a mut Network,
    pub(super) probe: &'a mut P,
    pub(super) sequence: &'a mut u64,
}

impl<P: Probe> Wires<'_, P> {
    #[inline]
    pub(super) fn transmit(&mut self, packet: PacketId) {
        let parcel = self.network.post(packet);
        let hop = self.network.next_hop(parcel).expect("a route has at least one port");
        let sequence = AFTER_TIMERS | self.next_sequence();
        self.offer(hop, parcel, sequence);
    }

    /// Offers a packet to a port. It keeps the sequence number of its first link all the way.
    #[inline]
    pub(super) fn offer(&mut self, port: PortId, parcel: Parcel, sequence: u64) {
        let now = self.queue.now();
        if P::ON {
            self.probe.before_offer(now, port, self.network);
        }
        match self.network.shorten(now, port, parcel, sequence) {
            Handoff::Declined => {}
            Handoff::Relayed(Some((port, at))) => {
                return self.queue.push(at, sequence, Event::Arrival(port));
            }
            Handoff::Announced(Some((port, at, sequence))) => {
                return self.queue.push(at, sequence, Event::Entry(port));
            }
            Handoff::Relayed(None) | Handoff::Announced(None) => return,
        }
        // What was announced to the port for an earlier time goes first.
        let due = self.network.settle((now, self.queue.sequence()), port);
        self.schedule_due(port, due);
        match self.network.offer(now, port, parcel, sequence) {
            Admission::Queued => {}
            Admission::Scheduled(at) => self.queue.push(at, sequence, Event::Arrival(port)),
            Admission::Started => self.schedule(port),
            Admission::QueuedWithEffects => self.pass_effects_on(port),
            Admission::Dropped(_) => {
                if P::ON {
                    self.probe.on_drop(now, port, self.network.packet(parcel.packet));
                }
                self.network.packets().release(parcel.packet);
                return;
            }
        }
        if P::ON {
            self.probe.after_offer(now, port, self.network.packet(parcel.packet), self.network);
        }
    }

    /// What an admission means for packets that wait, and for the neighbours upstream.
    #[inline(never)]
    fn pass_effects_on(&mut self, port: PortId) {
        self.release_late(port);
        self.network.pause_upstream(self.queue.now(), port, |port, at, sequence| {
            self.queue.push(at, sequence, Event::Resume(port));
        });
    }

    /// Forgets the packets that a port dropped after it had admitted them.
    #[inline(never)]
    pub(super) fn release_late(&mut self, port: PortId) {
        let now = self.queue.now();
        while let Some(packet) = self.network.port_mut(port).pop_late() {
            if P::ON {
                self.probe.on_late_drop(now, port, self.network.packet(packet));
            }
            self.network.packets().release(packet);
        }
    }

    #[expect(clippy::inline_always, reason = "what is due would go through memory")]
    #[inline(always)]
    pub(super) fn schedule_due(&mut self, port: PortId, due: NextEvent) {
        match due {
            NextEvent::Arrival(time, sequence) => {
                self.queue.push(time, sequence, Event::Arrival(port));
            }
            NextEvent::Entry(time, sequence) => self.queue.push(time, sequence, Event::Entry(port)),
            NextEvent::None => {}
        }
    }

    /// Schedules what a port with departure events says of the packet that it sends.
    #[inline(never)]
    pub(super) fn schedule(&mut self, port: PortId) {
        let Some(Service { departure, arrival }) = self.network.port(port).service() else {
            return;
        };
        self.queue.push(departure.0, departure.1, Event::Departure(port));
        if let Some((time, sequence)) = arrival {
            self.queue.push(time, sequence, Event::Arrival(port));
        }
    }

    #[inline]
    pub(super) fn arm(&mut self, id: EndId, end: &mut End) {
        let at = end.poll_timeout();
        if at < end.armed {
            // The sooner of two is the better one: the other may be that of the handshake.
            end.backstop = std::mem::replace(&mut end.armed, at);
            let sequence = self.next_sequence();
            self.queue.push_deadline(at, sequence, Event::Wake(id));
        }
    }

    #[inline]
    fn next_sequence(&mut self) -> u64 {
        *self.sequence += 1;
        *self.sequence
    }

    /// Gives a packet to a host that keeps it until it departs. A port that announces its packets
    /// takes it at once: that is the shortcut, and the event the long way.
    #[inline(never)]
    pub(super) fn transmit_timed(&mut self, departure: Time, packet: PacketId, kept: &mut Kept) {
        let sequence = AFTER_TIMERS | self.next_sequence();
        let hop = self.network.host_port(self.network.packet(packet).route);
        if !self.network.announces(hop) {
            kept.insert((departure, sequence), packet);
            return self.queue.push_deadline(departure, BEFORE_ALL, Event::Leave);
        }
        let parcel = self.network.post(packet);
        let handoff = self.network.shorten(departure, hop, parcel, sequence);
        if let Handoff::Announced(Some((port, at, sequence))) = handoff {
            self.queue.push_deadline(at, sequence, Event::Entry(port));
        }
    }
}
