//! The window that DCTCP and its descendants share: the window of RFC 5681, reduced by the fraction
//! of marked bytes (RFC 8257 §3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{
    AckSample, CeChange, Congestion, CongestionControl, EcnUse, Limit, Needs, PathView,
    RecoveryExit,
};

/// When the window is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReactAt {
    /// The window is reduced at the end of an observation window with a mark, by the fraction of
    /// marked bytes in the observation window. This is the order of steps 4 to 9 in RFC 8257 §3.3.
    WindowEnd,
    /// The window is reduced at the first echo, by the fraction known so far. The window then stays
    /// unchanged until all outstanding data is acknowledged (Alizadeh et al. 2010, Linux, ns-3).
    #[default]
    FirstEce,
    /// The window is reduced at every echo, even if a window has several echoes. This is the
    /// literal reading of TCP-EFR's third case.
    EveryEce,
}

/// Parameters of the estimate.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub alpha: f64,
    pub g: f64,
    pub floor: u32,
    pub react_at: ReactAt,
    pub byte_counting: bool,
    pub ce_change: CeChange,
}

/// The parts in which DCTCP and its descendants differ.
pub trait Law: Sized {
    /// The parameters of the control.
    type Params: OverMarks;

    fn new(params: &Self::Params) -> Self;

    /// Observes an ACK before the ACK updates α and the window. `alpha` is α before this update.
    fn observe(&mut self, ack: &AckSample, path: &PathView, alpha: f64) {
        let _ = (ack, path, alpha);
    }

    /// Twice the share by which a window of `window` bytes is reduced.
    fn penalty(&self, alpha: f64, window: u64, path: &PathView) -> f64 {
        let _ = (window, path);
        alpha
    }

    /// Grows the window for an ACK.
    fn grow(&mut self, reno: &mut Reno, ack: &AckSample, path: &PathView) {
        reno.on_ack(ack, path);
    }

    /// The needs of the control besides ACKs and marks.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// See [`CongestionControl::on_sent`].
    fn on_sent(&mut self, path: &PathView) {
        let _ = path;
    }
}

/// The window of RFC 5681, reduced by the fraction of marked bytes.
#[derive(Clone, Debug)]
pub struct MarkedWindow<L> {
    law: L,
    reno: Reno,
    estimate: Estimate,
    /// α: the smoothed fraction of marked bytes.
    alpha: f64,
    /// The observation window ends with the first ACK above this number.
    window_end: u64,
    acked: u64,
    marked: u64,
    /// Marks and losses of data below this sequence number do not reduce the window again.
    reduced_until: u64,
    /// Whether the window does not grow until `reduced_until` is acknowledged (`first-ece` only).
    frozen: bool,
}

impl<L: Law> MarkedWindow<L> {
    pub fn new(params: &L::Params, window: u64, ssthresh: u64) -> Self {
        let estimate = params.estimate();
        let reno = super::reno::Params {
            byte_counting: estimate.byte_counting,
            ..super::reno::Params::default()
        };
        Self {
            law: L::new(params),
            reno: Reno::new(&reno, window, ssthresh),
            estimate,
            alpha: estimate.alpha,
            window_end: 0,
            acked: 0,
            marked: 0,
            reduced_until: 0,
            frozen: false,
        }
    }

    fn begin_window(&mut self, path: &PathView) {
        self.window_end = path.max;
        self.acked = 0;
        self.marked = 0;
    }

    /// Reduces the window, unless a mark or a loss has done so for the same window of data (RFC
    /// 8257 §3.5).
    fn react(&mut self, path: &PathView) -> bool {
        let again = self.estimate.react_at == ReactAt::EveryEce;
        if path.una <= self.reduced_until && !again {
            return false;
        }
        self.reduced_until = path.max;
        self.frozen = self.estimate.react_at == ReactAt::FirstEce;
        let penalty = self.law.penalty(self.alpha, self.reno.window(), path);
        let window = path.whole(self.reno.window());
        let reduced = (window as f64 * (1.0 - penalty / 2.0)) as u64;
        let reduced = window - path.whole(window - reduced);
        let floor = u64::from(self.estimate.floor) * path.segment;
        let reduced = reduced.max(floor);
        self.reno.set(reduced.min(window), reduced);
        true
    }
}

