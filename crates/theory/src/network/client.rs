//! The client's delayed ACKs.

use std::cmp::Reverse;

use super::{Ack, Network};
use crate::connection::Connection;
use crate::packet::{NEVER, Ticks};
use crate::sender::AckInfo;
use crate::wheel;

impl Network<'_> {
    /// Delays an ACK that would be at the server at `at`, for `wait` at most.
    pub(super) fn delay(&mut self, who: u32, sent: Ticks, at: Ticks, wait: Ticks) {
        let Connection { receiver, held, ack_alarm, phase, .. } =
            &mut self.connections[who as usize];
        *held = sent;
        if receiver.due == NEVER {
            receiver.due = wheel::after(at, wait, self.rules.tick, *phase);
            // An entry that is still there is earlier, and is moved when its time comes.
            if *ack_alarm == NEVER {
                *ack_alarm = receiver.due;
                self.delayed.push(Reverse((receiver.due, who)));
                self.rare = self.rare.min(receiver.due);
            }
        }
    }

    /// RFC 8257 §3.2: if marks begin or end, a delayed ACK is sent, and the next one is not
    /// delayed. Returns whether they do.
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
            self.acks.push(at.max(self.last_ack), Ack { ack, who });
        }
        true
    }

    /// A delayed ACK is due, or was.
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
