//! BBR, version 1 (Cardwell et al.: draft-cardwell-iccrg-bbr-congestion-control-00). BBR uses a
//! model of the path (bandwidth and round trip) instead of a reaction to losses.

use std::collections::VecDeque;

use incast_engine::{Rate, Span, Time};

use super::{AckSample, Delivery, PathView};

mod aggregation;
mod control;
mod params;
mod policer;

use self::aggregation::Aggregation;
pub use self::params::Params;
use self::policer::{Policer, Progress};

/// The state machine (§4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRoundTrip,
}

/// Number of phases in `ProbeBW`'s cycle (§4.3.4.1): one probes, one drains, and six cruise.
const PHASES: u8 = 8;

/// The largest burst of segmentation offload, bytes.
const MOST_OFFLOADED: u64 = 1 << 16;

/// The window is enlarged for bursts of ACKs by at most the bandwidth times this time.
const LONGEST_AGGREGATE: Span = Span::from_millis(100);

/// Number of segments that are not paced at the start of a connection that sends bursts (Linux's
/// `tcp_update_skb_after_send()`).
const UNPACED: u64 = 10;

/// Growth by this factor counts as growth of the bandwidth (§4.3.2.2).
const GROWTH: f64 = 1.25;

/// The inputs of rate and window besides the model of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Regime {
    segment: u64,
    state: State,
    phase: u8,
    is_full: bool,
}

/// The last ACK. Amounts of data are in bytes.
#[derive(Clone, Copy, Debug)]
struct LastAck {
    at: Time,
    /// Data in the network after the ACK, plus the data that the ACK reported as delivered.
    held: u64,
    /// All data delivered since the start of the connection.
    delivered: u64,
}

