//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): rate and window follow from a
//! model of the path. `delivery` measures the rates. Data is in segments, and rates are in segments
//! per tick.

use crate::delivery::{Delivery, Rates};
use crate::flavour;
use crate::packet::{NEVER, Ticks};
use crate::parts::SEGMENT;

/// The state machine (§4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRoundTrip,
}

/// Phases of `ProbeBW` (§4.3.4.1): one that probes, one that drains, and six that cruise.
const PHASES: u8 = 8;
/// The bandwidth counts as growing if it grows by at least this factor (§4.3.2.2).
const GROWTH: f64 = 1.25;
/// The largest burst of segmentation offload, bytes.
const MOST_OFFLOADED: f64 = 65_536.0;
/// Number of bursts that the window allows in addition to the bandwidth-delay product (§4.2.3.2).
const BURSTS: f64 = 3.0;

/// The parameters of BBR in the units of a read.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// A millisecond and [`flavour::Bbr::burst_time`], in ticks.
    pub millisecond: f64,
    /// See `millisecond`.
    pub burst: f64,
    /// Time after which the smallest round trip expires, and duration of `ProbeRTT`.
    pub round_trip: Ticks,
    /// See `round_trip`.
    pub probe: Ticks,
    /// Payload of a segment, bytes.
    pub segment: f64,
}

/// The information in an ACK besides the rate.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Now.
    pub now: Ticks,
    /// First unacknowledged segment, after the ACK.
    pub una: u32,
    /// Round trip of the youngest segment that the ACK covers, if all covered segments were sent
    /// once.
    pub rtt: Option<Ticks>,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Ticks,
}

/// The state of one connection.
#[derive(Clone, Debug)]
pub struct Bbr {
    law: flavour::Bbr,
    spans: Spans,
    /// The measurement of delivery rates.
    pub rates: Rates,
    state: State,
    phase: u8,
    phase_at: Ticks,
    is_full: bool,
    /// Whether a segment was lost since the last ACK.
    has_lost: bool,
    /// Whether sending restarts after an idle time.
    restarts: bool,
    /// cwnd, segments.
    window: f64,
    initial: f64,
    /// The pacing rate.
    rate: Option<f64>,
    /// `BtlBw`, and the maximum rates by round, in descending order.
    bandwidth: f64,
    maxima: Vec<(u64, f64)>,
    round: u64,
    next_round: u64,
    /// `RTprop`, and when it was measured.
    round_trip: Option<Ticks>,
    round_trip_at: Ticks,
    /// Samples up to this count of delivered segments were limited by BBR itself.
    own_limit: u64,
    full_bandwidth: f64,
    full_rounds: u32,
    /// The segment that ends the repair of a loss, and the round until which packet conservation
    /// lasts.
    repaired_at: Option<u32>,
    conserve: Option<u64>,
    /// The time until which `ProbeRTT` lasts, and the round that must end before `ProbeRTT` ends.
    /// The time and the round are set once the flight is small.
    probe_ends: Option<(Ticks, u64)>,
    /// Window to restore after `ProbeRTT` or a loss.
    prior: f64,
    /// When the pacer releases the next segment, and whether a segment waits for the pacer.
    pub next_at: Ticks,
    /// See `next_at`.
    pub waits: bool,
}

impl Bbr {
    /// A new connection with this window, whose first segment is `first`.
    pub fn new(first: u32, window: f64, law: flavour::Bbr, spans: Spans) -> Self {
        Self {
            law,
            spans,
            rates: Rates::new(first),
            state: State::Startup,
            phase: 2,
            phase_at: 0,
            is_full: false,
            has_lost: false,
            restarts: false,
            window,
            initial: window,
            rate: None,
            bandwidth: 0.0,
            maxima: Vec::new(),
            round: 0,
            next_round: 0,
            round_trip: None,
            round_trip_at: 0,
            own_limit: 0,
            full_bandwidth: 0.0,
            full_rounds: 0,
            repaired_at: None,
            conserve: None,
            probe_ends: None,
            prior: 0.0,
            next_at: 0,
            waits: false,
        }
    }

    /// cwnd.
    pub fn window(&self) -> crate::parts::Parts {
        (self.window * SEGMENT as f64) as crate::parts::Parts
    }

    /// Lowers the window. A lost SYN also lowers the initial window.
    pub fn limit(&mut self, most: f64, is_initial: bool) {
        self.window = self.window.min(most);
        if is_initial {
            self.initial = self.window;
        }
    }

    /// Undoes a timeout. The rates and the pacer keep their state, because they are not part of the
    /// congestion control.
    pub fn restore(&mut self, then: Self) {
        let rates = std::mem::take(&mut self.rates);
        *self = Self { rates, next_at: self.next_at, waits: self.waits, ..then };
    }

