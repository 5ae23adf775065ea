//! The short path of ordinary packets: the next segment of a message, or an ACK of new data, on a
//! connection on which nothing is missing, repaired or awaited.
//!
//! Most packets are ordinary, as in the header prediction of TCP (docs/adr/0017). A packet that is
//! not ordinary changes nothing here, and takes the general path (`handle`). Both paths lead to the
//! same state, which `point/ordinary_tests.rs` checks for random captures.

use incast_capture::read::{Packet, flags};

use super::Connection;
use super::data::BREAK;
use crate::event::Acked;
use crate::flow::{LONGEST_QUEUE, Rounds};
use crate::intake::Intake;
use crate::load::Mark;
use crate::numbering::Numbering;
use crate::stall::Place;
use crate::time::{Span, Time};
use crate::trip::Trips;

/// The flags that may matter, apart from ACK.
const OTHERS: u8 = flags::SYN | flags::FIN | flags::RST;

/// What an ordinary packet tells the vantage point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Number of newly acknowledged bytes.
    pub step: i64,
    pub acked: Option<Acked>,
    /// The shortest round trip, if it has become shorter.
    pub trip: Option<Span>,
}

/// The packet was in the file before.
#[derive(Clone, Copy, Debug)]
pub struct Copied;

impl Connection {
    /// Notes a packet. Returns the number of packets that are missing before it, according to the
    /// identifications, or an error if the packet was in the file before.
    pub fn take_in(
        &mut self,
        packet: &Packet,
        side: usize,
        intake: &mut Intake,
        numbering: &mut Numbering,
    ) -> Result<Option<u32>, Copied> {
        self.spoken[side] = true;
        let (trip, trail) = (self.trips.round(), &mut self.flows[side].trail);
        if !intake.take(packet, Time::of(packet), trail, trip) {
            return Err(Copied);
        }
        let may_repeat = self.replayed || packet.has(flags::SYN);
        if may_repeat && self.is_replay(packet, side) {
            intake.copied(packet);
            return Err(Copied);
        }
        let who = (self.hosts[side], (2 * self.serial + side as u64) as u32);
        if self.flows[side].has_next_number(packet, numbering, who) {
            return Ok((packet.payload > 0).then_some(0));
        }
        self.take_other_number(packet, side, intake, numbering)
    }

    /// The part of `take_in` for an identification that is not the next one.
    #[inline(never)]
    fn take_other_number(
        &mut self,
        packet: &Packet,
        side: usize,
        intake: &mut Intake,
        numbering: &mut Numbering,
    ) -> Result<Option<u32>, Copied> {
        let missing = self.missing_before(packet, side, numbering);
        if self.flows[side].is_old(packet) {
            intake.copied(packet);
            return Err(Copied);
        }
        Ok(missing)
    }

    /// The time for which packets to an end are in queues behind the point.
    pub fn queued(&self, side: usize) -> Span {
        self.trips.queued(side)
    }

    /// Takes a packet if it is ordinary. `mark` is the load of the receiving host if the packet has
    /// data. `usual` holds the round trip that is assumed until one has been measured, and the usual
    /// timer. No packet may be missing before this packet, according to the identifications.
    pub fn ordinary(
        &mut self,
        packet: &Packet,
        side: usize,
        mark: Mark,
        usual: (Span, Option<Span>),
    ) -> Option<Told> {
        let now = Time::of(packet);
        let [flow, other] = self.flows.get_disjoint_mut([side, 1 - side]).ok()?;
        let bits = packet.flags & (OTHERS | flags::ACK);
        let is_plain = bits == flags::ACK && packet.options.sacks().is_empty();
        let is_in_order = !self.reset && now >= self.last;
        if !(is_plain && is_in_order && flow.is_ordinary() && other.is_ordinary()) {
            return None;
        }
        if !flow.is_next(packet) || !other.stays_open(packet) {
            return None;
        }
        let step = other.step(packet)?;
        let echoed = other.echoed_by(packet);
        // The general path takes the answer to a timestamp before it looks at the round trip.
        let trips = echoed.map(|sent| self.trips.with(side, now - sent, now - self.last));
        let least = self.trips.least(side);
        let mut told = Told { step, ..Told::default() };
        if packet.payload > 0 {
            let (continues, trips) = (flow.continues_with(packet), trips.unwrap_or(self.trips));
            if step > 0 || !continues || !self.goes_on(side, now, &trips, usual.0) {
                return None;
            }
            let timer = usual.1.unwrap_or(Span::MAX);
            self.flows[side].send_next(packet, now, trips.round(), timer);
            self.marks[side] = mark;
        } else if step == 0 || !other.is_undisturbed(step) {
            return None;
        }
        if let Some(trips) = trips {
            self.trips = trips;
            self.flows[1 - side].stop_stamp();
        }
        if step > 0 {
            self.measure(side, step, now, usual.0);
            told.acked = self.flows[1 - side].advance(step, now);
        }
        if self.trips.least(side) != least {
            told.trip = self.trips.round();
        }
        self.flows[1 - side].offer_open(packet);
        self.flows[side].stamp(packet, now);
        self.heard[side] = now;
        self.last = now;
        self.last_place = Place { file: packet.file, frame: packet.frame };
        Some(told)
    }

    /// Whether new data of an end come without a pause that means anything: no outage, no wait, no
    /// new round of packets, and no data that no ACK has released.
    fn goes_on(&self, side: usize, now: Time, trips: &Trips, usual: Span) -> bool {
        let pause = self.flows[side].pause(now);
        let Some(trip) = trips.round() else { return pause <= trips.patience(usual).min(BREAK) };
        let unasked = self.heard[side] > self.heard[1 - side] && now - self.last > trip;
        let near = pause <= trip * 2 / 5
            || !Rounds::are_parted_by(pause, trip) && pause <= trips.patience(usual);
        near && pause <= BREAK && !unasked
    }

    /// Measures the time of an ACK of `step` new bytes that an end has sent.
    fn measure(&mut self, side: usize, step: i64, now: Time, usual: Span) {
        let Some((sent, alone)) = self.flows[1 - side].answered(step) else { return };
        self.queue_behind(side, (sent, now), alone);
        self.trips.guess(side, now - sent, now - self.last, usual);
    }

    /// Measures the queue behind the point. If the ACK of a single segment takes longer than the
    /// shortest time of an ACK, the difference is a wait in a queue.
    pub(super) fn queue_behind(&mut self, side: usize, (sent, now): (Time, Time), alone: bool) {
        let wait = now - sent;
        if alone && wait < LONGEST_QUEUE && !self.trips.near(side) {
            let least = self.trips.least(side).unwrap_or(wait);
            self.flows[1 - side].queue_behind(sent, wait, least);
        }
    }
}
