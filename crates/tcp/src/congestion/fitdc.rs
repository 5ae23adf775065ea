//! A control modelled on TCP-FITDC (Zhang, Wen, Wang & Zhao: "TCP-FITDC: an adaptive approach to
//! TCP incast avoidance for data center applications", ICNC 2013). Marks signal a long queue.
//! Between marks, the delay shows how many of the flow's segments are queued.

use incast_engine::Span;

use super::marks::{Law, MarkedWindow, params_over_marks};
use super::reno::Reno;
use super::{AckSample, CongestionControl, Parameters, PathView};

params_over_marks! {
    /// Parameters of a control modelled on TCP-FITDC. The formulas of TCP-FITDC are not public. In
    /// this control, marks reduce the window as in DCTCP. Without marks, the window grows in
    /// proportion to the unused part of `backlog`.
    pub struct Params {
        /// Growth per round trip with empty queues, in segments, above 0.
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        pub step: f64 = 2.0,
        /// Slow start ends when this number of the flow's segments, above 0, is in queues. After
        /// slow start, growth falls linearly with the number of these segments, and is 0 at
        /// `backlog` (Vegas' β: 4).
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        pub backlog: f64 = 4.0,
    }
}

impl Parameters for Params {}

/// Windows that grow in proportion to the unused part of the backlog.
#[derive(Clone, Debug)]
pub struct ByBacklog {
    params: Params,
    /// The round ends with the first ACK above this number.
    round_end: u64,
    /// Round-trip times of this round: their sum and number.
    sum: Span,
    samples: u64,
    /// Share of the window that waited in queues during the last round.
    waiting: f64,
}

impl ByBacklog {
    /// Once per round trip: computes the expected minus the actual throughput of the window (Vegas,
    /// JSAC 1995, §3.2) from the mean round-trip time of the round.
    fn measure(&mut self, path: &PathView) {
        let mean = self.sum.as_picos().checked_div(self.samples).filter(|mean| *mean > 0);
        if let Some((mean, base)) = mean.zip(path.min_rtt) {
            self.waiting = 1.0 - (base.as_picos() as f64 / mean as f64).min(1.0);
        }
        self.round_end = path.max;
        self.sum = Span::ZERO;
        self.samples = 0;
    }
}

impl Law for ByBacklog {
    type Params = Params;

    fn new(params: &Params) -> Self {
        let params = params.clone();
        Self { params, round_end: 0, sum: Span::ZERO, samples: 0, waiting: 0.0 }
    }

    fn observe(&mut self, ack: &AckSample, path: &PathView, _: f64) {
        if path.una > self.round_end {
            self.measure(path);
        }
        if let Some(rtt) = ack.rtt {
            self.sum += rtt;
            self.samples += 1;
        }
    }

    fn grow(&mut self, reno: &mut Reno, ack: &AckSample, path: &PathView) {
        let Params { step, backlog, .. } = self.params;
        let waiting = self.waiting * reno.segments(path.segment);
        let room = (1.0 - waiting / backlog).max(0.0);
        if !reno.is_starting() {
            reno.avoid_congestion(step * room, path.segment);
        } else if room > 0.0 {
            reno.on_ack(ack, path);
        } else {
            reno.set(reno.window(), reno.window().max(2 * path.segment));
        }
    }
}

/// See [`Params`].
pub type Fitdc = MarkedWindow<ByBacklog>;
