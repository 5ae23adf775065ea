//! The opening of a connection: SYNs, and packets of another connection with the same addresses and
//! ports.

use incast_capture::read::{Packet, flags};

use super::Connection;
use crate::event::Event;
use crate::stall::{Cause, Finding, Stall};
use crate::time::{Span, Time};

/// The shortest timer of a SYN. RFC 6298 §2.1 asks for a second, but some stacks retransmit sooner.
const SYN_TIMER: Span = Span::from_millis(100);

impl Connection {
    /// Whether a SYN opens another connection between the same ends.
    pub fn ends_before(&self, packet: &Packet, side: usize) -> bool {
        let flow = &self.flows[side];
        self.over() || !flow.opening.has(packet.seq) && flow.bytes.begun()
    }

    /// Takes a SYN or SYN-ACK.
    pub(super) fn open(
        &mut self,
        packet: &Packet,
        side: usize,
        now: Time,
        events: &mut Vec<Event>,
    ) {
        if !packet.has(flags::ACK) {
            self.opener = Some(side);
        }
        // If a reset has refused the first attempt, the next SYN does not show a loss.
        let refused = self.reset;
        let flow = &mut self.flows[side];
        let before = flow.opening.take(packet, now, refused);
        match before {
            Some((sent, place)) if !refused && now - sent > SYN_TIMER => {
                let finding = Finding::of(Cause::Handshake, 0.99);
                let places = (place, packet.into());
                let stall = Stall::new(self.ends_of(side), (sent, now), places, 1.0, finding);
                let stall = Stall { upstream: true, behind: 0, ..stall };
                events.push(Event::Stalled { side, stall });
            }
            Some(_) => {}
            None => flow.bytes.open(packet.seq),
        }
        self.flows[side].segments.accept(packet.options.mss);
        self.flows[1 - side].window.shift(packet.options.scale);
        self.sack[side] = packet.options.sack_permitted;
        if packet.has(flags::ACK) && before.is_none() {
            self.agree(packet, side, now);
        }
    }

    /// Takes the first SYN-ACK. From now on, the options of both ends are known.
    fn agree(&mut self, packet: &Packet, side: usize, now: Time) {
        // Windows are shifted only if both ends ask for it (RFC 7323 §2.2).
        if packet.options.scale.is_none() {
            self.flows[side].window.shift(None);
        }
        if let Some(sent) = self.flows[1 - side].opening.sent() {
            self.trips.take(side, now - sent, Span::ZERO);
        }
        let [one, other] = &mut self.flows;
        one.segments.agree(&mut other.segments);
    }

    /// Time at which the handshake ended, if it was seen.
    pub(super) fn opened(&self) -> Option<Time> {
        self.flows.iter().filter_map(|flow| flow.opening.sent()).max()
    }

    /// Time of the first SYN, if it was lost.
    pub(super) fn tried(&self) -> Option<Time> {
        self.flows.iter().filter_map(|flow| flow.opening.tried()).min()
    }
}
