//! An output port and the link behind it.
//!
//! A FIFO port knows when a packet will leave at the moment it is admitted
//! (`max(now, last departure) + size / rate`), so one event per packet and link, its arrival at
//! the far end, is enough; and since a link delivers in order, only the head of the port's ring
//! needs to be in the event queue. Occupancy is worked out when somebody asks.

use std::collections::VecDeque;

use incast_engine::time::PICOS_PER_SEC;
use incast_engine::{Rate, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::packet::{Ecn, Packet};
use crate::queue::{
    Discipline, DropReason, QueueConfig, QueueDiscipline, QueueView, Site, Verdict,
};

/// Index of a port in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId(pub u32);

/// What a port is built from.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Line rate.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Bytes that layer 2 adds to every packet on the line (Ethernet: 38).
    pub layer2_overhead: u32,
    /// Every packet takes up to this much longer or shorter on the line, at random: clocks that
    /// agree to the picosecond lock flows into phase effects (Floyd & Jacobson 1992).
    pub clock_noise: Span,
    /// What a packet finds that arrives in the very instant of a departure.
    pub ties: Ties,
    /// Room for waiting packets; none means that the port never drops (a host's own queue).
    pub buffer: Option<Buffer>,
    /// Queue discipline; a port without a buffer does not ask it.
    pub queue: QueueConfig,
}

impl PortConfig {
    /// What the discipline may know of the port.
    fn site(&self) -> Site {
        Site {
            rate: self.rate,
            layer2_overhead: self.layer2_overhead,
            buffer: self.buffer.map(|buffer| buffer.limit),
            counts_in_service: self.buffer.is_some_and(|buffer| buffer.counts_in_service),
        }
    }
}

/// What a packet finds that arrives in the very instant of a departure: with links of equal rates
/// this is common, and it decides who loses when the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The departing packet has left.
    DepartureFirst,
    /// The departing packet is still there, as where each packet's events are scheduled when its
    /// transmission starts (ns-2).
    ArrivalFirst,
}

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Admitted behind others: the port's pending arrival stays what it was.
    Queued,
    /// Admitted to an empty port: schedule the port's next arrival at this time.
    Scheduled(Time),
    /// Dropped.
    Dropped(DropReason),
}

/// What a port counted since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that arrived at the far end.
    pub delivered: u64,
    /// Time spent sending what was admitted.
    pub sending: Span,
    /// Largest number of waiting packets, the one in service excluded.
    pub max_packets: u32,
    /// Largest number of waiting bytes, the one in service excluded.
    pub max_bytes: u64,
    /// Integral of the waiting bytes over time, byte·ps.
    pub byte_time: u128,
}

#[derive(Clone, Copy, Debug)]
struct Transit {
    arrival: Time,
    sequence: u64,
    packet: Packet,
}

/// An output port: queue, serialiser and link.
pub struct Port {
    ring: VecDeque<Transit>,
    last_departure: Time,
    /// Packets admitted since the link was idle.
    run: u64,
    /// Packets at the head of the ring that have left the port and are on the link. This and the
    /// next two are kept up, lazily, by ports with a buffer.
    departed: usize,
    /// What waits and what is being sent.
    view: QueueView,
    /// When the packet in service no longer counts as present.
    gone_at: Time,
    serialisation: Serialisation,
    clock_noise: Span,
    delay: Span,
    /// How long a packet counts as present beyond its departure.
    linger: Span,
    buffer: Option<Buffer>,
    discipline: Discipline,
    random: Stream,
    counters: PortCounters,
}

impl Port {
    /// A port with its own random stream.
    pub fn new(config: &PortConfig, random: Stream) -> Self {
        Self {
            ring: VecDeque::new(),
            last_departure: Time::ZERO,
            run: 0,
            departed: 0,
            view: QueueView::default(),
            gone_at: Time::NEVER,
            serialisation: Serialisation::new(config.rate, config.layer2_overhead),
            clock_noise: config.clock_noise,
            delay: config.delay,
            linger: match config.ties {
                Ties::DepartureFirst => Span::ZERO,
                Ties::ArrivalFirst => Span::from_picos(1),
            },
            buffer: config.buffer,
            discipline: config.queue.build(&config.site()),
            random,
            counters: PortCounters::default(),
        }
    }

    /// Puts a discipline from out of tree in charge.
    pub fn set_discipline(&mut self, discipline: Box<dyn QueueDiscipline + Send>) {
        self.discipline = Discipline::Custom(discipline);
    }

