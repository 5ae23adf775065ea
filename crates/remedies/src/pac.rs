//! PAC: the client releases ACKs at the rate at which the switch can accept the data that they
//! trigger (Bai, Chen, Wu, Lan & Zhao, ICNP 2014).
//!
//! Every ACK and every request triggers data. The client estimates the amount of these data from
//! the packets of the connection. It releases ACKs only as long as the triggered data that have not
//! yet passed the link stay within a threshold. To know the departure time of every ACK at once,
//! the client does not wait for the arrival of the data. It computes from the clock and the link's
//! rate which data have passed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incast_engine::{Fault, Limit, Size, Span, Time};
use incast_net::{Flags, Packet};
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::hooks::{AckEvent, Advice, ReceiveView, ReceiverHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::or_auto::OrAuto;
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

mod link;

use link::{Class, Link};

/// ACKs at the rate at which the switch can accept the data that they trigger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The assumed buffer of the switch, in bytes or full packets. The data that ACKs and
    /// requests have triggered and that have not yet passed the client's link are at most this
    /// buffer plus the bandwidth-delay product of the path. `auto` takes the real buffer. Default:
    /// 80 KiB, as in the authors' code.
    pub threshold: OrAuto<Limit>,
    /// Number of received bytes after which the ACKs of a connection have lower priority. Default:
    /// 1 MiB, as in the authors' code.
    pub priority: Size,
    /// Whether the client knows the size of the response.
    pub sru: Knowledge,
    /// Whether marked packets reduce the threshold. Default: true.
    pub marks: bool,
}

/// Whether the client knows the end of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Knowledge {
    /// The client knows the size, so the last ACKs of an SRU trigger no data.
    #[default]
    Given,
    /// The client does not know the size, so every ACK triggers the data that the server's window
    /// allows.
    Unknown,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            threshold: OrAuto::Quantity(Limit::Bytes(80 * 1024)),
            priority: Size(1024 * 1024),
            sru: Knowledge::default(),
            marks: true,
        }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Acks]
    }

    fn check(&self) -> Result<(), Fault> {
        if let OrAuto::Quantity(Limit::Bytes(0) | Limit::Packets(0)) = self.threshold {
            let message = "must be above 0; write e.g. \"80KiB\", or \"auto\"";
            return Err(Fault::new("threshold", message));
        }
        Ok(())
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        let sru = match self.sru {
            Knowledge::Given => situation.sru,
            Knowledge::Unknown => u64::MAX,
        };
        let link = Arc::new(Mutex::new(Link::new(situation.client_rate, situation.base_rtt)));
        let threshold = self.threshold.quantity_or_else(|_| situation.buffer);
        Box::new(Host { params: self.clone(), threshold, sru, link })
    }
}

struct Host {
    params: Params,
    threshold: Limit,
    sru: u64,
    link: Arc<Mutex<Link>>,
}

impl Installation for Host {
    fn receiver(&mut self, place: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        let config = place.config;
        let packet = config.mss + u32::from(config.header);
        let threshold = match self.threshold {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => packets.saturating_mul(packet.into()),
        };
        lock(&self.link).set_threshold(threshold);
        let guess = Guess {
            segment: config.mss.into(),
            header: config.header.into(),
            largest: config.receive_window,
            sru: self.sru,
            window: config.initial_window,
            ..Guess::START
        };
        Some(Box::new(Receiver {
            link: Arc::clone(&self.link),
            guess,
            priority: self.params.priority.0,
            marks: self.params.marks,
            waiting: VecDeque::new(),
        }))
    }
}

