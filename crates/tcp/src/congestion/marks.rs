//! What DCTCP and its descendants share: the fraction of marked bytes (RFC 8257 §3.3) over the window
//! of RFC 5681.

use incast_engine::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{AckSample, Congestion, CongestionControl, PathView, RecoveryExit};

/// When the window is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReactAt {
    /// When an observation window that saw a mark ends, by the fraction that it brought: the order
    /// of the steps in RFC 8257 §3.3, 4 to 9.
    WindowEnd,
    /// At the first echo, by the fraction known until then; the window then stays until everything
    /// outstanding is acknowledged (Alizadeh et al. 2010, Linux, ns-3).
    #[default]
    FirstEce,
    /// At every echo, however many a window brings: the letter of TCP-EFR's third case.
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
}

impl Estimate {
    /// Whether the values make sense.
    pub fn check(&self) -> Result<(), Fault> {
        let Self { alpha, g, floor, .. } = *self;
        if !(0.0..=1.0).contains(&alpha) {
            return Err(Fault::new("alpha", format!("{alpha} is no fraction; write 0 to 1")));
        }
        if !(g > 0.0 && g <= 1.0) {
            let message = format!("{g} is no weight; write more than 0 and at most 1, e.g. 0.0625");
            return Err(Fault::new("g", message));
        }
        if floor == 0 {
            return Err(Fault::new("floor", "0 segments are no window; write 1 or more"));
        }
        Ok(())
    }
}

/// A window of RFC 5681 that marks reduce by their fraction.
#[derive(Clone, Debug)]
pub struct MarkedWindow {
    pub reno: Reno,
    estimate: Estimate,
    /// α: the smoothed fraction of marked bytes.
    alpha: f64,
    /// The observation window ends with the first ACK beyond this.
    window_end: u64,
    acked: u64,
    marked: u64,
    /// Nothing up to here reduces the window again, whether it was marked or lost before.
    reduced_until: u64,
    /// Nor does it grow until then (first echo only).
    frozen: bool,
}

impl MarkedWindow {
    pub fn new(estimate: Estimate, window: u64, ssthresh: u64) -> Self {
        let reno = super::reno::Params {
            byte_counting: estimate.byte_counting,
            ..super::reno::Params::default()
        };
        Self {
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

    /// An ACK: `penalty` makes of α the share of the window whose half goes, `grow` grows it.
    pub fn on_ack(
        &mut self,
        ack: &AckSample,
        path: &PathView,
        penalty: impl Fn(f64) -> f64,
        grow: impl FnOnce(&mut Reno),
    ) {
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
                reduced = self.react(path, &penalty);
            }
        }
        if ack.ece && self.estimate.react_at != ReactAt::WindowEnd {
            self.react(path, penalty);
        }
        // RFC 3168 §6.1.2 denies growth to an ACK with an echo; the ACK that reduces does not grow
        // the window either.
        if ack.may_grow && !ack.ece && !self.frozen && !reduced {
            grow(&mut self.reno);
        }
    }

    fn begin_window(&mut self, path: &PathView) {
        self.window_end = path.max;
        self.acked = 0;
        self.marked = 0;
    }

    /// Reduces the window, unless that was done for the same window of data, by whatever signal
    /// (RFC 8257 §3.5).
    fn react(&mut self, path: &PathView, penalty: impl Fn(f64) -> f64) -> bool {
        let again = self.estimate.react_at == ReactAt::EveryEce;
        if path.una <= self.reduced_until && !again {
            return false;
        }
        self.reduced_until = path.max;
        self.frozen = self.estimate.react_at == ReactAt::FirstEce;
        let window = path.whole(self.reno.window());
        let reduced = (window as f64 * (1.0 - penalty(self.alpha) / 2.0)) as u64;
        let reduced = window - path.whole(window - reduced);
        let floor = u64::from(self.estimate.floor) * path.segment;
        let reduced = reduced.max(floor);
        self.reno.set(reduced.min(window), reduced);
        true
    }

    /// RFC 8257 §3.5: a loss is answered as by any other TCP, and α stays.
    pub fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        self.reno.on_congestion(why, path);
        self.reduced_until = path.max;
        self.frozen = false;
        if matches!(why, Congestion::Timeout { .. }) {
            self.begin_window(path);
        }
    }

    pub fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
        self.reno.on_recovery_exit(exit, path);
    }

    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

/// The parameters of a control over marks: its own, with their defaults, before those of DCTCP.
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
            /// α before the first ACK, a ratio from 0 to 1 (RFC 8257 §4.2: 1; the paper's code: 0).
            pub alpha: f64,
            /// g: weight of a new observation in α, a ratio above 0 and at most 1 (RFC 8257 §4.2:
            /// 1/16).
            pub g: f64,
            /// Least window after a reduction by marks, segments, at least 1 (Linux: 2).
            pub floor: u32,
            /// When the window is reduced.
            pub react_at: $crate::congestion::marks::ReactAt,
            /// Grow by a segment when a window of bytes was acknowledged, and not by a part of one
            /// per ACK (RFC 5681 §3.1; Linux and ns-3: true).
            pub byte_counting: bool,
            /// What the receiver does when marks begin or end.
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

        impl Params {
            fn estimate(&self) -> $crate::congestion::marks::Estimate {
                let Self { alpha, g, floor, react_at, byte_counting, .. } = *self;
                $crate::congestion::marks::Estimate { alpha, g, floor, react_at, byte_counting }
            }
        }
    };
}

/// What a control that holds such a window as `window` answers without a say of its own.
macro_rules! answer_as_marked_window {
    () => {
        fn window(&self) -> u64 {
            self.window.reno.window()
        }

        fn ssthresh(&self) -> u64 {
            self.window.reno.ssthresh()
        }

        fn on_congestion(
            &mut self,
            why: $crate::congestion::Congestion,
            path: &$crate::congestion::PathView,
        ) {
            self.window.on_congestion(why, path);
        }

        fn on_recovery_exit(
            &mut self,
            exit: $crate::congestion::RecoveryExit,
            path: &$crate::congestion::PathView,
        ) {
            self.window.on_recovery_exit(exit, path);
        }

        fn on_limit(
            &mut self,
            limit: $crate::congestion::Limit,
            path: &$crate::congestion::PathView,
        ) {
            self.window.reno.on_limit(limit, path);
        }

        fn gauge(&self, name: &str) -> Option<f64> {
            (name == "alpha").then(|| self.window.alpha())
        }
    };
}

pub(super) use {answer_as_marked_window, params_over_marks};
