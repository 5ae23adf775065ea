//! CUBIC (RFC 9438).

mod counted;
mod curve;
mod early;

use incast_engine::{Fault, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::counted::Counted;
use self::early::Early;
use super::hystart;
use super::reno::{ReduceFrom, Reno};
use super::{AckSample, Congestion, CongestionControl, Limit, Parameters, PathView, RecoveryExit};

/// Parameters of CUBIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// C: scale of the cubic function, in segments per cubic second, above 0 (RFC 9438 §5.1: 0.4).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub c: f64,
    /// β: factor by which a congestion event reduces the window, between 0 and 1 (RFC 9438 §4.6:
    /// 0.7).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta: f64,
    /// Whether a flow that does not reach its last maximum reduces the next target further: fast
    /// convergence (RFC 9438 §4.7, which advises against it if there is no other traffic).
    pub fast_convergence: bool,
    /// Whether the window grows at least as fast as with RFC 5681 (RFC 9438 §4.3).
    pub reno_friendly: bool,
    /// Before the first loss, and after a timeout, the window grows by at least one segment for
    /// this many acknowledged segments; 0 disables this (Linux, ns-3: 20).
    pub blind_growth: u32,
    /// Computation of the growth.
    pub counting: Counting,
    /// Quantity that a congestion event reduces (RFC 9438 §4.6: the flight; Linux: the window).
    pub reduce_from: ReduceFrom,
    /// Detector that ends slow start before the first loss (RFC 9438 §4.10).
    pub hystart: hystart::Params,
}

/// The computation of CUBIC's growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Growth is computed in real numbers, at each ACK (RFC 9438 §4.2 to §4.4).
    #[default]
    Rfc9438,
    /// Growth is computed in whole packets and ticks of 4 ms. While the window does not change,
    /// growth is computed every 32 ms. The Reno-friendly window grows as in RFC 8312 (Linux's
    /// `bictcp_update()`).
    Linux,
    /// Growth is computed as in the CUBIC of Linux 2.6.22, which ns-2's TCP/Linux runs. This CUBIC
    /// counts ACKs, multiplies their number by the average number of segments per ACK, and uses
    /// ticks of 1 ms. This CUBIC measures no round trip, because ns-2 sends no timestamps by
    /// default. Before the first loss and after a timeout, the window grows by one segment for
    /// `blind_growth` acknowledged segments.
    #[serde(rename = "linux-2.6")]
    Linux26,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            blind_growth: 0,
            counting: Counting::Rfc9438,
            reduce_from: ReduceFrom::Flight,
            hystart: hystart::Params::rfc9406(),
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.hystart.check()
    }
}

/// A stage of congestion avoidance (RFC 9438 §4.1.2), with windows in segments and times in
/// seconds.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// The beginning of the stage, plus the time for which the application had too little data to
    /// send.
    began: Time,
    /// The last ACK.
    acked_at: Time,
    /// Whether the application has had too little data to send since `acked_at`.
    app_limited: bool,
    k: f64,
    w_est: f64,
}

