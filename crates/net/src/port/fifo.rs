//! A port that sends packets in the order of their arrival.
//!
//! The departure time of a packet is known when it is admitted (`max(now, last departure) + size /
//! rate`). One event per packet and link is therefore enough: the arrival at the end of the link.
//! Packets on the link keep their order, so the event queue contains only the arrival of the first
//! packet of the port's ring. The occupancy of the port is computed only when it is needed.

mod state;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use incast_engine::{Span, Stream, Time};

use super::line::{Line, Train};
use super::{
    Admission, NextEvent, Parts, PortConfig, PortCounters, Shortcut, Ties, Transit, placed,
    unplaced,
};
use crate::buffer::Buffer;
use crate::packets::{Load, PacketId, Packets, Parcel};
use crate::queue::{Discipline, DropReason, QueueDiscipline, QueueView, Verdict};

/// A port that sends packets in the order of their arrival; see the module. All ports of a run
/// together do not fit into the first-level cache, so the fields that every packet needs come
/// first, in the order of their use, and rarely used fields come last.
#[repr(C, align(64))]
pub struct Fifo {
    last_departure: Time,
    /// Time for which a packet still counts as present after its departure.
    linger: Span,
    line: Line,
    /// Whether packets may wait.
    has_queue: bool,
    /// Whether the discipline admits every packet that fits.
    is_drop_tail: bool,
    pub(crate) shortcut: Shortcut,
    ties: Ties,
    train: Train,
    ring: VecDeque<Transit>,
    /// Number of packets at the head of the ring that have left the port and are on the link. If
    /// packets may wait, [`Self::drain`] updates this number and `view`.
    departed: usize,
    /// The time at which the packet in service stops counting as present.
    gone_at: Time,
    /// The waiting packets and the packet being sent.
    view: Load,
    /// Only used by [`Self::forward_placed`]: departure times of the packets in the port, except
    /// the last packet.
    departures: VecDeque<Time>,
    counters: PortCounters,
    /// The packets announced to the port.
    inlet: Inlet,
    buffer: Option<Buffer>,
    discipline: Discipline,
    random: Stream,
}

impl Fifo {
    /// A port with its own random stream.
    pub(super) fn new(config: &PortConfig, random: Stream) -> Self {
        let discipline = config.queue.build(&config.site());
        Self {
            ring: VecDeque::new(),
            last_departure: Time::ZERO,
            departed: 0,
            view: Load::default(),
            gone_at: Time::NEVER,
            line: Line::new(config),
            linger: match config.ties {
                Ties::DepartureFirst => Span::ZERO,
                Ties::ArrivalFirst | Ties::Scheduled => Span::from_picos(1),
            },
            train: Train::new(config.ties),
            ties: config.ties,
            buffer: config.buffer,
            has_queue: true,
            shortcut: Shortcut::None,
            is_drop_tail: matches!(discipline, Discipline::DropTail(_)),
            discipline,
            random,
            counters: PortCounters::default(),
            departures: VecDeque::new(),
            inlet: Inlet::default(),
        }
    }

    /// The parts of an unused port, from which a port of the other kind is made.
    pub(super) fn into_parts(self) -> Parts {
        let Self { line, train, ties, buffer, discipline, random, .. } = self;
        Parts { line, train, ties, buffer, discipline, random }
    }

    pub(super) fn discipline(&self) -> &Discipline {
        &self.discipline
    }

    pub(super) fn set_discipline(&mut self, discipline: Discipline) {
        self.is_drop_tail = matches!(discipline, Discipline::DropTail(_));
        self.discipline = discipline;
    }

    /// Disables the buffer of a port in which packets never wait.
    pub(crate) fn disable_buffer(&mut self) {
        self.buffer = None;
        self.has_queue = false;
    }

    /// Announces a packet, which enters the port at its arrival. Returns whether its arrival needs
    /// an event: the port's link is empty, and no other packet enters earlier. Otherwise, the
    /// arrival event of a packet on the link also lets the announced packets enter.
    #[inline]
    pub(crate) fn announce(&mut self, transit: Transit) -> bool {
        self.inlet.push(transit) && self.ring.is_empty()
    }

