//! The moving parts of a run: clock, network and hosts, without the applications.

mod departures;
mod event;
mod wires;

use incast_engine::{EventQueue, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Demand, EndId, Hosts};
use incast_net::port::unplaced;
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PacketId, PortId, RouteId};
use incast_tcp::connection::{Polled, Predicted};

use crate::probe::Probe;
use wires::{Kept, Wires};

pub use event::Event;

/// Clock, network and hosts.
pub struct Core<P> {
    /// Pending events.
    pub queue: EventQueue<Event>,
    /// Ports and routes.
    pub network: Network,
    /// Listener that compiles to nothing when off.
    pub probe: P,
    /// Packets that reached a host.
    pub delivered: u64,
    /// The workloads are done, and with them the run.
    pub finished: bool,
    /// Applications that have to be done before.
    awaited: Vec<u16>,
    /// Hosts keep segments until their departure times, where that is settled.
    pub hosts_keep: bool,
    /// The ends of all flows.
    pub hosts: Hosts,
    kept: Kept,
    sequence: u64,
}

impl<P: Probe> Core<P> {
    pub(crate) fn new(network: Network, seed: u64, probe: P) -> Self {
        Self {
            queue: EventQueue::new(),
            network,
            probe,
            delivered: 0,
            finished: false,
            awaited: Vec::new(),
            hosts_keep: true,
            hosts: Hosts::new(seed, P::ON),
            kept: Kept::default(),
            sequence: 0,
        }
    }

    /// Now.
    #[inline]
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// The run goes on until this application is done.
    pub(crate) fn await_end_of(&mut self, application: u16) {
        self.awaited.push(application);
    }

    fn finish_application(&mut self, application: u16) {
        self.awaited.retain(|awaited| *awaited != application);
        self.finished = self.awaited.is_empty();
    }

    /// Does what applications want of clock and network.
    #[inline]
    pub(crate) fn meet_demands(&mut self) {
        let demands = self.hosts.take_demands();
        for demand in &demands {
            match *demand {
                Demand::Timer { at, application, index } => {
                    self.sequence += 1;
                    self.queue.push(at, self.sequence, Event::Timer { application, index });
                }
                Demand::Datagram { flow, size } => self.send_datagram(flow, size),
                Demand::Milestone(row) => self.probe.on_event(row),
                Demand::Finished { application } => self.finish_application(application),
            }
        }
        self.hosts.recycle(demands);
    }

    /// Sends a datagram of `size` bytes on `flow`'s forward route.
    fn send_datagram(&mut self, flow: u32, size: u32) {
        let header = 40.min(size);
        let packet = self.network.packets().insert(Packet {
            route: RouteId::new(flow, true),
            payload: (size - header) as u16,
            header: header as u8,
            flags: Flags::DATAGRAM,
            ..Packet::default()
        });
        self.wires().transmit(packet);
    }

    /// Takes the packet that arrives behind `port`: forwards it, or returns it if its host is
    /// reached.
    #[inline]
    pub(crate) fn arrive(&mut self, port: PortId) -> Option<PacketId> {
        let now = self.now();
        if P::ON {
            self.probe.before_arrival(now, port, &mut self.network);
        }
        let sequence = self.queue.sequence();
        let (parcel, due) = self.network.deliver(now, sequence, port);
        if P::ON {
            self.probe.on_arrival(now, port, self.network.packet(parcel.packet));
        }
        self.wires().schedule_due(port, due);
        if let Some(hop) = self.network.next_hop(parcel) {
            self.wires().offer(hop, parcel, unplaced(sequence));
            None
        } else {
            self.delivered += 1;
            Some(parcel.packet)
        }
    }

    /// Lets the packets enter `port` that were announced up to now.
    #[inline]
    pub(crate) fn enter(&mut self, port: PortId) {
        let until = (self.now(), self.queue.sequence());
        let due = self.network.settle(until, port);
        self.wires().schedule_due(port, due);
    }

