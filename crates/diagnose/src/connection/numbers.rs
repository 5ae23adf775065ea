//! The number of packets that were lost before a segment, according to the identifications of IP
//! packets. The number of missing bytes shows whether this number of packets is possible.

use super::data::Arrival;
use super::gap::SOON;
use super::{Around, Connection};
use crate::flow::{Flow, Seen};
use crate::time::{Span, Time};

/// The longest initial retransmission timer (RFC 6298 §2: a second, or 3 s after a lost SYN).
const TIMER: Span = Span::from_secs(3);
/// Largest number of doublings of a timer that is considered.
const MOST_DOUBLED: u32 = 8;
/// Number of lost retransmissions that are possible in addition to one lost window.
const MOST_REPEATS: i64 = 16;

impl Connection {
    /// Number of lost packets, if the sender counts the packets of each connection.
    pub(super) fn lost_before(&mut self, it: &Arrival, around: Around) -> Option<u32> {
        let flow = &mut self.flows[it.side];
        let missing = around.missing?;
        let silence = it.now - flow.last_data();
        let new = flow.new_packets(it.start);
        let hidden = missing.saturating_sub(new);
        if is_impossible(flow, hidden, silence) {
            flow.ids.vote(false);
            flow.ids.vote(false);
            return None;
        }
        let early = flow.hidden.early();
        let quick = silence <= self.trips.patience(around.round_trip);
        if matches!(it.seen, Seen::Next | Seen::Beyond) {
            vote(flow, (missing, new), quick, it.seen == Seen::Next);
        } else {
            vote_repeated(flow, missing, quick);
        }
        flow.hidden.add(hidden);
        let late = it.seen == Seen::Next && silence > SOON;
        Some(if late { missing + early } else { missing })
    }
}

/// Whether it is impossible that `hidden` packets were lost in addition to the packets of a hole.
/// It is impossible if the window has no room for so many packets, or if the silence is so long
/// that the retransmission timer would have sent more packets, although it doubles.
fn is_impossible(flow: &Flow, hidden: u32, silence: Span) -> bool {
    let longest = TIMER * (1 << hidden.min(MOST_DOUBLED));
    let room = flow.window.room(flow.bytes.una(), flow.segments.usual());
    hidden > 0 && flow.last_data() > Time::default() && silence > longest
        || room.is_some_and(|room| i64::from(hidden) > room + MOST_REPEATS)
}

/// `missing` packets are missing before new bytes according to the identifications, and `new`
/// packets according to the bytes. Votes on whether the two numbers agree. `quick` is true if the
/// new bytes came without a silence, and `next` is true if they follow the highest byte seen
/// without a hole.
fn vote(flow: &mut Flow, (missing, new): (u32, u32), quick: bool, next: bool) {
    // While losses are repaired, retransmissions may be missing, too.
    let repairs = flow.is_repaired();
    let early = flow.hidden.take_early();
    let agrees = missing <= new && new <= missing + early;
    if !quick && next && missing > new {
        flow.ids.is_silent();
    }
    // If bytes come after a silence, earlier transmissions of them may have been lost, too. A
    // disagreement then shows nothing.
    if agrees || quick && !repairs {
        flow.ids.vote(agrees);
        if new > 0 && missing == new {
            flow.ids.matches();
        }
    }
}

/// Before repeated bytes, `missing` packets are missing according to the identifications. If none is
/// missing and there was no silence, the numbers agree with the bytes. A missing packet may be
/// another retransmission, so it does not contradict them.
fn vote_repeated(flow: &mut Flow, missing: u32, quick: bool) {
    flow.hidden.add_early(missing);
    if quick && missing == 0 {
        flow.ids.vote(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::{Class, Host};
    use crate::stall::Place;
    use crate::time::tests::at;

    /// A flow that has sent one segment of 1000 bytes at time `sent`.
    fn flow(sent: Time) -> Flow {
        let mut flow = Flow::default();
        flow.segments.accept(Some(1000));
        flow.bytes.open(0);
        flow.take((0, 1000), sent, Place::default());
        flow
    }

    #[test]
    fn no_more_packets_are_lost_than_a_window_and_repeats_have() {
        let mut flow = flow(at(1));
        assert!(!is_impossible(&flow, 1000, Span::ZERO), "no window is known");
        flow.window.shift(None);
        flow.window.offer((10_000, 0), 1000, [(at(0), Place::default()); 2], false);
        assert!(!is_impossible(&flow, 26, Span::ZERO) && is_impossible(&flow, 27, Span::ZERO));
    }

    #[test]
    fn few_packets_are_not_lost_in_a_time_in_which_a_timer_sends_many() {
        let within =
            |hidden, seconds: i64| !is_impossible(&flow(at(1)), hidden, Span::from_secs(seconds));
        assert!(within(1, 6) && !within(1, 7), "one timer, twice as long");
        assert!(within(2, 12) && !within(2, 13));
        assert!(within(100, 768) && !within(100, 769));
        assert!(within(0, 1000), "none was lost");
        assert!(!is_impossible(&flow(at(0)), 1, Span::MAX), "nothing was sent before");
    }

    /// The class of a host after four packets whose numbers agree, and one whose number does not.
    fn class(quick: bool) -> Class {
        let mut flow = flow(at(1));
        (0..4).for_each(|_| vote(&mut flow, (1, 1), quick, true));
        vote(&mut flow, (2, 1), quick, false);
        let mut host = Host::default();
        host.add(flow.ids.collect());
        host.class()
    }

    #[test]
    fn late_packets_speak_for_numbers_and_not_against_them() {
        assert_eq!(class(false), Class::PerConnection);
        assert_eq!(class(true), Class::Unknown, "one of five does not agree");
    }

    #[test]
    fn repeated_packets_speak_for_numbers_if_they_follow_at_once_without_a_gap() {
        let class = |missing, quick| {
            let mut flow = flow(at(1));
            (0..4).for_each(|_| vote_repeated(&mut flow, missing, quick));
            let mut host = Host::default();
            host.opened_bare();
            host.add(flow.ids.collect());
            (host.class(), flow.hidden.early())
        };
        assert_eq!(class(0, true), (Class::PerConnection, 0));
        assert_eq!(class(0, false), (Class::Unknown, 0));
        assert_eq!(class(1, true), (Class::Unknown, 4));
    }
}
