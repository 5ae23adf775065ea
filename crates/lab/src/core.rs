//! Clock, network and hosts of a run, without the applications.

mod cards;
mod departures;
mod event;
mod order;
mod wires;

use incast_engine::{EventQueue, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Demand, EndId, Hosts};
use incast_net::flow_control::Signal;
use incast_net::port::{ArrivalOrder, unplaced};
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PacketId, PortId, RouteId};
use incast_tcp::connection::{Polled, Predicted};

use crate::probe::Probe;

use cards::Cards;
use departures::Kept;
pub use event::Event;
use order::Draw;
pub use wires::Wires;

/// Clock, network and hosts.
pub struct Core<P> {
    /// Clock and network.
    pub wires: Wires<P>,
    /// Number of packets that reached a host.
    pub delivered: u64,
    /// Whether all workloads are complete, which ends the run.
    pub finished: bool,
    /// The indices of the applications that are not complete.
    awaited: Vec<u16>,
    /// Whether hosts keep segments until their departure times. They do so only for flows whose
    /// departure times are certain.
    pub hosts_keep: bool,
    /// The ends of all flows.
    pub hosts: Hosts,
    kept: Kept,
    /// The network cards, if hosts have any.
    cards: Option<Box<Cards>>,
}

impl<P: Probe> Core<P> {
    pub(crate) fn new(network: Network, order: ArrivalOrder, seed: u64, probe: P) -> Self {
        Self {
            wires: Wires { queue: EventQueue::new(), network, probe, draw: Draw::new(order, seed) },
            delivered: 0,
            finished: false,
            awaited: Vec::new(),
            hosts_keep: true,
            hosts: Hosts::new(seed, P::ON),
            kept: Kept::default(),
            cards: None,
        }
    }

    /// The current time.
    #[inline]
    pub fn now(&self) -> Time {
        self.wires.queue.now()
    }

    /// Keeps the run going until this application is complete.
    pub(crate) fn await_end_of(&mut self, application: u16) {
        self.awaited.push(application);
    }

    fn finish_application(&mut self, application: u16) {
        self.awaited.retain(|awaited| *awaited != application);
        self.finished = self.awaited.is_empty();
    }

    /// Executes the requests of applications to the clock and the network.
    #[inline]
    pub(crate) fn meet_demands(&mut self) {
        let demands = self.hosts.take_demands();
        for demand in &demands {
            match *demand {
                Demand::Timer { at, application, index } => {
                    let sequence = self.wires.queue.number();
                    self.wires.queue.push(at, sequence, Event::Timer { application, index });
                }
                Demand::Datagram { flow, size } => self.send_datagram(flow, size),
                Demand::Milestone(row) => self.wires.probe.on_event(row),
                Demand::Finished { application } => self.finish_application(application),
            }
        }
        self.hosts.recycle(demands);
    }

    /// Sends a datagram of `size` bytes on `flow`'s forward route.
    fn send_datagram(&mut self, flow: u32, size: u32) {
        let header = 40.min(size);
        let packet = self.wires.network.packets().insert(Packet {
            route: RouteId::new(flow, true),
            payload: (size - header) as u16,
            header: header as u8,
            flags: Flags::DATAGRAM,
            ..Packet::default()
        });
        self.wires.transmit(packet);
    }

    /// Handles the packet that arrives at the end of the link of `port`. Returns the packet if it
    /// has reached its host, and forwards it otherwise.
    #[inline]
    pub(crate) fn arrive(&mut self, port: PortId) -> Option<PacketId> {
        let now = self.now();
        if P::ON {
            self.wires.probe.before_arrival(now, port, &mut self.wires.network);
        }
        let sequence = self.wires.queue.sequence();
        let (parcel, due) = self.wires.network.deliver(now, sequence, port);
        if P::ON {
            self.wires.probe.on_arrival(now, port, self.wires.network.packet(parcel.packet));
        }
        self.wires.schedule_due(port, due);
        if self.wires.network.next_hop(parcel).is_some() {
            let legs = self.wires.network.legs(parcel);
            self.wires.send(legs, parcel, unplaced(sequence));
            None
        } else {
            self.delivered += 1;
            Some(parcel.packet)
        }
    }

    /// Lets the packets announced to `port` enter the port, up to the current time.
    #[inline]
    pub(crate) fn enter(&mut self, port: PortId) {
        let until = (self.now(), self.wires.queue.sequence());
        let due = self.wires.network.settle(until, port);
        self.wires.schedule_due(port, due);
    }

    /// Updates the network up to now, so that its state can be read.
    pub(crate) fn settle(&mut self) {
        self.wires.network.settle_all((self.now(), self.wires.queue.sequence()));
    }

    /// Lets the packet in service leave `port`, and sends the next packet.
    #[inline(never)]
    pub(crate) fn depart(&mut self, port: PortId) {
        let now = self.now();
        if P::ON {
            self.wires.probe.before_departure(now, port, &mut self.wires.network);
        }
        self.wires.network.depart(now, port);
        self.wires.release_late(port);
        if P::ON {
            self.wires.probe.after_departure(now, port, &self.wires.network);
        }
        self.wires.schedule(port);
        self.wires.pass_signals();
        if self.cards.is_some() {
            self.pump_port(port);
        }
    }

