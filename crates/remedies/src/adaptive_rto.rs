//! A retransmission timeout that adapts to the round trips of deep buffers (Khalid, Abdullah &
//! Ahmad 2021, §5.2).
//!
//! A buffer that absorbs every burst replaces loss by delay. A retransmission timer that suits an
//! idle network then expires while the segment is still in the queue. The paper raises the RTO
//! "adaptively" and gives no rule. Here, the lower bound of the RTO follows the longest recent
//! round trip, or doubles after timeouts.

use std::sync::{Arc, Mutex, PoisonError};

use incast_engine::{Fault, Span, Time};
use incast_net::Flags;
use incast_tcp::hooks::{Advice, SendEvent, SendView, SenderHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seam::{Installation, Place, Remedy, Situation};

/// A lower bound of the RTO that rises with the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Signal that the lower bound follows.
    pub by: Signal,
    /// The lower bound in units of the longest round trip, at least 1; no effect with `timeouts`.
    /// Default: 2.
    #[schemars(range(min = 1, max = 1000))]
    pub factor: u32,
    /// Which round trips count; no effect with `timeouts`.
    pub samples: Samples,
    /// How long a round trip or a timeout is remembered, in seconds: at least `memory`, and at most
    /// three times as long. Default: 1 s.
    pub memory: Span,
    /// Whether a server's next connection starts with the lower bound of the last connection (in
    /// the spirit of RFC 9040, temporal sharing). Default: false.
    pub carry: bool,
}

/// Signal that the lower bound follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    /// The longest round trip.
    #[default]
    RoundTrips,
    /// The first of several consecutive timeouts doubles the lower bound. The bound stays doubled
    /// when a new measurement ends the backoff (RFC 6298 (5.5)).
    Timeouts,
}

/// Which round trips count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Samples {
    /// Only round trips of segments that were sent once (Karn's rule, RFC 6298 §3).
    #[default]
    Once,
    /// All round trips, measured from the first transmission. This is exact if no packets are lost,
    /// because a retransmitted segment had then only been delayed.
    All,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            by: Signal::default(),
            factor: 2,
            samples: Samples::default(),
            memory: Span::from_secs(1),
            carry: false,
        }
    }
}

impl Remedy for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.memory.is_zero() {
            return Err(Fault::new("memory", "must be longer than 0; write e.g. \"1s\""));
        }
        Ok(())
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Servers { params: self.clone(), floors: Vec::new() })
    }
}

/// The lower bounds of the RTO at a client's servers, one per host.
struct Servers {
    params: Params,
    floors: Vec<Arc<Mutex<Longest>>>,
}

impl Installation for Servers {
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let server = place.server as usize;
        let fresh = || Arc::new(Mutex::new(Longest::new(self.params.memory)));
        let floor = if self.params.carry {
            if self.floors.len() <= server {
                self.floors.resize_with(server + 1, fresh);
            }
            Arc::clone(&self.floors[server])
        } else {
            fresh()
        };
        Some(Box::new(Sender { params: self.params.clone(), floor, timed: None, expired: None }))
    }
}

/// The longest recent span. A span is forgotten after `memory` at the earliest, and after three
/// times `memory` at the latest.
#[derive(Clone, Copy, Debug)]
struct Longest {
    memory: Span,
    /// When the current period began. `recent` is the longest span of this period, and `before`
    /// that of the previous period.
    since: Time,
    recent: Span,
    before: Span,
}

impl Longest {
    fn new(memory: Span) -> Self {
        Self { memory, since: Time::ZERO, recent: Span::ZERO, before: Span::ZERO }
    }

    fn at(&self, now: Time) -> Span {
        let age = now.saturating_since(self.since);
        if age < self.memory {
            self.recent.max(self.before)
        } else if age.saturating_sub(self.memory) < self.memory {
            self.recent
        } else {
            Span::ZERO
        }
    }

    fn record(&mut self, now: Time, span: Span) {
        let age = now.saturating_since(self.since);
        if age >= self.memory {
            let is_recent = age.saturating_sub(self.memory) < self.memory;
            self.before = if is_recent { self.recent } else { Span::ZERO };
            self.recent = Span::ZERO;
            self.since = now;
        }
        self.recent = self.recent.max(span);
    }
}

