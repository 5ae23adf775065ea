//! Acknowledgements of the other end's bytes.

use incast_capture::read::{Packet, flags};

use super::Connection;
use crate::event::Event;
use crate::flow::Shut;
use crate::stall::{Reason, Wait};
use crate::time::{Span, Time};

/// The round trip that is assumed when an ACK may have been delayed.
const ROUND_TRIP: Span = Span::from_millis(1);

/// The information of an ACK about retransmitted segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub ack: i64,
    pub now: Time,
    /// Whether the ACK has SACK ranges, and whether one of these ranges arrived twice.
    pub selective: bool,
    pub duplicate: bool,
    /// The timestamp that the ACK echoes.
    pub echo: Option<u32>,
    /// Whether the packet has data.
    pub data: bool,
}

impl Answer {
    fn of(packet: &Packet, ack: i64, now: Time) -> Self {
        Self {
            ack,
            now,
            selective: !packet.options.sacks().is_empty(),
            duplicate: has_duplicate(packet),
            echo: packet.options.timestamps.map(|stamps| stamps.echo),
            data: packet.payload > 0,
        }
    }

    /// Whether the ACK was sent before a segment with this timestamp arrived.
    pub fn is_older(&self, value: Option<u32>) -> bool {
        match (value, self.echo) {
            (Some(value), Some(echo)) => (echo.wrapping_sub(value) as i32) < 0,
            _ => false,
        }
    }
}

/// Whether an ACK reports a D-SACK, whose range is below the ACK or inside the second block (RFC
/// 2883 §4).
fn has_duplicate(packet: &Packet) -> bool {
    let blocks = packet.options.sacks();
    let Some(&(start, end)) = blocks.first() else { return false };
    let below = packet.ack.wrapping_sub(end) as i32 >= 0;
    let inside = blocks.get(1).is_some_and(|&(left, right)| {
        start.wrapping_sub(left) as i32 >= 0 && right.wrapping_sub(end) as i32 >= 0
    });
    below || inside
}

impl Connection {
    /// Measures the time of an answer by its timestamp, which echoes the timestamp of an earlier
    /// packet.
    pub(super) fn time_stamps(&mut self, packet: &Packet, side: usize, now: Time) {
        let Some(stamps) = packet.options.timestamps else { return };
        if let Some(sent) = self.flows[1 - side].timing.echoed(stamps.echo) {
            self.trips.take(side, now - sent, now - self.last);
        }
        self.flows[side].timing.stamp(stamps.value, now);
    }

    /// Takes an ACK.
    pub(super) fn acknowledge(
        &mut self,
        packet: &Packet,
        side: usize,
        (now, usual): (Time, Span),
        events: &mut Vec<Event>,
    ) {
        let from = 1 - side;
        let greets = self.flows[side].bytes.start_of(packet.seq) == 0;
        let flow = &mut self.flows[from];
        let ack = flow.bytes.acked(packet.ack);
        if packet.has(flags::SYN) {
            flow.window.opens(packet.window);
            return;
        }
        let unseen = flow.bytes.arrived(ack).into_iter().filter(|bytes| *bytes > 0);
        events.extend(unseen.map(|bytes| Event::Unseen { side: from, bytes }));
        self.greet(packet, side, greets, (now, usual));
        if ack > self.flows[from].bytes.una() {
            self.advance(side, ack, (now, usual), events);
        } else if ack == self.flows[from].bytes.una() && packet.payload == 0 {
            let flow = &mut self.flows[from];
            if flow.bytes.are_outstanding() {
                flow.repair.duplicate(flow.bytes.top());
            }
        }
        let names_ranges = !packet.options.sacks().is_empty() && !has_duplicate(packet);
        self.flows[from].repair.name_ranges(names_ranges);
        if self.flows[from].waiting.is_pending() {
            self.settle_probed(from, ack, events);
            self.settle_resent(from, &Answer::of(packet, ack, now), events);
        }
        let trip = self.trips.round().unwrap_or_default();
        let flow = &mut self.flows[from];
        if ack > flow.bytes.una() {
            flow.acknowledged(ack, now);
        }
        let ends = packet.has(flags::FIN) || flow.bytes.is_closed();
        let segment = flow.segments.usual();
        let here = (now, packet.into());
        let used_up = flow.used_up_since(trip).filter(|(since, _)| *since < now).unwrap_or(here);
        let shut = flow.window.offer((packet.window, ack), segment, [used_up, here], ends);
        if let Some(shut) = shut {
            events.push(paused(from, shut, Reason::Paused));
        }
    }

    /// Measures a round trip with the first ACK after a SYN or SYN-ACK. A packet without data that
    /// goes to the opener gives no round trip: a SYN-ACK has already answered the opener's SYN, so
    /// this packet acknowledges the opener's data.
    fn greet(&mut self, packet: &Packet, side: usize, greets: bool, (now, usual): (Time, Span)) {
        let from = 1 - side;
        let answers = self.opener != Some(from) || packet.payload > 0;
        if let Some(sent) = self.flows[from].opening.answered()
            && greets
            && answers
        {
            self.trips.guess(side, now - sent, Span::ZERO, usual);
        }
    }

    /// Takes an ACK of new bytes.
    fn advance(
        &mut self,
        side: usize,
        ack: i64,
        (now, usual): (Time, Span),
        events: &mut Vec<Event>,
    ) {
        let from = 1 - side;
        if let Some((sent, alone)) = self.flows[from].timing.acknowledged(ack) {
            self.queue_behind(side, (sent, now), alone);
            self.trips.guess(side, now - sent, now - self.last, usual);
        }
        let flow = &mut self.flows[from];
        if flow.bytes.top() == 0 && flow.opening.sent().is_some() {
            flow.bytes.acknowledged(ack); // a FIN without data
        }
        if flow.waiting.message().is_some() {
            events.push(flow.acked_event(from, ack, now));
        }
    }

    /// Reports a window that stays closed until the capture or the connection ends.
    pub(super) fn stay_paused(&mut self, side: usize, events: &mut Vec<Event>) {
        if let Some(shut) = self.flows[side].window.at_end(self.last, self.last_place) {
            events.push(paused(side, shut, Reason::StillPaused));
        }
    }

    /// Whether the silence of a flow ended with an ACK that the other end had delayed.
    pub(super) fn ack_was_held(&self, side: usize, now: Time, start: Time) -> bool {
        let heard = self.heard[1 - side];
        let patience = self.trips.patience(ROUND_TRIP);
        // The other end sent a packet late in the silence, and the sender then continued without a
        // pause.
        let late = heard - start > patience && now - heard <= patience;
        let bare = self.flows[1 - side].last_data() < heard;
        late && bare && self.flows[side].last_advance() == heard
    }
}

/// The event for a time in which the window was closed.
fn paused(side: usize, shut: Shut, reason: Reason) -> Event {
    let Shut { since: start, until: end, places: (before, after) } = shut;
    Event::Waited { side, wait: Wait { reason, start, end, before, after, idle: 1.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_of_an_older_timestamp_is_no_answer() {
        let answer = |echo| Answer {
            ack: 0,
            now: Time::default(),
            selective: false,
            duplicate: false,
            echo,
            data: false,
        };
        assert!(answer(Some(4)).is_older(Some(5)) && answer(Some(u32::MAX)).is_older(Some(1)));
        assert!(!answer(Some(5)).is_older(Some(5)) && !answer(None).is_older(Some(5)));
        assert!(!answer(Some(4)).is_older(None));
    }
}
