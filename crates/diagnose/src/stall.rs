//! Waits of flows: those that ended in a retransmission, and those without a loss.

use incast_capture::read::{Endpoint, Packet};

use crate::time::{Span, Time};

/// The cause of a timer's expiry, as far as a capture shows it.
///
/// The simulator's oracle has the same causes with the same names (`Cause` in `incast-host`), so
/// that the answer on a simulated capture can be compared with the truth. The two types are
/// separate, because this crate must work without the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A SYN, a SYN-ACK or a request was lost.
    Handshake,
    /// The segment or its ACK was still on the way.
    Spurious,
    /// The segment had arrived, but its ACKs were lost.
    AckLoss,
    /// The segment had been retransmitted before, and that retransmission was lost.
    LostRetransmission,
    /// None of the outstanding segments arrived.
    FullWindow,
    /// Too few segments arrived behind the lost segment for a fast retransmit, and fewer than three
    /// segments follow it.
    Tail,
    /// Too few segments arrived behind the lost segment for a fast retransmit, although three or
    /// more segments follow it.
    LackOfDupacks,
}

impl Cause {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Spurious => "spurious",
            Self::AckLoss => "ack_loss",
            Self::LostRetransmission => "lost_retransmission",
            Self::FullWindow => "full_window",
            Self::Tail => "tail",
            Self::LackOfDupacks => "lack_of_dupacks",
        }
    }
}

/// A cause, or the reason why it cannot be known, with a confidence from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    pub cause: Result<Cause, &'static str>,
    pub confidence: f64,
}

impl Finding {
    /// A known cause, with its confidence.
    pub fn of(cause: Cause, confidence: f64) -> Self {
        Self { cause: Ok(cause), confidence }
    }

    /// A cause that cannot be known.
    pub fn unknown(why: &'static str) -> Self {
        Self { cause: Err(why), confidence: 0.5 }
    }
}

/// The event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The retransmission timer.
    Timeout,
    /// A tail-loss probe (RFC 8985 §7).
    Probe,
}

/// The position of a frame: the number of its file, and its number in this file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub file: u16,
    pub frame: u64,
}

impl From<&Packet> for Place {
    fn from(packet: &Packet) -> Self {
        Self { file: packet.file, frame: packet.frame }
    }
}

/// The reason why a flow did not continue, although nothing was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The sender's application had nothing to send, before the first byte of an answer.
    FirstByte,
    /// The application had nothing to send in the middle of an answer.
    Middle,
    /// The receiver did not read, and its window let no segment through.
    Paused,
    /// The receiver did not read until the capture ended.
    StillPaused,
    /// The receiver delayed its ACK.
    DelayedAck,
}

/// A wait without a loss.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub reason: Reason,
    pub start: Time,
    pub end: Time,
    pub before: Place,
    pub after: Place,
    /// The share of the wait in which the receiver's link was idle.
    pub idle: f64,
}

impl Wait {
    /// The length of the wait.
    pub fn length(&self) -> Span {
        self.end - self.start
    }
}

const LEFT_OUT: &str =
    "packets are missing in the file, so a segment that is missing here may not have been lost";

/// If the link was idle for at least this share of a wait, it has not delayed the packet that ended
/// the wait.
const IDLE: f64 = 0.2;

/// A wait of one flow that ended in a retransmission.
#[derive(Clone, Debug)]
pub struct Stall {
    pub sender: Endpoint,
    pub receiver: Endpoint,
    pub start: Time,
    pub end: Time,
    pub ended: Ended,
    /// The cause, or the reason why it cannot be known.
    pub cause: Result<Cause, &'static str>,
    /// Confidence in the cause, 0 to 1.
    pub confidence: f64,
    /// The share of the wait in which the receiver's link was idle.
    pub idle: f64,
    /// The packets before and after the wait, and other packets that show its cause.
    pub frames: Vec<Place>,
    /// The first byte after the retransmitted segment. It shows whether the segment was near the
    /// end of the message.
    pub behind: i64,
    /// Whether the lost packet was seen before it was lost.
    pub upstream: bool,
    /// Whether the receiver's link was idle when the packet before the wait was sent.
    pub after_quiet: bool,
    /// Whether fewer than three segments follow in the message.
    pub near_end: bool,
    /// Number of packets that were lost during the wait or just before, if it can be known.
    pub missing: Option<u32>,
    /// Whether a retransmission or a filled hole shows the loss, even in an incomplete capture.
    pub proven: bool,
    /// Whether no packet shows or excludes a loss. The other flows of the burst then decide the
    /// cause.
    pub open: bool,
    /// Whether the flow continued as after the expiry of a timer: with one full segment, followed
    /// by the next segment a round trip later.
    pub restart: bool,
    /// The reason for the wait if nothing was lost.
    pub reason: Reason,
    /// The cause that holds if the sender counts the packets of each connection.
    pub if_counted: Option<Cause>,
    /// Whether the wait turned out not to be a stall.
    pub void: bool,
}

