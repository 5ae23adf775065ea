//! Segments with a departure time: if the host keeps segments until their departure, the pacer
//! needs no deadline (`docs/adr/0010-departure-times.md`).

use std::ops::Range;

use incast_engine::Time;

use super::Connection;
use super::extras::Extras;
use super::pace::Timing;
use super::timer::TimerKind;

/// Extras that cannot change a connection that has no data in flight.
const SETTLED: Extras = Extras::PACKETS
    .or(Extras::TIMESTAMPS)
    .or(Extras::SACK_OPTION)
    .or(Extras::PACER)
    .or(Extras::PRR)
    .or(Extras::SENT)
    .or(Extras::RECEIVER_HOOKS)
    .or(Extras::DELAYED_ACKS)
    .or(Extras::TICKS);

impl Connection {
    /// Allows departure times. The host must keep each segment until its departure time and send
    /// nothing else on its link.
    ///
    /// Departure times are used only with a window below a segment, and only if no event can reach
    /// the connection before the departure. In other cases the pacer's deadline is used.
    pub fn allow_departure_times(&mut self) {
        let is_plain = self.needs.fractional_window && self.extras.only(SETTLED);
        if let Some(pacer) = &mut self.pacer {
            pacer.timing = if is_plain { Timing::On } else { Timing::Off };
        }
    }

    /// Whether segments may have departure times.
    pub fn has_departure_times(&self) -> bool {
        self.pacer.as_ref().is_some_and(|pacer| pacer.timing != Timing::Off)
    }

    /// The time at which the packet of the last [`super::Polled::Timed`] leaves.
    #[inline]
    pub fn departs_at(&self) -> Time {
        self.pacer.as_ref().map_or(Time::ZERO, |pacer| pacer.last_sent)
    }

    /// Departure time of the segment up to `end`, which waits for the pacer. `None` if the time or
    /// the segment may still change, because something is in flight in either direction, a timer
    /// runs, or the application may write.
    fn settled_departure(&mut self, end: u64) -> Option<Time> {
        let una = self.board.una();
        let pacer = self.pacer.as_mut().filter(|pacer| pacer.timing != Timing::Off)?;
        if pacer.timing == Timing::Doubtful {
            // Once data that was sent after all copies is acknowledged, the copies have arrived.
            if una <= pacer.copied_below {
                return None;
            }
            pacer.timing = Timing::On;
        }
        let is_settled = pacer.waiting
            && self.board.is_empty()
            && self.owed.is_empty()
            // The requester's timer runs until the first segment of the block arrives.
            && una != self.block.start
            && self.timer.kind == TimerKind::Off
            && self.acks.policy.deadline() == Time::NEVER
            // A segment below full size may still grow.
            && end - una == u64::from(self.segment_size)
            && end < self.written;
        is_settled.then_some(pacer.next_at)
    }

    /// The time at which the pacer and deferral release the data with these sequence numbers, if
    /// the windows allow `allowed` bytes in all. `None` if the data wait.
    pub(super) fn unhurried_departure(
        &mut self,
        now: Time,
        numbers: Range<u64>,
        allowed: u64,
        called_back: bool,
    ) -> Option<Time> {
        let start = numbers.start;
        // The first segment after a timeout does not wait for the pacer.
        let is_urgent = called_back && start == self.board.una();
        let departure = if self.extras.has(Extras::PACER) && !is_urgent {
            self.paced_departure(now, numbers, allowed)?
        } else {
            now
        };
        let waits = self.extras.has(Extras::DEFERS) && !called_back;
        (!waits || !self.defers(now, start, allowed)).then_some(departure)
    }

    /// The time at which the pacer releases the data with these sequence numbers, if the window
    /// allows `allowed` bytes in all: now, or a settled departure time. `None` if the data wait.
    fn paced_departure(&mut self, now: Time, numbers: Range<u64>, allowed: u64) -> Option<Time> {
        if !self.is_paced_out(now, numbers.start, allowed) {
            return Some(now);
        }
        let departure = self.settled_departure(numbers.end)?;
        self.note_hold(departure - now);
        Some(departure)
    }

    /// Notes that a retransmission, or data that the receiver may refuse, is sent.
    pub(super) fn note_copy(&mut self) {
        if let Some(pacer) = self.pacer.as_mut().filter(|pacer| pacer.timing != Timing::Off) {
            pacer.timing = Timing::Doubtful;
            pacer.copied_below = self.board.max();
        }
    }

    /// Withdraws a segment with a departure time after `now`, because the run ends.
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
