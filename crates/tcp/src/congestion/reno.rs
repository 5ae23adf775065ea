//! Slow start and congestion avoidance (RFC 5681 §3.1), shared by Tahoe, Reno and `NewReno`.

use incast_engine::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hystart::{self, Hystart};
use super::view::FRACTION;
use super::{AckSample, Congestion, CongestionControl, Limit, Parameters, PathView, RecoveryExit};

/// Parameters of RFC 5681's window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether growth counts acknowledged bytes instead of ACKs (RFC 5681 §3.1, RFC 3465 with L =
    /// 1).
    pub byte_counting: bool,
    /// L: maximum growth per ACK in slow start with `byte_counting`, in segments (RFC 3465 §2.2: 1
    /// or 2). With 0, every acknowledged byte counts, up to ssthresh (Linux, `tcp_slow_start()`).
    pub slow_start_limit: u32,
    /// Quantity that a loss halves. With `cwnd`, every repeated timeout halves the window again,
    /// and ssthresh is in whole segments. The value `cwnd` is ns-2's `slowdown` with the default of
    /// `precisionReduce_`.
    pub reduce_from: ReduceFrom,
    /// Detector that ends slow start before the first loss.
    pub hystart: hystart::Params,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            byte_counting: false,
            slow_start_limit: 1,
            reduce_from: ReduceFrom::default(),
            hystart: hystart::Params::default(),
        }
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        self.hystart.check()
    }
}

/// The quantity that a loss reduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceFrom {
    /// The outstanding data (RFC 5681 §3.1, equation 4).
    #[default]
    Flight,
    /// The congestion window, even if little of it was in use (ns-2).
    Cwnd,
    /// The congestion window, in whole segments; repeated timeouts leave ssthresh unchanged (Linux,
    /// `tcp_reno_ssthresh()` and `tcp_enter_loss()`).
    CwndOnce,
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Reno {
    /// cwnd in 2^-16 bytes.
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged towards the next segment of growth (byte counting).
    acked: u64,
    byte_counting: bool,
    slow_start_limit: u32,
    reduce_from: ReduceFrom,
    hystart: Option<Box<Hystart>>,
}

impl Reno {
    pub(super) fn new(params: &Params, window: u64, ssthresh: u64) -> Self {
        Self {
            cwnd: window << FRACTION,
            ssthresh,
            acked: 0,
            byte_counting: params.byte_counting,
            slow_start_limit: params.slow_start_limit,
            reduce_from: params.reduce_from,
            hystart: params.hystart.build(),
        }
    }

    /// The window of a control with its own congestion avoidance.
    pub(super) fn with_hystart(hystart: &hystart::Params, window: u64, ssthresh: u64) -> Self {
        Self::new(&Params { hystart: hystart.clone(), ..Params::default() }, window, ssthresh)
    }

    /// Sets cwnd and ssthresh, bytes.
    pub(super) fn set(&mut self, window: u64, ssthresh: u64) {
        self.set_window(window);
        self.ssthresh = ssthresh;
    }

    /// Grows the window by `share` times the growth of RFC 5681 §3.1, equation 3.
    pub(super) fn avoid_congestion(&mut self, share: f64, segment: u64) {
        let growth = ((segment * segment) << FRACTION) / self.window();
        self.cwnd += (growth as f64 * share) as u64;
    }

    /// Grows the window by this many bytes.
    pub(super) fn grow_by(&mut self, bytes: f64) {
        self.cwnd += (bytes * f64::from(1 << FRACTION)) as u64;
    }

    /// cwnd, segments.
    pub(super) fn segments(&self, segment: u64) -> f64 {
        self.cwnd as f64 / f64::from(1 << FRACTION) / segment as f64
    }

    /// Whether the window is in slow start (RFC 5681 §3.1).
    #[inline]
    pub(super) fn is_starting(&self) -> bool {
        self.window() < self.ssthresh
    }

