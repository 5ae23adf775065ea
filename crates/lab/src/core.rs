//! Clock, network and hosts of a run, without the applications.

mod cards;
mod departures;
mod event;
mod order;

use incast_engine::{EventQueue, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{Demand, End, EndId, Hosts};
use incast_net::express::Handoff;
use incast_net::flow_control::Signal;
use incast_net::port::{ArrivalOrder, NextEvent, unplaced};
use incast_net::topology::Network;
use incast_net::{Admission, Flags, Packet, PacketId, Parcel, PortId, RouteId, Service};
use incast_tcp::connection::{Polled, Predicted};

use crate::probe::Probe;

use cards::Cards;
use departures::Kept;
pub use event::Event;
use order::Draw;

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

/// If a packet arrives at the time when a timer expires, the timer is handled first. This holds
/// with and without shortcuts.
const AFTER_TIMERS: u64 = 1 << 63;

/// Clock and network of a run: all that packets need between hosts.
pub struct Wires<P> {
    /// Pending events.
    pub queue: EventQueue<Event>,
    /// Ports and routes.
    pub network: Network,
    /// The listener. If a run has no listener, the calls are compiled out.
    pub probe: P,
    /// The order of simultaneous packets, if it is drawn.
    draw: Option<Draw>,
}

impl<P: Probe> Wires<P> {
    /// Sends a packet from its host.
    #[inline(never)]
    fn transmit(&mut self, packet: PacketId) {
        let parcel = self.network.post(packet);
        let legs = self.network.legs(parcel);
        let sequence = self.number_of_packet(legs[0], self.queue.now());
        self.send(legs, parcel, sequence);
    }

    /// The number of a packet that leaves its host by `port` at `at`.
    #[inline]
    fn number_of_packet(&mut self, port: PortId, at: Time) -> u64 {
        let count = self.queue.number();
        AFTER_TIMERS | self.draw.map_or(count, |draw| draw.of_packet(count, port, at))
    }

    /// Sends a packet through the first of its next two ports. The packet has the same sequence
    /// number on all links.
    #[expect(clippy::inline_always, reason = "most packets take a shortcut, in few instructions")]
    #[inline(always)]
    fn send(&mut self, legs: [PortId; 2], parcel: Parcel, sequence: u64) {
        let now = self.queue.now();
        if P::ON {
            self.probe.before_offer(now, legs[0], &mut self.network);
        }
        match self.network.shorten(now, legs, parcel, sequence) {
            Handoff::Declined => self.offer(legs[0], parcel, sequence),
            Handoff::Relayed(Some((port, at))) => {
                self.queue.push(at, sequence, Event::Arrival(port));
            }
            Handoff::Announced(Some((port, at, sequence))) => {
                self.queue.push(at, sequence, Event::Entry(port));
            }
            Handoff::Relayed(None) | Handoff::Announced(None) => {}
        }
    }

    /// Offers a packet to a port that has no shortcut.
    #[inline(never)]
    fn offer(&mut self, port: PortId, parcel: Parcel, sequence: u64) {
        let now = self.queue.now();
        if self.network.awaits(port) {
            // Packets announced for an earlier time enter first.
            let due = self.network.settle((now, self.queue.sequence()), port);
            self.schedule_due(port, due);
        }
        self.network.set_sequence(self.queue.sequence());
        match self.network.offer(now, port, parcel, sequence) {
            Admission::Queued => {}
            Admission::Scheduled(at) => self.queue.push(at, sequence, Event::Arrival(port)),
            Admission::Started => {
                self.schedule(port);
                self.pass_signals();
            }
            Admission::QueuedWithEffects => {
                self.release_late(port);
                self.pass_signals();
            }
            Admission::Dropped(_) => {
                if P::ON {
                    self.probe.on_drop(now, port, self.network.packet(parcel.packet));
                }
                self.network.packets().release(parcel.packet);
                return;
            }
        }
        if P::ON {
            self.probe.after_offer(now, port, self.network.packet(parcel.packet), &self.network);
        }
    }

    /// Sends the signals of switches to their neighbours, if switches have flow control.
    #[inline]
    fn pass_signals(&mut self) {
        if self.network.has_flow_control() {
            self.pass_all_signals();
        }
    }

    #[inline(never)]
    fn pass_all_signals(&mut self) {
        let now = self.queue.now();
        while let Some((port, at, sequence, signal)) = self.network.pop_signal(now) {
            self.queue.push(at, sequence, Event::Signal(port, signal));
        }
    }

    /// Releases packets that a port dropped after it had admitted them.
    #[inline]
    fn release_late(&mut self, port: PortId) {
        if self.network.port(port).has_late() {
            self.release_all_late(port);
        }
    }

    #[inline(never)]
    fn release_all_late(&mut self, port: PortId) {
        let now = self.queue.now();
        while let Some(packet) = self.network.pop_late(port) {
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

    /// Schedules the events of the packet in service at a port that has departure events.
    #[inline]
    fn schedule(&mut self, port: PortId) {
        let Some(Service { departure, arrival }) = self.network.port(port).service() else {
            return;
        };
        if let Some((time, sequence)) = departure {
            self.queue.push(time, sequence, Event::Departure(port));
        }
        if let Some((time, sequence)) = arrival {
            self.queue.push(time, sequence, Event::Arrival(port));
        }
    }

    /// Shows the probe an end whose packets have just been sent. `probes` is the number of tail
    /// loss probes that the end had sent before.
    #[inline]
    fn show_served(&mut self, now: Time, id: EndId, end: &End, probes: u64) {
        if P::ON {
            if end.counters().tail_probes > probes {
                let row = EventRow::of(now, EventKind::TailProbe, id.flow(), end);
                self.probe.on_event(row);
            }
            self.probe.on_served(now, id, end);
        }
    }

    #[inline]
    fn arm(&mut self, id: EndId, end: &mut End) {
        let at = end.poll_timeout();
        if at < end.armed {
            // The old `armed` replaces `backstop`, which is later: the earlier deadline is more
            // useful, because the later deadline may be that of the handshake.
            end.backstop = std::mem::replace(&mut end.armed, at);
            let sequence = self.queue.number();
            self.queue.push_deadline(at, sequence, Event::Wake(id));
        }
    }
}
