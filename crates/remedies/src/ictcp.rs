//! ICTCP: the receiver divides the capacity of its link among its connections (Wu, Feng, Guo &
//! Zhang, IEEE/ACM Transactions on Networking 21(2), 2013).
//!
//! One controller per network card sees all arriving packets. Time is divided into slots of two
//! halves. In the first half, the controller measures the remaining bandwidth of the link. In the
//! second half, windows may grow to use this bandwidth. Once per round trip, each connection
//! compares its throughput with the throughput that its window allows. If the connection uses its
//! window, the window may grow. If not, the window shrinks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incast_engine::{Span, Time};
use incast_net::Packet;
use incast_tcp::hooks::{Advice, ReceiveView, ReceiverHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::or_auto::{Auto, OrAuto};
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

mod card;

use card::Card;

/// Receive windows from a controller at the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// α, the share of the link that all connections together may use, 0 to 1. Default: 0.9.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// β, the weight of the past in the measured throughput, 0 to 1. Default: 0.75.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// γ₁: a window may grow if the throughput is at most this share below the throughput that the
    /// window allows. Default: 0.1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma1: f64,
    /// γ₂: a window shrinks if the throughput is more than this share below the throughput that the
    /// window allows. Default: 0.5.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma2: f64,
    /// Number of consecutive round trips with a throughput below the bound of γ₂ before a window
    /// shrinks. Default: 3.
    pub low_rounds: u32,
    /// Smallest window, in segments. Default: 2.
    #[schemars(range(min = 1, max = 65_535))]
    pub min_window: u64,
    /// Window of a new connection, in segments, at least 1; or `auto`, the sender's initial window.
    /// Never less than `min_window`. Default: `auto`.
    #[schemars(extend("minimum" = 1, "maximum" = 65_535))]
    pub initial_window: OrAuto<u64>,
    /// Whether each window that grows uses up part of the remaining bandwidth.
    pub quota: Quota,
    /// If less than this share of the link is left, windows above the mean shrink; 0 disables this.
    /// Default: 0.2.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fairness: f64,
    /// How the receiver measures round-trip times.
    pub rtt: Source,
    /// Number of round trips without data after which a connection returns to slow start. Default:
    /// 100.
    pub idle_rounds: u32,
}

/// How the receiver measures round-trip times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// By timestamps if the connection has them. Otherwise, the receiver measures the time from the
    /// advertisement of a window to the arrival of data beyond the previous window.
    #[default]
    Measured,
    /// As a fixed value: the round trip of a full packet on the idle network.
    Base,
}

/// The use of the remaining bandwidth by growing windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// All connections share one quota, of which each growing window uses up a part.
    #[default]
    Shared,
    /// Each window is compared with the full quota, so all windows may grow at once.
    Each,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 0.9,
            beta: 0.75,
            gamma1: 0.1,
            gamma2: 0.5,
            low_rounds: 3,
            min_window: 2,
            initial_window: OrAuto::Name(Auto),
            quota: Quota::default(),
            fairness: 0.2,
            rtt: Source::default(),
            idle_rounds: 100,
        }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::ReceiveWindow]
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        let card = Card::new(situation.client_rate, situation.base_rtt, self.alpha);
        let base_rtt = situation.base_rtt;
        Box::new(Controller { params: self.clone(), card: Arc::new(Mutex::new(card)), base_rtt })
    }
}

struct Controller {
    params: Params,
    card: Arc<Mutex<Card>>,
    base_rtt: Span,
}

impl Installation for Controller {
    fn receiver(&mut self, place: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        let segment = u64::from(place.config.mss);
        let initial = match self.params.initial_window {
            OrAuto::Quantity(window) => window,
            OrAuto::Name(Auto) => place.config.initial_window / segment,
        };
        let window = segment * initial.max(self.params.min_window);
        let index = place.server as usize;
        lock(&self.card).open(index, window, self.base_rtt);
        Some(Box::new(Receiver {
            params: self.params.clone(),
            card: Arc::clone(&self.card),
            index,
            segment,
            tick: place.config.timestamps,
            window,
            slow_start: true,
            rtt: self.base_rtt,
            timing: None,
            round: None,
            measured: 0.0,
            low: 0,
            raised: None,
            heard: Time::ZERO,
        }))
    }
}

