//! Vegas (Brakmo and Peterson: "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
//! IEEE JSAC 13(8), 1995), with the details of ns-2's `tcp-vegas.cc`.

use incast_engine::{Fault, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::{self, ReduceFrom, Reno};
use super::{
    AckSample, Congestion, CongestionControl, Head, Limit, Needs, Parameters, PathView,
    RecoveryExit,
};

/// Parameters of Vegas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// α: the window grows while the flow has fewer than this number of segments in queues (paper
    /// §3.2: 2; ns-2: 1).
    pub alpha: u32,
    /// β: the window shrinks while the flow has more than this number of segments in queues (paper
    /// §3.2: 4; ns-2: 3).
    pub beta: u32,
    /// γ: slow start ends when the flow has more than this number of segments in queues (paper
    /// §3.3: 1).
    pub gamma: u32,
    /// Window after a timeout, in segments, 1 or 2 (ns-2: 2).
    #[schemars(range(min = 1, max = 2))]
    pub loss_window: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { alpha: 2, beta: 4, gamma: 1, loss_window: 2 }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        let Self { alpha, beta, .. } = *self;
        if alpha > beta {
            let message = format!("{alpha} exceeds beta ({beta}); write less");
            return Err(Fault::new("alpha", message));
        }
        Ok(())
    }
}

/// How the window grows until the end of the round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Growth {
    Still,
    /// The window grows by a segment per ACK.
    Exponential,
    /// The window grows by this many segments per ACK.
    Linear(f64),
}

/// A timeout that has the precision of the round-trip samples, and adds 2 mean deviations to SRTT
/// instead of 4.
#[derive(Clone, Copy, Debug)]
struct FineTimeout {
    srtt: Span,
    /// Four mean deviations.
    deviations: Span,
    timeout: Span,
}

impl FineTimeout {
    fn new(rtt: Span) -> Self {
        let mut it = Self { srtt: rtt, deviations: rtt, timeout: rtt };
        it.update();
        it
    }

    fn sample(&mut self, rtt: Span) {
        let error = rtt.abs_diff(self.srtt);
        self.srtt = (self.srtt * 7 + rtt) / 8;
        self.deviations = self.deviations * 3 / 4 + error;
        self.update();
    }

    fn update(&mut self) {
        self.timeout = (self.srtt + self.deviations / 2) * 17 / 16;
    }
}

/// A round trip: from an ACK to the ACK of the data that was sent when the first ACK arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The round ends with the first ACK above this number.
    end: u64,
    sum: Span,
    samples: u64,
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Vegas {
    params: Params,
    reno: Reno,
    round: Round,
    /// `baseRTT`.
    base: Option<Span>,
    /// Number of queued segments at the last decision.
    excess: i64,
    growth: Growth,
    /// Whether slow start doubles the window in this round. Slow start doubles the window in every
    /// second round.
    doubles: bool,
    fine: Option<FineTimeout>,
    /// The first unacknowledged segment at the last duplicate ACK.
    head: Option<Head>,
    /// Time of the last reduction for a loss.
    reduced_at: Option<Time>,
    /// Number of further ACKs that check the first unacknowledged segment after a retransmission.
    doubts: u32,
    /// One past the highest sequence number sent at the last timeout. Duplicate ACKs up to this
    /// number are ignored.
    recover: u64,
}

