//! Segments that were missing, because they were lost before the vantage point or are late.

use super::Connection;
use super::data::Arrival;
use super::gap::Gap;
use crate::event::Event;
use crate::flow::{Flow, Hole};
use crate::stall::{Cause, Finding, Stall};

const UNNUMBERED: &str = "the segment was already outstanding in an earlier repair, and without \
                          counted IP identifications the capture does not show whether it was \
                          retransmitted then and lost again";

/// Duplicate ACKs that trigger a fast retransmit (RFC 5681 §3.2).
const DUPLICATES: u32 = 3;

/// The evidence about a segment that fills a hole after a wait.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a piece of evidence")]
struct Evidence {
    /// Whether the segment's bytes had been sent before, so that the lost packet was a
    /// retransmission.
    again: bool,
    /// Whether bytes after the segment were retransmitted before the segment was seen. An earlier
    /// retransmission of the segment was then lost.
    passed: bool,
    /// Whether the receiver had asked for the segment: a repair was in progress, or three duplicate
    /// ACKs were sent.
    asked: bool,
    /// Whether no later segment had arrived.
    alone: bool,
    /// Whether no new byte was acknowledged since the last repair ended. The sender may then have
    /// refused a fast retransmit.
    after_repair: bool,
}

impl Evidence {
    /// The evidence of a flow and its first hole. With SACK, every packet behind a hole is evidence
    /// of the loss; without SACK, every duplicate ACK is.
    fn of(flow: &Flow, hole: &Hole, selective: bool) -> Self {
        let (una, told) = (flow.bytes.una(), flow.repair.duplicates());
        let duplicates = if selective { hole.behind.max(told) } else { told };
        Self {
            again: hole.again,
            passed: hole.passed,
            asked: flow.repair.covers(una) || duplicates >= DUPLICATES,
            alone: duplicates == 0 && hole.behind == 0,
            after_repair: flow.repair.may_refuse(una),
        }
    }

    /// The cause of the wait. `lost` tells whether more packets were lost than the holes show; it
    /// is `None` if the identifications of IP packets do not tell.
    fn cause(self, lost: Option<bool>) -> Finding {
        let asked_or_alone = self.asked || self.alone;
        match lost {
            None if self.passed => Finding::of(Cause::LostRetransmission, 0.9),
            Some(_) if self.again => Finding::of(Cause::LostRetransmission, 0.95),
            Some(true) if asked_or_alone => Finding::of(Cause::LostRetransmission, 0.95),
            None if self.after_repair => Finding::unknown(UNNUMBERED),
            None if self.asked => Finding::of(Cause::LostRetransmission, 0.85),
            _ if self.alone => Finding::of(Cause::FullWindow, 0.9),
            Some(_) => Finding::of(Cause::LackOfDupacks, 0.95),
            None => Finding::of(Cause::LackOfDupacks, 0.9),
        }
    }
}

impl Connection {
    /// Takes a segment that was missing.
    #[cold]
    pub(super) fn missing(&mut self, it: &Arrival, gap: &Gap, events: &mut Vec<Event>) {
        let side = it.side;
        let trip = self.trips.round();
        let (ends, selective) = (self.ends_of(side), self.is_selective());
        let flow = &mut self.flows[side];
        let Some(hole) = flow.bytes.hole(it.start, it.end) else { return };
        flow.bytes.fill(&hole, gap.now);
        if trip.is_some_and(|trip| gap.now - hole.made < trip / 2) {
            events.push(Event::Reordered { side });
            return;
        }
        let first = flow.bytes.is_first(&hole);
        flow.bytes.pass_over(it.start);
        let evidence = Evidence::of(flow, &hole, selective);
        if first {
            begin_repair(flow, gap);
        }
        if !first || !gap.is_stall() {
            return;
        }
        let hidden = flow.hidden.count();
        let finding = evidence.cause(gap.missing.map(|_| hidden > 0));
        let if_counted = gap.if_counted.and_then(|_| evidence.cause(Some(hidden > 0)).cause.ok());
        let missing = gap.missing.map(|_| hidden);
        let stall = gap.stall(ends, it.packet, finding);
        self.keep(side, Stall { missing, if_counted, behind: it.end, ..stall }, events);
    }
}

