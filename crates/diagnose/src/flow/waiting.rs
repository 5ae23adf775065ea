//! The waits of a flow: for a request, for the end of its message, or for packets that show the
//! cause of a wait.

use crate::event::Message;
use crate::load::Mark;
use crate::stall::{Cause, Place, Reason, Stall, Wait};
use crate::time::Time;

/// Maximum number of undecided stalls that are kept.
const MOST: usize = 64;

/// A wait whose cause later packets will show.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub start: Time,
    pub end: Time,
    pub idle: f64,
    pub before: Place,
    pub after: Place,
    pub kind: Kind,
    /// The segment that ended the wait.
    pub from: i64,
    pub to: i64,
}

impl Pending {
    /// The wait, if nothing was lost.
    pub fn wait(&self, reason: Reason) -> Wait {
        let Self { start, end, before, after, idle, .. } = *self;
        Wait { reason, start, end, before, after, idle }
    }
}

/// The kind of a pending wait.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The first missing segment was sent again. The next ACK shows the cause.
    Resent(Resent),
    /// New bytes came after a silence in which older bytes were not acknowledged. The next ACK
    /// shows whether the older bytes are lost.
    Probed(Probed),
    /// New bytes came after a silence. The next packet shows the cause.
    Silent(Silent),
}

/// The evidence at the time when a segment was sent again.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// The highest byte seen.
    pub top: i64,
    /// Number of segments that had arrived behind the segment, and whether the receiver had sent
    /// SACK ranges.
    pub dupacks: u32,
    pub sacked: bool,
    /// Whether the segment had been sent again before.
    pub before: bool,
    /// Whether the segment is the last segment sent, and not the first missing segment.
    pub probe: bool,
    /// The timestamp of the segment.
    pub value: Option<u32>,
}

/// The evidence at the time when new bytes came although older bytes were outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Probed {
    /// The first of the older bytes.
    pub una: i64,
    /// Whether other bytes had arrived behind the older bytes.
    pub arrived: bool,
}

/// The evidence at the time when new bytes came after a silence.
#[derive(Clone, Copy, Debug)]
pub struct Silent {
    /// Whether the new bytes are the first of a message.
    pub first: bool,
    /// Whether the new bytes had been sent before.
    pub again: bool,
    /// Number of packets that were lost before the new bytes, according to the identifications of
    /// IP packets. While it is not known whether the sender counts the packets of each connection,
    /// only `if_counted` is set: the number of lost packets if the sender does so.
    pub missing: Option<u32>,
    pub if_counted: Option<u32>,
}

/// The waits of a flow.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Time at which the flow's answer was requested, and the idle time of the requesting host's
    /// link until then.
    asked: Option<(Time, Mark)>,
    pub(super) message: Option<Message>,
    pub(super) pending: Option<Pending>,
    /// Stalls of the current message whose cause is decided when the message ends.
    unsettled: Vec<Stall>,
}

impl Waiting {
    /// Notes that the other end asks.
    pub fn ask(&mut self, now: Time, mark: Mark) {
        self.asked = Some((now, mark));
    }

    /// Time of the last request, and the idle time of the link until then.
    pub fn asked(&self) -> Option<(Time, Mark)> {
        self.asked
    }

    /// Begins a message.
    pub fn begin(&mut self, message: Message) {
        self.message = Some(message);
    }

    /// The current message.
    pub fn message(&self) -> Option<Message> {
        self.message
    }

    /// The current message, mutably.
    pub fn message_mut(&mut self) -> Option<&mut Message> {
        self.message.as_mut()
    }

    /// Ends the current message.
    pub fn end(&mut self) -> Option<Message> {
        self.message.take()
    }

