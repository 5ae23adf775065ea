//! The silence before a segment, and the meaning of its length and of the state of the link.

use incast_capture::read::{Endpoint, Packet};

use crate::chain;
use crate::flow::{Flow, Kind, Pending};
use crate::stall::{Finding, Place, Reason, Stall, Wait};
use crate::time::{Span, Time};

/// The shortest probe timer or retransmission timer of a common stack (two ticks in Linux). A
/// shorter silence before new bytes is no stall.
pub(super) const SOON: Span = Span::from_millis(2);
/// The minimum share of a wait in which the receiver's link must have been idle. With a smaller
/// share, packets of other flows or a queue have delayed the packet that ended the wait.
const IDLE: f64 = 0.1;
/// A time that is longer than any wait in a queue. If a packet is retransmitted after a longer
/// silence, a timer has sent it, even if the link was busy.
const LONG: Span = Span::from_millis(150);
/// Largest number of expiries of a timer in one silence.
const MOST_TIMERS: i32 = 8;

/// The silence before a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// The time at which the wait began: the time of the last data or of their ACK. Before the
    /// first bytes of a message, it is the time of the request.
    pub start: Time,
    pub now: Time,
    /// The time since the last packet of the connection, in either direction.
    pub quiet: Span,
    /// The longest time that may be an ordinary round trip.
    pub patience: Span,
    /// The share of the silence in which the receiver's link was idle.
    pub idle: f64,
    /// The packet before the silence.
    pub before: Place,
    /// Number of missing packets according to the identifications of IP packets. While it is
    /// unknown whether the sender counts the packets of each connection separately, only
    /// `if_counted` is set: the number of missing packets if the sender does so.
    pub missing: Option<u32>,
    pub if_counted: Option<u32>,
    /// Whether no byte of this message was seen before.
    pub first: bool,
    /// The usual retransmission timer, if it is known.
    pub timer: Option<Span>,
}

impl Gap {
    /// Whether the silence is longer than any round trip. If the link was busy, the silence must be
    /// longer still, because the packet may have waited in a long queue.
    pub fn is_stall(&self) -> bool {
        let timer = self.timer.map_or(LONG, |timer| timer * 3 / 4);
        self.quiet > self.patience
            && (self.link_idled() || self.quiet > timer.max(4 * self.patience))
    }

    /// Whether the link was idle for more than a round trip during the silence, so that its queue
    /// was empty.
    pub fn link_idled(&self) -> bool {
        self.idle >= IDLE
            && self.idle * self.quiet.as_nanos() as f64 > self.patience.as_nanos() as f64
    }

    /// The length of the wait.
    pub fn length(&self) -> Span {
        self.now - self.start
    }

    /// Whether the identifications of IP packets show that packets were lost.
    pub fn has_lost(&self) -> bool {
        self.missing.is_some_and(|count| count > 0)
    }

    /// Whether new bytes came later than after an ordinary round trip, and the link was idle
    /// meanwhile. `unasked` is true if the bytes are the first bytes of the end that opened the
    /// connection, for which no other end waits.
    pub fn is_wait(&self, unasked: bool) -> bool {
        let lost = self.has_lost();
        let quick = self.patience.max(if lost && !unasked { Span::ZERO } else { SOON });
        self.length() > quick && (self.link_idled() || lost && self.length() > LONG)
    }

    /// Whether the flow continued in the middle of a message without a pause.
    pub fn is_at_once(&self, last_data: Time) -> bool {
        !self.first && self.now - last_data <= self.patience
    }

    /// Whether the flow continued in the middle of a message after a pause.
    pub fn is_late(&self, last_data: Time) -> bool {
        !self.first && self.now - last_data > self.patience
    }

    /// A wait without a loss, which ended with this packet.
    pub fn wait(&self, reason: Reason, start: Time, packet: &Packet) -> Wait {
        let (before, after) = (self.before, packet.into());
        Wait { reason, start, end: self.now, before, after, idle: self.idle }
    }

    /// Number of lost packets that were sent before the wait; packets that the timer sent during
    /// the wait do not count.
    pub fn beyond(&self, lost: u32) -> i64 {
        let most = i32::try_from(lost).unwrap_or(i32::MAX).clamp(1, MOST_TIMERS);
        let timer = self.timer.unwrap_or(Span::MAX);
        let again = chain::expiries(self.length(), timer, most) - 1;
        (i64::from(lost) - i64::from(again)).max(0)
    }

    /// A wait whose cause later packets will show. The wait ended with the segment from byte `from`
    /// to byte `to`.
    pub fn pending(&self, kind: Kind, packet: &Packet, (from, to): (i64, i64)) -> Pending {
        Pending {
            start: self.start,
            end: self.now,
            idle: self.idle,
            before: self.before,
            after: packet.into(),
            kind,
            from,
            to,
        }
    }