/// Begins a repair, because the first hole is filled. The repair covers all bytes sent so far, and
/// needs no further duplicate ACKs. After a wait, the repair also covers packets that were lost
/// after the last packet, because the sender will retransmit them, too.
fn begin_repair(flow: &mut Flow, gap: &Gap) {
    let top = flow.bytes.top();
    if gap.is_stall() {
        let hidden = gap.missing.map_or(0, |_| flow.hidden.count());
        flow.repair.begin(top + gap.beyond(hidden) * flow.segments.usual());
    } else if !flow.repair.covers(flow.bytes.una()) {
        flow.repair.begin(top);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::at;

    /// The evidence if only two packets arrived after the segment.
    const FEW: Evidence =
        Evidence { again: false, passed: false, asked: false, alone: false, after_repair: false };

    fn found(evidence: Evidence) -> [Result<Cause, &'static str>; 3] {
        [None, Some(false), Some(true)].map(|lost| evidence.cause(lost).cause)
    }

    const LOST: Result<Cause, &str> = Ok(Cause::LostRetransmission);
    const LACK: Result<Cause, &str> = Ok(Cause::LackOfDupacks);
    const WINDOW: Result<Cause, &str> = Ok(Cause::FullWindow);

    #[test]
    fn too_few_duplicates_are_a_lack_of_them() {
        assert_eq!(found(FEW), [LACK; 3]);
        assert!(FEW.cause(Some(true)).confidence > FEW.cause(None).confidence);
    }

    #[test]
    fn bytes_that_had_been_sent_before_are_known_by_numbers() {
        assert_eq!(found(Evidence { again: true, ..FEW }), [LACK, LOST, LOST]);
    }

    #[test]
    fn a_hole_that_a_repair_has_passed_over_was_repaired_in_vain() {
        assert_eq!(found(Evidence { passed: true, ..FEW }), [LOST, LACK, LACK]);
        let late = Evidence { passed: true, after_repair: true, ..FEW };
        assert_eq!(found(late)[0], LOST, "it does not matter when");
    }

    #[test]
    fn what_was_asked_for_was_sent_unless_numbers_say_that_nothing_was_lost() {
        assert_eq!(found(Evidence { asked: true, ..FEW }), [LOST, LACK, LOST]);
    }

    #[test]
    fn what_had_nothing_behind_it_was_a_window_or_was_sent_again_in_vain() {
        assert_eq!(found(Evidence { alone: true, ..FEW }), [WINDOW, WINDOW, LOST]);
        assert_eq!(found(Evidence { alone: true, asked: true, ..FEW }), [LOST, WINDOW, LOST]);
    }

    #[test]
    fn after_a_repair_only_numbers_tell() {
        let after = Evidence { after_repair: true, ..FEW };
        assert_eq!(found(after), [Err(UNNUMBERED), LACK, LACK]);
        assert_eq!(found(Evidence { asked: true, ..after }), [Err(UNNUMBERED), LACK, LOST]);
        assert_eq!(found(Evidence { alone: true, ..after }), [Err(UNNUMBERED), WINDOW, LOST]);
    }

    /// A flow of segments of 1000 bytes without its second segment, and the hole.
    fn flow(behind: i64) -> (Flow, Hole) {
        let mut flow = Flow::default();
        flow.segments.accept(Some(1000));
        flow.bytes.open(0);
        for number in [0].into_iter().chain(2..2 + behind) {
            flow.bytes.take((number * 1000, number * 1000 + 1000), false, at(0));
        }
        flow.bytes.acknowledged(1000);
        let hole = flow.bytes.hole(1000, 2000).expect("a hole");
        (flow, hole)
    }

    #[test]
    fn three_packets_behind_a_hole_ask_for_it_if_the_receiver_names_ranges() {
        let asked = |behind, selective| {
            let (flow, hole) = flow(behind);
            Evidence::of(&flow, &hole, selective).asked
        };
        assert!(asked(3, true) && !asked(2, true) && !asked(3, false));
        let (mut told, hole) = flow(2);
        (0..3).for_each(|_| told.repair.duplicate(4000));
        assert!(Evidence::of(&told, &hole, false).asked);
    }

    #[test]
    fn a_wait_begins_a_repair_of_all_that_was_sent_and_of_what_was_lost_behind_it() {
        use super::super::gap::tests::gap;
        let repaired = |gap: &Gap, before: i64| {
            let (mut flow, _) = flow(1);
            flow.hidden.add(2);
            flow.repair.begin(before);
            begin_repair(&mut flow, gap);
            (0..9).take_while(|number| flow.repair.covers(number * 1000)).count()
        };
        assert_eq!(repaired(&gap(1), 0), 3, "no wait: up to the highest byte");
        assert_eq!(repaired(&gap(1), 2000), 2, "one goes on");
        assert_eq!(repaired(&gap(200), 2000), 3, "a wait begins another");
        assert_eq!(repaired(&Gap { missing: Some(0), ..gap(200) }, 0), 5, "two were lost behind");
    }
}