/// See [`Params`]. Fields that every ACK needs are first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Bbr {
    state: State,
    phase: u8,
    is_full: bool,
    /// Whether a loss was detected since the last ACK.
    lost: bool,
    /// Whether sending restarts after an idle period.
    idle_restart: bool,
    /// Whether the model has changed since the last computation of rate and window.
    is_new: bool,
    regime: Regime,
    window: u64,
    /// Target window of the model, bytes.
    target: u64,
    rate: Option<Rate>,
    /// `BtlBw`: the maximum of `bandwidths`, b/s.
    bandwidth: u64,
    /// The last delivery rate in the filter, with its round.
    last_rate: (u64, u64),
    /// Number of rounds so far, and the count of delivered bytes at which the next round begins.
    round: u64,
    next_round: u64,
    round_trip: Option<Span>,
    round_trip_at: Time,
    /// The bandwidth-delay product, bytes.
    product: f64,
    phase_at: Time,
    /// Samples up to this count of delivered bytes were limited by BBR itself.
    own_limit: u64,
    /// The sequence number whose acknowledgement ends the repair of a loss. `conserve` is the round
    /// that ends packet conservation.
    repaired_at: Option<u64>,
    conserve: Option<u64>,
    /// Whether duplicate ACKs do not report which data arrived (no SACK).
    holds: bool,
    params: Params,
    initial_window: u64,
    /// Maximum delivery rates by round, in descending order, b/s (`BtlBwFilter`).
    bandwidths: VecDeque<(u64, u64)>,
    /// The bandwidth with which Startup compares the current bandwidth.
    full_bandwidth: u64,
    full_rounds: u32,
    /// The time until which `ProbeRTT` lasts, and the round that must end before `ProbeRTT` ends.
    /// The time and the round are set once the flight is small.
    probe_ends: Option<(Time, u64)>,
    /// Window to restore after `ProbeRTT` or a loss.
    prior_window: u64,
    last_ack: LastAck,
    /// Timeouts since the last ACK, counted only with `loss_begins_round`.
    timeouts: u32,
    /// Whether the next ACK is the first of a loss recovery.
    recovers: bool,
    /// Measures the data acknowledged in bursts.
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    pub(super) fn new(params: &Params, window: u64, _: u64) -> Self {
        Self {
            params: params.clone(),
            state: State::Startup,
            window,
            initial_window: window,
            is_new: true,
            regime: Regime { segment: 0, state: State::Startup, phase: 2, is_full: false },
            target: 0,
            bandwidths: VecDeque::new(),
            bandwidth: 0,
            last_rate: (0, 0),
            round_trip: None,
            product: 0.0,
            round_trip_at: Time::ZERO,
            round: 0,
            next_round: 0,
            full_bandwidth: 0,
            full_rounds: 0,
            is_full: false,
            phase: 2,
            phase_at: Time::ZERO,
            probe_ends: None,
            prior_window: 0,
            last_ack: LastAck { at: Time::ZERO, held: 0, delivered: 0 },
            timeouts: 0,
            recovers: false,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            repaired_at: None,
            conserve: None,
            holds: false,
            lost: false,
            own_limit: 0,
            idle_restart: false,
            rate: None,
        }
    }

    fn gains(&self) -> (f64, f64) {
        let Params { startup_gain, cwnd_gain, probe_gain, .. } = self.params;
        match self.state {
            State::Startup => (startup_gain, startup_gain),
            State::Drain => (1.0 / startup_gain, startup_gain),
            State::ProbeRoundTrip => (1.0, 1.0),
            State::ProbeBandwidth if self.policer.rate().is_some() => (1.0, cwnd_gain),
            State::ProbeBandwidth => match self.phase {
                0 => (probe_gain, cwnd_gain),
                1 => (2.0 - probe_gain, cwnd_gain),
                _ => (1.0, cwnd_gain),
            },
        }
    }

    /// `gain` bandwidth-delay products plus three bursts, bytes (§4.2.3.2).
    fn inflight(&self, gain: f64, segment: u64) -> u64 {
        self.inflight_and(gain, segment, 0)
    }

    /// [`Self::inflight`] plus `more` bytes.
    fn inflight_and(&self, gain: f64, segment: u64, more: u64) -> u64 {
        if self.round_trip.is_none() {
            return self.initial_window;
        }
        let target = (gain * self.product) as u64 + more + 3 * self.burst(segment) * segment;
        if !self.params.even_window {
            return target;
        }
        let probes = self.state == State::ProbeBandwidth && self.phase == 0;
        let segments = target.div_ceil(segment.max(1)).next_multiple_of(2);
        (segments + if probes { 2 } else { 0 }) * segment
    }

    /// Addition to the window for ACKs that arrive in bursts, bytes.
    fn aggregated(&self) -> u64 {
        if self.params.aggregation_gain <= 0.0 || !self.is_full {
            return 0;
        }
        let most = self.bandwidth as f64 / 8.0 * LONGEST_AGGREGATE.as_secs_f64();
        (self.params.aggregation_gain * self.aggregation.most() as f64).min(most) as u64
    }

    /// Number of segments that are assumed to be sent back to back.
    fn burst(&self, segment: u64) -> u64 {
        let most = MOST_OFFLOADED / segment.max(1);
        let Rate(rate) = self.rate.unwrap_or(Rate(0));
        let paced = rate as f64 / 8.0 * self.params.burst_time.as_secs_f64() / segment as f64;
        (paced as u64).min(most).max(self.params.burst.into())
    }

    fn update_product(&mut self) {
        let round_trip = self.round_trip.unwrap_or_default().as_secs_f64();
        self.product = self.used_bandwidth() as f64 / 8.0 * round_trip;
        self.is_new = true;
    }

    /// `BtlBw`, or the rate of a policer, b/s.
    fn used_bandwidth(&self) -> u64 {
        self.policer.rate().unwrap_or(self.bandwidth)
    }

    /// Continues the search for a policer.
    fn look_for_policer(&mut self, progress: Progress) {
        if self.params.long_term && self.policer.on_progress(progress) {
            if self.policer.rate().is_none() {
                self.enter_probe_bandwidth(progress.now);
            }
            self.update_product();
        }
    }

    /// Linux's `bbr_set_state()`: the search for a policer treats a timeout before this ACK as a
    /// loss and as the end of a round.
    fn note_timeout(&mut self, delivery: &Delivery, segment: u64) {
        for _ in 0..std::mem::take(&mut self.timeouts) {
            self.look_for_policer(Progress {
                now: self.last_ack.at,
                begins: true,
                has_lost: true,
                app_limited: false,
                delivered: delivery.delivered - delivery.newly,
                lost: (delivery.lost - delivery.losses) * segment,
                cycles: self.state == State::ProbeBandwidth,
            });
        }
    }

    fn least_window(&self, segment: u64) -> u64 {
        u64::from(self.params.least_window) * segment
    }

    /// §4.1.1: updates the filter of the bandwidth. Returns whether a round begins.
    fn note_delivery(&mut self, delivery: &Delivery) -> bool {
        let begins = delivery.prior_delivered.is_some_and(|prior| prior >= self.next_round);
        if begins {
            self.next_round = delivery.delivered;
            self.round += 1;
        }
        let Some(Rate(rate)) = delivery.rate else { return begins };
        if rate >= self.bandwidth || !self.is_limited(delivery) {
            self.note_rate(rate);
        }
        begins
    }

    /// Adds a rate of this round to the filter.
    fn note_rate(&mut self, rate: u64) {
        if self.last_rate.0 < self.round || self.last_rate.1 < rate {
            while self.bandwidths.back().is_some_and(|&(_, known)| known <= rate) {
                self.bandwidths.pop_back();
            }
            self.last_rate = (self.round, rate);
            self.bandwidths.push_back(self.last_rate);
            let oldest = self.round.saturating_sub(self.params.bandwidth_rounds.into());
            while self.bandwidths.front().is_some_and(|&(round, _)| round <= oldest)
                && self.bandwidths.len() > 1
            {
                self.bandwidths.pop_front();
            }
            self.bandwidth = self.bandwidths[0].1;
            self.update_product();
        }
    }

    fn is_limited(&self, delivery: &Delivery) -> bool {
        delivery.app_limited || delivery.prior_delivered.is_some_and(|prior| prior < self.own_limit)
    }

    /// §4.3.2.2: checks whether Startup has filled the pipe.
    fn check_full(&mut self, begins: bool, delivery: &Delivery) {
        if self.is_full || !begins || self.is_limited(delivery) {
            return;
        }
        if self.bandwidth as f64 >= self.full_bandwidth as f64 * GROWTH {
            self.full_bandwidth = self.bandwidth;
            self.full_rounds = 0;
        } else {
            self.full_rounds += 1;
            self.is_full = self.full_rounds >= self.params.full_rounds;
        }
    }

    fn enter_probe_bandwidth(&mut self, now: Time) {
        self.state = State::ProbeBandwidth;
        // §4.3.4.2: a random phase other than drain. The picoseconds of the arrival time are random
        // enough, and runs stay reproducible.
        let drawn = (now.as_picos() / 1000 % u64::from(PHASES - 1)) as u8;
        self.phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.phase_at = now;
    }

    /// §4.3.4.3: begins the next phase of the cycle if it is due.
    fn advance_phase(&mut self, in_flight: u64, acked: u64, path: &PathView) {
        let elapsed = path.now.saturating_since(self.phase_at);
        let is_full_length = self.round_trip.is_some_and(|round_trip| elapsed > round_trip);
        let before = in_flight + acked;
        let is_over = match self.phase {
            0 => {
                let goal = self.inflight(self.params.probe_gain, path.segment);
                is_full_length && (self.lost || before >= goal)
            }
            1 => is_full_length || before <= self.inflight(1.0, path.segment),
            _ => is_full_length,
        };
        if is_over {
            self.phase = (self.phase + 1) % PHASES;
            self.phase_at = path.now;
        }
    }

    /// §4.1.2: updates the filter of the round trip. §4.3.5: begins `ProbeRTT` if the smallest
    /// round trip has expired.
    fn note_round_trip(&mut self, ack: &AckSample, delivery: &Delivery, path: &PathView) {
        if self.round_trip.is_none() {
            // The round trip of the handshake also counts.
            self.round_trip = path.min_rtt;
            self.round_trip_at = path.now;
            self.update_product();
        }
        let age = path.now.saturating_since(self.round_trip_at);
        let expired = self.round_trip.is_some() && age > self.params.round_trip_time;
        if let Some(rtt) = ack.rtt
            && (expired || self.round_trip.is_none_or(|known| rtt <= known))
        {
            if self.round_trip != Some(rtt) {
                self.round_trip = Some(rtt);
                self.update_product();
            }
            self.round_trip_at = path.now;
        }
        if expired && !self.idle_restart && self.state != State::ProbeRoundTrip {
            self.save_window();
            self.state = State::ProbeRoundTrip;
            self.probe_ends = None;
        }
        if self.state == State::ProbeRoundTrip {
            self.probe_round_trip(delivery, path);
        }
        self.idle_restart = false;
    }

    fn probe_round_trip(&mut self, delivery: &Delivery, path: &PathView) {
        // Rates measured with such a small flight do not show the bandwidth.
        self.own_limit = delivery.delivered + delivery.in_flight;
        match self.probe_ends {
            None if delivery.in_flight <= self.least_window(path.segment) => {
                self.probe_ends = Some((path.now + self.params.probe_rtt_time, self.round + 1));
            }
            Some((at, round)) if path.now >= at && self.round >= round => {
                self.end_probe(path.now);
            }
            _ => {}
        }
    }

    /// Leaves `ProbeRTT`.
    fn end_probe(&mut self, now: Time) {
        self.round_trip_at = now;
        self.probe_ends = None;
        self.window = self.window.max(self.prior_window);
        if self.is_full {
            self.enter_probe_bandwidth(now);
        } else {
            self.state = State::Startup;
        }
    }

    /// §4.2.3.3: saves the window, unless it is reduced already.
    fn save_window(&mut self) {
        let reduced = self.repaired_at.is_some() || self.state == State::ProbeRoundTrip;
        self.prior_window = if reduced { self.prior_window.max(self.window) } else { self.window };
    }

    /// Computes rate and window from the model. Most ACKs do not change the model.
    fn follow_model(&mut self, path: &PathView) {
        let Self { state, phase, is_full, .. } = *self;
        let regime = Regime { segment: path.segment, state, phase, is_full };
        if self.is_new || self.regime != regime || self.bandwidth == 0 {
            self.is_new = false;
            self.regime = regime;
            self.set_rate(self.gains().0, path);
            self.target = self.inflight_and(self.gains().1, path.segment, self.aggregated());
        }
    }

    /// §4.2.1: the pacing rate, which never decreases in Startup.
    fn set_rate(&mut self, gain: f64, path: &PathView) {
        let bandwidth = match self.bandwidth {
            0 => {
                // Before the first rate sample: the initial window per round trip, or per
                // millisecond if no round trip is known.
                let round_trip = path.srtt.unwrap_or(Span::from_millis(1)).as_secs_f64();
                self.initial_window as f64 * 8.0 / round_trip.max(1e-12)
            }
            _ => self.used_bandwidth() as f64,
        };
        let gain = gain * (1.0 - self.params.pacing_margin);
        let rate = Rate(((gain * bandwidth) as u64).max(1));
        if self.is_full || self.rate.is_none_or(|known| rate.0 > known.0) {
            self.rate = Some(rate);
        }
    }

    /// Begins a round at the start of a loss recovery, if `loss_begins_round` is set.
    fn begin_round(&mut self, delivered: u64) {
        if self.params.loss_begins_round {
            self.next_round = delivered;
            self.conserve = Some(self.round + 1);
        }
    }

    /// If the repair of a loss has ended, the earlier window is restored. Without SACK, Linux waits
    /// until data sent after the loss are acknowledged (`tcp_try_undo_recovery()`).
    fn end_repair(&mut self, is_over: impl FnOnce(u64) -> bool) {
        if self.repaired_at.take_if(|until| is_over(*until)).is_some() {
            self.conserve = None;
            self.window = self.window.max(self.prior_window);
        }
    }

    /// §4.2.3: the window.
    fn set_window(&mut self, delivery: &Delivery, path: &PathView) {
        let target = self.target;
        if self.conserve.is_some_and(|round| self.round >= round) {
            self.conserve = None;
        }
        self.holds = delivery.unnamed;
        self.end_repair(|until| path.una >= until + u64::from(delivery.unnamed));
        let newly = delivery.newly;
        let lost = delivery.losses * path.segment;
        self.window = self.window.saturating_sub(lost).max(path.segment);
        if std::mem::take(&mut self.recovers) {
            self.window = delivery.in_flight + newly;
            self.begin_round(delivery.delivered);
        } else if self.conserve.is_some() {
            self.window = self.window.max(delivery.in_flight + newly);
        } else if self.is_full {
            self.window = (self.window + newly).min(target);
        } else if self.window < target || delivery.delivered < self.initial_window {
            self.window += newly;
        }
        let least = self.least_window(path.segment);
        if self.state == State::ProbeRoundTrip {
            self.window = self.window.min(least);
        }
        let floor = if self.conserve.is_some() { path.segment } else { least };
        self.window = self.window.max(floor);
    }
}

#[cfg(test)]
#[path = "bbr_tests.rs"]
mod tests;