impl Epoch {
    /// RFC 9438 §5.8: time without enough data to send does not count.
    fn advance(&mut self, now: Time, app_limited: bool) {
        if self.app_limited {
            self.began += now.saturating_since(self.acked_at);
        }
        self.acked_at = now;
        self.app_limited = app_limited;
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Cubic {
    params: Params,
    reno: Reno,
    epoch: Option<Epoch>,
    /// `W_max`; `None` before the first congestion event and after a timeout.
    w_max: Option<f64>,
    /// Whether no loss has shown a maximum yet, or the last loss led to a timeout.
    is_blind: bool,
    /// `cwnd_prior`: cwnd when ssthresh was set last.
    cwnd_prior: f64,
    packets: Packets,
}

/// The state of CUBIC in whole packets.
#[derive(Clone, Debug)]
enum Packets {
    /// Windows are real numbers.
    No,
    Linux(Box<Counted>),
    Early(Box<Early>),
}

impl Cubic {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let reno = Reno::with_hystart(&params.hystart, window, ssthresh);
        let (epoch, w_max, cwnd_prior) = (None, None, 0.0);
        let packets = match params.counting {
            Counting::Rfc9438 => Packets::No,
            Counting::Linux => Packets::Linux(Box::default()),
            Counting::Linux26 => Packets::Early(Box::default()),
        };
        Self { params: params.clone(), reno, epoch, w_max, is_blind: true, cwnd_prior, packets }
    }

    fn begin_epoch(&mut self, now: Time, cwnd: f64) -> Epoch {
        let is_new = self.w_max.is_none();
        let w_max = match self.w_max {
            Some(w_max) if w_max > cwnd => w_max,
            // The stage begins at the plateau, so K = 0 (RFC 9438 §4.8 and §4.10).
            _ => cwnd,
        };
        if is_new && self.cwnd_prior == 0.0 {
            // Slow start ended without a loss (§4.10).
            self.cwnd_prior = cwnd;
        }
        self.w_max = Some(w_max);
        let k = libm::cbrt((w_max - cwnd) / self.params.c);
        Epoch { began: now, acked_at: now, app_limited: false, k, w_est: cwnd }
    }

    /// `W_cubic(t)` (RFC 9438 §4.2, figure 1).
    fn curve(&self, epoch: &Epoch, t: f64) -> f64 {
        let from_plateau = t - epoch.k;
        self.params.c * from_plateau * from_plateau * from_plateau + self.w_max.unwrap_or_default()
    }

    /// α (RFC 9438 §4.3).
    fn alpha(&self, w_est: f64) -> f64 {
        let beta = self.params.beta;
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
    }

    fn avoid_congestion(&mut self, ack: &AckSample, path: &PathView) {
        let segment = path.segment;
        let window = self.reno.window();
        let grown = match &mut self.packets {
            Packets::No => return self.follow_curve(ack, path),
            Packets::Linux(counted) => {
                let (acked, is_idle) = (ack.acked.div_ceil(segment), path.flight == 0);
                counted.on_ack(path.now, (window / segment).max(1), acked, is_idle, &self.params)
            }
            Packets::Early(early) => {
                early.on_ack(path.now, (window / segment).max(1), &self.params)
            }
        };
        self.reno.grow_by((grown * segment) as f64);
    }

    /// RFC 9438 §4.2 to §4.5.
    fn follow_curve(&mut self, ack: &AckSample, path: &PathView) {
        let segment = path.segment as f64;
        let cwnd = self.reno.segments(path.segment);
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(path.now, cwnd),
        };
        epoch.advance(path.now, path.flight == 0);
        let t = path.now.saturating_since(epoch.began).as_secs_f64();
        let rtt = path.srtt.unwrap_or(Span::ZERO).as_secs_f64();
        epoch.w_est += self.alpha(epoch.w_est) * (ack.acked as f64 / segment) / cwnd;
        self.epoch = Some(epoch);
        let growth = if self.params.reno_friendly && self.curve(&epoch, t) < epoch.w_est {
            (epoch.w_est - cwnd).max(0.0) * segment
        } else {
            let target = self.curve(&epoch, t + rtt).clamp(cwnd, 1.5 * cwnd);
            (target - cwnd) / cwnd * segment
        };
        self.reno.grow_by(growth.max(self.blind_growth(ack)));
    }

    /// The minimum growth while no maximum is known, bytes.
    fn blind_growth(&self, ack: &AckSample) -> f64 {
        match self.params.blind_growth {
            0 => 0.0,
            segments if self.is_blind => ack.acked as f64 / f64::from(segments),
            _ => 0.0,
        }
    }