    /// A wait for a packet that was lost.
    pub fn stall(&self, ends: (Endpoint, Endpoint), packet: &Packet, finding: Finding) -> Stall {
        let (span, places) = ((self.start, self.now), (self.before, packet.into()));
        Stall::new(ends, span, places, self.idle, finding)
    }

    /// Whether the window of a flow was closed during the silence, so that the receiver caused the
    /// wait.
    pub fn is_shut_out(&self, flow: &Flow) -> bool {
        flow.window.was_shut(self.start)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stall::Cause;
    use crate::time::tests::{MS, at};

    /// A silence of some milliseconds on an idle link, on which a round trip takes one millisecond.
    pub fn gap(length: i64) -> Gap {
        Gap {
            start: at(0),
            now: at(0) + length * MS,
            quiet: length * MS,
            patience: 2 * MS,
            idle: 1.0,
            before: Place::default(),
            missing: None,
            if_counted: None,
            first: false,
            timer: None,
        }
    }

    #[test]
    fn a_stall_is_longer_than_a_round_trip_on_a_link_that_idles_for_one() {
        assert!(gap(3).is_stall() && !gap(2).is_stall());
        assert!(!Gap { idle: 0.09, ..gap(100) }.is_stall(), "nearly always busy");
        assert!(!Gap { idle: 0.1, ..gap(20) }.is_stall(), "as long as a round trip");
        assert!(Gap { idle: 0.1, ..gap(21) }.is_stall());
    }

    #[test]
    fn on_a_busy_link_it_is_as_long_as_a_timer() {
        let busy = |length, timer| Gap { idle: 0.0, timer, ..gap(length) }.is_stall();
        assert!(busy(151, None) && !busy(150, None));
        assert!(busy(16, Some(20 * MS)) && !busy(15, Some(20 * MS)));
        assert!(busy(9, Some(MS)) && !busy(8, Some(MS)), "and four times the patience");
    }

    #[test]
    fn new_bytes_are_waited_for_if_no_timer_is_as_short() {
        assert!(gap(3).is_wait(false) && !gap(2).is_wait(false));
        let short = Gap { patience: MS / 10, ..gap(1) };
        assert!(!short.is_wait(false));
        let lost = Gap { missing: Some(1), ..short };
        assert!(lost.is_wait(false), "a packet is known to be lost");
        assert!(!lost.is_wait(true), "but nobody waits for it");
        assert!(!Gap { missing: Some(0), ..short }.is_wait(false));
    }

    #[test]
    fn behind_packets_of_others_a_flow_waits_for_its_turn() {
        let busy = |length, missing| Gap { idle: 0.0, missing, ..gap(length) }.is_wait(false);
        assert!(!busy(1000, None) && !busy(1000, Some(0)));
        assert!(busy(151, Some(1)) && !busy(150, Some(1)));
    }

    #[test]
    fn a_flow_goes_on_at_once_or_late_unless_it_begins() {
        let it = gap(3);
        assert!(it.is_at_once(at(0) + MS) && !it.is_late(at(0) + MS));
        assert!(!it.is_at_once(at(-1) + MS) && it.is_late(at(-1) + MS));
        let first = Gap { first: true, ..it };
        assert!(!first.is_at_once(at(0) + MS) && !first.is_late(at(0)));
    }

    #[test]
    fn what_the_timer_of_a_wait_sent_was_not_lost_before_it() {
        let timer = Some(200 * MS);
        assert_eq!(Gap { timer, ..gap(200) }.beyond(5), 5);
        assert_eq!(Gap { timer, ..gap(600) }.beyond(5), 4, "the timer has sent one in vain");
        assert_eq!(Gap { timer, ..gap(1400) }.beyond(1), 1, "only one was lost");
        assert_eq!(gap(600).beyond(5), 5, "no timer is known");
        assert_eq!(gap(600).beyond(0), 0);
    }

    #[test]
    fn a_stall_lasts_from_the_packet_before_to_the_one_after() {
        let packet = Packet { frame: 9, ..Packet::default() };
        let ends = (Endpoint::default(), Endpoint::default());
        let stall = gap(5).stall(ends, &packet, Finding::of(Cause::FullWindow, 0.8));
        assert_eq!((stall.length(), stall.frames[1].frame), (5 * MS, 9));
        let wait = gap(5).wait(Reason::DelayedAck, at(0) + 2 * MS, &packet);
        assert_eq!((wait.length(), wait.after.frame), (3 * MS, 9));
    }
}
