//! The packet that a port with departure events is sending, and the events of this packet.

use incast_engine::Time;

use super::super::{Gone, Service, Transit, Waiting};
use super::Stepped;
use crate::port::line::Reorderer;

/// The packet that is being sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct InService {
    pub(super) size: u32,
    pub(super) gone: Gone,
    pub(super) is_header: bool,
    /// Whether the departure has no event, because it changes nothing but the packet in service: no
    /// packet waits, and the packet in service occupies no buffer space.
    is_quiet: bool,
    /// The time of the departure, and its order among simultaneous events.
    pub(super) departs: (Time, u64),
    /// The arrival that must be scheduled.
    arrives: Option<(Time, u64)>,
}

impl Stepped {
    /// Lets departures without an event be handled when the next packet is offered. To be called
    /// before the first packet, if nobody but this port needs to know of its departures.
    pub(in crate::port) fn spare_events(&mut self) {
        self.spares_events = !self.counts_in_service();
    }

    /// Lets the packet in service leave if its departure has no event, and comes before the event
    /// of this time and this order among simultaneous events.
    #[inline]
    pub(super) fn settle_service(&mut self, now: (Time, u64)) {
        if let Some(packet) = &self.in_service
            && packet.is_quiet
            && packet.departs < now
        {
            self.in_service = None;
        }
    }

    /// Gives the departure of the packet in service an event, if it has none. Returns whether the
    /// event must be scheduled now. The arrival is scheduled already.
    #[inline]
    pub(super) fn demand_departure(&mut self) -> bool {
        let Some(packet) = self.in_service.as_mut().filter(|packet| packet.is_quiet) else {
            return false;
        };
        (packet.is_quiet, packet.arrives) = (false, None);
        true
    }

    /// The events to schedule for the packet in service.
    pub(in crate::port) fn service(&self) -> Option<Service> {
        self.in_service.map(|InService { is_quiet, departs, arrives, .. }| Service {
            departure: (!is_quiet).then_some(departs),
            arrival: arrives,
        })
    }

    /// Begins to send a packet. `gone` describes the packet after its departure.
    #[inline]
    pub(super) fn start(&mut self, next: &Waiting, gone: Gone, is_header: bool, now: Time) {
        // A line that was idle or paused begins to send now.
        let ready = if now > self.last_departure { now } else { next.since };
        let departure =
            self.line.departure(ready, self.last_departure, next.parcel.size(), next.lateness);
        self.counters.sending += departure - now;
        self.last_departure = departure;
        let reordering = self.reorderer.as_mut().map(Reorderer::draw);
        let arrival = departure + self.line.delay + reordering.unwrap_or_default();
        let key = (arrival, next.sequence);
        self.in_service = Some(InService {
            size: next.parcel.size(),
            gone,
            is_header,
            is_quiet: self.spares_events && self.waiting.packets == 0,
            departs: (departure, self.departure_sequence),
            // With reordering, every packet has its own arrival event.
            arrives: (self.link.is_empty() || reordering.is_some()).then_some(key),
        });
        let transit = Transit { arrival, sequence: next.sequence, parcel: next.parcel };
        if reordering.is_none() {
            return self.link.push_back(transit);
        }
        self.insert(transit);
    }

    /// Inserts a packet into the link at the place of its arrival.
    #[inline(never)]
    fn insert(&mut self, transit: Transit) {
        let place = self.link.partition_point(|other| other.key() <= transit.key());
        self.link.insert(place, transit);
    }
}
