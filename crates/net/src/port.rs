//! An output port and the link behind it.
//!
//! There are two kinds, with the same answers wherever both will do: the FIFO port, which computes
//! departures, and the stepped port, which has an event for each of them.

mod fifo;
mod line;
mod stepped;

use std::cmp::Ordering;
use std::collections::VecDeque;

use incast_engine::{Rate, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::{Accounting, Buffer, Pool, PoolId};
use crate::packet::Packet;
use crate::packets::{PacketId, Packets, Parcel};
use crate::queue::{Discipline, DropReason, QueueConfig, QueueDiscipline, QueueView, Site};
use line::{Line, Train};

pub use fifo::Fifo;
pub use line::Reordering;
pub use stepped::Stepped;

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
    /// The buffer that the port shares with others, within the limit of its own.
    pub pool: Option<PoolId>,
    /// What a packet occupies in buffers.
    pub accounting: Accounting,
    /// Queue discipline; a port without a buffer does not ask it.
    pub queue: QueueConfig,
    /// Packets that take longer on the link, so that others overtake them.
    pub reordering: Option<Reordering>,
    /// Gives the port departure events although it may not need them.
    pub departure_events: bool,
}

impl PortConfig {
    /// A host's port: a link, and a queue that never drops.
    pub fn host(rate: Rate, delay: Span) -> Self {
        Self {
            rate,
            delay,
            layer2_overhead: 0,
            clock_noise: Span::ZERO,
            ties: Ties::DepartureFirst,
            buffer: None,
            pool: None,
            accounting: Accounting::EXACT,
            queue: QueueConfig::default(),
            reordering: None,
            departure_events: false,
        }
    }

    /// Whether the port cannot do without departure events.
    fn needs_departure_events(&self) -> bool {
        let acts_at_departure = self.buffer.is_some() && self.queue.acts_at_departure();
        acts_at_departure
            || self.pool.is_some()
            || self.accounting != Accounting::EXACT
            || self.reordering.is_some()
    }

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
    /// The same, and of packets that arrive together that of the line comes first which has been
    /// busy for fewer: packet by packet what follows from that schedule (ns-3).
    Scheduled,
}

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Admitted behind others: the port's pending arrival stays what it was.
    Queued,
    /// Admitted to an empty port: schedule the port's next arrival at this time.
    Scheduled(Time),
    /// Admitted behind others, with effects elsewhere: release what [`Port::pop_late`] names, which
    /// was pushed out, and stop the neighbours upstream for [`Port::take_asked`], if that is said.
    QueuedWithEffects,
    /// Admitted to an idle line whose departures are events: schedule [`Port::service`].
    Started,
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
    /// Packets whose payload was cut off.
    pub trimmed: u64,
    /// Bytes that were cut off.
    pub trimmed_bytes: u64,
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

impl PortCounters {
    /// Cuts the payload of a packet off, and counts it.
    fn trim(&mut self, packet: &mut Packet) {
        let cut = packet.trim();
        self.trimmed += u64::from(cut > 0);
        self.trimmed_bytes += u64::from(cut);
    }
}

/// A packet is being sent by a port whose departures are events. Times come with their place among
/// events of the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When the packet leaves: [`Port::depart`] is due then.
    pub departure: (Time, u64),
    /// When it arrives at the far end, unless an earlier arrival is pending.
    pub arrival: Option<(Time, u64)>,
}

/// A packet on the link, or on its way to the port; ordered by when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transit {
    pub(crate) arrival: Time,
    pub(crate) sequence: u64,
    pub(crate) parcel: Parcel,
}

impl Transit {
    #[inline]
    pub(crate) fn key(&self) -> (Time, u64) {
        (self.arrival, self.sequence)
    }
}

