//! BIC (Xu, Harfoush and Rhee: "Binary Increase Congestion Control (BIC) for Fast Long-Distance
//! Networks", INFOCOM 2004), with the rules of Linux's `tcp_bic`.

use incast_engine::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ack_ratio::AckRatio;
use super::cubic::is_application_limited;
use super::hystart;
use super::reno::Reno;
use super::{AckSample, Congestion, CongestionControl, Limit, Parameters, PathView, RecoveryExit};

/// Parameters of BIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Factor by which a loss reduces a window above `low_window`, between 0 and 1 (Linux:
    /// 819/1024; paper §III: 0.875).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta: f64,
    /// Smax: maximum growth of the window per round trip, in segments, above 0 (Linux: 16; paper
    /// §III: 32).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub max_increment: f64,
    /// Largest window that grows and shrinks as in Reno, in segments (Linux: 14).
    pub low_window: u32,
    /// B: each step of the search covers 1/B of the way to the last maximum. B is at least 2
    /// (Linux: 4; paper §III: 2).
    #[schemars(range(min = 2.0))]
    pub divisor: f64,
    /// Number of round trips in which the window grows by the last B segments before the maximum,
    /// at least 1 (`smooth_part`; Linux: 20).
    #[schemars(range(min = 1.0))]
    pub smooth_part: f64,
    /// Whether growth above `low_window` is multiplied by the average number of segments per ACK
    /// (`delayed_ack` of Linux before 5.7). This average begins with 2 segments per ACK. If every
    /// segment has an ACK, rounding keeps the average at 31/16, so that the window grows nearly
    /// twice as fast. If false, growth counts acknowledged segments.
    pub ack_ratio: bool,
    /// Whether a flow that does not reach its last maximum reduces the next target further (fast
    /// convergence).
    pub fast_convergence: bool,
    /// Detector that ends slow start before the first loss.
    pub hystart: hystart::Params,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            beta: 819.0 / 1024.0,
            max_increment: 16.0,
            low_window: 14,
            divisor: 4.0,
            smooth_part: 20.0,
            ack_ratio: false,
            fast_convergence: true,
            hystart: hystart::Params::OFF,
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.hystart.check()
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Bic {
    params: Params,
    reno: Reno,
    /// The window at the last loss, segments; `None` before the first loss and after a timeout.
    maximum: Option<f64>,
    ratio: AckRatio,
    /// Acknowledged data that counts towards the next packet of growth, if windows are counted in
    /// packets (Linux's `snd_cwnd_cnt`).
    counted: u64,
}

impl Bic {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let reno = Reno::with_hystart(&params.hystart, window, ssthresh);
        Self { params: params.clone(), reno, maximum: None, ratio: AckRatio::default(), counted: 0 }
    }

    /// Growth per round trip, segments.
    fn increment(&self, cwnd: f64) -> f64 {
        let Params { max_increment, low_window, divisor, smooth_part, .. } = self.params;
        if cwnd <= f64::from(low_window) {
            return 1.0;
        }
        let Some(maximum) = self.maximum else {
            // As in Linux, the window grows by at least 5 % per round trip while no maximum is
            // known.
            return max_increment.max(cwnd / 20.0);
        };
        let smooth = divisor / smooth_part;
        let beyond = cwnd - maximum;
        if beyond < 0.0 {
            // Binary search, with steps of Smax towards a distant maximum.
            match -beyond / divisor {
                step if step > max_increment => max_increment,
                step if step <= 1.0 => smooth,
                step => step,
            }
        } else if beyond < divisor {
            smooth
        } else {
            // Slow growth just above the maximum, then growth by Smax.
            (beyond / (divisor - 1.0)).min(max_increment)
        }
    }

    /// The number of packets that must be acknowledged before the window grows by one packet:
    /// Linux's `bictcp_update()`, whose divisions truncate.
    fn count(&self, cwnd: f64) -> u64 {
        let Params { max_increment, low_window, divisor, smooth_part, .. } = self.params;
        if cwnd <= f64::from(low_window) {
            return (cwnd as u64).max(1);
        }
        let maximum = self.maximum.unwrap_or_default();
        let smooth = (cwnd * smooth_part / divisor).trunc();
        let linear = (cwnd / max_increment).trunc();
        let beyond = cwnd - maximum;
        let mut count = if beyond < 0.0 {
            match (-beyond / divisor).trunc() {
                step if step > max_increment => linear,
                step if step <= 1.0 => smooth,
                step => (cwnd / step).trunc(),
            }
        } else if beyond < divisor {
            smooth
        } else if beyond < max_increment * (divisor - 1.0) {
            (cwnd * (divisor - 1.0) / beyond).trunc()
        } else {
            linear
        };
        if self.maximum.is_none() {
            count = count.min(20.0);
        }
        let count = count as u64;
        if self.params.ack_ratio { self.ratio.divide(count) } else { count.max(1) }
    }

    /// Growth in whole packets: Linux's `bictcp_cong_avoid()`.
    fn grow_by_packets(&mut self, ack: &AckSample, path: &PathView) {
        let segment = path.segment;
        let cwnd = self.reno.window() / segment;
        let count = self.count(cwnd as f64);
        let grown = if self.params.ack_ratio {
            // Before Linux 5.7, the ACK that grows the window does not count, so one more ACK is
            // needed.
            let grows = self.counted >= count;
            self.counted = if grows { 0 } else { self.counted + 1 };
            u64::from(grows)
        } else {
            // tcp_cong_avoid_ai().
            let late = self.counted >= count;
            let counted = if late { 0 } else { self.counted } + ack.acked.div_ceil(segment);
            self.counted = counted % count;
            u64::from(late) + counted / count
        };
        self.reno.grow_by((grown * segment) as f64);
    }
}

