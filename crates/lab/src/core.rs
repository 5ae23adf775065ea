//! The moving parts of a run: clock, network and hosts, without the applications.

mod departures;
mod event;

use std::collections::BTreeMap;

use incast_engine::{EventQueue, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Demand, End, EndId, Hosts};
use incast_net::express::Handoff;
use incast_net::port::unplaced;
use incast_net::topology::{Network, NextEvent};
use incast_net::{Admission, Flags, Packet, PacketId, Parcel, PortId, RouteId, Service};
use incast_tcp::connection::{Polled, Predicted};

use crate::probe::Probe;

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
            Predicted::Answered => {
                wires.network.packets().turn(id);
                wires.transmit(id);
            }
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

/// A packet that arrives in the very instant in which a timer expires comes after it, however
/// many links one event spares.
const AFTER_TIMERS: u64 = 1 << 63;

/// A packet that was kept leaves before anything else happens in that instant, the end of the run
/// included, as if its host's port had always known.
const BEFORE_ALL: u64 = 0;

/// Packets that hosts keep, by departure and by sequence number, which they have from the moment at
/// which they were handed over.
type Kept = BTreeMap<(Time, u64), PacketId>;

/// What a packet needs on its way into the network, and from one link to the next: all but the hosts.
struct Wires<'a, P> {
    queue: &'a mut EventQueue<Event>,
    network: &'a mut Network,
    probe: &'a mut P,
    sequence: &'a mut u64,
}

impl<P: Probe> Wires<'_, P> {
    #[inline]
    fn transmit(&mut self, packet: PacketId) {
        let parcel = self.network.post(packet);
        let hop = self.network.next_hop(parcel).expect("a route has at least one port");
        let sequence = AFTER_TIMERS | self.next_sequence();
        self.offer(hop, parcel, sequence);
    }

    /// Offers a packet to a port. It keeps the sequence number of its first link all the way.
    #[inline]
    fn offer(&mut self, port: PortId, parcel: Parcel, sequence: u64) {
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
    fn release_late(&mut self, port: PortId) {
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
    fn schedule_due(&mut self, port: PortId, due: NextEvent) {
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
    fn schedule(&mut self, port: PortId) {
        let Some(Service { departure, arrival }) = self.network.port(port).service() else {
            return;
        };
        self.queue.push(departure.0, departure.1, Event::Departure(port));
        if let Some((time, sequence)) = arrival {
            self.queue.push(time, sequence, Event::Arrival(port));
        }
    }

    #[inline]
    fn arm(&mut self, id: EndId, end: &mut End) {
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
    fn transmit_timed(&mut self, departure: Time, packet: PacketId, kept: &mut Kept) {
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