    /// Handles the arrival of a switch's signal at the port that the signal stops or restarts.
    #[inline(never)]
    pub(crate) fn heed(&mut self, port: PortId, signal: Signal) {
        let now = self.now();
        if P::ON {
            self.wires.probe.before_departure(now, port, &mut self.wires.network);
        }
        let is_sending = self.wires.network.heed(now, port, signal);
        self.wires.release_late(port);
        if P::ON {
            self.wires.probe.after_departure(now, port, &self.wires.network);
        }
        if is_sending {
            self.wires.schedule(port);
        }
        self.wires.pass_signals();
        if self.cards.is_some() {
            self.pump_port(port);
        }
    }

    /// Handles a packet that the receiving end has predicted, and returns true. Returns false for
    /// other packets, which must be [delivered](Self::deliver).
    #[inline]
    pub(crate) fn predict(&mut self, id: PacketId) -> bool {
        if self.cards.is_some() {
            return false;
        }
        let now = self.now();
        let Self { hosts, wires, .. } = self;
        let (end_id, end, predicted) = hosts.predict(now, &mut wires.network.packets()[id]);
        match predicted {
            Predicted::Nothing => return false,
            Predicted::Answered => {
                wires.network.packets().turn(id);
                wires.transmit(id);
            }
            Predicted::Received => {
                wires.network.packets().release(id);
                wires.arm(end_id, end);
            }
            Predicted::Acked(limit) => {
                wires.network.packets().release(id);
                let Some(connection) = end.connection_mut() else { return true };
                while connection.sends_predicted(limit) {
                    connection.send_predicted(now, wires.network.packets().draft());
                    let packet = wires.network.packets().take();
                    wires.transmit(packet);
                }
                if connection.nears_end() {
                    self.flush(end_id);
                } else {
                    wires.arm(end_id, end);
                }
            }
        }
        true
    }

    /// Passes a packet to its receiving end.
    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) -> EndId {
        let now = self.now();
        if self.cards.is_some() {
            let packet = *self.wires.network.packet(id);
            self.show_card(now, &packet);
        }
        let (end, stall) = self.hosts.deliver(now, self.wires.network.packet(id));
        if let Some(stall) = stall
            && P::ON
            && let Some(client) = self.hosts.get(end)
        {
            self.wires.probe.on_event(EventRow::stall(now, stall, client));
        }
        self.wires.network.packets().release(id);
        end
    }

    /// Records an event of an end, if the run is recorded.
    pub(crate) fn note(&mut self, kind: EventKind, id: EndId) {
        if P::ON
            && let Some(end) = self.hosts.get(id)
        {
            let row = EventRow::of(self.wires.queue.now(), kind, id.flow(), end);
            self.wires.probe.on_event(row);
        }
    }

    /// Handles a deadline of an end. Returns whether the deadline was valid.
    pub(crate) fn wake(&mut self, id: EndId) -> bool {
        let now = self.now();
        // The deadline of a connection that was freed is stale, too.
        let Some(end) = self.hosts.get_mut(id).filter(|end| end.armed == now) else {
            return false;
        };
        end.armed = std::mem::replace(&mut end.backstop, Time::NEVER);
        let acted = self.hosts.expire(now, id);
        if !acted {
            let Self { hosts, wires, .. } = self;
            wires.arm(id, hosts.end_mut(id));
        }
        acted
    }

    /// Sends all packets of an end and schedules its deadline.
    #[inline]
    pub(crate) fn flush(&mut self, id: EndId) {
        if self.cards.is_some() && self.flush_by_card(id) {
            return;
        }
        let now = self.now();
        let Self { hosts, wires, kept, .. } = self;
        let end = hosts.end_mut(id);
        let probes = if P::ON { end.counters().tail_probes } else { 0 };
        loop {
            let polled = end.poll_transmit_into(now, wires.network.packets().draft());
            if polled != Polled::Nothing {
                let packet = wires.network.packets().take();
                if polled == Polled::Timed {
                    wires.transmit_timed(end.departs_at(), packet, kept);
                } else {
                    wires.transmit(packet);
                }
            }
            if polled != Polled::Packet || end.is_quiet() {
                break;
            }
        }
        wires.show_served(now, id, end, probes);
        wires.arm(id, end);
    }

    /// Frees connections that are no longer needed. Must not be called while an end is served.
    pub(crate) fn free_idle(&mut self) {
        let packets = self.wires.network.packets();
        self.hosts.free_idle(|flow| {
            [true, false].iter().any(|way| packets.on_route(RouteId::new(flow, *way)) > 0)
        });
    }

    /// Number of packets in the network.
    pub fn in_flight(&self) -> u64 {
        self.wires.network.packets_in_flight()
    }
}