    /// Keeps a wait until later packets show its cause.
    pub fn wait_for(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    /// Whether later packets must show the cause of a wait. Nearly always, there is none.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Forgets the pending wait.
    pub fn settle(&mut self) {
        self.pending = None;
    }

    /// The wait for an ACK after a segment was sent again.
    pub fn resent(&self) -> Option<(Pending, Resent)> {
        self.pending.and_then(|pending| match pending.kind {
            Kind::Resent(resent) => Some((pending, resent)),
            _ => None,
        })
    }

    /// The wait for an ACK after new bytes that may have been a probe.
    pub fn probed(&self) -> Option<(Pending, Probed)> {
        self.pending.and_then(|pending| match pending.kind {
            Kind::Probed(probed) => Some((pending, probed)),
            _ => None,
        })
    }

    /// Removes and returns the pending wait, because new bytes have arrived.
    pub fn take_silent(&mut self) -> Option<(Pending, Silent)> {
        match self.pending?.kind {
            Kind::Silent(silent) => self.pending.take().map(|pending| (pending, silent)),
            _ => None,
        }
    }

    /// Keeps a stall whose cause is decided when the message ends. Returns whether many such stalls
    /// are kept.
    pub fn keep(&mut self, stall: Stall) -> bool {
        self.unsettled.push(stall);
        self.is_full()
    }

    /// Whether many stalls are kept until the message ends.
    pub fn is_full(&self) -> bool {
        self.unsettled.len() >= MOST
    }

    /// Decides the stalls of a message that ends at `top`. A loss is a tail loss (RFC 6298 §5) if
    /// fewer than three segments followed the lost segment, so that there could not be three
    /// duplicate ACKs.
    pub fn decide(&mut self, top: i64, segment: i64) -> impl Iterator<Item = Stall> + use<> {
        std::mem::take(&mut self.unsettled).into_iter().map(move |mut stall| {
            stall.near_end = top.saturating_sub(stall.behind) <= 2 * segment;
            if stall.cause == Ok(Cause::LackOfDupacks) && stall.near_end {
                stall.cause = Ok(Cause::Tail);
            }
            stall
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stall::tests::stall;
    use crate::time::tests::at;

    #[test]
    fn fewer_than_three_segments_behind_a_loss_are_a_tail() {
        let cause = |cause, behind| {
            let mut waiting = Waiting::default();
            waiting.keep(Stall { behind, ..stall(0, 200, cause) });
            waiting.decide(10_000, 1000).map(|stall| (stall.cause, stall.near_end)).next()
        };
        let lack = Cause::LackOfDupacks;
        assert_eq!(cause(lack, 7999), Some((Ok(lack), false)));
        assert_eq!(cause(lack, 8000), Some((Ok(Cause::Tail), true)));
        assert_eq!(cause(Cause::FullWindow, 8000), Some((Ok(Cause::FullWindow), true)));
        assert_eq!(cause(lack, i64::MIN), Some((Ok(lack), false)), "it is not known where it was");
    }

    #[test]
    fn undecided_stalls_are_limited() {
        let mut waiting = Waiting::default();
        let full: Vec<bool> =
            (0..64).map(|_| waiting.keep(stall(0, 200, Cause::Spurious))).collect();
        assert!(full[63] && !full[62]);
        assert_eq!(waiting.decide(0, 1460).count(), 64);
        assert!(!waiting.is_full());
    }

    #[test]
    fn each_kind_of_wait_is_settled_by_what_it_waits_for() {
        let mut waiting = Waiting::default();
        let silent = Silent { first: true, again: false, missing: None, if_counted: None };
        let place = Place::default();
        waiting.wait_for(Pending {
            start: at(0),
            end: at(5),
            idle: 1.0,
            before: place,
            after: place,
            kind: Kind::Silent(silent),
            from: 0,
            to: 10,
        });
        assert!(waiting.resent().is_none() && waiting.probed().is_none());
        assert!(waiting.take_silent().is_some() && waiting.take_silent().is_none());
    }

    #[test]
    fn what_was_asked_and_what_comes_are_kept() {
        let mut waiting = Waiting::default();
        assert!(waiting.asked().is_none() && waiting.message().is_none());
        waiting.ask(at(4), Mark::default());
        assert_eq!(waiting.asked().map(|(time, _)| time), Some(at(4)));
        waiting.begin(Message { bytes: 3, ..Message::default() });
        waiting.message_mut().expect("it has begun").bytes += 4;
        assert_eq!(waiting.message().map(|one| one.bytes), Some(7));
        assert_eq!(waiting.end().map(|one| one.bytes), Some(7));
        assert!(waiting.end().is_none() && waiting.message_mut().is_none());
    }

    #[test]
    fn a_wait_is_settled_by_its_own_kind_only() {
        let place = Place::default();
        let pending = |kind| Pending {
            start: at(0),
            end: at(5),
            idle: 0.5,
            before: place,
            after: place,
            kind,
            from: 0,
            to: 10,
        };
        let kinds = |kind| {
            let mut waiting = Waiting::default();
            waiting.wait_for(pending(kind));
            let told = (waiting.resent().is_some(), waiting.probed().is_some());
            let silent = waiting.take_silent().is_some();
            waiting.settle();
            assert!(waiting.resent().is_none() && waiting.probed().is_none());
            (told.0, told.1, silent)
        };
        let resent =
            Resent { top: 1, dupacks: 0, sacked: false, before: false, probe: false, value: None };
        assert_eq!(kinds(Kind::Resent(resent)), (true, false, false));
        assert_eq!(kinds(Kind::Probed(Probed { una: 1, arrived: false })), (false, true, false));
        let wait = pending(Kind::Resent(resent)).wait(Reason::Middle);
        assert_eq!(
            (wait.reason, wait.start, wait.end, wait.idle),
            (Reason::Middle, at(0), at(5), 0.5)
        );
    }
}
