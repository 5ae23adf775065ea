//! A port that handles departures one by one, at events if anything depends on them.
//!
//! Such a port is needed if the discipline acts at departure or changes the order, because the
//! departure time of a packet is then not known at its admission. It is also needed if other ports
//! need the exact occupancy of a shared buffer. The port tells its caller when the packet in
//! service departs, and is called at that time, unless the departure changes nothing else.

mod pause;
mod room;
mod service;

use std::collections::VecDeque;

use incast_engine::{Span, Stream, Time};

use super::line::{Line, Reorderer, Train};
use super::{
    Admission, Commons, Contents, Fifo, Gone, Parts, PortConfig, PortCounters, Ties, Transit,
    Waiting, placed,
};
use crate::buffer::{Accounting, Buffer, PoolId};
use crate::packet::Packet;
use crate::packets::{Load, Occupancy, Parcel};
use crate::queue::{
    CLASSES, ClassLoad, Discipline, DropReason, QueueDiscipline, QueueView, Refusal, Verdict,
};

use service::InService;

/// Size of a control frame without the layer-2 overhead: the frame has 64 bytes with Ethernet
/// header and checksum (IEEE 802.3 annex 31B).
const CONTROL_FRAME: u32 = 46;

/// A port that handles departures one by one; see the module.
pub struct Stepped {
    /// Waiting packets by class, oldest first.
    classes: Vec<VecDeque<Waiting>>,
    /// Packets and bytes that wait.
    waiting: Occupancy,
    /// [`Self::waiting`] by class, if there are several classes.
    by_class: [ClassLoad; CLASSES],
    /// The buffer space that packets use, without trimmed headers.
    held: Occupancy,
    /// The space that trimmed headers use, if the port trims.
    headers: Occupancy,
    /// Whether the discipline may trim packets.
    trims: bool,
    /// Whether the discipline admits every packet that fits.
    is_drop_tail: bool,
    in_service: Option<InService>,
    /// Whether a departure that changes nothing else needs no event; see [`Self::settle_service`].
    spares_events: bool,
    /// The paused classes, one bit each.
    paused: u8,
    /// The packet in service and the packets on the link, in the order of their arrival.
    link: VecDeque<Transit>,
    last_departure: Time,
    /// Order of departures among simultaneous events.
    departure_sequence: u64,
    train: Train,
    line: Line,
    reorderer: Option<Reorderer>,
    buffer: Option<Buffer>,
    accounting: Accounting,
    pool: Option<PoolId>,
    discipline: Discipline,
    random: Stream,
    counters: PortCounters,
    /// Packets dropped after their admission: at the last departure, or pushed out by the last
    /// offer.
    late: VecDeque<Gone>,
    /// Class and position of the packets that the last offered packet would push out.
    victims: Vec<(usize, usize)>,
}

impl Stepped {
    /// Port number `index`, with its own random streams.
    pub(super) fn new(config: &PortConfig, index: u32, seed: u64) -> Self {
        let random = Stream::named(seed, "detour", index.into());
        let plain = Fifo::new(config, Stream::named(seed, "port", index.into()));
        Self {
            accounting: config.accounting,
            pool: config.pool,
            reorderer: config.reordering.map(|params| Reorderer::new(params, random)),
            ..Self::from_parts(plain.into_parts(), index)
        }
    }

    /// Port number `index`, made from the parts of an unused port.
    pub(super) fn from_parts(parts: Parts, index: u32) -> Self {
        let Parts { line, train, ties, buffer, discipline, random } = parts;
        let index = u64::from(index);
        Self {
            classes: vec![VecDeque::new(); discipline.classes()],
            waiting: Occupancy::default(),
            by_class: [ClassLoad::default(); CLASSES],
            held: Occupancy::default(),
            headers: Occupancy::default(),
            trims: discipline.trims(),
            is_drop_tail: matches!(discipline, Discipline::DropTail(_)),
            in_service: None,
            spares_events: false,
            paused: 0,
            link: VecDeque::new(),
            last_departure: Time::ZERO,
            departure_sequence: match ties {
                Ties::DepartureFirst => index,
                // The time limit of a run is u64::MAX.
                Ties::ArrivalFirst | Ties::Scheduled => u64::MAX - 1 - index,
            },
            train,
            line,
            reorderer: None,
            buffer,
            accounting: Accounting::EXACT,
            pool: None,
            discipline,
            random,
            counters: PortCounters::default(),
            late: VecDeque::new(),
            victims: Vec::new(),
        }
    }