    /// Removes the detector of the end of slow start after a loss or a mark, if it applies only to
    /// the first slow start.
    pub(super) fn end_hystart(&mut self) {
        self.hystart.take_if(|hystart| !hystart.on_congestion());
    }

    /// Whether `HyStart` is active.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.hystart.is_some()
    }

    /// Grows the window for an ACK of `acked` bytes, without `HyStart` (RFC 5681 §3.1).
    #[inline]
    pub(crate) fn grow(&mut self, acked: u64, segment: u64) {
        let window = self.window();
        if self.is_starting() {
            if self.byte_counting && self.slow_start_limit != 1 {
                return self.start_by(acked, segment);
            }
            // Equation 2: at most one segment per ACK.
            let growth = if self.byte_counting { acked.min(segment) } else { segment };
            self.cwnd += growth << FRACTION;
        } else if self.byte_counting {
            self.count(acked, segment);
        } else {
            // Equation 3.
            self.cwnd += ((segment * segment) << FRACTION) / window;
        }
    }

    /// Congestion avoidance by counted bytes (RFC 3465 §2.1).
    #[inline]
    fn count(&mut self, acked: u64, segment: u64) {
        let window = self.window();
        self.acked += acked;
        if self.acked >= window {
            self.acked -= window;
            self.cwnd += segment << FRACTION;
        }
    }

    /// Slow start with a limit other than one segment per ACK. Without a limit, the bytes
    /// acknowledged beyond ssthresh count as congestion avoidance.
    #[inline(never)]
    fn start_by(&mut self, acked: u64, segment: u64) {
        let most = match self.slow_start_limit {
            0 => self.ssthresh - self.window(),
            limit => u64::from(limit) * segment,
        };
        self.cwnd += acked.min(most) << FRACTION;
        if self.slow_start_limit == 0 && acked > most {
            self.count(acked - most, segment);
        }
    }

    #[inline(never)]
    fn start_watched(&mut self, ack: &AckSample, path: &PathView) {
        let (window, ssthresh) = (self.window(), self.ssthresh);
        let Some(hystart) = &mut self.hystart else { return };
        let step = hystart.on_ack(ack, path, window, ssthresh);
        self.cwnd += step.growth;
        if step.is_over {
            self.ssthresh = self.window();
        }
        // RFC 9406 §4.2: only the first slow start uses `HyStart++`.
        if !self.is_starting() {
            self.end_hystart();
        }
    }

    /// Observes an ACK that does not grow the window because little of the window was used. Linux's
    /// hybrid slow start also counts such ACKs.
    pub(super) fn watch(&mut self, ack: &AckSample, path: &PathView) {
        let (window, ssthresh) = (self.window(), self.ssthresh);
        let starts = window < ssthresh;
        if let Some(hystart) = self.hystart.as_mut().filter(|it| starts && it.sees_every_ack())
            && hystart.on_ack(ack, path, window, ssthresh).is_over
        {
            self.ssthresh = window;
        }
    }

    fn set_window(&mut self, bytes: u64) {
        self.cwnd = bytes << FRACTION;
        self.acked = 0;
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn window(&self) -> u64 {
        self.cwnd >> FRACTION
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        if self.is_watched() && self.is_starting() {
            self.start_watched(ack, path);
        } else {
            self.grow(ack.acked, path.segment);
        }
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        let segment = path.segment;
        let (reduced, ssthresh) = match self.reduce_from {
            ReduceFrom::Flight => {
                let half = path.whole(path.flight / 2).max(2 * segment);
                (half, half)
            }
            ReduceFrom::Cwnd => {
                let half = path.whole(path.whole(self.window()).min(path.receive_window) / 2);
                (half.max(segment), (half / segment * segment).max(2 * segment))
            }
            ReduceFrom::CwndOnce => {
                let half = (self.window() / segment / 2).max(2) * segment;
                (half, half)
            }
        };
        let held =
            self.reduce_from != ReduceFrom::Cwnd && why == Congestion::Timeout { repeated: true };
        if !held {
            self.ssthresh = ssthresh;
        }
        self.set_window(match why {
            Congestion::FastRetransmit => reduced,
            // With a window of one segment, RFC 3168 §6.1.2 reduces the rate by means of the
            // retransmission timer. As in Linux, this is omitted: the window does not change.
            Congestion::Ecn => reduced.min(self.window()),
            // RFC 5681 §3.1: the loss window is one segment.
            Congestion::Timeout { .. } => segment,
        });
        self.end_hystart();
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        let segment = path.segment;
        self.set_window(match exit {
            RecoveryExit::Ssthresh => self.ssthresh,
            RecoveryExit::Flight => self.ssthresh.min(path.flight.max(segment) + segment),
            RecoveryExit::Reduced { deficit } => self.window().saturating_sub(deficit).max(segment),
        });
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        let window = self.window();
        let (most, ssthresh) = limit.bounds(window, self.ssthresh, path);
        self.set(most.min(window), ssthresh);
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        let conservative = || self.hystart.as_ref().is_some_and(|it| it.is_conservative());
        (name == "css").then(|| f64::from(u8::from(conservative())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests;
    use super::*;

    const SEGMENT: u64 = 1000;
    const PATH: PathView = PathView { segment: SEGMENT, flight: 10 * SEGMENT, ..law_tests::PATH };

    fn ack(acked: u64) -> AckSample {
        AckSample { acked, ..AckSample::default() }
    }

    fn reno(params: &Params, segments: u64, ssthresh: u64) -> Reno {
        Reno::new(params, segments * SEGMENT, ssthresh * SEGMENT)
    }

    #[test]
    fn rfc5681_3_1_slow_start_grows_by_a_segment_per_ack() {
        let mut cc = reno(&Params::default(), 2, 100);
        cc.on_ack(&ack(SEGMENT), &PATH);
        cc.on_ack(&ack(2 * SEGMENT), &PATH);
        assert_eq!(cc.window(), 4 * SEGMENT);
    }

    #[test]
    fn rfc5681_3_1_byte_counting_grows_by_what_was_acknowledged() {
        let mut cc = reno(&Params { byte_counting: true, ..Params::default() }, 2, 100);
        cc.on_ack(&ack(10), &PATH);
        cc.on_ack(&ack(2 * SEGMENT), &PATH);
        assert_eq!(cc.window(), 3 * SEGMENT + 10);
    }

    #[test]
    fn rfc3465_2_2_slow_start_grows_by_l_segments_per_ack_at_most() {
        let grown = |slow_start_limit, acked: u64| {
            let params = Params { byte_counting: true, slow_start_limit, ..Params::default() };
            let mut cc = reno(&params, 2, 100);
            cc.on_ack(&ack(acked * SEGMENT), &PATH);
            cc.window() / SEGMENT - 2
        };
        assert_eq!([1, 2, 3].map(|acked| grown(1, acked)), [1, 1, 1]);
        assert_eq!([1, 2, 3].map(|acked| grown(2, acked)), [1, 2, 2]);
        assert_eq!([1, 2, 3].map(|acked| grown(0, acked)), [1, 2, 3]);
    }

    #[test]
    fn linux_counts_what_passes_ssthresh_as_congestion_avoidance() {
        let params = Params { byte_counting: true, slow_start_limit: 0, ..Params::default() };
        let mut cc = reno(&params, 8, 10);
        cc.on_ack(&ack(5 * SEGMENT), &PATH);
        assert_eq!(cc.window(), 10 * SEGMENT);
        cc.on_ack(&ack(6 * SEGMENT), &PATH);
        assert_eq!(cc.window(), 10 * SEGMENT, "nine of ten segments are counted");
        cc.on_ack(&ack(SEGMENT), &PATH);
        assert_eq!(cc.window(), 11 * SEGMENT);
    }

    #[test]
    fn linux_halves_whole_segments_of_cwnd_once_per_series_of_timeouts() {
        let params = Params { reduce_from: ReduceFrom::CwndOnce, ..Params::default() };
        let mut cc = reno(&params, 17, 100);
        cc.on_congestion(Congestion::FastRetransmit, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (8 * SEGMENT, 8 * SEGMENT));
        cc.on_congestion(Congestion::Timeout { repeated: false }, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (SEGMENT, 4 * SEGMENT));
        cc.on_congestion(Congestion::Timeout { repeated: true }, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (SEGMENT, 4 * SEGMENT));
    }

    #[test]
    fn rfc5681_3_1_congestion_avoidance_grows_by_a_segment_per_window() {
        for byte_counting in [false, true] {
            let mut cc = reno(&Params { byte_counting, ..Params::default() }, 50, 1);
            (0..50).for_each(|_| cc.on_ack(&ack(SEGMENT), &PATH));
            let window = cc.window();
            assert!((50_980..=51_000).contains(&window), "{window} with {byte_counting}");
        }
    }

    #[test]
    fn rfc5681_eq4_halves_the_flight_and_not_the_window() {
        let mut cc = reno(&Params::default(), 100, 200);
        cc.on_congestion(Congestion::FastRetransmit, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (5 * SEGMENT, 5 * SEGMENT));
        let tiny = PathView { flight: SEGMENT, ..PATH };
        cc.on_congestion(Congestion::FastRetransmit, &tiny);
        assert_eq!(cc.ssthresh(), 2 * SEGMENT, "never below two segments");
    }

    #[test]
    fn rfc5681_3_1_a_repeated_timeout_holds_ssthresh() {
        let mut cc = reno(&Params::default(), 20, 100);
        cc.on_congestion(Congestion::Timeout { repeated: false }, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (SEGMENT, 5 * SEGMENT));
        let later = PathView { flight: SEGMENT, ..PATH };
        cc.on_congestion(Congestion::Timeout { repeated: true }, &later);
        assert_eq!(cc.ssthresh(), 5 * SEGMENT);
    }

    #[test]
    fn ns2_halves_the_window_exactly_and_ssthresh_in_whole_segments_again_at_every_timeout() {
        let params = Params { reduce_from: ReduceFrom::Cwnd, ..Params::default() };
        let mut cc = reno(&params, 17, 100);
        cc.on_congestion(Congestion::FastRetransmit, &PATH);
        assert_eq!((cc.window(), cc.ssthresh()), (17 * SEGMENT / 2, 8 * SEGMENT));
        cc.on_congestion(Congestion::Timeout { repeated: true }, &PATH);
        assert_eq!(cc.ssthresh(), 4 * SEGMENT);
    }

    #[test]
    fn rfc6582_3_2_step_3_leaves_recovery_by_either_option() {
        let in_recovery = || {
            let mut cc = reno(&Params::default(), 20, 100);
            cc.on_congestion(Congestion::FastRetransmit, &PATH);
            cc
        };
        let exit = |exit, flight| {
            let mut cc = in_recovery();
            cc.on_recovery_exit(exit, &PathView { flight, ..PATH });
            cc.window()
        };
        assert_eq!(exit(RecoveryExit::Ssthresh, 0), 5 * SEGMENT);
        assert_eq!(exit(RecoveryExit::Flight, 0), 2 * SEGMENT);
        assert_eq!(exit(RecoveryExit::Flight, 3 * SEGMENT), 4 * SEGMENT);
        assert_eq!(exit(RecoveryExit::Flight, 30 * SEGMENT), 5 * SEGMENT);
        assert_eq!(exit(RecoveryExit::Reduced { deficit: 2 * SEGMENT }, 0), 3 * SEGMENT);
        assert_eq!(exit(RecoveryExit::Reduced { deficit: 9 * SEGMENT }, 0), SEGMENT);
    }
}
