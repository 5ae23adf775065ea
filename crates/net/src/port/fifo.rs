//! A port whose packets leave in the order in which they came.
//!
//! It knows when a packet will leave at the moment it is admitted (`max(now, last departure) +
//! size / rate`), so one event per packet and link, its arrival at the far end, is enough; and
//! since the link delivers in order, only the head of the port's ring needs to be in the event
//! queue. Occupancy is worked out when somebody asks.

use std::collections::VecDeque;

use incast_engine::{Span, Stream, Time};

use super::line::{Line, Train};
use super::{Admission, Contents, Parts, PortConfig, PortCounters, Ties, Transit, placed};
use crate::buffer::Buffer;
use crate::packets::{PacketId, Packets, Parcel};
use crate::queue::{Discipline, DropReason, QueueDiscipline, QueueView, Refusal, Verdict};

/// See the module. What every packet needs comes first, and what few need lies elsewhere: a run
/// goes round more ports than the nearest cache holds.
#[repr(C, align(64))]
pub struct Fifo {
    ring: VecDeque<Transit>,
    /// Of a port that forwards: when the packets leave that are still there, but for the last.
    departures: VecDeque<Time>,
    last_departure: Time,
    /// How long a packet counts as present beyond its departure.
    linger: Span,
    line: Line,
    /// Whether packets may wait.
    has_queue: bool,
    /// Whether the discipline admits whatever fits.
    is_drop_tail: bool,
    train: Train,
    /// Packets at the head of the ring that have left the port and are on the link. This and what
    /// waits are kept up, lazily, where packets may wait.
    departed: usize,
    /// When the packet in service no longer counts as present.
    gone_at: Time,
    /// What waits and what is being sent.
    view: QueueView,
    counters: PortCounters,
    buffer: Option<Buffer>,
    discipline: Box<Discipline>,
    random: Stream,
    ties: Ties,
}

impl Fifo {
    /// A port with its own random stream.
    pub(super) fn new(config: &PortConfig, random: Stream) -> Self {
        let discipline = config.queue.build(&config.site());
        Self {
            ring: VecDeque::new(),
            last_departure: Time::ZERO,
            departed: 0,
            view: QueueView::default(),
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
            is_drop_tail: matches!(discipline, Discipline::DropTail(_)),
            discipline: Box::new(discipline),
            random,
            counters: PortCounters::default(),
            departures: VecDeque::new(),
        }
    }

    /// What the port consists of, before its first packet.
    pub(super) fn into_parts(self) -> Parts {
        let Self { line, train, ties, buffer, discipline, random, .. } = self;
        Parts { line, train, ties, buffer, discipline: *discipline, random }
    }

    pub(super) fn discipline(&self) -> &Discipline {
        &self.discipline
    }

    pub(super) fn set_discipline(&mut self, discipline: Discipline) {
        self.is_drop_tail = matches!(discipline, Discipline::DropTail(_));
        *self.discipline = discipline;
    }

    /// Disables the buffer of a port of which it is known that no packet ever waits.
    pub(crate) fn disable_buffer(&mut self) {
        self.buffer = None;
        self.has_queue = false;
    }

    /// Offers a packet at `now`; the discipline may mark it. `sequence` is its place among arrivals
    /// of the same instant.
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
        let mut parcel = parcel;
        if let Some(buffer) = &self.buffer {
            let verdict = if !buffer.has_room(&self.view, parcel.size()) {
                self.refuse(now, parcel.packet, packets)
            } else if self.is_drop_tail {
                Verdict::Admit
            } else {
                self.judge(now, parcel.packet, packets)
            };
            match verdict {
                Verdict::Admit | Verdict::Mark => {}
                Verdict::Trim => parcel = parcel.resized(packets[parcel.packet].size()),
                Verdict::Drop(why) => {
                    self.counters.dropped += 1;
                    return Admission::Dropped(why);
                }
            }
        }
        let size = parcel.size();
        debug_assert!(self.has_queue, "only what a relay sends enters a port without a queue");
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