    pub(super) fn discipline(&self) -> &Discipline {
        &self.discipline
    }

    pub(super) fn set_discipline(&mut self, discipline: Discipline) {
        self.classes = vec![VecDeque::new(); discipline.classes()];
        self.trims = discipline.trims();
        self.is_drop_tail = matches!(discipline, Discipline::DropTail(_));
        self.discipline = discipline;
    }

    /// Offers a packet; see [`super::Port::offer`].
    pub(super) fn offer(
        &mut self,
        now: Time,
        parcel: Parcel,
        sequence: u64,
        commons: &mut Commons,
    ) -> Admission {
        self.counters.offered += 1;
        self.settle_service((now, commons.sequence));
        let is_idle = self.starts_at_once(&commons.packets[parcel.packet]);
        let (mut parcel, mut pushes_out) = (parcel, false);
        if let Some(buffer) = self.buffer {
            match self.judge(now, parcel, buffer, is_idle, commons) {
                Ok(admitted) => (parcel, pushes_out) = admitted,
                Err(why) => return Admission::Dropped(why),
            }
        }
        let size = parcel.size();
        let lateness = self.line.lateness(size, &mut self.random);
        let ahead = self.waiting.packets + u64::from(self.in_service.is_some());
        let sequence = placed(self.train.append(ahead), sequence);
        let waiting = Waiting { parcel, sequence, since: now, lateness };
        let packet = &commons.packets[parcel.packet];
        let class = self.class(packet);
        if is_idle {
            let is_header = self.is_header(packet);
            self.start(&waiting, Gone { parcel, class: class.min(CLASSES - 1) }, is_header, now);
            return Admission::Started;
        }
        self.waiting = self.waiting + Occupancy { packets: 1, bytes: u64::from(size) };
        if self.classes.len() > 1
            && let Some(waiting) = self.by_class.get_mut(class)
        {
            waiting.packets += 1;
            waiting.bytes += size;
        }
        if self.buffer.is_some() {
            let counters = &mut self.counters;
            counters.max_packets = counters.max_packets.max(self.waiting.packets as u32);
            counters.max_bytes = counters.max_bytes.max(self.waiting.bytes);
        }
        self.classes[class].push_back(waiting);
        if self.in_service.is_none() && !self.is_paused(class) {
            // The packet's class was paused, but the class of the trimmed header is not.
            self.start_next(now, commons);
            return Admission::Started;
        }
        if pushes_out {
            return Admission::QueuedWithEffects;
        }
        if self.demand_departure() { Admission::Started } else { Admission::Queued }
    }

    /// Lets the buffer and the discipline decide about an offered packet. Returns the admitted
    /// packet, which may be marked or trimmed, and whether packets were pushed out for it.
    #[inline]
    fn judge(
        &mut self,
        now: Time,
        parcel: Parcel,
        buffer: Buffer,
        is_idle: bool,
        commons: &mut Commons,
    ) -> Result<(Parcel, bool), DropReason> {
        let Commons { packets, pools, .. } = commons;
        let mut pool = self.pool.map(|PoolId(pool)| &mut pools[usize::from(pool)]);
        let takes_room = buffer.counts_in_service || !is_idle;
        let has_room = |size, is_header| {
            !takes_room || self.has_room(buffer, size, is_header, pool.as_deref())
        };
        let arriving = &packets[parcel.packet];
        let fits = has_room(parcel.size(), self.is_header(arriving));
        let header_fits = self.trims && has_room(arriving.header.into(), true);
        let pushes_out =
            !fits && self.find_victims(&packets[parcel.packet], buffer, packets, pool.as_deref());
        let packet = &mut packets[parcel.packet];
        let verdict = match (self.is_drop_tail, fits || pushes_out) {
            (true, true) => Verdict::Admit,
            (true, false) => Verdict::Drop(DropReason::BufferFull),
            (false, fits) => self.decide(now, packet, [fits, header_fits], is_idle),
        };
        let parcel = self.apply(verdict, parcel, packet)?;
        if pushes_out {
            self.push_out(now, packets, pool.as_deref_mut());
        }
        if takes_room {
            let is_header = self.is_header(&packets[parcel.packet]);
            self.take(parcel.size(), is_header, pool);
        }
        Ok((parcel, pushes_out))
    }

