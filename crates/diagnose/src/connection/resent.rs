//! The reason why the first missing segment was retransmitted although it had been seen before. The
//! next ACK shows this reason.

use super::Connection;
use super::acknowledge::Answer;
use crate::event::Event;
use crate::flow::{Pending, Resent};
use crate::stall::{Cause, Ended, Finding, Reason, Stall};
use crate::time::Span;

const NO_DUPLICATES_TOLD: &str =
    "the connection has no SACK, so the receiver cannot report that it had the segment";
/// No common host delays an ACK for longer than this.
const LONGEST_DELAY: Span = Span::from_millis(200);

const NO_ANSWER: &str = "no answer to the retransmission was captured";

/// The evidence about a retransmitted segment when the ACK comes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a piece of evidence")]
struct Evidence {
    /// Whether the segment had been retransmitted before.
    resent: bool,
    /// Whether the segment is the last segment sent, and not the first missing segment.
    probe: bool,
    /// Whether no other segment is outstanding.
    alone: bool,
    /// Whether later segments had arrived.
    behind: bool,
    /// Whether the receiver reports that the segment came twice.
    duplicate: bool,
    /// Whether the receiver had the segment: the ACK was sent before the retransmission arrived, or
    /// the segment was seen at the receiver.
    had: bool,
    /// Whether the ACK comes too soon to answer the retransmission.
    at_once: bool,
    /// Whether nothing beyond the segment is acknowledged.
    only: bool,
    /// Whether the wait was so short that the receiver may have delayed its ACK until then.
    short: bool,
    at_sender: bool,
    at_receiver: bool,
    /// Whether the receiver may send SACK ranges.
    selective: bool,
}

/// The cause of the retransmission.
fn cause(it: &Evidence) -> Finding {
    if it.resent && !it.duplicate {
        Finding::of(Cause::LostRetransmission, 0.97)
    } else if (it.had || it.duplicate) && (it.at_once || it.at_receiver) {
        // The ACK was still on the way, or the receiver had delayed it. A capture at the receiver
        // shows all ACKs that the receiver sent.
        Finding::of(Cause::Spurious, 0.9)
    } else if (it.had || it.duplicate) && it.only && it.short && !it.behind {
        // A receiver delays the ACK of a single segment.
        Finding::of(Cause::Spurious, 0.7)
    } else if it.had || it.duplicate {
        Finding::of(Cause::AckLoss, 0.9)
    } else if it.behind {
        Finding::of(Cause::LackOfDupacks, 0.9)
    } else if it.only {
        if !it.selective && (it.probe || it.alone && it.at_sender) {
            Finding::unknown(NO_DUPLICATES_TOLD)
        } else {
            Finding::of(Cause::FullWindow, 0.95)
        }
    } else if it.selective || !it.at_sender {
        Finding::of(Cause::LackOfDupacks, 0.6)
    } else {
        Finding::unknown(NO_DUPLICATES_TOLD)
    }
}

/// The cause if no ACK comes before the segment is retransmitted once more, or before the capture
/// ends. `more` is true if more segments were retransmitted.
fn unanswered(resent: &Resent, more: bool) -> Finding {
    if resent.before {
        Finding::of(Cause::LostRetransmission, 0.95)
    } else if resent.dupacks > 0 || resent.sacked {
        Finding::of(Cause::LackOfDupacks, 0.8)
    } else if more {
        Finding::of(Cause::FullWindow, 0.7)
    } else {
        Finding::unknown(NO_ANSWER)
    }
}