impl Ord for Transit {
    /// One comparison of 128 bits, without branches.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |it: &Self| u128::from(it.arrival.as_picos()) << 64 | u128::from(it.sequence);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Transit {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Bits of a sequence number that hold a packet's place; see [`Port::offer`].
const PLACE: u32 = 48;
const LAST_PLACE: u64 = 0x7fff;

/// A sequence number for a packet that `ahead` others preceded out of its port: one that follows
/// fewer comes first, so that a burst does not crowd out single packets; then in the order of
/// admission.
#[inline]
const fn placed(ahead: u64, sequence: u64) -> u64 {
    let ahead = if ahead < LAST_PLACE { ahead } else { LAST_PLACE };
    ahead << PLACE | sequence
}

/// The sequence number of a packet without its place behind the port that it left.
#[inline]
pub const fn unplaced(sequence: u64) -> u64 {
    sequence & !(LAST_PLACE << PLACE)
}

/// A packet that waits for its departure to be settled.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    parcel: Parcel,
    /// Its place among arrivals of the same instant.
    sequence: u64,
    since: Time,
    sending: Span,
}

/// What a port consists of, whatever its kind.
struct Parts {
    line: Line,
    train: Train,
    ties: Ties,
    buffer: Option<Buffer>,
    discipline: Discipline,
    random: Stream,
}

/// What the ports of a network have in common.
#[derive(Default)]
pub struct Commons {
    /// The packets that travel.
    pub packets: Packets,
    /// Buffers that ports share.
    pub pools: Vec<Pool>,
}

/// An output port: queue, serialiser and link.
#[expect(clippy::large_enum_variant, reason = "the common kind lies in place, without a pointer")]
pub enum Port {
    /// First in, first out, and whatever waits waits for its turn: no departure is an event.
    Fifo(Fifo),
    /// Every departure is an event.
    Stepped(Box<Stepped>),
}

/// What is in a port and on its link, and what waits by class.
type Contents<'a> = (&'a VecDeque<Transit>, &'a [VecDeque<Waiting>]);

/// Calls a method that both kinds of port have.
macro_rules! either {
    ($port:expr, $name:ident($($argument:expr),*)) => {
        match $port {
            Port::Fifo(port) => port.$name($($argument),*),
            Port::Stepped(port) => port.$name($($argument),*),
        }
    };
}

impl Port {
    /// The port number `index` of a network, with random streams of its own.
    pub fn new(config: &PortConfig, index: u32, seed: u64) -> Self {
        if config.departure_events || config.needs_departure_events() {
            Self::Stepped(Box::new(Stepped::new(config, index, seed)))
        } else {
            Self::Fifo(Fifo::new(config, Stream::named(seed, "port", index.into())))
        }
    }

    /// Puts a discipline from out of tree in charge.
    pub fn set_discipline(&mut self, discipline: Box<dyn QueueDiscipline + Send>) {
        either!(self, set_discipline(Discipline::Custom(discipline)));
    }

    /// Whether its discipline may ask the neighbours upstream for a pause.
    pub(crate) fn may_ask_for_pause(&self) -> bool {
        either!(self, discipline()).may_ask_for_pause()
    }

    /// Gives the port number `index`, which has not been used, departure events: only such a port
    /// asks for a pause, or listens to one who does.
    pub(crate) fn make_stepped(self, index: u32) -> Self {
        match self {
            Self::Fifo(port) => {
                Self::Stepped(Box::new(Stepped::from_parts(port.into_parts(), index)))
            }
            stepped @ Self::Stepped(_) => stepped,
        }
    }