impl CongestionControl for Bic {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        self.ratio.count(ack.acked.div_ceil(path.segment));
        if is_application_limited(ack, path) {
            return;
        }
        if self.reno.is_starting() {
            self.reno.on_ack(ack, path);
        } else if path.unit > 1 {
            // In Linux 2.6, cwnd = ssthresh still belongs to slow start.
            if self.params.ack_ratio && self.window() == self.ssthresh() {
                self.reno.grow_by(path.segment as f64);
            } else {
                self.grow_by_packets(ack, path);
            }
        } else {
            let cwnd = self.reno.segments(path.segment);
            let share = self.increment(cwnd) / cwnd;
            // The window grows by at most one segment per acknowledged segment, or, with
            // `ack_ratio`, per ACK.
            self.reno.grow_by(if self.params.ack_ratio {
                // bictcp_update() returns before it uses the ratio.
                let is_low = cwnd <= f64::from(self.params.low_window);
                let ratio = if is_low { 1.0 } else { self.ratio.value() };
                (share * ratio).min(1.0) * path.segment as f64
            } else {
                share.min(1.0) * ack.acked as f64
            });
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        let segment = path.segment;
        let cwnd = if path.unit == 1 {
            self.reno.segments(segment)
        } else {
            path.whole(self.window()) as f64 / segment as f64
        };
        let left = if cwnd <= f64::from(self.params.low_window) { 0.5 } else { self.params.beta };
        let reduced = path.whole((cwnd * left * segment as f64) as u64).max(2 * segment);
        self.reno.end_hystart();
        self.counted = 0;
        match why {
            Congestion::FastRetransmit | Congestion::Ecn => {
                let fast = self.params.fast_convergence
                    && self.maximum.is_some_and(|maximum| cwnd < maximum);
                let share = if fast { f64::midpoint(1.0, self.params.beta) } else { 1.0 };
                let maximum = cwnd * share;
                self.maximum = Some(if path.unit > 1 { maximum.trunc() } else { maximum });
                let window = match why {
                    Congestion::Ecn => reduced.min(self.reno.window()),
                    _ => reduced,
                };
                self.reno.set(window, reduced);
            }
            Congestion::Timeout { repeated } => {
                self.maximum = None;
                self.ratio = AckRatio::default();
                let ssthresh = if repeated { self.reno.ssthresh() } else { reduced };
                self.reno.set(segment, ssthresh);
            }
        }
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        self.reno.on_recovery_exit(exit, path);
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        self.reno.on_limit(limit, path);
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        match name {
            "w_max" => self.maximum,
            _ => self.reno.gauge(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_iii_the_steps_around_the_last_maximum() {
        let mut bic = Bic::new(&Params::default(), 1, 1);
        bic.maximum = Some(200.0);
        for (cwnd, increment) in [
            (14.0, 1.0),
            (100.0, 16.0),
            (136.0, 16.0),
            (160.0, 10.0),
            (192.0, 2.0),
            (196.0, 0.2),
            (199.0, 0.2),
            (203.0, 0.2),
            (206.0, 2.0),
            (230.0, 10.0),
            (248.0, 16.0),
            (500.0, 16.0),
        ] {
            assert!((bic.increment(cwnd) - increment).abs() < 1e-12, "{cwnd}");
        }
        bic.maximum = None;
        assert!((bic.increment(1000.0) - 50.0).abs() < 1e-12);
        assert!((bic.increment(100.0) - 16.0).abs() < 1e-12);
    }

    /// Linux's `bictcp_recalc_ssthresh()`: a window below its last maximum gets a lower target.
    #[test]
    fn fast_convergence_is_for_windows_below_the_last_maximum() {
        use super::super::law_tests::PATH;
        let maximum_after = |before: f64| {
            let window = 20 * PATH.segment;
            let mut bic = Bic::new(&Params::default(), window, window);
            bic.maximum = Some(before);
            bic.on_congestion(Congestion::FastRetransmit, &PATH);
            bic.gauge("w_max").unwrap_or_default()
        };
        assert!((maximum_after(20.0) - 20.0).abs() < 1e-12);
        assert!((maximum_after(19.0) - 20.0).abs() < 1e-12);
        let share = f64::midpoint(1.0, 819.0 / 1024.0);
        assert!((maximum_after(21.0) - 20.0 * share).abs() < 1e-12);
    }
}