    /// RFC 9438 §4.6 and §4.7.
    fn reduce(&mut self, path: &PathView) -> u64 {
        let packets = (self.reno.window() / path.segment).max(1);
        match &mut self.packets {
            Packets::No => {}
            Packets::Linux(it) => return it.reduce(packets, &self.params) * path.segment,
            Packets::Early(it) => return it.reduce(packets, &self.params) * path.segment,
        }
        let window = path.whole(self.reno.window());
        let cwnd = if path.unit == 1 {
            self.reno.segments(path.segment)
        } else {
            window as f64 / path.segment as f64
        };
        let fast = self.params.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if fast { cwnd * f64::midpoint(1.0, self.params.beta) } else { cwnd });
        self.cwnd_prior = cwnd;
        self.is_blind = false;
        let reduced = match self.params.reduce_from {
            // Data outstanding beyond the window does not justify a larger window.
            ReduceFrom::Flight => path.flight.min(window),
            ReduceFrom::Cwnd | ReduceFrom::CwndOnce => window,
        };
        path.whole((reduced as f64 * self.params.beta) as u64)
    }
}

/// Whether the application or the receiver limited the sender to less data than the window allows
/// (RFC 9438 §5.8). A delay by pacing is not such a limit.
pub(super) fn is_application_limited(ack: &AckSample, path: &PathView) -> bool {
    !ack.limited
        && (path.max >= path.written
            || path.flight + ack.acked + path.segment > path.receive_window)
}