    /// The deadline of the pacer.
    pub fn due(&self) -> Ticks {
        if self.waits { self.next_at } else { NEVER }
    }

    /// Whether the next segment waits for the pacer.
    pub fn is_early(&mut self, now: Ticks) -> bool {
        self.waits = self.next_at > now;
        self.waits
    }

    /// Handles a sent segment, whose length is `share` of a full segment. `is_first` says whether
    /// the segment is the first of a block and nothing else is outstanding.
    pub fn on_sent(&mut self, now: Ticks, share: f64, is_first: bool, srtt: Ticks) {
        if self.rate.is_none() {
            self.set_rate(self.gains().0, srtt);
        }
        if is_first {
            self.restart(now, srtt);
        }
        self.waits = false;
        if let Some(rate) = self.rate {
            self.next_at = self.next_at.max(now) + (share / rate) as Ticks;
        }
    }

    /// §4.2.2: after an idle time, `ProbeBW` paces at the bandwidth.
    fn restart(&mut self, now: Ticks, srtt: Ticks) {
        self.restarts = true;
        if self.state == State::ProbeBandwidth {
            self.set_rate(1.0, srtt);
        } else if self.probe_ends.is_some_and(|(at, _)| now >= at) {
            self.end_probe(now);
        }
    }

    fn gains(&self) -> (f64, f64) {
        let flavour::Bbr { startup, cruise, probe, .. } = self.law;
        match self.state {
            State::Startup => (startup, startup),
            State::Drain => (startup.recip(), startup),
            State::ProbeRoundTrip => (1.0, 1.0),
            State::ProbeBandwidth => match self.phase {
                0 => (probe, cruise),
                1 => (2.0 - probe, cruise),
                _ => (1.0, cruise),
            },
        }
    }