impl Connection {
    /// Takes the ACK after a retransmitted segment.
    #[cold]
    pub(super) fn settle_resent(&mut self, side: usize, answer: &Answer, events: &mut Vec<Event>) {
        let flow = &self.flows[side];
        let Some((pending, resent)) = flow.waiting.resent() else { return };
        let named = resent.probe && answer.selective;
        if answer.ack <= flow.bytes.una() && !answer.duplicate && !named {
            return;
        }
        let reply = self.trips.least(1 - side).unwrap_or_default();
        let at_once = answer.now - pending.end < reply * 3 / 4;
        if self.asks(side) && at_once {
            // The request had arrived, and the answer was on the way.
            if answer.data && pending.end - pending.start >= LONGEST_DELAY {
                // The server's ACK is missing, so what the server sent before was lost.
                let finding = Finding::of(Cause::Spurious, 0.9);
                let repeat = Repeat { ended: Ended::Timeout, proven: true, finding };
                self.repeated(side, &pending, repeat, events);
            } else {
                self.flows[side].waiting.settle();
            }
            return;
        }
        let at_receiver = self.trips.near(1 - side);
        let told = resent.dupacks > 0 || resent.sacked;
        // A segment that was seen at the receiver has arrived there, unless the receiver asks for
        // it again.
        let arrived = at_receiver && !told;
        let finding = cause(&Evidence {
            resent: resent.before,
            probe: resent.probe,
            alone: resent.top - pending.from <= flow.segments.usual(),
            behind: told || named,
            duplicate: answer.duplicate,
            had: answer.is_older(resent.value) || arrived,
            at_once,
            only: answer.ack <= pending.to,
            short: pending.end - pending.start < LONGEST_DELAY,
            at_sender: self.trips.near(side),
            at_receiver,
            selective: self.sack[1 - side],
        });
        let ended = if resent.probe { Ended::Probe } else { Ended::Timeout };
        self.repeated(side, &pending, Repeat { ended, proven: true, finding }, events);
    }

    /// Takes the ACK after new bytes that may have been a probe (RFC 8985 §7.3).
    pub(super) fn settle_probed(&mut self, side: usize, ack: i64, events: &mut Vec<Event>) {
        let Some((pending, probed)) = self.flows[side].waiting.probed() else { return };
        if ack <= probed.una {
            let cause = if probed.arrived { Cause::LackOfDupacks } else { Cause::FullWindow };
            let finding = Finding::of(cause, 0.9);
            let repeat = Repeat { ended: Ended::Probe, proven: false, finding };
            self.repeated(side, &pending, repeat, events);
            return;
        }
        self.flows[side].waiting.settle();
        events.push(Event::Waited { side, wait: pending.wait(Reason::Middle) });
    }

    /// Decides the cause without an answer, because the segment was sent once more or the capture
    /// ends.
    pub(super) fn give_up_resent(&mut self, side: usize, events: &mut Vec<Event>) {
        let flow = &self.flows[side];
        let Some((pending, resent)) = flow.waiting.resent() else { return };
        let finding = unanswered(&resent, flow.repair.has_resent(pending.from));
        let ended = if resent.probe { Ended::Probe } else { Ended::Timeout };
        self.repeated(side, &pending, Repeat { ended, proven: true, finding }, events);
    }

    /// Reports a retransmission whose cause is known.
    fn repeated(
        &mut self,
        side: usize,
        pending: &Pending,
        repeat: Repeat,
        events: &mut Vec<Event>,
    ) {
        let asks = self.asks(side);
        let Repeat { ended, proven, mut finding } = repeat;
        if asks {
            // A request is the only data in its window.
            finding.cause = finding.cause.or(Ok(Cause::FullWindow));
        }
        let (span, places) = ((pending.start, pending.end), (pending.before, pending.after));
        let stall = Stall::new(self.ends_of(side), span, places, pending.idle, finding);
        let stall = Stall { ended, behind: pending.to, upstream: true, proven, ..stall };
        let waiting = &mut self.flows[side].waiting;
        waiting.settle();
        if asks {
            // The answer will show whether the request or the answer was lost.
            let before = self.asked_again.replace(stall).filter(Stall::is_its_own);
            events.extend(before.map(|stall| Event::Stalled { side, stall }));
        } else if waiting.message().is_some() {
            self.keep(side, stall, events);
        } else {
            events.push(Event::Stalled { side, stall });
        }
    }
}

