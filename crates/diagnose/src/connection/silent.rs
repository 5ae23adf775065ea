//! Silences before new bytes. The cause is decided at the next packet, or at the end of the capture
//! if no packet comes.

use super::Connection;
use crate::event::Event;
use crate::flow::{Flow, Pending, Silent};
use crate::stall::{Cause, Finding, Reason, Stall};
use crate::time::{Span, Time};

const NO_WITNESS: &str =
    "no packet shows whether the data had been sent before or the sender had waited";

/// The round-trip time that is assumed until one has been measured.
const ROUND_TRIP: Span = Span::from_millis(1);

/// The cause, if data were lost.
fn cause(silent: &Silent) -> Option<Finding> {
    match silent.missing {
        Some(0) => None,
        Some(_) if silent.again => Some(Finding::of(Cause::LostRetransmission, 0.95)),
        Some(_) => Some(Finding::of(Cause::FullWindow, 0.97)),
        // No packet shows a loss, and no packet excludes a loss.
        None => Some(Finding::unknown(NO_WITNESS)),
    }
}

/// The reason for the silence if nothing was lost.
fn reason(silent: &Silent) -> Reason {
    if silent.first { Reason::FirstByte } else { Reason::Middle }
}

/// Whether a timer may have sent the bytes. If a timer has sent them, they are one full segment,
/// and the next segment comes a round trip later or is not adjacent.
fn is_lone(flow: &Flow, pending: &Pending, next: Option<(i64, Time)>, trip: Span) -> bool {
    let apart = |(start, now): (i64, Time)| now - pending.end > trip / 2 || start > pending.to;
    flow.segments.are_one(pending.to - pending.from) && next.is_some_and(apart)
}

/// The end that waited before the answer to a request that was sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The server waited. Its own timer has retransmitted the answer, because the answer did not
    /// arrive. The wait of the client for the same loss does not count as a second wait.
    Server,
    /// The server waited for packets that are known to be lost.
    ServerAlone,
    /// The client waited before the second request, and the server waited after it: the answer
    /// comes much later than the second request.
    Both,
    /// The client waited.
    Client,
}

/// The end that waited, according to the wait of the client.
fn who(asked: &Stall, silent: &Silent, apart: bool) -> Who {
    let lost = silent.missing.is_some_and(|missing| missing > 0);
    match asked.cause {
        Ok(Cause::AckLoss | Cause::Spurious) => Who::Server,
        _ if !lost => Who::Client,
        _ if apart => Who::Both,
        _ => Who::ServerAlone,
    }
}

impl Connection {
    /// Decides the cause of a silence before new bytes, at the next packet or at the end of the
    /// capture.
    pub(super) fn settle_silent(
        &mut self,
        side: usize,
        next: Option<(i64, Time)>,
        events: &mut Vec<Event>,
    ) {
        let flow = &mut self.flows[side];
        let Some((mut pending, silent)) = flow.waiting.take_silent() else { return };
        let trip = self.trips.round().unwrap_or_default();
        let restart = is_lone(flow, &pending, next, trip);
        let mut finding = cause(&silent);
        let asked = if silent.first { self.asked_again.take() } else { None };
        if let Some(stall) = asked {
            let apart = pending.end - stall.end > self.trips.patience(ROUND_TRIP);
            let who = who(&stall, &silent, apart);
            if who == Who::Server {
                finding = Some(Finding::of(Cause::FullWindow, 0.85));
            }
            if who == Who::Both {
                pending.start = stall.end;
            }
            if matches!(who, Who::Both | Who::Client) {
                events.push(Event::Stalled { side: 1 - side, stall });
            }
            if who == Who::Client {
                return;
            }
        }
        if let Some(finding) = finding {
            self.lost_silently(side, &pending, (&silent, restart), finding, events);
        } else {
            events.push(Event::Waited { side, wait: pending.wait(reason(&silent)) });
        }
    }

    /// Reports a silence in which the flow waited for lost packets that the capture does not show.
    fn lost_silently(
        &mut self,
        side: usize,
        pending: &Pending,
        (silent, restart): (&Silent, bool),
        finding: Finding,
        events: &mut Vec<Event>,
    ) {
        let missing = silent.missing;
        if finding.cause.is_ok() {
            let packets = missing.unwrap_or(1);
            events.push(Event::Lost { side, packets, at_once: false });
        }
        let counted = Silent { missing: silent.if_counted, ..*silent };
        let if_counted = cause(&counted).and_then(|found| found.cause.ok());
        let (span, places) = ((pending.start, pending.end), (pending.before, pending.after));
        let stall = Stall::new(self.ends_of(side), span, places, pending.idle, finding);
        let (open, reason) = (finding.cause.is_err(), reason(silent));
        let stall = Stall { missing, proven: false, open, restart, reason, if_counted, ..stall };
        self.keep(side, stall, events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::Kind;
    use crate::stall::Place;
    use crate::stall::tests::stall;
    use crate::time::tests::{at, ns};

    fn silent(missing: Option<u32>) -> Silent {
        Silent { first: true, again: false, missing, if_counted: None }
    }

    #[test]
    fn numbers_tell_whether_a_window_was_lost() {
        let found = |silent| cause(&silent).map(|found| found.cause);
        assert_eq!(found(silent(Some(0))), None, "the server was slow");
        assert_eq!(found(silent(Some(3))), Some(Ok(Cause::FullWindow)));
        let again = Silent { again: true, ..silent(Some(3)) };
        assert_eq!(found(again), Some(Ok(Cause::LostRetransmission)));
    }

    #[test]
    fn without_numbers_it_is_open() {
        assert_eq!(cause(&silent(None)), Some(Finding::unknown(NO_WITNESS)));
        assert_eq!([reason(&silent(None))], [Reason::FirstByte]);
    }

    #[test]
    fn a_timer_sends_one_full_segment() {
        let lone = |to, next: Option<(i64, i64)>| {
            let mut flow = Flow::default();
            flow.segments.accept(Some(1460));
            let (start, end) = (at(0), at(1000));
            let (idle, before, after) = (1.0, Place::default(), Place::default());
            let kind = Kind::Silent(silent(None));
            let pending = Pending { start, end, idle, before, after, kind, from: 0, to };
            is_lone(&flow, &pending, next.map(|(start, now)| (start, at(now))), ns(100))
        };
        assert!(lone(1460, Some((1460, 1051))) && !lone(1460, Some((1460, 1050))));
        assert!(lone(1460, Some((1461, 1001))), "others are missing between");
        assert!(!lone(1460, None), "nothing follows");
        assert!(!lone(1000, Some((1461, 2000))), "the application had no more");
    }

    #[test]
    fn the_answer_to_a_request_that_was_sent_again_tells_who_waited() {
        let window = stall(0, 200, Cause::FullWindow);
        let vain = [Cause::AckLoss, Cause::Spurious].map(|cause| stall(0, 200, cause));
        for stall in &vain {
            for missing in [None, Some(0), Some(2)] {
                assert_eq!(who(stall, &silent(missing), true), Who::Server);
            }
        }
        assert_eq!(who(&window, &silent(Some(2)), true), Who::Both);
        assert_eq!(who(&window, &silent(Some(2)), false), Who::ServerAlone);
        assert_eq!(who(&window, &silent(Some(0)), true), Who::Client);
        assert_eq!(who(&window, &silent(None), true), Who::Client);
    }
}
