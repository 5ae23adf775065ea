//! The moving parts of a run: clock, network and connections, without the applications.

mod departures;
mod end;
mod event;
mod waits;
mod wires;

use std::collections::VecDeque;

use incast_engine::{EventQueue, Stream, Time};
use incast_net::port::unplaced;
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PacketId, PortId, RouteId, Trigger};
use incast_remedies::schedule::RequestScheduler;
use incast_tcp::Connection;
use incast_tcp::connection::{Counters, Polled};

use crate::blueprint::Blueprint;
use crate::ids::{BlueprintId, EndId};
use crate::probe::{EventKind, EventRow, Probe};
use crate::stalls::Waits;
use end::End;
use wires::{Kept, Wires};

pub use event::Event;

/// Clock, network and connections.
pub struct Core<P> {
    /// Pending events.
    pub queue: EventQueue<Event>,
    /// Ports and routes.
    pub network: Network,
    /// Listener that compiles to nothing when off.
    pub probe: P,
    /// Packets that reached a host.
    pub delivered: u64,
    /// The workload is done, and with it the run.
    pub finished: bool,
    /// Hosts keep segments until their departure times, where that is settled.
    pub hosts_keep: bool,
    ends: Vec<End>,
    blueprints: Vec<Blueprint>,
    /// Ends on which an application acted and which have to be served.
    dirty: VecDeque<EndId>,
    /// What makes the applications act.
    pub(crate) trigger: Trigger,
    /// What the blocks wait for.
    pub(crate) waits: Waits,
    kept: Kept,
    sequence: u64,
    seed: u64,
}

impl<P: Probe> Core<P> {
    pub(crate) fn new(network: Network, seed: u64, probe: P) -> Self {
        Self {
            queue: EventQueue::new(),
            network,
            probe,
            delivered: 0,
            finished: false,
            hosts_keep: true,
            ends: Vec::new(),
            blueprints: Vec::new(),
            dirty: VecDeque::new(),
            trigger: Trigger::Arrival,
            waits: Waits::default(),
            kept: Kept::default(),
            sequence: 0,
            seed,
        }
    }

    /// Now.
    #[inline]
    pub fn now(&self) -> Time {
        self.queue.now()
    }

    /// The stream called `name`, number `index`, of this run.
    pub fn stream(&self, name: &str, index: u64) -> Stream {
        Stream::named(self.seed, name, index)
    }

    /// A connection end.
    #[inline]
    pub fn connection(&self, end: EndId) -> &Connection {
        &self.ends[end.0 as usize].connection
    }

    /// A connection end, to act on; it is served before the clock moves on.
    pub fn act_on(&mut self, end: EndId) -> &mut Connection {
        self.dirty.push_back(end);
        let trigger = self.trigger_at(end);
        let connection = &mut self.ends[end.0 as usize].connection;
        connection.set_trigger(trigger);
        connection
    }

    /// Why an end sends for which an application acts.
    fn trigger_at(&self, end: EndId) -> Trigger {
        let is_brief = self.trigger == Trigger::Application && self.waits.is_brief(self.now(), end);
        if is_brief { Trigger::Arrival } else { self.trigger }
    }

    /// A blueprint.
    pub(crate) fn blueprint(&self, BlueprintId(id): BlueprintId) -> &Blueprint {
        &self.blueprints[usize::from(id)]
    }

    /// Adds a blueprint.
    pub(crate) fn add_blueprint(&mut self, blueprint: Blueprint) -> BlueprintId {
        self.blueprints.push(blueprint);
        BlueprintId(self.blueprints.len() as u16 - 1)
    }

    /// The scheduler that a remedy of this blueprint brings.
    pub(crate) fn scheduler(
        &mut self,
        BlueprintId(id): BlueprintId,
    ) -> Option<Box<dyn RequestScheduler>> {
        self.blueprints[usize::from(id)].scheduler(self.seed)
    }

    /// Adds the next flow's two ends.
    pub(crate) fn add_connection(&mut self, blueprint: BlueprintId, flow: u32) {
        for end in [EndId::server(flow), EndId::client(flow)] {
            debug_assert_eq!(self.ends.len(), end.0 as usize, "flows with connections come first");
            let connection = self.incarnate(blueprint, end, 0);
            self.ends.push(End::new(connection));
        }
    }