/// A segment whose round trip is being measured: one past its last byte, and the time of its first
/// transmission.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    sent_at: Time,
    resent: bool,
}

struct Sender {
    params: Params,
    floor: Arc<Mutex<Longest>>,
    timed: Option<Timed>,
    /// The first unacknowledged byte at the last timeout.
    expired: Option<u64>,
}

impl Sender {
    fn measure(&mut self, event: SendEvent<'_>, view: &SendView) {
        match event {
            SendEvent::Sent(packet) => {
                let again = packet.flags.contains(Flags::RETRANSMISSION);
                match &mut self.timed {
                    Some(timed) => timed.resent |= again && packet.seq < timed.end,
                    None if !again => {
                        let (end, sent_at) = (packet.seq_end(), view.now);
                        self.timed = Some(Timed { end, sent_at, resent: false });
                    }
                    None => {}
                }
            }
            SendEvent::Ack { .. } => {
                if let Some(floor) = self.measured(view) {
                    self.raise(view.now, floor);
                }
                self.timed.take_if(|timed| view.una >= timed.end);
            }
            SendEvent::Timeout => {}
        }
    }

    /// The lower bound that follows from a new round-trip sample.
    fn measured(&self, view: &SendView) -> Option<Span> {
        let timed = self.timed.filter(|timed| view.una >= timed.end)?;
        let counts = self.params.samples == Samples::All || !timed.resent;
        let round_trip = (view.now - timed.sent_at).as_picos();
        counts.then(|| Span::from_picos(round_trip.saturating_mul(self.params.factor.into())))
    }

    fn keep_doubling(&mut self, event: SendEvent<'_>, view: &SendView) {
        if matches!(event, SendEvent::Timeout) && self.expired != Some(view.una) {
            self.expired = Some(view.una);
            let doubled = self.now(view.now).saturating_doubled(1);
            self.raise(view.now, doubled.max(view.rto));
        }
    }

    fn raise(&self, now: Time, floor: Span) {
        self.floor.lock().unwrap_or_else(PoisonError::into_inner).record(now, floor);
    }

    fn now(&self, now: Time) -> Span {
        self.floor.lock().unwrap_or_else(PoisonError::into_inner).at(now)
    }
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match self.params.by {
            Signal::RoundTrips => self.measure(event, view),
            Signal::Timeouts => self.keep_doubling(event, view),
        }
        Advice::NONE
    }

    fn timer(&self, view: &SendView) -> Advice {
        let known = self.now(view.now);
        let rto_floor = match self.params.by {
            // The timer is restarted before `on_event` sees the ACK, so the new sample is included
            // here.
            Signal::RoundTrips => known
                .max(self.measured(view).unwrap_or_default())
                .saturating_doubled(view.doublings),
            Signal::Timeouts => known,
        };
        Advice { rto_floor, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_counts_for_one_memory_at_least_and_less_than_three() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut longest = Longest::new(Span::from_millis(10));
        longest.record(at(1), Span::from_micros(700));
        longest.record(at(9), Span::from_micros(300));
        assert_eq!(longest.at(at(9)), Span::from_micros(700));
        // The first record after the end of a period begins a new period.
        longest.record(at(12), Span::from_micros(200));
        assert_eq!(longest.at(at(21)), Span::from_micros(700));
        assert_eq!(longest.at(at(22)), Span::from_micros(200));
        assert_eq!(longest.at(at(31)), Span::from_micros(200));
        assert_eq!(longest.at(at(32)), Span::ZERO);
        longest.record(at(50), Span::from_micros(100));
        assert_eq!(longest.at(at(50)), Span::from_micros(100));
    }

    #[test]
    fn a_memory_of_nothing_is_a_mistake() {
        let fault = |params: Params| params.check().expect_err("it is invalid").key;
        assert_eq!(fault(Params { memory: Span::ZERO, ..Params::default() }), "memory");
    }
}
