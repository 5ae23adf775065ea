//! The sending half of an end.

use std::collections::BTreeMap;

use incast_engine::{Rate, Span, Stream, Time};
use incast_host::{Kind, Seat, State};
use incast_net::{Ecn, Flags, Packet};

use super::Params;
use crate::credit::Credit;
use crate::paths::{Feedback, PathChooser};
use crate::rate::{Acked, RateLaw};
use crate::repair::Repair;

/// The sending half of an end. Bytes are numbered from 0.
pub(super) struct Sender {
    mtu: u64,
    window: u64,
    written: u64,
    /// One past the last byte that was sent.
    max: u64,
    /// First byte that is not acknowledged.
    una: u64,
    deadline: Time,
    /// The time before which the rate law allows no packet to be sent.
    ready: Time,
    repair: Box<dyn Repair>,
    rate: Box<dyn RateLaw>,
    paths: Box<dyn PathChooser>,
    credit: Box<dyn Credit>,
    /// Whether packets carry a path.
    chooses: bool,
    /// For each packet that was sent once and is not acknowledged, by its first byte: the time at
    /// which the packet was sent, and its path.
    under_way: BTreeMap<u64, (Time, u32)>,
}

/// A packet that was sent.
pub(super) struct Sent {
    pub is_again: bool,
}

impl Sender {
    pub(super) fn new(params: &Params, seat: &Seat) -> Self {
        Self {
            mtu: params.mtu.0,
            window: params.window.0,
            written: 0,
            max: 0,
            una: 0,
            deadline: Time::NEVER,
            ready: Time::ZERO,
            repair: params.repair.build(seat),
            rate: params.rate.build(seat),
            paths: params.paths.build(seat),
            credit: params.credit.build(seat),
            chooses: params.needs().paths,
            under_way: BTreeMap::new(),
        }
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
    }

    /// Handles an acknowledgement.
    pub(super) fn on_answer(&mut self, now: Time, packet: &Packet, rto: Span) {
        let path = packet.echoed_path();
        let is_marked = packet.flags.contains(Flags::ECE);
        let is_trimmed = packet.flags.contains(Flags::TRIMMED);
        let feedback = match (is_trimmed, is_marked) {
            (true, _) => Feedback::Trimmed,
            (false, true) => Feedback::Marked,
            (false, false) => Feedback::Good,
        };
        self.paths.heard(path, feedback);
        if is_marked {
            self.rate.on_mark(now);
        }
        if let Some(bytes) = packet.credit() {
            self.credit.take(bytes);
        }
        if packet.ack > self.una {
            let first = self.under_way.get(&self.una).map(|(at, _)| now - *at);
            self.rate.on_ack(now, &Acked { bytes: packet.ack - self.una, rtt: first });
            self.una = packet.ack;
            self.under_way = self.under_way.split_off(&self.una);
            self.repair.on_ack(self.una);
            self.deadline = if self.una == self.max { Time::NEVER } else { now + rto };
        }
        if let Some(lacks) = packet.lacks() {
            self.rate.on_nack(now);
            for (_, (_, path)) in self.under_way.range(lacks.clone()) {
                if !is_trimmed {
                    self.paths.heard(*path, Feedback::Lost);
                }
            }
            self.repair.on_nack(lacks, self.max);
        }
    }

    /// Handles an expired deadline. Returns whether the retransmission timer has expired.
    pub(super) fn handle_timeout(&mut self, now: Time, rto: Span) -> bool {
        if self.rate.poll_timeout() <= now {
            self.rate.on_deadline(now);
        }
        if self.ready <= now {
            // The end may send from now on, which needs no further deadline.
            self.ready = Time::ZERO;
        }
        if self.deadline > now {
            return false;
        }
        self.rate.on_timeout(now);
        for (_, path) in self.under_way.values() {
            self.paths.heard(*path, Feedback::Lost);
        }
        self.under_way.clear();
        self.repair.on_timeout(self.una, self.max);
        self.deadline = now + rto;
        true
    }

    pub(super) fn poll_timeout(&self) -> Time {
        let paced = if self.has_data() { self.ready } else { Time::NEVER };
        let paced = if paced == Time::ZERO { Time::NEVER } else { paced };
        self.deadline.min(self.rate.poll_timeout()).min(paced)
    }

    /// One past the last byte that may be sent.
    fn limit(&self) -> u64 {
        let window = self.rate.window().unwrap_or(u64::MAX).min(self.window);
        let credit = self.credit.limit().unwrap_or(u64::MAX);
        self.written.min(self.una.saturating_add(window)).min(credit)
    }

    fn has_data(&self) -> bool {
        self.repair.has_work() || self.max < self.limit()
    }

    /// Writes the next packet, if a packet may be sent.
    pub(super) fn poll(
        &mut self,
        now: Time,
        rto: Span,
        random: &mut Stream,
        draft: &mut Packet,
    ) -> Option<Sent> {
        if now < self.ready {
            return None;
        }
        let again = self.repair.resend(self.mtu);
        let is_again = again.is_some();
        let bytes = match again {
            Some(again) => again,
            None if self.max < self.limit() => self.max..self.limit().min(self.max + self.mtu),
            None => return None,
        };
        draft.seq = bytes.start;
        *draft = draft.with_length((bytes.end - bytes.start) as u16);
        let path = if self.chooses { self.paths.next(random) } else { 0 };
        if self.chooses {
            *draft = draft.with_path(path);
        }
        draft.flags = draft.flags.with_ecn(Ecn::Capable);
        if is_again {
            self.under_way.remove(&bytes.start);
        } else {
            self.under_way.insert(bytes.start, (now, path));
        }
        self.max = self.max.max(bytes.end);
        if self.deadline == Time::NEVER {
            self.deadline = now + rto;
        }
        if let Some(Rate(rate)) = self.rate.rate() {
            self.ready = now + Rate(rate).transmission_time(draft.size().into());
        }
        Some(Sent { is_again })
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.repair.has_work()
    }

    pub(super) fn is_quiet(&self) -> bool {
        !self.has_data()
    }

    pub(super) fn state(&self, rto: Span) -> State {
        let window = self.rate.window().unwrap_or(self.window);
        let flight = self.max - self.una;
        State { seq: self.una, cwnd: window, flight, rto: Some(rto), ..State::default() }
    }
}
