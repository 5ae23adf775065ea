//! An output port and its link.
//!
//! There are two kinds of port. The FIFO port computes departure times, and the stepped port has
//! departure events. Where a configuration permits both kinds, their results are equal.

mod config;
mod fifo;
mod line;
mod shortcut;
mod stepped;

use std::cmp::Ordering;
use std::collections::VecDeque;

use incast_engine::{Span, Stream, Time};

use crate::buffer::{Buffer, Pool};
use crate::packet::Packet;
use crate::packets::{Load, PacketId, Packets, Parcel};
use crate::queue::{CLASSES, Discipline, DropReason, QueueDiscipline};
use line::{Line, Train};

pub use config::{ArrivalOrder, PortConfig, Reordering, Ties};
pub use fifo::Fifo;
pub(crate) use shortcut::Shortcut;
pub use stepped::Stepped;

/// Index of a port in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId(pub u32);

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Admitted behind other packets. The scheduled arrival does not change.
    Queued,
    /// Admitted to an empty port. The next arrival must be scheduled at this time.
    Scheduled(Time),
    /// Admitted behind other packets, with effects: the caller must release the packets that were
    /// pushed out ([`Port::pop_late`]), and send the switch's signals.
    QueuedWithEffects,
    /// Admitted to a port with departure events, and [`Port::service`] must be scheduled: the line
    /// was idle, or the packet in service had no event of its departure so far.
    Started,
    /// Dropped.
    Dropped(DropReason),
}

/// The event to schedule for a port after a packet was taken from its link: its time, and its order
/// among simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextEvent {
    /// The next arrival at the end of the link.
    Arrival(Time, u64),
    /// The next call of [`Network::settle`](crate::topology::Network::settle).
    Entry(Time, u64),
    /// No event.
    None,
}

impl NextEvent {
    #[inline]
    pub(crate) fn arrival(next: Option<(Time, u64)>) -> Self {
        next.map_or(Self::None, |(time, sequence)| Self::Arrival(time, sequence))
    }
}

/// Counters of a port since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets trimmed.
    pub trimmed: u64,
    /// Bytes removed by trimming.
    pub trimmed_bytes: u64,
    /// Packets that arrived at the end of the link.
    pub delivered: u64,
    /// Total transmission time of admitted packets.
    pub sending: Span,
    /// Largest number of waiting packets, without the one in service.
    pub max_packets: u32,
    /// Largest number of waiting bytes, without the packet in service.
    pub max_bytes: u64,
    /// Integral of the waiting bytes over time, byte·ps.
    pub byte_time: u128,
}

impl PortCounters {
    /// Removes the payload of a packet, and counts it.
    fn trim(&mut self, packet: &mut Packet) {
        let cut = packet.trim();
        self.trimmed += u64::from(cut > 0);
        self.trimmed_bytes += u64::from(cut);
    }
}

/// A packet that has left a port, or was dropped after it had been admitted.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// The packet, with the size that it had when it was admitted.
    pub parcel: Parcel,
    /// The class in which the packet waited, below [`CLASSES`].
    pub class: usize,
}

/// The packet in service of a port with departure events. The second value of each pair is the
/// order of the event among simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The time at which the packet leaves. [`Port::depart`] must be called at this time. `None` if
    /// the departure needs no event.
    pub departure: Option<(Time, u64)>,
    /// The time at which the packet arrives at the end of the link; `None` if an earlier arrival is
    /// already scheduled.
    pub arrival: Option<(Time, u64)>,
}

/// A packet on the link or announced to the port, ordered by its arrival.
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

    /// [`Self::key`] as one number, which is compared without branches.
    #[inline]
    pub(crate) fn order(&self) -> u128 {
        Self::order_of(self.key())
    }

    #[inline]
    pub(crate) fn order_of((time, sequence): (Time, u64)) -> u128 {
        u128::from(time.as_picos()) << 64 | u128::from(sequence)
    }

    #[inline]
    pub(crate) fn key_of(order: u128) -> (Time, u64) {
        (Time::from_picos((order >> 64) as u64), order as u64)
    }
}