    /// `gain` bandwidth-delay products, plus the allowance for bursts (§4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        let Some(round_trip) = self.round_trip else { return self.initial };
        gain * self.bandwidth * round_trip as f64 + BURSTS * self.burst()
    }

    /// Number of segments that are assumed to be sent back to back.
    fn burst(&self) -> f64 {
        let most = (MOST_OFFLOADED / self.spans.segment).floor();
        let paced = (self.rate.unwrap_or_default() * self.spans.burst).floor();
        paced.min(most).max(f64::from(self.law.burst))
    }

    /// §4.2.1: in Startup the rate never decreases. Before the first sample, the rate is the
    /// initial window per round trip, or per millisecond if there is no round trip yet.
    fn set_rate(&mut self, gain: f64, srtt: Ticks) {
        let bandwidth = if self.bandwidth > 0.0 {
            self.bandwidth
        } else {
            let round_trip = if srtt > 0 { srtt as f64 } else { self.spans.millisecond };
            self.initial / round_trip
        };
        let rate = gain * bandwidth;
        if self.is_full || self.rate.is_none_or(|known| rate > known) {
            self.rate = Some(rate);
        }
    }

    fn is_limited(&self, delivery: &Delivery) -> bool {
        delivery.is_short || delivery.prior < self.own_limit
    }

    /// §4.1.1: updates the filter of the bandwidth. Returns whether a round begins.
    fn note_delivery(&mut self, delivery: &Delivery) -> bool {
        let begins = delivery.prior >= self.next_round;
        if begins {
            self.next_round = delivery.delivered;
            self.round += 1;
        }
        let Some(rate) = delivery.rate else { return begins };
        if rate >= self.bandwidth || !self.is_limited(delivery) {
            while self.maxima.last().is_some_and(|it| it.1 <= rate) {
                self.maxima.pop();
            }
            if self.maxima.last().is_none_or(|it| it.0 < self.round) {
                self.maxima.push((self.round, rate));
            }
            let oldest = self.round.saturating_sub(self.law.rounds.into());
            while self.maxima.len() > 1 && self.maxima[0].0 <= oldest {
                self.maxima.remove(0);
            }
            self.bandwidth = self.maxima[0].1;
        }
        begins
    }

    /// §4.3.2.2: checks whether Startup has filled the pipe.
    fn check_full(&mut self, begins: bool, delivery: &Delivery) {
        if self.is_full || !begins || self.is_limited(delivery) {
            return;
        }
        if self.bandwidth >= self.full_bandwidth * GROWTH {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth, 0);
        } else {
            self.full_rounds += 1;
            self.is_full = self.full_rounds >= self.law.full_rounds;
        }
    }

    /// §4.3.4.2: begins `ProbeBW` with a random phase other than drain.
    fn cruise(&mut self, now: Ticks) {
        self.state = State::ProbeBandwidth;
        let drawn = (now / 7 % u64::from(PHASES - 1)) as u8;
        self.phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.phase_at = now;
    }

    /// §4.3.4.3: begins the next phase if it is due.
    fn advance_phase(&mut self, now: Ticks, delivery: &Delivery) {
        let elapsed = now - self.phase_at;
        let is_long = self.round_trip.is_some_and(|it| elapsed > it);
        let before = f64::from(delivery.flight + delivery.newly);
        let is_over = match self.phase {
            0 => is_long && (self.has_lost || before >= self.inflight(self.law.probe)),
            1 => is_long || before <= self.inflight(1.0),
            _ => is_long,
        };
        if is_over {
            (self.phase, self.phase_at) = ((self.phase + 1) % PHASES, now);
        }
    }

    /// §4.1.2: updates the filter of the round trip. §4.3.5: begins `ProbeRTT` if the smallest
    /// round trip has expired.
    fn note_round_trip(&mut self, ack: &Ack, delivery: &Delivery) {
        let age = ack.now - self.round_trip_at;
        let expired = self.round_trip.is_some() && age > self.spans.round_trip;
        if let Some(rtt) = ack.rtt
            && (expired || self.round_trip.is_none_or(|known| rtt <= known))
        {
            (self.round_trip, self.round_trip_at) = (Some(rtt), ack.now);
        }
        if expired && !self.restarts && self.state != State::ProbeRoundTrip {
            self.save_window();
            self.state = State::ProbeRoundTrip;
            self.probe_ends = None;
        }
        if self.state == State::ProbeRoundTrip {
            self.probe_round_trip(ack.now, delivery);
        }
        self.restarts = false;
    }

    fn probe_round_trip(&mut self, now: Ticks, delivery: &Delivery) {
        self.own_limit = delivery.delivered + u64::from(delivery.flight);
        match self.probe_ends {
            None if delivery.flight <= self.law.least => {
                self.probe_ends = Some((now + self.spans.probe, self.round + 1));
            }
            Some((at, round)) if now >= at && self.round >= round => {
                self.end_probe(now);
            }
            _ => {}
        }
    }

    /// Leaves `ProbeRTT`.
    fn end_probe(&mut self, now: Ticks) {
        self.round_trip_at = now;
        self.probe_ends = None;
        self.window = self.window.max(self.prior);
        if self.is_full {
            self.cruise(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// §4.2.3.3: saves the window, unless it is reduced already.
    fn save_window(&mut self) {
        let reduced = self.repaired_at.is_some() || self.state == State::ProbeRoundTrip;
        self.prior = if reduced { self.prior.max(self.window) } else { self.window };
    }

    /// §4.2.3: sets the window.
    fn set_window(&mut self, una: u32, delivery: &Delivery) {
        let target = self.inflight(self.gains().1);
        self.conserve.take_if(|round| self.round >= *round);
        if self.repaired_at.is_some_and(|until| una >= until) {
            self.end_repair();
        }
        let newly = f64::from(delivery.newly);
        if self.conserve.is_some() {
            self.window = self.window.max(f64::from(delivery.flight) + newly);
        } else if self.is_full {
            self.window = (self.window + newly).min(target);
        } else if self.window < target || (delivery.delivered as f64) < self.initial {
            self.window += newly;
        }
        let least = f64::from(self.law.least);
        if self.state == State::ProbeRoundTrip {
            self.window = self.window.min(least);
        }
        let floor = if self.conserve.is_some() { 1.0 } else { least };
        self.window = self.window.max(floor);
    }

    /// Handles an ACK that delivers data.
    pub fn on_ack(&mut self, ack: &Ack) {
        let Some(delivery) = self.rates.sample() else { return };
        let begins = self.note_delivery(&delivery);
        self.check_full(begins, &delivery);
        if self.state == State::Startup && self.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain && f64::from(delivery.flight) <= self.inflight(1.0) {
            self.cruise(ack.now);
        } else if self.state == State::ProbeBandwidth {
            self.advance_phase(ack.now, &delivery);
        }
        self.note_round_trip(ack, &delivery);
        self.set_rate(self.gains().0, ack.srtt);
        self.set_window(ack.una, &delivery);
        self.has_lost = false;
    }

    /// Handles a loss with `flight` segments outstanding below `max`. `flight` is `None` at a
    /// timeout.
    pub fn on_loss(&mut self, flight: Option<f64>, max: u32) {
        self.save_window();
        self.has_lost = true;
        self.repaired_at = Some(max);
        if flight.is_some() {
            self.conserve = Some(self.round + 1);
        }
        self.window = self.window.min(flight.unwrap_or(1.0).max(1.0));
    }

    /// Ends the repair of a loss.
    pub fn end_repair(&mut self) {
        if self.repaired_at.take().is_some() {
            self.conserve = None;
            self.window = self.window.max(self.prior);
        }
    }
}