    /// Brings the network up to now, for somebody who looks at it.
    pub(crate) fn settle(&mut self) {
        self.network.settle_all((self.now(), self.queue.sequence()));
    }

    /// The packet in service leaves `port`, and the next one is sent.
    #[inline(never)]
    pub(crate) fn depart(&mut self, port: PortId) {
        let now = self.now();
        if P::ON {
            self.probe.before_departure(now, port, &mut self.network);
        }
        self.network.depart(now, port);
        self.wires().release_late(port);
        if P::ON {
            self.probe.after_departure(now, port, &self.network);
        }
        self.wires().schedule(port);
    }

    /// A pause of `port` may be over.
    #[inline(never)]
    pub(crate) fn resume(&mut self, port: PortId) {
        let now = self.now();
        if P::ON {
            self.probe.before_departure(now, port, &mut self.network);
        }
        let is_sending = self.network.resume(now, port);
        self.wires().release_late(port);
        if P::ON {
            self.probe.after_departure(now, port, &self.network);
        }
        if is_sending {
            self.wires().schedule(port);
        }
    }

    /// Deals with a packet that its end predicted; any other is to be [delivered](Self::deliver).
    #[inline]
    pub(crate) fn predict(&mut self, id: PacketId) -> bool {
        let now = self.now();
        let Self { hosts, queue, network, probe, sequence, .. } = self;
        let (end_id, predicted) = hosts.predict(now, &mut network.packets()[id]);
        let mut wires = Wires { queue, network, probe, sequence };
        match predicted {
            Predicted::Nothing => return false,
            Predicted::Answered => wires.transmit(id),
            Predicted::Received => {
                wires.network.packets().release(id);
                wires.arm(end_id, hosts.end_mut(end_id));
            }
            Predicted::Acked(limit) => {
                wires.network.packets().release(id);
                let end = hosts.end_mut(end_id);
                let Some(connection) = end.connection_mut() else { return true };
                while connection.send_predicted(now, limit, wires.network.packets().draft()) {
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

    /// Tells the receiving end of a packet.
    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) -> EndId {
        let now = self.now();
        let (end, stall) = self.hosts.deliver(now, self.network.packet(id));
        if let Some(stall) = stall
            && P::ON
            && let Some(client) = self.hosts.connection(end)
        {
            self.probe.on_event(EventRow::stall(now, stall, client));
        }
        self.network.packets().release(id);
        end
    }

    /// Handles a wake-up; returns whether the end acted on it.
    pub(crate) fn wake(&mut self, id: EndId) -> bool {
        let now = self.now();
        let end = self.hosts.end_mut(id);
        if end.armed != now {
            return false;
        }
        end.armed = std::mem::replace(&mut end.backstop, Time::NEVER);
        let acted = self.hosts.expire(now, id);
        if !acted {
            let Self { hosts, queue, network, probe, sequence, .. } = self;
            Wires { queue, network, probe, sequence }.arm(id, hosts.end_mut(id));
        }
        acted
    }

    #[inline]
    fn wires(&mut self) -> Wires<'_, P> {
        let Self { queue, network, probe, sequence, .. } = self;
        Wires { queue, network, probe, sequence }
    }

    /// Sends everything that an end wants to send and notes its deadline.
    #[inline]
    pub(crate) fn flush(&mut self, id: EndId) {
        let now = self.now();
        let Self { hosts, queue, network, probe, sequence, kept, .. } = self;
        let end = hosts.end_mut(id);
        let mut wires = Wires { queue, network, probe, sequence };
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
        if P::ON
            && let Some(connection) = end.connection()
        {
            if connection.counters().tail_probes > probes {
                let row = EventRow::of(now, EventKind::TailProbe, id.flow(), connection);
                wires.probe.on_event(row);
            }
            wires.probe.on_connection(now, id, connection);
        }
        wires.arm(id, end);
    }

    /// Packets in the network.
    pub fn in_flight(&self) -> u64 {
        self.network.packets_in_flight()
    }
}
