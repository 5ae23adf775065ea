//! The receiving half of an end.

use std::collections::VecDeque;

use incast_engine::Time;
use incast_host::Seat;
use incast_net::{Ecn, Flags, Packet};

use super::Params;
use crate::credit::Credit;
use crate::repair::Repair;

/// The receiving half of an end. It answers each packet that carries data.
pub(super) struct Receiver {
    repair: Box<dyn Repair>,
    credit: Box<dyn Credit>,
    next: u64,
    notify_at: u64,
    answers: VecDeque<Packet>,
}

impl Receiver {
    pub(super) fn new(params: &Params, seat: &Seat) -> Self {
        Self {
            repair: params.repair.build(seat),
            credit: params.credit.build(seat),
            next: 0,
            notify_at: u64::MAX,
            answers: VecDeque::new(),
        }
    }

    /// Handles a packet with data, or the header of a trimmed packet. Returns whether the
    /// application is notified.
    pub(super) fn on_data(&mut self, now: Time, packet: &Packet) -> bool {
        let is_trimmed = packet.flags.contains(Flags::TRIMMED);
        let bytes = packet.seq..packet.seq + u64::from(packet.length());
        let size = bytes.end - bytes.start;
        let answer =
            if is_trimmed { self.repair.on_trimmed(bytes) } else { self.repair.on_data(bytes) };
        self.next = answer.next;
        let mut flags = Flags::ACK;
        if packet.ecn() == Ecn::CongestionExperienced {
            flags = flags.with(Flags::ECE);
        }
        if is_trimmed {
            flags = flags.with(Flags::TRIMMED);
        }
        let mut told = Packet { flags, ack: self.next, ..Packet::default() }
            .with_echoed_path(packet.path().unwrap_or(0));
        if let Some(lacks) = answer.lacks {
            told = told.with_lacks(lacks);
        }
        if let Some(bytes) = self.credit.grant(now, size) {
            told = told.with_credit(bytes);
        }
        self.answers.push_back(told);
        self.tell()
    }

    /// Sets the number of bytes at which the application is notified. Returns whether these bytes
    /// have arrived.
    pub(super) fn notify_at(&mut self, bytes: u64) -> bool {
        self.notify_at = bytes;
        self.tell()
    }

    fn tell(&mut self) -> bool {
        let is_due = self.next >= self.notify_at;
        if is_due {
            self.notify_at = u64::MAX;
        }
        is_due
    }

    /// Writes the next answer into a draft whose route and header are set.
    pub(super) fn answer(&mut self, draft: &mut Packet) -> bool {
        let Some(answer) = self.answers.pop_front() else { return false };
        *draft = Packet { route: draft.route, header: draft.header, epoch: draft.epoch, ..answer };
        true
    }

    pub(super) fn owes(&self) -> bool {
        !self.answers.is_empty()
    }

    /// The first byte that has not arrived.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}