    /// The time at which the next announced packet enters the port, and the order of this arrival
    /// among simultaneous events.
    #[inline]
    pub(crate) fn announced(&self) -> Option<(Time, u64)> {
        self.inlet.first()
    }

    /// The packets announced to the port that have not entered yet.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = Parcel> {
        self.inlet.contents().map(|transit| transit.parcel)
    }

    /// Lets announced packets enter up to `until`, which is a time and an order among simultaneous
    /// events. Dropped packets are released.
    #[inline]
    pub(crate) fn settle(&mut self, until: (Time, u64), packets: &mut Packets) {
        let until = Transit::order_of(until);
        if self.inlet.is_due(until) {
            self.admit_announced(until, packets);
        }
    }

    #[inline(never)]
    fn admit_announced(&mut self, until: u128, packets: &mut Packets) {
        while let Some(Transit { arrival, sequence, parcel }) = self.inlet.pop() {
            let admission = self.offer(arrival, parcel.onward(), unplaced(sequence), packets);
            if matches!(admission, Admission::Dropped(_)) {
                packets.release(parcel.packet);
            }
            if !self.inlet.is_due(until) {
                break;
            }
        }
    }

    /// The arrival of the first packet on the port's link: its time, and its order among
    /// simultaneous events.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        self.ring.front().map(Transit::key)
    }

    /// The event that the port needs next.
    #[inline]
    pub(crate) fn next_event(&self) -> NextEvent {
        match (self.next_arrival(), self.announced()) {
            (None, Some((time, sequence))) => NextEvent::Entry(time, sequence),
            (next, _) => NextEvent::arrival(next),
        }
    }

    /// Offers a packet at `now`; the discipline may mark it. `sequence` is its order among
    /// simultaneous arrivals.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Time,
        parcel: Parcel,
        sequence: u64,
        packets: &mut Packets,
    ) -> Admission {
        self.counters.offered += 1;
        self.drain(now);
        if let Some(buffer) = &self.buffer {
            let Buffer { limit, counts_in_service, .. } = *buffer;
            let verdict = if !self.view.has_room(limit, counts_in_service, parcel.size()) {
                self.refuse(now, parcel.packet, packets)
            } else if self.is_drop_tail {
                Verdict::Admit
            } else {
                self.judge(now, parcel.packet, packets)
            };
            if let Verdict::Drop(why) = verdict {
                self.counters.dropped += 1;
                return Admission::Dropped(why);
            }
        }
        let size = parcel.size();
        debug_assert!(self.has_queue, "only packets from a relay enter a port without a queue");
        let is_idle = self.view.in_service_bytes == 0;
        let ahead = self.train.append(u64::from(self.view.packets) + u64::from(!is_idle));
        if !is_idle {
            self.count_waiting(now, size);
        }
        let admission = self.send(now, parcel, placed(ahead, sequence));
        if is_idle {
            self.view.in_service_bytes = size;
            self.gone_at = self.last_departure.plus(self.linger);
        }
        admission
    }

    /// Admits a packet that arrives at `now` from a relay, and sends it without waiting.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, parcel: Parcel, sequence: u64) -> Admission {
        self.counters.offered += 1;
        let ahead = self.train.append(u64::from(self.last_departure.plus(self.linger) > now));
        self.send(now, parcel, placed(ahead, sequence))
    }

    /// Sends a packet behind the packets in the port.
    #[expect(clippy::inline_always, reason = "it is short, and every packet needs it")]
    #[inline(always)]
    fn send(&mut self, now: Time, parcel: Parcel, sequence: u64) -> Admission {
        self.transmit(now, parcel.size());
        let first = self.ring.is_empty();
        let arrival = self.last_departure.plus(self.line.delay);
        self.ring.push_back(Transit { arrival, sequence, parcel });
        if first { Admission::Scheduled(arrival) } else { Admission::Queued }
    }

    /// Counts the transmission of a packet that is ready at `now`, and sets its departure time.
    #[inline]
    fn transmit(&mut self, now: Time, size: u32) {
        let begins = self.last_departure.max(now);
        let sending = if self.line.is_exact() {
            self.line.serialisation.time(size)
        } else {
            self.departure(now, size) - begins
        };
        self.counters.sending += sending;
        self.last_departure = begins.plus(sending);
    }

    #[inline(never)]
    fn departure(&mut self, now: Time, size: u32) -> Time {
        let lateness = self.line.lateness(size, &mut self.random);
        self.line.departure(now, self.last_departure, size, lateness)
    }

    /// The discipline's view at `now`.
    fn view_at(&self, now: Time) -> QueueView {
        QueueView { load: self.view, now, idle_since: self.last_departure, ..QueueView::default() }
    }

    /// Calls the discipline, which may mark the packet.
    #[inline(never)]
    fn judge(&mut self, now: Time, id: PacketId, packets: &mut Packets) -> Verdict {
        let packet = &mut packets[id];
        let view = self.view_at(now);
        let verdict = self.discipline.offer(packet, &view, &mut self.random);
        debug_assert_ne!(verdict, Verdict::Trim, "a port that trims has departure events");
        if verdict == Verdict::Mark {
            packet.mark();
            self.counters.marked += 1;
        }
        verdict
    }

    /// Tells the discipline that a packet does not fit into the buffer.
    #[inline(never)]
    fn refuse(&mut self, now: Time, id: PacketId, packets: &Packets) -> Verdict {
        if !self.is_drop_tail {
            let view = self.view_at(now);
            self.discipline.refused(&packets[id], &view);
        }
        Verdict::Drop(DropReason::BufferFull)
    }

    /// Forwards a packet of `size` bytes that is not stored in this port. Returns its arrival time.
    /// To be used only for ports that never drop.
    #[inline]
    pub(crate) fn forward(&mut self, now: Time, size: u32) -> Time {
        debug_assert!(self.never_drops(), "a packet stored elsewhere cannot be dropped here");
        self.counters.offered += 1;
        self.counters.delivered += 1;
        self.transmit(now, size);
        self.last_departure.plus(self.line.delay)
    }

    /// Like [`Self::forward`], for a next port to which other ports also send. Also returns the
    /// packet's order among simultaneous arrivals.
    #[expect(clippy::inline_always, reason = "it has one caller on the hot path")]
    #[inline(always)]
    pub(crate) fn forward_placed(&mut self, now: Time, size: u32, sequence: u64) -> (Time, u64) {
        if self.last_departure.plus(self.linger) <= now {
            self.departures.clear();
        } else {
            self.departures.push_back(self.last_departure);
            while self.departures.front().is_some_and(|leaves| *leaves + self.linger <= now) {
                self.departures.pop_front();
            }
        }
        let ahead = self.train.append(self.departures.len() as u64);
        let sequence = placed(ahead, sequence);
        (self.forward(now, size), sequence)
    }

    /// Removes the packet that arrives at the end of the link at `now`.
    ///
    /// # Panics
    /// Panics if no packet is on the link.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time) -> Parcel {
        if self.has_queue {
            if self.departed == 0 {
                self.depart();
            }
            self.departed -= 1;
        }
        let head = self.ring.pop_front().expect("an arrival was scheduled for an empty link");
        debug_assert_eq!(head.arrival, now, "a link delivers at the scheduled time");
        self.counters.delivered += 1;
        if self.ring.is_empty() {
            // The next packet is then stored at the beginning of the ring's memory, which is
            // cached.
            self.ring.clear();
        }
        head.parcel
    }

    /// Accounts for all departures up to and including `now`.
    #[inline]
    pub(super) fn drain(&mut self, now: Time) {
        if self.gone_at <= now {
            self.depart();
            if self.gone_at <= now {
                self.drain_several(now);
            }
        }
    }

    #[inline(never)]
    fn drain_several(&mut self, now: Time) {
        while self.gone_at <= now {
            self.depart();
        }
    }

    /// The earliest time at which [`Self::drain`] changes the port.
    pub(super) fn next_change(&self) -> Time {
        self.gone_at
    }

    /// Removes the packet in service, and puts the next packet into service.
    #[inline]
    fn depart(&mut self) {
        self.departed += 1;
        if let Some(next) = self.ring.get(self.departed) {
            let size = next.parcel.size();
            self.view.packets -= 1;
            self.view.bytes -= u64::from(size);
            self.view.in_service_bytes = size;
            let departure = next.arrival.as_picos() - self.line.delay.as_picos();
            self.gone_at = Time::from_picos(departure) + self.linger;
        } else {
            self.view = Load::default();
            self.gone_at = Time::NEVER;
        }
    }

    /// The queue at the last drain.
    #[inline]
    pub(super) fn view(&self) -> Load {
        self.view
    }

    /// The counters.
    pub(super) fn counters(&self) -> &PortCounters {
        &self.counters
    }

    /// Counts an admitted packet that has to wait.
    #[inline]
    fn count_waiting(&mut self, now: Time, size: u32) {
        self.view.packets += 1;
        self.view.bytes += u64::from(size);
        if self.buffer.is_some() {
            let waiting = self.last_departure.saturating_since(now);
            let counters = &mut self.counters;
            counters.max_packets = counters.max_packets.max(self.view.packets);
            counters.max_bytes = counters.max_bytes.max(self.view.bytes);
            counters.byte_time += u128::from(size) * u128::from(waiting.as_picos());
        }
    }
}