    /// Makes a port of which it is known that no packet ever waits drop the pretence of a buffer.
    pub(crate) fn forget_buffer(&mut self) {
        self.buffer = None;
    }

    /// Offers a packet at `now`; the discipline may mark it. `sequence` is its place among arrivals
    /// of the same instant.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: &mut Packet, sequence: u64) -> Admission {
        self.counters.offered += 1;
        let size = packet.size();
        if let Some(buffer) = self.buffer {
            self.drain(now);
            let refusal = if !buffer.has_room(&self.view, size) {
                Some(DropReason::BufferFull)
            } else if matches!(self.discipline, Discipline::DropTail(_)) {
                None
            } else {
                self.judge(now, packet)
            };
            if let Some(why) = refusal {
                self.counters.dropped += 1;
                return Admission::Dropped(why);
            }
            self.count_waiting(now, size);
        }
        let sending = self.sending_time(size);
        self.counters.sending += sending;
        let is_busy = self.last_departure + self.linger > now;
        self.run = if is_busy { self.run + 1 } else { 0 };
        self.last_departure = self.last_departure.max(now) + sending;
        if self.view.in_service_bytes == 0 && self.buffer.is_some() {
            self.view.in_service_bytes = size;
            self.gone_at = self.last_departure + self.linger;
        }
        let first = self.ring.is_empty();
        let arrival = self.last_departure + self.delay;
        let sequence = self.place(sequence);
        self.ring.push_back(Transit { arrival, sequence, packet: *packet });
        if first { Admission::Scheduled(arrival) } else { Admission::Queued }
    }

    /// Asks the discipline, which may mark the packet; returns why it refuses it, if it does.
    #[inline(never)]
    fn judge(&mut self, now: Time, packet: &mut Packet) -> Option<DropReason> {
        let view = QueueView { now, idle_since: self.last_departure, ..self.view };
        match self.discipline.offer(packet, &view, &mut self.random) {
            Verdict::Admit => None,
            Verdict::Mark => {
                packet.ecn = Ecn::CongestionExperienced;
                self.counters.marked += 1;
                None
            }
            Verdict::Drop(why) => Some(why),
        }
    }

    /// Sends a packet of `size` bytes that somebody else keeps until it arrives: returns when that
    /// is. Only for ports that never drop.
    #[inline]
    pub fn relay(&mut self, now: Time, size: u32) -> Time {
        debug_assert!(self.buffer.is_none(), "a relay keeps no packets and drops none");
        self.counters.offered += 1;
        self.counters.delivered += 1;
        let sending = self.sending_time(size);
        self.last_departure = self.last_departure.max(now) + sending;
        self.counters.sending += sending;
        self.last_departure + self.delay
    }

    /// Whether nothing is lost by offering packets that come from `feeder`, and from nowhere else,
    /// before they arrive: the port is no slower and drops nothing by chance.
    pub fn follows(&self, feeder: &Self) -> bool {
        self.buffer.is_none_or(|buffer| buffer.holds_two())
            && matches!(self.discipline, Discipline::DropTail(_))
            && feeder.buffer.is_none()
            && self.serialisation.rate >= feeder.serialisation.rate
    }

    /// Takes the packet that arrives at the far end at `now`, and says when the next one does.
    ///
    /// # Panics
    /// If nothing is on the way: the caller's schedule is broken.
    #[inline]
    pub fn deliver(&mut self, now: Time) -> (Packet, Option<(Time, u64)>) {
        if self.buffer.is_some() {
            if self.departed == 0 {
                self.depart();
            }
            self.departed -= 1;
        }
        let head = self.ring.pop_front().expect("an arrival was scheduled for an empty link");
        debug_assert_eq!(head.arrival, now, "a link delivers at the scheduled time");
        self.counters.delivered += 1;
        (head.packet, self.ring.front().map(|next| (next.arrival, next.sequence)))
    }

    /// Accounts for every departure up to and including `now`.
    #[inline]
    pub fn drain(&mut self, now: Time) {
        while self.gone_at <= now {
            self.depart();
        }
    }

    /// The packet in service leaves, and the next one takes its place.
    fn depart(&mut self) {
        self.departed += 1;
        if let Some(next) = self.ring.get(self.departed) {
            let size = next.packet.size();
            self.view.packets -= 1;
            self.view.bytes -= u64::from(size);
            self.view.in_service_bytes = size;
            let departure = next.arrival.as_picos() - self.delay.as_picos();
            self.gone_at = Time::from_picos(departure) + self.linger;
        } else {
            self.view = QueueView::default();
            self.gone_at = Time::NEVER;
        }
    }

    /// What waits, as of the last drain; a port without a buffer does not know.
    #[inline]
    pub fn view(&self) -> QueueView {
        self.view
    }

    /// The counters.
    pub fn counters(&self) -> &PortCounters {
        &self.counters
    }

    /// When the link falls idle if nothing more is offered.
    pub fn last_departure(&self) -> Time {
        self.last_departure
    }

    /// Time spent sending up to `now`, not earlier than the last packet was offered.
    pub fn sending_until(&self, now: Time) -> Span {
        self.counters.sending.saturating_sub(self.last_departure.saturating_since(now))
    }

    /// Integral of the waiting bytes up to `now`, byte·ps: what still waits then has been counted
    /// up to its departure.
    pub fn byte_time_until(&self, now: Time) -> u128 {
        let left = now + self.delay;
        let still_waiting =
            self.ring.iter().zip(self.ring.iter().skip(1)).map(|(ahead, waiting)| {
                let wait = ahead.arrival.saturating_since(left).as_picos();
                u128::from(waiting.packet.size()) * u128::from(wait)
            });
        self.counters.byte_time - still_waiting.sum::<u128>()
    }

    /// The packets in the port and on its link, oldest first.
    pub fn in_flight(&self) -> impl ExactSizeIterator<Item = &Packet> {
        self.ring.iter().map(|transit| &transit.packet)
    }

    /// Packets that a relay handed on and that reach this port, where they never wait, after `now`.
    pub fn admitted_after(&self, now: Time) -> u64 {
        let admitted = |transit: &Transit| {
            let way = self.delay + self.serialisation.time(transit.packet.size());
            transit.arrival > now + way
        };
        self.ring.iter().filter(|transit| admitted(transit)).count() as u64
    }

    /// Whether every packet offered is accounted for.
    pub fn is_conserving(&self) -> bool {
        let PortCounters { offered, dropped, delivered, .. } = self.counters;
        offered == dropped + delivered + self.ring.len() as u64
    }

    /// Place among arrivals of the same instant: a packet that followed fewer others out of its
    /// port comes first, so that a burst does not crowd out single packets; then in the order of
    /// admission.
    #[inline]
    fn place(&self, sequence: u64) -> u64 {
        self.run.min(0x7fff) << 48 | sequence
    }

    #[inline]
    fn sending_time(&mut self, size: u32) -> Span {
        let sending = self.serialisation.time(size);
        if self.clock_noise.is_zero() {
            return sending;
        }
        let noise = self.clock_noise.as_picos();
        let drawn = Span::from_picos(self.random.below(2 * noise + 1));
        (sending + drawn).saturating_sub(self.clock_noise)
    }

    /// Counts an admitted packet that will wait.
    #[inline]
    fn count_waiting(&mut self, now: Time, size: u32) {
        if self.view.in_service_bytes > 0 {
            let waiting = self.last_departure.saturating_since(now);
            self.view.packets += 1;
            self.view.bytes += u64::from(size);
            let counters = &mut self.counters;
            counters.max_packets = counters.max_packets.max(self.view.packets);
            counters.max_bytes = counters.max_bytes.max(self.view.bytes);
            counters.byte_time += u128::from(size) * u128::from(waiting.as_picos());
        }
    }
}

/// How long a packet occupies the line.
#[derive(Clone, Copy, Debug)]
struct Serialisation {
    rate: Rate,
    layer2_overhead: u32,
    /// Picoseconds per byte where that is a whole number, as for all Ethernet rates; else 0.
    picos_per_byte: u64,
}

impl Serialisation {
    fn new(rate: Rate, layer2_overhead: u32) -> Self {
        let per_byte = 8 * PICOS_PER_SEC;
        let picos_per_byte = if per_byte.is_multiple_of(rate.0) { per_byte / rate.0 } else { 0 };
        Self { rate, layer2_overhead, picos_per_byte }
    }

    #[inline]
    fn time(&self, size: u32) -> Span {
        let bytes = u64::from(size + self.layer2_overhead);
        if self.picos_per_byte > 0 {
            Span::from_picos(bytes * self.picos_per_byte)
        } else {
            let picos = u128::from(bytes * 8) * u128::from(PICOS_PER_SEC);
            Span::from_picos(picos.div_ceil(u128::from(self.rate.0)) as u64)
        }
    }
}

#[cfg(test)]
mod tests;