    /// Lets the discipline decide about an offered packet, given whether it or its header fits.
    fn decide(
        &mut self,
        now: Time,
        packet: &Packet,
        [fits, header_fits]: [bool; 2],
        is_idle: bool,
    ) -> Verdict {
        let view = self.view_at(now);
        let verdict = if fits {
            self.discipline.offer(packet, &view, &mut self.random)
        } else {
            match self.discipline.refused(packet, &view) {
                Refusal::Trim if header_fits => Verdict::Trim,
                _ => Verdict::Drop(DropReason::BufferFull),
            }
        };
        if is_idle && verdict != Verdict::Drop(DropReason::BufferFull) {
            verdict.then(self.discipline.departing(packet, Span::ZERO, &view))
        } else {
            verdict
        }
    }

    /// The class in which a packet waits.
    #[inline]
    fn class(&self, packet: &Packet) -> usize {
        if self.classes.len() == 1 { 0 } else { self.discipline.class(packet) }
    }

    /// Whether an offered packet is sent at once.
    #[inline]
    fn starts_at_once(&self, packet: &Packet) -> bool {
        if self.in_service.is_some() {
            return false;
        }
        if self.paused == 0 {
            return self.waiting.packets == 0;
        }
        // If the port trims, the class may change with trimming, so it is not known yet.
        !self.trims && !self.is_paused(self.discipline.class(packet)) && self.next_class().is_none()
    }

    /// Removes and returns the packet in service at `now`, and begins to send the next packet.
    ///
    /// # Panics
    /// Panics if no packet is in service.
    pub(super) fn depart(&mut self, now: Time, commons: &mut Commons) -> Gone {
        let left = self.in_service.take().expect("a departure was scheduled for an idle line");
        debug_assert_eq!(left.departs.0, now, "a packet departs at the scheduled time");
        if self.counts_in_service() {
            let pool = self.pool.map(|PoolId(pool)| &mut commons.pools[usize::from(pool)]);
            self.give_back(left.size, left.is_header, pool);
        }
        self.start_next(now, commons);
        left.gone
    }

    fn counts_in_service(&self) -> bool {
        self.buffer.is_some_and(|buffer| buffer.counts_in_service)
    }

    /// Sends the next packet of a class that is not paused.
    #[inline]
    fn start_next(&mut self, now: Time, commons: &mut Commons) {
        let Commons { packets, pools, .. } = commons;
        let mut pool = self.pool.map(|PoolId(pool)| &mut pools[usize::from(pool)]);
        let counts_in_service = self.counts_in_service();
        while let Some((class, mut next)) = self.pop_next() {
            let admitted = next.parcel;
            let gone = Gone { parcel: admitted, class: class.min(CLASSES - 1) };
            let size = admitted.size();
            self.stop_waiting(class, &next, now);
            let mut is_header = self.is_header(&packets[admitted.packet]);
            if self.buffer.is_some() {
                let packet = &mut packets[admitted.packet];
                let verdict = if self.is_drop_tail {
                    Verdict::Admit
                } else {
                    let view = self.view_at(now);
                    self.discipline.departing(packet, now - next.since, &view)
                };
                let Ok(parcel) = self.apply(verdict, admitted, packet) else {
                    self.give_back(size, is_header, pool.as_deref_mut());
                    self.late.push_back(gone);
                    continue;
                };
                if parcel.size() != size {
                    next.lateness = self.line.lateness(parcel.size(), &mut self.random);
                }
                if !counts_in_service || parcel.size() != size {
                    self.give_back(size, is_header, pool.as_deref_mut());
                }
                if counts_in_service && parcel.size() != size {
                    is_header = self.is_header(&packets[admitted.packet]);
                    self.take(parcel.size(), is_header, pool);
                }
                next.parcel = parcel;
            }
            self.start(&next, gone, is_header, now);
            break;
        }
    }

