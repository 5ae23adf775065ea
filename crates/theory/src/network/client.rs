//! The client's delayed ACKs.

use std::cmp::Reverse;

use super::{Ack, Network};
use crate::connection::Connection;
use crate::packet::{NEVER, Ticks};
use crate::sender::AckInfo;
use crate::wheel;

impl Network<'_> {
    /// Handles a segment that arrives at the client and whose ACK has SACK, timestamps or marks.
    #[inline(never)]
    pub(super) fn arrive_with_options(&mut self, departure: Ticks, who: u32, mut ack: AckInfo) {
        let AckInfo { segment, sent, .. } = ack;
        let mut at = departure + self.round_trip;
        let (every, quick, wait) = self.delay;
        ack.ece = self.queue.has_marked;
        let changes = self.reads_marks && self.note_mark(who, at);
        let receiver = &mut self.connections[who as usize].receiver;
        let before = receiver.next;
        receiver.hear(departure, quick);
        ack.twice = self.is_selective && receiver.has(segment);
        let is_due = wait == 0 || receiver.is_due(segment, every, quick) || changes;
        ack.next = receiver.take(segment);
        if self.is_selective {
            at = self.last_ack.max(at + self.blocks[receiver.blocks(ack.twice)]);
            self.last_ack = at;
        }
        if ack.next == self.end && before < ack.next {
            self.missing -= 1;
            self.done = departure;
        }
        receiver.note_time(segment, sent);
        if self.rules.flavour.timestamps {
            ack.sent = receiver.echo;
        }
        if !is_due {
            return self.delay(who, ack.sent, at, wait);
        }
        if changes {
            receiver.acknowledged();
        }
        receiver.note_ack();
        self.acks.push(at, Ack::new(who, ack));
    }

    /// Delays an ACK by at most `wait`. Without the delay, the ACK would reach the server at `at`.
    pub(super) fn delay(&mut self, who: u32, sent: Ticks, at: Ticks, wait: Ticks) {
        let Connection { receiver, held, ack_alarm, phase, .. } =
            &mut self.connections[who as usize];
        *held = sent;
        if receiver.due == NEVER {
            receiver.due = wheel::after(at, wait, self.rules.tick, *phase);
            // An existing entry is earlier. The entry is moved when it is due.
            if *ack_alarm == NEVER {
                *ack_alarm = receiver.due;
                self.delayed.push(Reverse((receiver.due, who)));
                self.rare = self.rare.min(receiver.due);
            }
        }
    }

    /// RFC 8257 §3.2: if marks begin or end, a delayed ACK is sent, and the next ACK is not
    /// delayed. Returns whether marks begin or end.
    pub(super) fn note_mark(&mut self, who: u32, at: Ticks) -> bool {
        let Connection { receiver, held, .. } = &mut self.connections[who as usize];
        let ece = std::mem::replace(&mut receiver.is_marked, self.queue.has_marked);
        if ece == receiver.is_marked {
            return false;
        }
        if receiver.due < NEVER {
            receiver.acknowledged();
            receiver.note_ack();
            let next = receiver.next;
            let ack = AckInfo { next, segment: next - 1, sent: *held, twice: false, ece };
            self.acks.push(at.max(self.last_ack), Ack::new(who, ack));
        }
        true
    }

    /// Handles the first entry of the delayed ACKs, which is due or has been moved.
    pub(super) fn hear_delayed(&mut self) {
        let Some(Reverse((_, who))) = self.delayed.pop() else { return };
        let Connection { receiver, ack_alarm, .. } = &mut self.connections[who as usize];
        let due = receiver.due;
        *ack_alarm = NEVER;
        if due <= self.now {
            self.release(who);
            self.send(who);
        } else if due < NEVER {
            *ack_alarm = due;
            self.delayed.push(Reverse((due, who)));
        }
    }

    /// Passes the delayed ACK to the server, if there is one.
    pub(super) fn release(&mut self, who: u32) {
        let Connection { sender, receiver, held, .. } = &mut self.connections[who as usize];
        if receiver.due < NEVER {
            receiver.acknowledged();
            receiver.note_ack();
            let next = receiver.next;
            let ece = receiver.is_marked;
            let ack = AckInfo { next, segment: next - 1, sent: *held, twice: false, ece };
            sender.on_ack(self.now, &ack, &self.rules);
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Stream;

    use super::*;
    use crate::Read;
    use crate::flavour::{Flavour, Repair};

    #[test]
    fn a_delayed_ack_reports_no_segment_behind_a_hole() {
        let flavour = Flavour { repair: Repair::Sack, ..Flavour::LAB };
        let read = Read { flavour, ..crate::tests::read(1, 100.0) };
        let mut network = Network::new(&read, Stream::named(1, "hosts", 0));
        let Connection { sender, receiver, .. } = &mut network.connections[0];
        sender.request(3);
        (sender.next, sender.max) = (4, 4);
        sender.selective.as_mut().expect("it uses SACK").board.send(3, 0);
        receiver.take(1);
        receiver.due = 5;
        network.release(0);
        let sender = &network.connections[0].sender;
        assert_eq!(sender.una, 2);
        assert_eq!(sender.selective.as_ref().map(|it| it.board.sacked()), Some(0));
    }

    #[test]
    fn a_segment_that_comes_again_completes_nothing() {
        let flavour = Flavour { repair: Repair::Sack, ..Flavour::LAB };
        let read = Read { flavour, segments: 1, ..crate::tests::read(2, 100.0) };
        let mut network = Network::new(&read, Stream::named(1, "hosts", 0));
        (network.end, network.missing) = (2, 2);
        let mut missing_after = |departure, who| {
            let ack = AckInfo { segment: 1, ..AckInfo::default() };
            network.arrive_with_options(departure, who, ack);
            network.missing
        };
        assert_eq!(missing_after(10, 0), 1);
        assert_eq!(missing_after(20, 0), 1, "the other server's is missing");
        assert_eq!(missing_after(30, 1), 0);
    }
}