/// A retransmission that ended a wait, and the cause of the wait.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    ended: Ended,
    /// Whether the retransmission itself was seen.
    proven: bool,
    finding: Finding,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: Evidence) -> Result<Cause, &'static str> {
        cause(&evidence).cause
    }

    /// The only evidence is that the receiver uses SACK.
    const NONE: Evidence = Evidence {
        resent: false,
        probe: false,
        alone: false,
        behind: false,
        duplicate: false,
        had: false,
        at_once: false,
        only: false,
        short: false,
        at_sender: false,
        at_receiver: false,
        selective: true,
    };

    #[test]
    fn what_was_sent_again_before_was_lost_again_unless_it_came_twice() {
        let again = Evidence { resent: true, had: true, behind: true, ..NONE };
        assert_eq!(found(again), Ok(Cause::LostRetransmission));
        assert_eq!(found(Evidence { duplicate: true, ..again }), Ok(Cause::AckLoss));
    }

    #[test]
    fn what_the_receiver_had_was_sent_in_vain() {
        for had in [Evidence { had: true, ..NONE }, Evidence { duplicate: true, ..NONE }] {
            assert_eq!(found(Evidence { at_once: true, ..had }), Ok(Cause::Spurious));
            assert_eq!(found(Evidence { at_receiver: true, ..had }), Ok(Cause::Spurious));
            assert_eq!(found(had), Ok(Cause::AckLoss));
        }
        assert_ne!(found(Evidence { at_once: true, ..NONE }), Ok(Cause::Spurious));
    }

    #[test]
    fn the_ack_of_a_single_segment_was_delayed_if_the_wait_was_short() {
        let single = Evidence { duplicate: true, only: true, short: true, ..NONE };
        assert_eq!(cause(&single), Finding::of(Cause::Spurious, 0.7));
        for other in [
            Evidence { only: false, ..single },
            Evidence { short: false, ..single },
            Evidence { behind: true, ..single },
        ] {
            assert_eq!(found(other), Ok(Cause::AckLoss));
        }
    }

    #[test]
    fn where_others_arrived_behind_it_they_were_too_few() {
        let few = Evidence { behind: true, only: true, ..NONE };
        assert_eq!(cause(&few), Finding::of(Cause::LackOfDupacks, 0.9));
    }

    #[test]
    fn where_it_alone_arrives_now_nothing_had() {
        let only = Evidence { only: true, ..NONE };
        assert_eq!(found(only), Ok(Cause::FullWindow));
        let silent = Evidence { selective: false, ..only };
        assert_eq!(found(silent), Ok(Cause::FullWindow));
        let alone = Evidence { alone: true, ..silent };
        assert_eq!(found(alone), Ok(Cause::FullWindow), "behind the sender, the ACK would be seen");
        assert_eq!(found(Evidence { at_sender: true, ..alone }), Err(NO_DUPLICATES_TOLD));
        assert_eq!(found(Evidence { at_sender: true, ..silent }), Ok(Cause::FullWindow));
        assert_eq!(found(Evidence { probe: true, ..silent }), Err(NO_DUPLICATES_TOLD));
        assert_eq!(found(Evidence { probe: true, ..only }), Ok(Cause::FullWindow));
    }

    #[test]
    fn where_more_arrives_others_had_unless_nobody_could_tell() {
        assert_eq!(cause(&NONE), Finding::of(Cause::LackOfDupacks, 0.6));
        let silent = Evidence { selective: false, ..NONE };
        assert_eq!(found(silent), Ok(Cause::LackOfDupacks));
        assert_eq!(found(Evidence { at_sender: true, ..silent }), Err(NO_DUPLICATES_TOLD));
        assert_eq!(found(Evidence { at_sender: true, ..NONE }), Ok(Cause::LackOfDupacks));
    }

    #[test]
    fn without_an_answer_what_was_told_before_decides() {
        let none =
            Resent { top: 0, dupacks: 0, sacked: false, before: false, probe: false, value: None };
        let found = |resent, more| unanswered(&resent, more).cause;
        assert_eq!(found(Resent { before: true, ..none }, true), Ok(Cause::LostRetransmission));
        assert_eq!(found(Resent { dupacks: 1, ..none }, true), Ok(Cause::LackOfDupacks));
        assert_eq!(found(Resent { sacked: true, ..none }, true), Ok(Cause::LackOfDupacks));
        assert_eq!(found(none, true), Ok(Cause::FullWindow));
        assert_eq!(found(none, false), Err(NO_ANSWER));
    }
}
