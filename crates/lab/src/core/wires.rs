//! Clock and network of a run, and how packets and deadlines get into them.

use incast_engine::{EventQueue, Time};
use incast_host::milestone::{EventKind, EventRow};
use incast_host::{End, EndId};
use incast_net::express::Handoff;
use incast_net::port::NextEvent;
use incast_net::topology::Network;
use incast_net::{Admission, PacketId, Parcel, PortId, Service};

use super::{Draw, Event};
use crate::probe::Probe;

/// If a packet arrives at the time when a timer expires, the timer is handled first. This holds
/// with and without shortcuts.
pub(super) const AFTER_TIMERS: u64 = 1 << 63;

/// Clock and network of a run: all that packets need between hosts.
pub struct Wires<P> {
    /// Pending events.
    pub queue: EventQueue<Event>,
    /// Ports and routes.
    pub network: Network,
    /// The listener. If a run has no listener, the calls are compiled out.
    pub probe: P,
    /// The order of simultaneous packets, if it is drawn.
    pub(super) draw: Option<Draw>,
}

impl<P: Probe> Wires<P> {
    /// Sends a packet from its host.
    #[inline(never)]
    pub(super) fn transmit(&mut self, packet: PacketId) {
        let parcel = self.network.post(packet);
        let legs = self.network.legs(parcel);
        let sequence = self.number_of_packet(legs[0], self.queue.now());
        self.send(legs, parcel, sequence);
    }

    /// The number of a packet that leaves its host by `port` at `at`.
    #[inline]
    pub(super) fn number_of_packet(&mut self, port: PortId, at: Time) -> u64 {
        let count = self.queue.number();
        AFTER_TIMERS | self.draw.map_or(count, |draw| draw.of_packet(count, port, at))
    }

    /// Sends a packet through the first of its next two ports. The packet has the same sequence
    /// number on all links.
    #[expect(clippy::inline_always, reason = "most packets take a shortcut, in few instructions")]
    #[inline(always)]
    pub(super) fn send(&mut self, legs: [PortId; 2], parcel: Parcel, sequence: u64) {
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
    pub(super) fn pass_signals(&mut self) {
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
    pub(super) fn release_late(&mut self, port: PortId) {
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
    pub(super) fn schedule_due(&mut self, port: PortId, due: NextEvent) {
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
    pub(super) fn schedule(&mut self, port: PortId) {
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
    pub(super) fn show_served(&mut self, now: Time, id: EndId, end: &End, probes: u64) {
        if P::ON {
            if end.counters().tail_probes > probes {
                let row = EventRow::of(now, EventKind::TailProbe, id.flow(), end);
                self.probe.on_event(row);
            }
            self.probe.on_served(now, id, end);
        }
    }

    #[inline]
    pub(super) fn arm(&mut self, id: EndId, end: &mut End) {
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
