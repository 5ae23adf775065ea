//! Messages: the bytes that one end sends until the other end sends again.

use super::Connection;
use super::data::Arrival;
use crate::event::{Event, Message};
use crate::flow::Seen;
use crate::stall::Stall;

impl Connection {
    /// Begins a message if the other end sent last. Returns whether the segment has the first byte
    /// of the new message.
    pub(super) fn begin_message(&mut self, it: &Arrival, events: &mut Vec<Event>) -> bool {
        let (side, now) = (it.side, it.now);
        if self.flows[side].waiting.message().is_some() || it.seen == Seen::Again {
            return false;
        }
        let asked = self.flows[1 - side].waiting.message().map(|message| message.first);
        self.end_message(1 - side, events);
        let first_byte = self.flows[side].bytes.top().min(it.start);
        // If the first SYN was lost, the message counts from this SYN.
        let begins = first_byte == 0 && !self.flows[1 - side].segments.pushes();
        let tried = self.tried().filter(|_| begins);
        let opened = self.opened().filter(|_| begins);
        let start = tried.or(asked).or(opened).unwrap_or(now);
        let message = Message { start, first: now, last: now, first_byte, ..Message::default() };
        self.flows[side].waiting.begin(message);
        let opens = first_byte == 0 && self.opener == Some(side);
        events.push(Event::Begun { side, start, first: now, opens });
        true
    }

    /// Ends a message, and decides the stalls that depend on its end.
    pub(super) fn end_message(&mut self, side: usize, events: &mut Vec<Event>) {
        self.settle_silent(side, None, events);
        let flow = &mut self.flows[side];
        let Some(message) = flow.waiting.end() else { return };
        flow.decide(side, events);
        events.push(Event::Ended { side, message });
    }

    /// Keeps a stall until its message ends, or until many stalls of the message are kept.
    pub(super) fn keep(&mut self, side: usize, stall: Stall, events: &mut Vec<Event>) {
        let flow = &mut self.flows[side];
        if flow.waiting.keep(stall) {
            flow.decide(side, events);
        }
    }
}