    /// Admits a packet that a relay sends and that will be there at `now`: it waits for nobody.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, parcel: Parcel, sequence: u64) -> Admission {
        self.counters.offered += 1;
        let ahead = self.train.append(u64::from(self.last_departure.plus(self.linger) > now));
        self.send(now, parcel, placed(ahead, sequence))
    }

    /// Puts a packet on the line behind those that are there.
    #[inline]
    fn send(&mut self, now: Time, parcel: Parcel, sequence: u64) -> Admission {
        let sending = self.line.sending_time(parcel.size(), &mut self.random);
        self.counters.sending += sending;
        self.last_departure = self.last_departure.max(now).plus(sending);
        let first = self.ring.is_empty();
        let arrival = self.last_departure.plus(self.line.delay);
        self.ring.push_back(Transit { arrival, sequence, parcel });
        if first { Admission::Scheduled(arrival) } else { Admission::Queued }
    }

    /// What the discipline sees at `now`.
    fn view_at(&self, now: Time) -> QueueView {
        QueueView { now, idle_since: self.last_departure, ..self.view }
    }

    /// Asks the discipline, which may mark or trim the packet.
    #[inline(never)]
    fn judge(&mut self, now: Time, id: PacketId, packets: &mut Packets) -> Verdict {
        let packet = &mut packets[id];
        let view = self.view_at(now);
        let verdict = self.discipline.offer(packet, &view, &mut self.random);
        match verdict {
            Verdict::Admit | Verdict::Drop(_) => {}
            Verdict::Mark => {
                packet.mark();
                self.counters.marked += 1;
            }
            Verdict::Trim => self.counters.trim(packet),
        }
        verdict
    }

    /// What becomes of a packet that there is no room for: the discipline may trim it.
    #[inline(never)]
    fn refuse(&mut self, now: Time, id: PacketId, packets: &mut Packets) -> Verdict {
        let dropped = Verdict::Drop(DropReason::BufferFull);
        if self.is_drop_tail {
            return dropped;
        }
        let packet = &mut packets[id];
        let refusal = self.discipline.refused(packet, &self.view_at(now));
        let header = u32::from(packet.header);
        let has_room = self.buffer.is_none_or(|buffer| buffer.has_room(&self.view, header));
        if refusal == Refusal::Drop || !has_room {
            return dropped;
        }
        self.counters.trim(packet);
        Verdict::Trim
    }

    /// Forwards a packet of `size` bytes that is stored elsewhere: returns when it arrives. Only
    /// for ports that never drop.
    #[inline]
    pub(crate) fn forward(&mut self, now: Time, size: u32) -> Time {
        debug_assert!(self.never_drops(), "what is stored elsewhere cannot be dropped here");
        self.counters.offered += 1;
        self.counters.delivered += 1;
        let sending = self.line.sending_time(size, &mut self.random);
        self.last_departure = self.last_departure.max(now).plus(sending);
        self.counters.sending += sending;
        self.last_departure.plus(self.line.delay)
    }

    /// The same where others wait behind the port: returns the packet's place, too.
    #[inline]
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

    /// Whether the port has no buffer, and admits whatever it is offered.
    pub(crate) fn never_drops(&self) -> bool {
        self.buffer.is_none()
    }

    /// Propagation delay of the link.
    pub(crate) fn delay(&self) -> Span {
        self.line.delay
    }

    /// Whether nothing is on the link or waits for it.
    #[inline]
    pub(super) fn is_link_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Whether nothing is lost by offering packets that come from `feeder`, and from nowhere else,
    /// before they arrive: the port is no slower, not even by chance, and drops nothing by chance.
    pub(crate) fn follows(&self, feeder: &Self) -> bool {
        self.buffer.is_none_or(|buffer| buffer.holds_two())
            && self.is_drop_tail
            && feeder.buffer.is_none()
            && self.line.clock_noise.is_zero()
            && feeder.line.clock_noise.is_zero()
            && self.line.serialisation.rate >= feeder.line.serialisation.rate
    }

    /// Takes the packet that arrives at the far end at `now`, and says when the next one does.
    ///
    /// # Panics
    /// If nothing is on the way: the caller's schedule is broken.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time) -> (Parcel, Option<(Time, u64)>) {
        if self.has_queue {
            if self.departed == 0 {
                self.depart();
            }
            self.departed -= 1;
        }
        let head = self.ring.pop_front().expect("an arrival was scheduled for an empty link");
        debug_assert_eq!(head.arrival, now, "a link delivers at the scheduled time");
        self.counters.delivered += 1;
        let next = self.ring.front().map(|next| (next.arrival, next.sequence));
        if next.is_none() {
            // From the beginning again, which is in the cache.
            self.ring.clear();
        }
        (head.parcel, next)
    }

    /// Accounts for every departure up to and including `now`.
    #[inline]
    pub(super) fn drain(&mut self, now: Time) {
        while self.gone_at <= now {
            self.depart();
        }
    }

    /// The packet in service leaves, and the next one takes its place.
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
            self.view = QueueView::default();
            self.gone_at = Time::NEVER;
        }
    }

    /// What waits, as of the last drain.
    #[inline]
    pub(super) fn view(&self) -> QueueView {
        self.view
    }

    /// The counters.
    pub(super) fn counters(&self) -> &PortCounters {
        &self.counters
    }

    /// When the link falls idle if nothing more is offered.
    pub(super) fn last_departure(&self) -> Time {
        self.last_departure
    }

    /// Integral of the waiting bytes up to `now`, byte·ps: what still waits then has been counted
    /// up to its departure.
    pub(super) fn byte_time_until(&self, now: Time) -> u128 {
        let left = now + self.line.delay;
        let still_waiting =
            self.ring.iter().zip(self.ring.iter().skip(1)).map(|(ahead, waiting)| {
                let wait = ahead.arrival.saturating_since(left).as_picos();
                u128::from(waiting.parcel.size()) * u128::from(wait)
            });
        self.counters.byte_time - still_waiting.sum::<u128>()
    }

    pub(super) fn contents(&self) -> Contents<'_> {
        (&self.ring, &[])
    }

    /// Packets that a relay sent and that reach this port, where they never wait, after `now`.
    pub(crate) fn admitted_after(&self, now: Time) -> u64 {
        let admitted = |transit: &Transit| {
            let way = self.line.delay + self.line.serialisation.time(transit.parcel.size());
            transit.arrival > now + way
        };
        self.ring.iter().filter(|transit| admitted(transit)).count() as u64
    }

    /// Counts an admitted packet that will wait.
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
