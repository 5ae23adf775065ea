//! Segments with a departure time: a host that can keep one until then spares the pacer its
//! deadline (`docs/adr/0010-departure-times.md`).

use std::ops::Range;

use incast_engine::Time;

use super::Connection;
use super::extras::Extras;
use super::pace::Timing;
use super::timer::TimerKind;

/// What cannot happen to a connection of which nothing is on its way.
const SETTLED: Extras = Extras::PACKETS
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PACER)
    .or(Extras::PRR)
    .or(Extras::SENT)
    .or(Extras::RECEIVER_HOOKS);

impl Connection {
    /// The host keeps a segment until its departure time, and nothing else leaves by its line.
    ///
    /// Only a window below a segment makes use of it, and only where nothing can happen to the
    /// connection between the moment at which the departure is settled and the departure: other
    /// connections keep their deadlines.
    pub fn allow_departure_times(&mut self) {
        let is_plain = self.needs.fractional_window && self.extras.only(SETTLED);
        if let Some(pacer) = &mut self.pacer {
            pacer.timing = if is_plain { Timing::On } else { Timing::Off };
        }
    }

    /// When the packet leaves that [`super::Polled::Timed`] announced.
    #[inline]
    pub fn departs_at(&self) -> Time {
        self.pacer.as_ref().map_or(Time::ZERO, |pacer| pacer.last_sent)
    }

    /// When the segment up to `end` leaves that waits for the pacer, if that is settled: nothing of
    /// the connection is on its way in either direction, no timer runs, and what the application
    /// may yet do changes nothing.
    fn settled_departure(&mut self, end: u64) -> Option<Time> {
        let una = self.board.una();
        let pacer = self.pacer.as_mut().filter(|pacer| pacer.timing != Timing::Off)?;
        if pacer.timing == Timing::Doubtful {
            // What was sent after the copies has been acknowledged, so that they have arrived.
            if una <= pacer.copied_below {
                return None;
            }
            pacer.timing = Timing::On;
        }
        let is_settled = pacer.waiting
            && self.board.is_empty()
            && self.owed.is_empty()
            // The timer of a request runs at the other end until its first segment arrives.
            && una != self.block.start
            && self.timer.kind == TimerKind::Off
            && self.acks.policy.deadline() == Time::NEVER
            // A segment that could become longer waits for what becomes of it.
            && end - una == u64::from(self.segment_size)
            && end < self.written;
        is_settled.then_some(pacer.next_at)
    }

    /// When these data leave by the pacer's leave, of which the window would let go `allowed` bytes in
    /// all: now, or at a departure time if that is settled.
    pub(super) fn paced_departure(
        &mut self,
        now: Time,
        numbers: Range<u64>,
        allowed: u64,
        is_fresh: bool,
    ) -> Option<Time> {
        if !self.is_paced_out(now, numbers.start, allowed, is_fresh) {
            return Some(now);
        }
        let departure = self.settled_departure(numbers.end)?;
        self.note_hold(departure - now);
        Some(departure)
    }

    /// Something leaves that was sent before, or that the receiver may refuse.
    pub(super) fn note_copy(&mut self) {
        if let Some(pacer) = self.pacer.as_mut().filter(|pacer| pacer.timing != Timing::Off) {
            pacer.timing = Timing::Doubtful;
            pacer.copied_below = self.board.max();
        }
    }

    /// The run ends: a segment that would have left after `now` has not been sent.
    pub fn withdraw_timed(&mut self, now: Time) {
        let departs = self
            .pacer
            .as_ref()
            .filter(|pacer| pacer.timing != Timing::Off)
            .map(|pacer| pacer.last_sent);
        if departs.is_some_and(|at| at > now && at != Time::NEVER) {
            self.counters.data_packets -= 1;
        }
    }
}