/// A simulation runs in one thread, so the lock cannot be poisoned.
fn lock(link: &Arc<Mutex<Link>>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client's estimate of the server's window, in bytes.
struct Guess {
    segment: u64,
    header: u64,
    /// Upper bound of the window, which is the advertised window.
    largest: u64,
    sru: u64,
    window: u64,
    slow_start: bool,
    /// Ordinal number of the last request.
    requests: u64,
    /// The last acknowledgement.
    ack: u64,
    /// One past the last triggered byte.
    edge: u64,
    /// One past the last requested byte, if it is known.
    end: u64,
    duplicates: u32,
}

impl Guess {
    /// The state before the first request, with an unknown size of the response.
    const START: Self = Self {
        segment: 0,
        header: 0,
        largest: 0,
        sru: 0,
        window: 0,
        slow_start: true,
        requests: 0,
        ack: FIRST_BYTE,
        edge: FIRST_BYTE,
        end: u64::MAX,
        duplicates: 0,
    };

    /// Bytes on the wire of the data that a packet of the client triggers.
    fn trigger(&mut self, packet: &Packet) -> u64 {
        if packet.flags.contains(Flags::REQUEST) {
            if packet.seq <= self.requests {
                return self.on_wire(self.segment);
            }
            let before = if self.requests == 0 { FIRST_BYTE } else { self.end };
            self.requests = packet.seq;
            self.end = before.saturating_add(self.sru);
            return self.advance(packet.ack);
        }
        let acked = packet.ack.saturating_sub(self.ack);
        if acked == 0 {
            return self.repeat();
        }
        self.duplicates = 0;
        self.slow_start &= !packet.flags.contains(Flags::ECE);
        self.window += if self.slow_start {
            acked.min(self.segment)
        } else {
            self.segment * acked / self.window.max(1)
        };
        self.advance(packet.ack)
    }

    /// Notes that all data that the window allows beyond `ack` are triggered. Returns the size of
    /// the newly triggered data on the wire, in bytes.
    fn advance(&mut self, ack: u64) -> u64 {
        self.ack = ack;
        self.window = self.window.min(self.largest);
        let edge = ack.saturating_add(self.window).min(self.end).max(self.edge);
        let bytes = edge - std::mem::replace(&mut self.edge, edge);
        self.on_wire(bytes)
    }

    /// Handles a duplicate ACK, which triggers a new segment or a retransmission. The third
    /// duplicate halves the window.
    fn repeat(&mut self) -> u64 {
        if self.edge <= self.ack {
            return 0;
        }
        self.duplicates += 1;
        if self.duplicates == 3 {
            self.slow_start = false;
            self.window = (self.window / 2).max(2 * self.segment);
        }
        self.on_wire(self.segment)
    }

    fn on_wire(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(self.segment.max(1)) * self.header
    }
}

/// An ACK with a departure time.
struct Waiting {
    /// Time that the link needs for the data that the ACK triggers.
    load: Span,
    class: Class,
    at: Time,
    /// Amount of data of the first class that had overtaken the second class when the ACK's
    /// departure time was last computed.
    overtaken: Span,
}

struct Receiver {
    link: Arc<Mutex<Link>>,
    guess: Guess,
    priority: u64,
    marks: bool,
    waiting: VecDeque<Waiting>,
}

impl ReceiverHook for Receiver {
    fn on_segment(&mut self, packet: &Packet, view: &ReceiveView) -> Advice {
        if self.marks {
            lock(&self.link).receive(view.now, packet);
        }
        Advice::NONE
    }

    fn on_ack(&mut self, event: AckEvent<'_>, now: Time) -> Advice {
        let mut link = lock(&self.link);
        let hold_ack_until = match event {
            AckEvent::Ready(packet) => {
                // Even an ACK that triggers no data has a load, so that it does not overtake
                // earlier ACKs.
                let bytes = self.guess.trigger(packet).max(packet.size().into());
                let load = link.load(bytes);
                let is_late = packet.ack - FIRST_BYTE > self.priority;
                let class = if is_late { Class::Late } else { Class::Early };
                let at = link.reserve(now, load, class);
                let overtaken = link.overtaken();
                self.waiting.push_back(Waiting { load, class, at, overtaken });
                at
            }
            AckEvent::Expired => match self.waiting.front_mut() {
                Some(first) => {
                    if first.class == Class::Late {
                        // ACKs of the first class may have overtaken this ACK since then.
                        first.at += link.overtaken().saturating_sub(first.overtaken);
                        first.overtaken = link.overtaken();
                    }
                    first.at.max(link.fits(now, first.load))
                }
                None => now,
            },
            AckEvent::Left => {
                if let Some(Waiting { load, .. }) = self.waiting.pop_front() {
                    link.release(now, load);
                }
                now
            }
        };
        Advice { hold_ack_until, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests;