impl CongestionControl for Cubic {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        match (&mut self.packets, ack.rtt) {
            (Packets::Linux(counted), Some(rtt)) => counted.on_rtt(path.now, rtt),
            (Packets::Early(early), _) => early.count(ack.acked.div_ceil(path.segment)),
            _ => {}
        }
        if is_application_limited(ack, path) {
            if let Some(epoch) = &mut self.epoch {
                epoch.app_limited = true;
                epoch.advance(path.now, true);
            }
            self.reno.watch(ack, path);
        } else if self.reno.is_starting() {
            self.reno.on_ack(ack, path);
        } else if matches!(self.packets, Packets::Early(_)) && self.window() == self.ssthresh() {
            // In Linux 2.6, cwnd = ssthresh still belongs to slow start.
            self.reno.grow_by(path.segment as f64);
        } else {
            self.avoid_congestion(ack, path);
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        let segment = path.segment;
        let held = self.reno.ssthresh();
        self.epoch = None;
        self.reno.end_hystart();
        match why {
            Congestion::FastRetransmit => {
                let reduced = self.reduce(path).max(2 * segment);
                self.reno.set(reduced, reduced);
            }
            Congestion::Ecn => {
                let reduced = self.reduce(path);
                let window = reduced.max(segment).min(self.reno.window());
                self.reno.set(window, reduced.max(2 * segment));
            }
            Congestion::Timeout { repeated } => {
                let reduced = if repeated { held } else { self.reduce(path).max(2 * segment) };
                self.reno.set(segment, reduced);
                // RFC 9438 §4.8: the next stage begins at the plateau.
                self.w_max = None;
                self.is_blind = true;
                match &mut self.packets {
                    Packets::No => {}
                    Packets::Linux(counted) => counted.reset(),
                    Packets::Early(early) => early.reset(),
                }
            }
        }
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        self.reno.on_recovery_exit(exit, path);
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        let window = self.reno.window();
        self.reno.on_limit(limit, path);
        if self.reno.window() < window {
            self.epoch = None;
            match &mut self.packets {
                Packets::No => {}
                Packets::Linux(counted) => counted.restart(),
                Packets::Early(early) => early.restart(),
            }
        }
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        match name {
            "w_max" => self.w_max,
            "k" => self.epoch.map(|epoch| epoch.k),
            "w_est" => self.epoch.map(|epoch| epoch.w_est),
            _ => self.reno.gauge(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests;
    use super::*;

    const SEGMENT: u64 = 1000;

    fn reduced(segments: u64, params: &Params) -> Cubic {
        let mut cubic = Cubic::new(params, segments * SEGMENT, 1);
        let path = PathView { flight: segments * SEGMENT, ..law_tests::PATH };
        cubic.on_congestion(Congestion::FastRetransmit, &path);
        cubic
    }

    #[test]
    fn rfc9438_4_2_k_is_the_time_until_the_last_maximum() {
        let mut cubic = reduced(1000, &Params::default());
        let epoch = cubic.begin_epoch(Time::ZERO, 700.0);
        // K = cbrt((1000 - 700) / 0.4) s.
        assert!((epoch.k - 9.085_602_964).abs() < 1e-9, "{}", epoch.k);
        assert!((cubic.curve(&epoch, 0.0) - 700.0).abs() < 1e-9);
        assert!((cubic.curve(&epoch, epoch.k) - 1000.0).abs() < 1e-9);
        assert!((cubic.curve(&epoch, epoch.k + 5.0) - 1050.0).abs() < 1e-9);
    }

    #[test]
    fn a_long_round_trip_reaches_the_last_maximum_in_k_seconds() {
        let mut cubic = reduced(1000, &Params { reno_friendly: false, ..Params::default() });
        let rtt = Span::from_millis(100);
        let mut path = PathView { srtt: Some(rtt), written: u64::MAX, ..law_tests::PATH };
        for _ in 0..91 {
            let window = cubic.window();
            for _ in 0..window / SEGMENT {
                let ack = AckSample { acked: SEGMENT, limited: true, ..AckSample::default() };
                cubic.on_ack(&ack, &path);
            }
            path.now += rtt;
        }
        let window = cubic.window() as f64 / SEGMENT as f64;
        assert!((window - 1000.0).abs() < 1.0, "{window}");
    }

    #[test]
    fn rfc9438_4_2_a_window_grows_by_a_half_per_round_trip_at_most() {
        let mut cubic = reduced(1000, &Params { reno_friendly: false, ..Params::default() });
        // The window is 700 segments now. In 30 s, the curve is at 4658 segments.
        let path = PathView { srtt: Some(Span::from_secs(30)), ..law_tests::PATH };
        let ack = AckSample { acked: SEGMENT, limited: true, ..AckSample::default() };
        cubic.on_ack(&ack, &path);
        assert_eq!(cubic.window(), 700 * SEGMENT + SEGMENT / 2);
    }

    #[test]
    fn rfc9438_5_8_time_without_data_does_not_count() {
        let began = |flight| {
            let mut cubic = reduced(1000, &Params::default());
            let ack = AckSample { acked: SEGMENT, limited: true, ..AckSample::default() };
            for (second, flight) in [(0, 2 * SEGMENT), (1, flight), (4, 2 * SEGMENT)] {
                let now = Time::ZERO + Span::from_secs(second);
                cubic.on_ack(&ack, &PathView { now, flight, ..law_tests::PATH });
            }
            cubic.epoch.map(|epoch| epoch.began - Time::ZERO)
        };
        assert_eq!(began(0), Some(Span::from_secs(3)), "nothing was outstanding from 1 s to 4 s");
        assert_eq!(began(1), Some(Span::ZERO));
    }

    #[test]
    fn rfc9438_5_8_an_unused_window_is_one_without_data_or_without_room_for_a_segment() {
        // Before the ACK six segments were outstanding.
        let ack = AckSample { acked: 2 * SEGMENT, ..AckSample::default() };
        let path = PathView { flight: 4 * SEGMENT, max: 10_001, ..law_tests::PATH };
        let unused = |receive_window, written, limited| {
            let path = PathView { receive_window, written, ..path };
            is_application_limited(&AckSample { limited, ..ack }, &path)
        };
        // A seventh segment fits into a receive window of seven segments.
        assert!(!unused(7 * SEGMENT, 10_002, false));
        assert!(unused(7 * SEGMENT - 1, 10_002, false));
        assert!(unused(7 * SEGMENT, 10_001, false));
        assert!(!unused(7 * SEGMENT - 1, 10_001, true), "the window was full");
    }
}
