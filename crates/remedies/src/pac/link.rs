//! PAC's model of the client's link: a virtual queue that drains at the link's rate.

use incast_engine::time::mul_div;
use incast_engine::{Rate, Span, Time};
use incast_net::{Ecn, Packet};

/// The priority class of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Early,
    Late,
}

/// The virtual queue. Amounts of data are given as times on the link.
#[derive(Debug)]
pub(super) struct Link {
    rate: Rate,
    base_rtt: Span,
    threshold: Span,
    /// The time at which all data triggered by departed ACKs will have passed the link.
    released: Time,
    /// The time at which all data triggered by ACKs that have a departure time will have passed the
    /// link: `early` for ACKs of the first class only, `all` for ACKs of both classes.
    early: Time,
    all: Time,
    /// Amount of data of the first class that has overtaken the second class.
    overtaken: Span,
    /// Beginning of the current round trip, the bytes received in it, and the marked bytes among
    /// them.
    began: Time,
    bytes: u64,
    marked: u64,
    /// Received and marked bytes of the previous round trip.
    share: (u64, u64),
}

impl Link {
    pub fn new(rate: Rate, base_rtt: Span) -> Self {
        Self {
            rate,
            base_rtt,
            threshold: Span::ZERO,
            released: Time::ZERO,
            early: Time::ZERO,
            all: Time::ZERO,
            overtaken: Span::ZERO,
            began: Time::ZERO,
            bytes: 0,
            marked: 0,
            share: (1, 0),
        }
    }

    pub fn set_threshold(&mut self, bytes: u64) {
        self.threshold = self.load(bytes);
    }

    pub fn load(&self, bytes: u64) -> Span {
        self.rate.transmission_time(bytes)
    }

    pub fn overtaken(&self) -> Span {
        self.overtaken
    }

    /// The threshold, reduced by half the share of marked bytes.
    pub fn room(&self) -> Span {
        let (bytes, marked) = self.share;
        let less = mul_div(self.threshold.as_picos(), marked, 2 * bytes.max(1));
        self.threshold.saturating_sub(Span::from_picos(less))
    }

    /// Reserves the earliest departure time for an ACK, and returns it. An ACK that triggers more
    /// than the threshold leaves when no other triggered data are outstanding.
    pub fn reserve(&mut self, now: Time, load: Span, class: Class) -> Time {
        let ahead = match class {
            Class::Early => self.early,
            Class::Late => self.all,
        };
        let ahead = ahead.max(self.released);
        let at = self.room_after(ahead, now, load);
        match class {
            Class::Early => {
                self.early = ahead.max(at) + load;
                self.all = self.all.max(at) + load;
                self.overtaken += load;
            }
            Class::Late => self.all = ahead.max(at) + load,
        }
        at
    }

    /// The time from which the threshold allows the data that an ACK with this load triggers.
    pub fn fits(&self, now: Time, load: Span) -> Time {
        self.room_after(self.released, now, load)
    }

    fn room_after(&self, ahead: Time, now: Time, load: Span) -> Time {
        let level = ahead.saturating_since(now);
        now + (level + load).saturating_sub(self.room()).min(level)
    }

    /// Counts the load of an ACK that has left.
    pub fn release(&mut self, now: Time, load: Span) {
        self.released = self.released.max(now) + load;
    }

    /// Counts an arrived packet.
    pub fn receive(&mut self, now: Time, packet: &Packet) {
        if now.saturating_since(self.began) >= self.base_rtt {
            self.share = (self.bytes, self.marked);
            (self.began, self.bytes, self.marked) = (now, 0, 0);
        }
        let size = u64::from(packet.size());
        self.bytes += size;
        if packet.ecn() == Ecn::CongestionExperienced {
            self.marked += size;
        }
    }
}