impl Vegas {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let reno = reno::Params { reduce_from: ReduceFrom::Cwnd, ..reno::Params::default() };
        Self {
            params: params.clone(),
            reno: Reno::new(&reno, window, ssthresh),
            round: Round::default(),
            base: None,
            excess: 0,
            growth: Growth::Still,
            doubles: false,
            fine: None,
            head: None,
            reduced_at: None,
            doubts: 0,
            recover: 0,
        }
    }

    /// Once per round trip: compares the expected with the actual throughput (paper §3.2, §3.3).
    fn decide(&mut self, path: &PathView) {
        let segment = path.segment;
        let starting = self.reno.is_starting();
        if starting {
            self.doubles = !self.doubles;
        }
        let sent = path.max.saturating_sub(self.round.end) / segment;
        let mean = self.round.sum.as_picos().checked_div(self.round.samples).filter(|it| *it > 0);
        let Some(rtt) = mean.map(Span::from_picos) else {
            self.growth =
                if starting && self.doubles { Growth::Exponential } else { Growth::Still };
            return;
        };
        // A single segment does not queue behind other segments of its flow. A longer round trip
        // therefore means that the path may have become longer.
        let base = self.base.filter(|base| *base < rtt && sent > 1).unwrap_or(rtt);
        self.base = Some(base);
        let expected = ((path.flight + segment) / segment) as f64;
        let actual = sent as f64 * (base.as_secs_f64() / rtt.as_secs_f64());
        // Rounded to the nearest integer, as in ns-2.
        self.excess = libm::floor(expected - actual + 0.5) as i64;
        let Params { alpha, beta, gamma, .. } = self.params;
        if starting {
            self.growth = if self.doubles && self.excess <= i64::from(gamma) {
                Growth::Exponential
            } else {
                Growth::Still
            };
            if self.doubles && self.excess > i64::from(gamma) {
                self.shrink(self.reno.window() / 8, segment);
            }
        } else if self.excess > i64::from(beta) {
            self.growth = Growth::Still;
            self.shrink(segment, segment);
        } else if self.excess < i64::from(alpha) {
            self.growth = Growth::Linear(1.0 / self.reno.segments(segment));
        } else {
            self.growth = Growth::Still;
        }
    }

    /// Reduces the window by `bytes` and ends slow start.
    fn shrink(&mut self, bytes: u64, segment: u64) {
        let least = (2 * segment).min(self.reno.window());
        let window = self.reno.window().saturating_sub(bytes).max(least);
        self.reno.set(window, 2 * segment);
    }

    fn grow(&mut self, path: &PathView) {
        let segment = path.segment;
        if self.growth == Growth::Exponential && !self.reno.is_starting() {
            self.growth = Growth::Still;
        }
        // A window that is not fully used does not grow.
        if self.reno.window() > path.flight + 3 * segment {
            return;
        }
        match self.growth {
            Growth::Still => {}
            Growth::Exponential => self.reno.grow_by(segment as f64),
            Growth::Linear(share) => self.reno.grow_by(share * segment as f64),
        }
    }

    fn sample(&mut self, rtt: Span) {
        self.round.sum += rtt;
        self.round.samples += 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        match &mut self.fine {
            Some(fine) => fine.sample(rtt),
            None => self.fine = Some(FineTimeout::new(rtt)),
        }
    }

    /// Whether the last transmission of `head` is at least a fine timeout ago.
    fn is_overdue(&self, head: Head, now: Time) -> bool {
        self.fine.is_some_and(|fine| now.saturating_since(head.sent_at) >= fine.timeout)
    }

    /// Reduces the window to three quarters, or to half for the loss of a retransmission. The
    /// window does not change if the segment was sent before the last reduction.
    fn reduce(&mut self, path: &PathView) {
        let segment = path.segment;
        self.doubts = (path.flight / segment).min(2) as u32;
        let head = self.head.take();
        let is_repeated = head.is_some_and(|head| head.transmissions > 1);
        if let Some(fine) = &mut self.fine {
            fine.timeout =
                if is_repeated { fine.timeout * 2 } else { fine.timeout + fine.timeout / 8 };
        }
        let is_answered =
            head.zip(self.reduced_at).is_some_and(|(head, reduced_at)| reduced_at >= head.sent_at);
        if is_answered {
            return;
        }
        let window = self.reno.window().min(path.receive_window) / segment;
        let window = match window {
            0..=3 => 2,
            _ if is_repeated => window / 2,
            _ => window - window / 4,
        };
        self.reno.set(window * segment, 2 * segment);
        self.reduced_at = Some(path.now);
    }
}

impl CongestionControl for Vegas {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        if ack.may_grow {
            if path.una > self.round.end {
                self.decide(path);
                self.round = Round { end: path.max, ..Round::default() };
            }
            self.grow(path);
        }
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        match why {
            Congestion::FastRetransmit => self.reduce(path),
            Congestion::Ecn => self.reno.on_congestion(why, path),
            Congestion::Timeout { .. } => {
                self.reno.on_congestion(why, path);
                let window = u64::from(self.params.loss_window) * path.segment;
                self.reno.set(window, self.reno.ssthresh());
                self.reduced_at = Some(path.now);
                self.doubts = 0;
                self.recover = path.max;
            }
        }
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        let (window, segment) = (self.reno.window(), path.segment);
        let window = match exit {
            // The reduced window, independent of ssthresh.
            RecoveryExit::Ssthresh => window,
            RecoveryExit::Flight => window.min(path.flight.max(segment) + segment),
            RecoveryExit::Reduced { deficit } => window.saturating_sub(deficit).max(segment),
        };
        self.reno.set(window, self.reno.ssthresh());
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        self.reno.on_limit(limit, path);
    }

    fn needs(&self) -> Needs {
        Needs { every_ack: true, head: true, ..Needs::default() }
    }

    fn is_lost(&mut self, head: Head, path: &PathView) -> bool {
        self.head = (!head.is_new).then_some(head);
        if !head.is_new {
            return path.una > self.recover && self.is_overdue(head, path.now);
        }
        let overdue = self.doubts > 0 && self.is_overdue(head, path.now);
        self.doubts = if overdue { self.doubts - 1 } else { 0 };
        overdue
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        match name {
            "base_rtt" => self.base.map(Span::as_secs_f64),
            "fine_timeout" => self.fine.map(|fine| fine.timeout.as_secs_f64()),
            "excess" => Some(self.excess as f64),
            _ => None,
        }
    }
}