/// The order of an empty inlet's next packet, later than all packets.
const NOTHING: u128 = u128::MAX;

/// The packets announced to a port, in the order in which they will enter.
///
/// When a host sends a packet, its arrival time at the switch is known, and the arrival affects
/// only one port of the switch. The packet is therefore stored here, without an event, until the
/// state of this port is needed.
struct Inlet {
    /// The [order](Transit::order) of the next packet; [`NOTHING`] if there is none.
    next: u128,
    /// Packets that were announced in order.
    lane: VecDeque<Transit>,
    /// Packets that arrive before a packet that was announced earlier.
    strays: BinaryHeap<Reverse<Transit>>,
}

impl Default for Inlet {
    fn default() -> Self {
        Self { next: NOTHING, lane: VecDeque::new(), strays: BinaryHeap::new() }
    }
}

impl Inlet {
    /// Whether a packet enters the port at or before `until`, an [order](Transit::order) that must
    /// be less than `u128::MAX`.
    #[inline]
    fn is_due(&self, until: u128) -> bool {
        self.next <= until
    }

    /// The time at which the next packet enters, and the order of this arrival among simultaneous
    /// events.
    #[inline]
    fn first(&self) -> Option<(Time, u64)> {
        (self.next != NOTHING).then(|| Transit::key_of(self.next))
    }