    /// Starts no packet from `from` to `until`; the one that is being sent then is finished.
    /// Returns when [`Port::resume`] is due, with its place among events of the same instant,
    /// unless that has been said. A port without departure events does not listen.
    pub fn pause(&mut self, from: Time, until: Time) -> Option<(Time, u64)> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.pause(from, until),
        }
    }

    /// A pause may be over: returns whether a packet is sent now, whose service is to be scheduled.
    pub fn resume(&mut self, now: Time, commons: &mut Commons) -> bool {
        match self {
            Self::Fifo(_) => false,
            Self::Stepped(port) => port.resume(now, commons),
        }
    }

    /// For how long the neighbours upstream are to stop.
    pub fn take_asked(&mut self) -> Option<Span> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.take_asked(),
        }
    }

    /// The port, if it computes departures: only such a port has shortcuts.
    #[inline]
    pub(crate) fn fifo(&self) -> Option<&Fifo> {
        match self {
            Self::Fifo(port) => Some(port),
            Self::Stepped(_) => None,
        }
    }

    /// The same, to send packets by a shortcut.
    #[inline]
    pub(crate) fn fifo_mut(&mut self) -> Option<&mut Fifo> {
        match self {
            Self::Fifo(port) => Some(port),
            Self::Stepped(_) => None,
        }
    }

    /// Whether nothing is on the link, or waits for it where departures are no events.
    #[inline]
    pub(crate) fn is_link_empty(&self) -> bool {
        either!(self, is_link_empty())
    }

    /// Offers a packet at `now`; the discipline may mark it. `sequence` orders arrivals of the same
    /// instant, after the number of packets that were ahead of it in the port. What is dropped is for the caller to release.
    #[inline]
    pub fn offer(
        &mut self,
        now: Time,
        parcel: Parcel,
        sequence: u64,
        commons: &mut Commons,
    ) -> Admission {
        match self {
            Self::Fifo(port) => port.offer(now, parcel, sequence, &mut commons.packets),
            Self::Stepped(port) => port.offer(now, parcel, sequence, commons),
        }
    }

    /// What is to be scheduled for the packet in service, if departures are events and there is
    /// one.
    pub fn service(&self) -> Option<Service> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.service(),
        }
    }

    /// Lets what leaves at `now` leave. Where departures are events it is the packet in service, as
    /// its [`Service`] said, and the service of the next one is to be scheduled.
    pub fn depart(&mut self, now: Time, commons: &mut Commons) {
        match self {
            Self::Fifo(port) => port.drain(now),
            Self::Stepped(port) => port.depart(now, commons),
        }
    }

    /// The next packet that was dropped although it had been admitted, at a departure or because
    /// another pushed it out, for the caller to release.
    pub fn pop_late(&mut self) -> Option<PacketId> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.pop_late(),
        }
    }

    /// Takes the packet that arrives at the far end at `now`, and says when the next one does,
    /// unless its arrival has been scheduled.
    ///
    /// # Panics
    /// If nothing is on the way: the caller's schedule is broken.
    #[inline]
    pub fn deliver(&mut self, now: Time) -> (Parcel, Option<(Time, u64)>) {
        either!(self, deliver(now))
    }

    /// Accounts for every departure up to and including `now`, those apart that are events.
    #[inline]
    pub fn drain(&mut self, now: Time) {
        if let Self::Fifo(port) = self {
            port.drain(now);
        }
    }

    /// Propagation delay of the link.
    pub fn delay(&self) -> Span {
        either!(self, delay())
    }

    /// What waits, as of the last drain or departure.
    #[inline]
    pub fn view(&self) -> QueueView {
        either!(self, view())
    }

    /// The counters.
    pub fn counters(&self) -> &PortCounters {
        either!(self, counters())
    }

    /// When the link falls idle if nothing more is offered, or, where departures are events, if
    /// nothing waits.
    pub fn last_departure(&self) -> Time {
        either!(self, last_departure())
    }

    /// Time spent sending up to `now`, not earlier than the last packet was offered.
    pub fn sending_until(&self, now: Time) -> Span {
        let to_come = self.last_departure().saturating_since(now);
        self.counters().sending.saturating_sub(to_come)
    }

    /// Integral of the waiting bytes up to `now`, byte·ps.
    pub fn byte_time_until(&self, now: Time) -> u128 {
        either!(self, byte_time_until(now))
    }

    /// The packets in the port and on its link.
    pub fn in_flight(&self) -> impl Iterator<Item = PacketId> {
        self.parcels().map(|parcel| parcel.packet)
    }

    /// The same, with what links know of them.
    pub(crate) fn parcels(&self) -> impl Iterator<Item = Parcel> {
        let (link, waiting) = either!(self, contents());
        let link = link.iter().map(|transit| transit.parcel);
        link.chain(waiting.iter().flatten().map(|waiting| waiting.parcel))
    }

    /// The packets that wait, as of the last drain or departure.
    pub fn waiting(&self) -> impl Iterator<Item = PacketId> {
        let (link, classes) = either!(self, contents());
        let held = link.len() + classes.iter().map(VecDeque::len).sum::<usize>();
        self.in_flight().skip(held - self.view().packets as usize)
    }

    /// Whether every packet offered is accounted for.
    pub fn is_conserving(&self) -> bool {
        let PortCounters { offered, dropped, delivered, .. } = *self.counters();
        offered == dropped + delivered + self.in_flight().count() as u64
    }
}

#[cfg(test)]
mod tests;