impl Stall {
    /// A stall between two packets, which ended with the expiry of a timer.
    pub fn new(
        (sender, receiver): (Endpoint, Endpoint),
        (start, end): (Time, Time),
        (before, after): (Place, Place),
        idle: f64,
        finding: Finding,
    ) -> Self {
        Self {
            sender,
            receiver,
            start,
            end,
            ended: Ended::Timeout,
            cause: finding.cause,
            confidence: finding.confidence,
            idle,
            frames: vec![before, after],
            behind: i64::MIN,
            upstream: false,
            after_quiet: false,
            near_end: false,
            missing: None,
            proven: true,
            open: false,
            restart: false,
            reason: Reason::Middle,
            if_counted: None,
            void: false,
        }
    }

    /// Whether the stall shows the length of a retransmission timer: a loss was seen, and the link
    /// idled. A packet that a busy link has delayed does not show a timer.
    pub fn shows_a_timer(&self) -> bool {
        self.ended == Ended::Timeout
            && self.idle >= IDLE
            && self.cause.is_ok_and(|cause| cause != Cause::Handshake)
    }

    /// Whether a retransmission was seen on an idle link and then lost. A full queue does not lose
    /// such a packet.
    pub fn is_lost_on_an_idle_link(&self) -> bool {
        self.upstream && self.after_quiet && self.cause == Ok(Cause::LostRetransmission)
    }

    /// Whether the wait of the client's request is separate from a wait of the server. If the
    /// server had received the request, its answer was lost, and the server's timer ends the wait;
    /// both waits are then the same wait.
    pub fn is_its_own(&self) -> bool {
        !matches!(self.cause, Ok(Cause::AckLoss | Cause::Spurious))
    }

    /// Called if packets are missing in the file, so that holes and identifications prove nothing.
    /// Sets the cause to unknown if nothing else shows it.
    pub fn doubt(&mut self) {
        if !self.proven && self.cause.is_ok() {
            self.cause = Err(LEFT_OUT);
            self.confidence = 0.5;
        }
    }

    /// Turns the stall into a wait for the server.
    pub fn as_wait(&self) -> Wait {
        let at = |number: usize| self.frames.get(number).copied().unwrap_or_default();
        Wait {
            reason: self.reason,
            start: self.start,
            end: self.end,
            before: at(0),
            after: at(1),
            idle: self.idle,
        }
    }

    /// The length of the stall.
    pub fn length(&self) -> Span {
        self.end - self.start
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::time::tests::at;

    /// A certain stall on an idle link.
    pub fn stall(start: i64, end: i64, cause: Cause) -> Stall {
        let (end_point, place) = (Endpoint::default(), Place::default());
        let finding = Finding::of(cause, 1.0);
        Stall::new((end_point, end_point), (at(start), at(end)), (place, place), 1.0, finding)
    }

    #[test]
    fn only_a_timer_of_a_lost_packet_on_an_idle_link_teaches_its_length() {
        let window = stall(0, 200, Cause::FullWindow);
        assert!(window.shows_a_timer());
        assert!(!Stall { ended: Ended::Probe, ..window.clone() }.shows_a_timer());
        assert!(!Stall { idle: 0.19, ..window.clone() }.shows_a_timer());
        assert!(!Stall { cause: Err("unknown"), ..window }.shows_a_timer());
        assert!(!stall(0, 200, Cause::Handshake).shows_a_timer());
    }

    #[test]
    fn a_request_waits_for_itself_unless_the_server_had_it() {
        let own = |cause| Stall { cause, ..stall(0, 200, Cause::Tail) }.is_its_own();
        assert!(own(Ok(Cause::Handshake)) && own(Ok(Cause::FullWindow)) && own(Err("unknown")));
        assert!(!own(Ok(Cause::AckLoss)) && !own(Ok(Cause::Spurious)));
    }

    #[test]
    fn causes_have_names() {
        for (cause, name) in [
            (Cause::Handshake, "handshake"),
            (Cause::Spurious, "spurious"),
            (Cause::AckLoss, "ack_loss"),
            (Cause::LostRetransmission, "lost_retransmission"),
            (Cause::FullWindow, "full_window"),
            (Cause::Tail, "tail"),
            (Cause::LackOfDupacks, "lack_of_dupacks"),
        ] {
            assert_eq!(cause.name(), name);
        }
    }

    #[test]
    fn a_stall_as_a_wait_has_its_times_and_frames() {
        let place = |frame| Place { file: 1, frame };
        let frames = vec![place(4), place(7), place(9)];
        let one =
            Stall { frames, reason: Reason::FirstByte, idle: 0.3, ..stall(5, 25, Cause::Tail) };
        assert_eq!(one.length(), crate::time::tests::ns(20));
        let wait = one.as_wait();
        assert_eq!((wait.start, wait.end, wait.idle), (at(5), at(25), 0.3));
        assert_eq!((wait.before, wait.after, wait.reason), (place(4), place(7), Reason::FirstByte));
    }
}