    /// Adds a packet. Returns whether it is now the next packet.
    #[expect(clippy::inline_always, reason = "it has one caller on the hot path")]
    #[inline(always)]
    fn push(&mut self, transit: Transit) -> bool {
        let order = transit.order();
        if self.lane.back().is_none_or(|last| last.order() <= order) {
            self.lane.push_back(transit);
        } else {
            self.push_stray(transit);
        }
        let is_next = order < self.next;
        self.next = self.next.min(order);
        is_next
    }

    #[inline(never)]
    fn push_stray(&mut self, transit: Transit) {
        self.strays.push(Reverse(transit));
    }

    /// Removes the next packet, if there is one.
    #[expect(
        clippy::inline_always,
        reason = "it has one caller, and its result would go through memory"
    )]
    #[inline(always)]
    fn pop(&mut self) -> Option<Transit> {
        if !self.strays.is_empty() {
            return self.pop_with_strays();
        }
        let first = self.lane.pop_front();
        self.next = self.lane.front().map_or(NOTHING, Transit::order);
        first
    }

    #[inline(never)]
    fn pop_with_strays(&mut self) -> Option<Transit> {
        let stray = self.strays.peek().map(|stray| stray.0.order());
        let first = if self.lane.front().map(Transit::order) <= stray && !self.lane.is_empty() {
            self.lane.pop_front()
        } else {
            self.strays.pop().map(|stray| stray.0)
        };
        let strays = self.strays.peek().map(|stray| stray.0.order());
        let lane = self.lane.front().map(Transit::order);
        self.next = lane.into_iter().chain(strays).min().unwrap_or(NOTHING);
        first
    }

    /// All packets of the inlet, in no particular order.
    fn contents(&self) -> impl Iterator<Item = &Transit> {
        self.lane.iter().chain(self.strays.iter().map(|stray| &stray.0))
    }
}

#[cfg(test)]
mod inlet_tests;