/// A simulation runs in one thread, so the lock cannot be poisoned.
fn lock(card: &Arc<Mutex<Card>>) -> MutexGuard<'_, Card> {
    card.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Receiver {
    params: Params,
    card: Arc<Mutex<Card>>,
    /// The connection's number on the card.
    index: usize,
    /// MSS, bytes.
    segment: u64,
    /// Tick of the timestamp clock, if there are timestamps.
    tick: Option<Span>,
    /// rwnd, bytes.
    window: u64,
    slow_start: bool,
    rtt: Span,
    /// A right edge of the window, and the time when it was first advertised.
    timing: Option<(u64, Time)>,
    /// The time when the current round began, and the payload bytes received since then.
    round: Option<(Time, u64)>,
    /// `b_m`, the measured throughput, bytes per second.
    measured: f64,
    /// Number of consecutive rounds with a throughput below the bound of γ₂.
    low: u32,
    /// Time of the last growth of the window.
    raised: Option<Time>,
    /// Time of the last arrival of data.
    heard: Time,
}

impl ReceiverHook for Receiver {
    fn on_segment(&mut self, packet: &Packet, view: &ReceiveView) -> Advice {
        let now = view.now;
        let card = Arc::clone(&self.card);
        let mut card = lock(&card);
        card.receive(now, self.index, packet.size());
        if now.saturating_since(self.heard) > self.rtt * u64::from(self.params.idle_rounds) {
            self.slow_start = true;
            self.timing = None;
            self.round = None;
        }
        self.heard = now;
        if self.params.rtt == Source::Measured {
            self.measure(now, packet, view.next);
            card.note_rtt(self.index, self.rtt);
        }
        let (began, bytes) = self.round.unwrap_or((now, 0));
        let bytes = bytes + u64::from(packet.payload);
        self.round = Some((began, bytes));
        let length = now - began;
        if length >= self.rtt && !length.is_zero() {
            self.end_round(now, bytes as f64 / length.as_secs_f64(), &mut card);
            card.note_window(self.index, self.window);
            self.round = Some((now, 0));
        }
        Advice::NONE
    }

    fn shape(&self, _: Time) -> Advice {
        Advice { receive_window_cap: self.window, ..Advice::NONE }
    }
}

impl Receiver {
    /// Takes a round-trip sample if the packet provides one.
    fn measure(&mut self, now: Time, packet: &Packet, next: u64) {
        let sample = if let Some(tick) = self.tick {
            let ticks = (now.as_picos() / tick.as_picos().max(1)) as u32;
            (packet.ts_echo != 0).then(|| tick * u64::from(ticks.wrapping_sub(packet.ts_echo)))
        } else {
            let passed = self.timing.take_if(|(edge, _)| packet.seq_end() > *edge);
            passed.map(|(_, at)| now - at)
        };
        if self.timing.is_none() {
            self.timing = Some((next + self.window, now));
        }
        if let Some(sample) = sample.filter(|sample| !sample.is_zero()) {
            self.rtt = Span::from_picos(self.rtt.as_picos() / 8 * 7 + sample.as_picos() / 8);
        }
    }

    /// Compares the throughput of a round (bytes per second) with the throughput that the window
    /// allows.
    fn end_round(&mut self, now: Time, sample: f64, card: &mut Card) {
        let Params { beta, gamma1, gamma2, .. } = self.params;
        self.measured = sample.max(beta * self.measured + (1.0 - beta) * sample);
        let allowed = self.window as f64 / self.rtt.as_secs_f64();
        let expected = self.measured.max(allowed);
        let short = (expected - self.measured) / expected;
        self.low = if short > gamma2 { self.low + 1 } else { 0 };
        let fits = short <= gamma1 || short * self.window as f64 <= self.segment as f64;
        let before = self.window;
        if fits {
            self.raise(now, card);
        } else {
            self.slow_start = false;
            if self.low >= self.params.low_rounds {
                self.lower();
            }
        }
        let share = card.left_share();
        if self.window >= before && share < self.params.fairness && before > card.mean_window() {
            self.lower();
        }
    }

    fn raise(&mut self, now: Time, card: &mut Card) {
        let rested = self.raised.is_none_or(|at| now.saturating_since(at) >= self.rtt * 2);
        if !card.may_raise() || !rested {
            return;
        }
        let step = if self.slow_start { self.window } else { self.segment };
        let rate = step as f64 / self.rtt.as_secs_f64();
        let granted = match self.params.quota {
            Quota::Shared => card.take(rate),
            Quota::Each => card.has(rate),
        };
        if granted {
            self.window += step;
            self.raised = Some(now);
        } else {
            self.slow_start = false;
        }
    }

    /// Reduces the window by one segment. The right edge never moves back: it stays until a segment
    /// of data has arrived.
    fn lower(&mut self) {
        let floor = self.params.min_window * self.segment;
        self.window = (self.window - self.segment.min(self.window)).max(floor);
    }
}

#[cfg(test)]
mod tests;
