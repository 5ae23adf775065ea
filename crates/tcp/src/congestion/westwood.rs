//! Westwood+ (Grieco and Mascolo: "Performance Evaluation and Comparison of Westwood+, New Reno,
//! and Vegas TCP Congestion Control", CCR 34(2), 2004): RFC 5681's window, reduced to the measured
//! bandwidth-delay product.

use incast_engine::{Fault, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart;
use super::reno::Reno;
use super::{
    AckSample, Congestion, CongestionControl, Limit, Needs, Parameters, PathView, RecoveryExit,
};

/// Parameters of Westwood+.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Minimum interval of a bandwidth measurement, in seconds (Linux: 50 ms). If a round trip is
    /// longer than this minimum, the interval is a round trip.
    pub min_interval: Span,
    /// Weight of the past in each of the two smoothing filters, at least 0 and below 1 (Linux:
    /// 7/8).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub memory: f64,
    /// Detector that ends slow start before the first loss.
    pub hystart: hystart::Params,
}

impl Default for Params {
    fn default() -> Self {
        Self { min_interval: Span::ZERO, memory: 7.0 / 8.0, hystart: hystart::Params::OFF }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.hystart.check()
    }
}

/// Two estimates of the bandwidth, bytes per second: one filtered once, and one filtered twice.
#[derive(Clone, Copy, Debug)]
struct Bandwidth {
    once: f64,
    twice: f64,
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Westwood {
    params: Params,
    reno: Reno,
    bandwidth: Option<Bandwidth>,
    /// The current interval: its beginning and the bytes acknowledged since.
    began: Option<Time>,
    acked: u64,
    /// The last round trip.
    rtt: Option<Span>,
}

impl Westwood {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        let reno = Reno::with_hystart(&params.hystart, window, ssthresh);
        Self { params: params.clone(), reno, bandwidth: None, began: None, acked: 0, rtt: None }
    }

    fn measure(&mut self, ack: &AckSample, path: &PathView) {
        self.rtt = ack.rtt.or(self.rtt);
        let Some(rtt) = self.rtt else { return };
        // The first ACK opens the first interval.
        let Some(began) = self.began else {
            self.began = Some(path.now);
            return;
        };
        self.acked += ack.acked - ack.padding;
        let interval = path.now.saturating_since(began);
        if interval < rtt.max(self.params.min_interval) || interval.is_zero() {
            return;
        }
        let sample = self.acked as f64 / interval.as_secs_f64();
        let memory = self.params.memory;
        let smooth = |old: f64, new: f64| memory * old + (1.0 - memory) * new;
        self.bandwidth = Some(match self.bandwidth {
            None => Bandwidth { once: sample, twice: sample },
            Some(Bandwidth { once, twice }) => {
                let once = smooth(once, sample);
                Bandwidth { once, twice: smooth(twice, once) }
            }
        });
        self.began = Some(path.now);
        self.acked = 0;
    }

    /// The bandwidth times the smallest round trip, bytes.
    fn share(&self, path: &PathView) -> Option<u64> {
        let carried = self.bandwidth?.twice * path.min_rtt?.as_secs_f64();
        Some((carried as u64).max(2 * path.segment))
    }
}

impl CongestionControl for Westwood {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        self.measure(ack, path);
        if ack.may_grow {
            self.reno.on_ack(ack, path);
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        let window = self.reno.window();
        // Without a measurement RFC 5681 applies.
        self.reno.on_congestion(why, path);
        let Some(share) = self.share(path) else { return };
        match why {
            Congestion::FastRetransmit | Congestion::Ecn => {
                self.reno.set(share.min(window), share);
            }
            Congestion::Timeout { .. } => self.reno.set(path.segment, share),
        }
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        let window = self.reno.window();
        self.reno.on_recovery_exit(exit, path);
        // A bandwidth-delay product above the window does not justify growth in recovery.
        if self.reno.window() > window {
            self.reno.set(window, self.reno.ssthresh());
        }
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        self.reno.on_limit(limit, path);
    }

    fn needs(&self) -> Needs {
        Needs { every_ack: true, ..Needs::default() }
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        match name {
            "bandwidth" => self.bandwidth.map(|bandwidth| bandwidth.twice * 8.0),
            _ => self.reno.gauge(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests;
    use super::*;

    #[test]
    fn a_loss_neither_widens_the_window_nor_leaves_less_than_two_segments() {
        let path =
            PathView { min_rtt: Some(Span::from_millis(10)), flight: 6000, ..law_tests::PATH };
        for (bytes_per_second, window, ssthresh) in
            [(400_000.0, 4000, 4000), (800_000.0, 6000, 8000), (10.0, 2000, 2000)]
        {
            let mut westwood = Westwood::new(&Params::default(), 6000, 1);
            westwood.bandwidth =
                Some(Bandwidth { once: bytes_per_second, twice: bytes_per_second });
            westwood.on_congestion(Congestion::FastRetransmit, &path);
            assert_eq!((westwood.window(), westwood.ssthresh()), (window, ssthresh));
            westwood.on_recovery_exit(RecoveryExit::Ssthresh, &path);
            assert_eq!(westwood.window(), window);
        }
    }
}