    /// Removes the next packet to send, with its class.
    #[inline]
    fn pop_next(&mut self) -> Option<(usize, Waiting)> {
        if self.paused == 0 {
            let mut classes = self.classes.iter_mut().enumerate();
            return classes.find_map(|(class, queue)| Some((class, queue.pop_front()?)));
        }
        let class = self.next_class()?;
        Some((class, self.classes[class].pop_front()?))
    }

    #[inline]
    pub(super) fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// A packet that was dropped after it had been admitted.
    pub(super) fn pop_late(&mut self) -> Option<Gone> {
        self.late.pop_front()
    }

    /// Removes the packet that arrives at the end of the link; see [`super::Port::deliver`].
    pub(super) fn deliver(&mut self, now: Time) -> (Parcel, Option<(Time, u64)>) {
        let head = self.link.pop_front().expect("an arrival was scheduled for an empty link");
        debug_assert_eq!(head.arrival, now, "a link delivers at the scheduled time");
        self.counters.delivered += 1;
        let next = self.link.front().filter(|_| self.reorderer.is_none());
        (head.parcel, next.map(|next| (next.arrival, next.sequence)))
    }

    pub(super) fn delay(&self) -> Span {
        self.line.delay
    }

    pub(super) fn view(&self) -> Load {
        Load {
            packets: self.waiting.packets as u32,
            bytes: self.waiting.bytes,
            in_service_bytes: self.in_service.map_or(0, |packet| packet.size),
        }
    }

    pub(super) fn counters(&self) -> &PortCounters {
        &self.counters
    }

    pub(super) fn last_departure(&self) -> Time {
        self.last_departure
    }

    pub(super) fn byte_time_until(&self, now: Time) -> u128 {
        let still_waiting = self.classes.iter().flatten().map(|waiting| {
            let waited = now.saturating_since(waiting.since).as_picos();
            u128::from(waiting.parcel.size()) * u128::from(waited)
        });
        let counts = self.buffer.is_some();
        self.counters.byte_time + still_waiting.filter(|_| counts).sum::<u128>()
    }

    pub(super) fn contents(&self) -> Contents<'_> {
        (&self.link, &self.classes)
    }

    fn view_at(&self, now: Time) -> QueueView {
        QueueView {
            load: self.view(),
            classes: self.by_class,
            now,
            idle_since: self.last_departure,
        }
    }

    /// Removes a packet from the count of waiting packets, because it is sent or pushed out.
    fn stop_waiting(&mut self, class: usize, packet: &Waiting, now: Time) {
        let size = u64::from(packet.parcel.size());
        self.waiting = self.waiting - Occupancy { packets: 1, bytes: size };
        if self.classes.len() > 1
            && let Some(waiting) = self.by_class.get_mut(class)
        {
            waiting.packets -= 1;
            waiting.bytes -= packet.parcel.size();
        }
        if self.buffer.is_some() {
            let waited = (now - packet.since).as_picos();
            self.counters.byte_time += u128::from(size) * u128::from(waited);
        }
    }

    /// Marks, trims or drops a packet, and counts it. Returns the packet unless it is dropped.
    fn apply(
        &mut self,
        verdict: Verdict,
        parcel: Parcel,
        packet: &mut Packet,
    ) -> Result<Parcel, DropReason> {
        match verdict {
            Verdict::Admit => {}
            Verdict::Mark => {
                packet.mark();
                self.counters.marked += 1;
            }
            Verdict::Trim => {
                self.counters.trim(packet);
                return Ok(parcel.resized(packet.size()));
            }
            Verdict::Drop(why) => {
                self.counters.dropped += 1;
                return Err(why);
            }
        }
        Ok(parcel)
    }
}