    /// Replaces both ends of a flow by a new connection, whose packets are told apart; returns
    /// what the old server's end had counted. `incarnation` counts the connections of the flow.
    pub(crate) fn renew_connection(
        &mut self,
        blueprint: BlueprintId,
        flow: u32,
        incarnation: u32,
    ) -> Counters {
        let retired = *self.connection(EndId::server(flow)).counters();
        for end in [EndId::server(flow), EndId::client(flow)] {
            let connection = self.incarnate(blueprint, end, incarnation);
            let keeps = self.ends[end.0 as usize].keeps;
            self.ends[end.0 as usize] = End::new(connection);
            if keeps {
                self.let_host_keep(end);
            }
        }
        retired
    }

    fn incarnate(
        &mut self,
        BlueprintId(id): BlueprintId,
        end: EndId,
        incarnation: u32,
    ) -> Connection {
        self.blueprints[usize::from(id)].build(end, incarnation, self.seed)
    }

    /// The host of `end` keeps segments until their departure times.
    fn let_host_keep(&mut self, EndId(end): EndId) {
        let end = &mut self.ends[end as usize];
        end.keeps = true;
        end.connection.allow_departure_times();
    }

    /// Sets an application's timer; it cannot be cancelled.
    pub fn set_timer(&mut self, at: Time, application: u16, index: u32) {
        self.sequence += 1;
        self.queue.push(at, self.sequence, Event::Timer { application, index });
    }

    /// Sends a datagram of `size` bytes on `flow`'s forward route.
    pub fn send_datagram(&mut self, flow: u32, size: u32) {
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

    /// The next end that an application acted on.
    pub(crate) fn pop_dirty(&mut self) -> Option<EndId> {
        self.dirty.pop_front()
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

    /// Tells the receiving end of a packet.
    #[inline]
    pub(crate) fn deliver(&mut self, id: PacketId) -> EndId {
        let now = self.now();
        let packet = self.network.packet(id);
        let end = EndId(packet.route.reverse().0);
        let connection = &mut self.ends[end.0 as usize].connection;
        connection.handle_segment(now, packet);
        if !end.is_server() {
            // Nothing has waited for what the client sends now.
            connection.set_trigger(Trigger::Arrival);
            if let Some(stall) = self.waits.note(now, end, packet.trigger)
                && P::ON
            {
                self.probe.on_event(EventRow::stall(now, stall, connection));
            }
        }
        self.network.packets().release(id);
        end
    }

    /// Handles a wake-up; returns whether the connection acted on it.
    pub(crate) fn wake(&mut self, id: EndId) -> bool {
        let now = self.now();
        let end = &mut self.ends[id.0 as usize];
        if end.armed != now {
            return false;
        }
        end.armed = std::mem::replace(&mut end.backstop, Time::NEVER);
        let due = end.connection.poll_timeout() <= now;
        if due {
            end.connection.handle_timeout(now);
            if end.connection.trigger() == Trigger::DelayedAck && self.waits.is_brief(now, id) {
                end.connection.set_trigger(Trigger::Arrival);
            }
        } else {
            let Self { ends, queue, network, probe, sequence, .. } = self;
            Wires { queue, network, probe, sequence }.arm(id, &mut ends[id.0 as usize]);
        }
        due
    }

    #[inline]
    fn wires(&mut self) -> Wires<'_, P> {
        let Self { queue, network, probe, sequence, .. } = self;
        Wires { queue, network, probe, sequence }
    }

    /// Sends everything that a connection wants to send and notes its deadline.
    #[inline]
    pub(crate) fn flush(&mut self, id: EndId) {
        let now = self.now();
        let Self { ends, queue, network, probe, sequence, kept, .. } = self;
        let end = &mut ends[id.0 as usize];
        let mut wires = Wires { queue, network, probe, sequence };
        let probes = end.connection.counters().tail_probes;
        loop {
            let polled = end.connection.poll_transmit_into(now, wires.network.packets().draft());
            if polled != Polled::Nothing {
                let packet = wires.network.packets().take();
                if polled == Polled::Timed {
                    wires.transmit_timed(end.connection.departs_at(), packet, kept);
                } else {
                    wires.transmit(packet);
                }
            }
            if polled != Polled::Packet || end.connection.is_quiet() {
                break;
            }
        }
        if P::ON {
            if end.connection.counters().tail_probes > probes {
                let row = EventRow::of(now, EventKind::TailProbe, id.flow(), &end.connection);
                wires.probe.on_event(row);
            }
            wires.probe.on_connection(now, id, &end.connection);
        }
        wires.arm(id, end);
    }

    #[inline]
    pub(crate) fn poll_event(&mut self, id: EndId) -> Option<incast_tcp::Event> {
        self.ends[id.0 as usize].connection.poll_event()
    }

    /// Packets in the network.
    pub fn in_flight(&self) -> u64 {
        let ports = self.network.ports().iter();
        ports.map(|port| port.in_flight().chain(port.awaited()).count() as u64).sum()
    }
}