impl Ord for Transit {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Transit {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A sequence number contains the number of preceding packets from this bit on; see
/// [`Port::offer`].
const PLACE: u32 = 48;
const LAST_PLACE: u64 = 0x7fff;

/// The sequence number of a packet that has `ahead` packets before it in its port. Simultaneous
/// arrivals are ordered by `ahead` and then by admission, so that single packets come before the
/// later packets of a burst.
#[inline]
const fn placed(ahead: u64, sequence: u64) -> u64 {
    let ahead = if ahead < LAST_PLACE { ahead } else { LAST_PLACE };
    ahead << PLACE | sequence
}

/// The sequence number without the number of preceding packets.
#[inline]
pub const fn unplaced(sequence: u64) -> u64 {
    sequence & !(LAST_PLACE << PLACE)
}

/// A packet whose departure time is not known yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    parcel: Parcel,
    /// The packet's order among simultaneous arrivals.
    sequence: u64,
    since: Time,
    /// The departure time of the packet minus its departure time without clock noise, in
    /// picoseconds.
    lateness: u32,
}

/// The fields that both kinds of port have.
struct Parts {
    line: Line,
    train: Train,
    ties: Ties,
    buffer: Option<Buffer>,
    discipline: Discipline,
    random: Stream,
}

/// The shared state of a network's ports.
#[derive(Default)]
pub struct Commons {
    /// The stored packets.
    pub packets: Packets,
    /// Shared buffers.
    pub pools: Vec<Pool>,
    /// The order of the current event among simultaneous events.
    pub sequence: u64,
}

/// An output port: queue, serialiser and link.
#[expect(clippy::large_enum_variant, reason = "the common kind is stored without a pointer")]
pub enum Port {
    /// First in, first out, without departure events.
    Fifo(Fifo),
    /// With departure events.
    Stepped(Box<Stepped>),
}

/// The packets in a port and on its link, and the waiting packets by class.
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
    /// Port number `index` of a network, with its own random streams.
    pub fn new(config: &PortConfig, index: u32, seed: u64) -> Self {
        if config.departure_events || config.needs_departure_events() {
            Self::Stepped(Box::new(Stepped::new(config, index, seed)))
        } else {
            Self::Fifo(Fifo::new(config, Stream::named(seed, "port", index.into())))
        }
    }

    /// Replaces the discipline with a discipline from another crate.
    pub fn set_discipline(&mut self, discipline: Box<dyn QueueDiscipline + Send>) {
        either!(self, set_discipline(Discipline::Custom(discipline)));
    }

    /// Whether the port's discipline may trim packets.
    pub(crate) fn trims(&self) -> bool {
        either!(self, discipline()).trims()
    }

    /// Turns an unused port into a port with departure events and the number `index`. Only a port
    /// with departure events can trim packets or obey pauses.
    pub(crate) fn make_stepped(self, index: u32) -> Self {
        match self {
            Self::Fifo(port) => {
                Self::Stepped(Box::new(Stepped::from_parts(port.into_parts(), index)))
            }
            stepped @ Self::Stepped(_) => stepped,
        }
    }

    /// Pauses or resumes classes of packets, one bit each. The transmission of the packet in
    /// service is completed. Returns whether the port now begins to send a packet, whose service
    /// must be scheduled.
    ///
    /// # Panics
    /// Panics if the port has no departure events.
    pub fn pause(&mut self, now: Time, classes: u8, is_on: bool, commons: &mut Commons) -> bool {
        match self {
            Self::Fifo(_) => panic!("only a port with departure events can be paused"),
            Self::Stepped(port) => port.pause(now, classes, is_on, commons),
        }
    }