impl<L: Law> CongestionControl for MarkedWindow<L> {
    #[inline]
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        self.law.observe(ack, path, self.alpha);
        self.acked += ack.acked;
        if ack.ece {
            self.marked += ack.acked;
        }
        self.frozen &= path.una <= self.reduced_until;
        let mut reduced = false;
        let congested = self.marked > 0;
        if path.una > self.window_end {
            let fraction = self.marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.estimate.g) * self.alpha + self.estimate.g * fraction;
            self.begin_window(path);
            if congested && self.estimate.react_at == ReactAt::WindowEnd {
                reduced = self.react(path);
            }
        }
        if ack.ece && self.estimate.react_at != ReactAt::WindowEnd {
            self.react(path);
        }
        // RFC 3168 §6.1.2: an ACK with an echo does not grow the window. An ACK that reduces the
        // window does not grow it either.
        if ack.may_grow && !ack.ece && !self.frozen && !reduced {
            self.law.grow(&mut self.reno, ack, path);
        }
    }

    /// RFC 8257 §3.5: a loss is handled as in standard TCP, and α does not change.
    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        self.reno.on_congestion(why, path);
        self.reduced_until = path.max;
        self.frozen = false;
        if matches!(why, Congestion::Timeout { .. }) {
            self.begin_window(path);
        }
    }

    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        self.reno.on_recovery_exit(exit, path);
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        self.reno.on_limit(limit, path);
    }

    fn needs(&self) -> Needs {
        let ecn = EcnUse::PerAck(self.estimate.ce_change);
        Needs { ecn, every_ack: true, ..self.law.needs() }
    }

    fn on_sent(&mut self, path: &PathView) {
        self.law.on_sent(path);
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        (name == "alpha").then_some(self.alpha)
    }
}

/// Parameters that contain those of DCTCP.
pub trait OverMarks {
    fn estimate(&self) -> Estimate;
}

/// The parameters of a control that uses marks: first the control's own parameters with their
/// defaults, then DCTCP's parameters. For the user, all these parameters are one table.
/// `serde(flatten)` would lose the list of known keys in errors.
macro_rules! params_over_marks {
    (
        $(#[$about:meta])*
        pub struct Params {
            $($(#[$meaning:meta])* pub $own:ident: $kind:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Params {
            $($(#[$meaning])* pub $own: $kind,)*
            /// α before the first ACK, 0 to 1 (RFC 8257 §4.2: 1; the paper's code: 0).
            #[schemars(range(min = 0.0, max = 1.0))]
            pub alpha: f64,
            /// g: weight of a new observation in α, above 0 and at most 1 (RFC 8257 §4.2: 1/16).
            #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
            pub g: f64,
            /// Minimum window after a reduction by marks, in segments, at least 1 (Linux: 2).
            #[schemars(range(min = 1))]
            pub floor: u32,
            /// When the window is reduced.
            pub react_at: $crate::congestion::marks::ReactAt,
            /// Whether the window grows by a segment per acknowledged window of bytes, instead of
            /// by a part of a segment per ACK (RFC 5681 §3.1; Linux and ns-3: true).
            pub byte_counting: bool,
            /// How the receiver reacts when marks begin or end.
            pub ce_change: $crate::congestion::CeChange,
        }

        impl Default for Params {
            fn default() -> Self {
                Self {
                    $($own: $default,)*
                    alpha: 1.0,
                    g: 1.0 / 16.0,
                    floor: 2,
                    react_at: Default::default(),
                    byte_counting: false,
                    ce_change: Default::default(),
                }
            }
        }

        impl $crate::congestion::marks::OverMarks for Params {
            fn estimate(&self) -> $crate::congestion::marks::Estimate {
                let Self { alpha, g, floor, react_at, byte_counting, ce_change, .. } = *self;
                $crate::congestion::marks::Estimate {
                    alpha,
                    g,
                    floor,
                    react_at,
                    byte_counting,
                    ce_change,
                }
            }
        }
    };
}

pub(super) use params_over_marks;