    /// If the port is empty, the paused classes, one bit each; the port could send a packet of any
    /// other class now. Always `None` without departure events.
    pub fn is_free(&self) -> Option<u8> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.is_free(),
        }
    }

    /// The class of a packet, below [`CLASSES`](crate::queue::CLASSES), for flow control.
    pub(crate) fn class(&self, packet: &Packet) -> usize {
        either!(self, discipline()).class(packet).min(CLASSES - 1)
    }

    /// The arrival time, at the end of the link, of a control frame that the port sends at `now`.
    /// The frame waits for the packet in service, but not for other packets.
    pub(crate) fn frame_arrives_at(&self, now: Time) -> Time {
        match self {
            Self::Fifo(port) => port.last_departure().max(now) + port.delay(),
            Self::Stepped(port) => port.frame_arrives_at(now),
        }
    }

    /// The port, if it has no departure events. Only ports without departure events have shortcuts.
    #[inline]
    pub(crate) fn fifo(&self) -> Option<&Fifo> {
        match self {
            Self::Fifo(port) => Some(port),
            Self::Stepped(_) => None,
        }
    }

    /// [`Self::fifo`], mutably.
    #[inline]
    pub(crate) fn fifo_mut(&mut self) -> Option<&mut Fifo> {
        match self {
            Self::Fifo(port) => Some(port),
            Self::Stepped(_) => None,
        }
    }

    /// The port's shortcut.
    #[inline]
    pub(crate) fn shortcut(&self) -> Shortcut {
        self.fifo().map_or(Shortcut::None, |port| port.shortcut)
    }

    /// Offers a packet at `now`; the discipline may mark it. `sequence` orders simultaneous
    /// arrivals. Its upper bits are the number of packets that preceded the packet in the previous
    /// port of its path. The caller releases dropped packets.
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

    /// The events to schedule for the packet in service. `None` if no packet is in service, or if
    /// the port has no departure events.
    pub fn service(&self) -> Option<Service> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.service(),
        }
    }

    /// Spares the events of departures that change only this port; see
    /// [`Network::seal`](crate::topology::Network::seal).
    pub(crate) fn spare_events(&mut self) {
        if let Self::Stepped(port) = self {
            port.spare_events();
        }
    }

    /// Removes the packets that leave at `now`. With departure events, only the packet in service
    /// leaves, at the departure time in its [`Service`], and is returned. The service of the next
    /// packet must then be scheduled.
    pub fn depart(&mut self, now: Time, commons: &mut Commons) -> Option<Gone> {
        match self {
            Self::Fifo(port) => {
                port.drain(now);
                None
            }
            Self::Stepped(port) => Some(port.depart(now, commons)),
        }
    }

    /// Whether [`Self::pop_late`] returns a packet.
    #[inline]
    pub fn has_late(&self) -> bool {
        match self {
            Self::Fifo(_) => false,
            Self::Stepped(port) => port.has_late(),
        }
    }

    /// The next packet that was dropped after its admission: either at its departure, or because it
    /// was pushed out. The caller releases the packet.
    pub fn pop_late(&mut self) -> Option<Gone> {
        match self {
            Self::Fifo(_) => None,
            Self::Stepped(port) => port.pop_late(),
        }
    }

    /// Removes the packet that arrives at the end of the link at `now`. Returns the event that the
    /// port needs next.
    ///
    /// # Panics
    /// Panics if no packet is on the link.
    #[expect(clippy::inline_always, reason = "its result would go through memory")]
    #[inline(always)]
    pub fn deliver(&mut self, now: Time) -> (Parcel, NextEvent) {
        match self {
            Self::Fifo(port) => (port.deliver(now), port.next_event()),
            Self::Stepped(port) => {
                let (parcel, next) = port.deliver(now);
                (parcel, NextEvent::arrival(next))
            }
        }
    }

    /// Accounts for all departures up to and including `now`. A port with departure events does
    /// this at each event instead.
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

    /// The queue at the last drain or departure. A departure without an event counts only at the
    /// next offer.
    #[inline]
    pub fn view(&self) -> Load {
        either!(self, view())
    }

    /// The counters.
    pub fn counters(&self) -> &PortCounters {
        either!(self, counters())
    }

    /// The earliest time at which [`Self::drain`] changes the port.
    pub fn next_change(&self) -> Time {
        match self {
            Self::Fifo(port) => port.next_change(),
            Self::Stepped(_) => Time::NEVER,
        }
    }

    /// The time at which the link becomes idle if no more packets are offered. With departure
    /// events, this is valid only if no packet waits.
    pub fn last_departure(&self) -> Time {
        either!(self, last_departure())
    }

    /// Time spent sending up to `now`, which must not be earlier than the last offer.
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

    /// The packets announced to the port that have not entered yet.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = Parcel> {
        self.fifo().into_iter().flat_map(Fifo::awaited)
    }

    /// The packets in the port and on its link, as parcels.
    pub(crate) fn parcels(&self) -> impl Iterator<Item = Parcel> {
        let (link, waiting) = either!(self, contents());
        let link = link.iter().map(|transit| transit.parcel);
        link.chain(waiting.iter().flatten().map(|waiting| waiting.parcel))
    }

    /// The waiting packets at the last drain or departure.
    pub fn waiting(&self) -> impl Iterator<Item = PacketId> {
        let (link, classes) = either!(self, contents());
        let held = link.len() + classes.iter().map(VecDeque::len).sum::<usize>();
        self.in_flight().skip(held - self.view().packets as usize)
    }

    /// Whether every offered packet is accounted for.
    pub fn is_conserving(&self) -> bool {
        let PortCounters { offered, dropped, delivered, .. } = *self.counters();
        offered == dropped + delivered + self.in_flight().count() as u64
    }
}

#[cfg(test)]
mod tests;
