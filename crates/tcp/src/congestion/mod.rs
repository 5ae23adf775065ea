//! Congestion control. Each control has a file, and a line in the list below.
//!
//! Only the congestion control writes cwnd and ssthresh. Windows are counted in bytes and grow by
//! the connection's current segment size, because a remedy may change that size.

use std::fmt::Debug;

use incast_engine::{Entry, Fault, Foreign, Here, Rate, Span};

mod ack_ratio;
mod bbr;
mod bic;
mod cubic;
mod d2tcp;
pub mod dctcp;
mod fitdc;
mod hystart;
mod l2dct;
mod limit;
mod marks;
mod reno;
mod swift;
mod tdctcp;
mod vegas;
mod view;
mod westwood;

pub use limit::{Limit, Snapshot};
pub use marks::ReactAt;
pub use view::{
    AckSample, CeChange, Congestion, Delivery, EcnUse, Head, Needs, PathView, RecoveryExit,
};

/// The parameters of a congestion control.
pub trait Parameters {
    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Derives the parameters that were not given and depend on `round_trip`, the round trip of a
    /// full segment and its ACK on the idle network.
    fn know_distance(&mut self, round_trip: &dyn Fn() -> Span) {
        let _ = round_trip;
    }
}

/// A congestion control: the only writer of cwnd and ssthresh.
pub trait CongestionControl {
    /// cwnd, bytes.
    fn window(&self) -> u64;
    /// ssthresh, bytes.
    fn ssthresh(&self) -> u64;
    /// New data were acknowledged.
    fn on_ack(&mut self, ack: &AckSample, path: &PathView);
    /// A loss was detected, or a mark was echoed.
    fn on_congestion(&mut self, why: Congestion, path: &PathView);
    /// Loss recovery ended.
    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView);
    /// A limit other than a congestion signal applies ([`Limit::bounds`]).
    fn on_limit(&mut self, limit: Limit, path: &PathView);

    /// A timeout was premature. Returns whether the control has handled the premature timeout; if
    /// not, the control's state before the timeout is restored.
    fn on_undo(&mut self) -> bool {
        false
    }

    /// The control's needs besides these methods; called once.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Whether `head`, the first unacknowledged segment, is lost ([`Needs::head`]). Called outside
    /// loss recovery, after a duplicate ACK and when an ACK changes the first unacknowledged
    /// segment. If `head` is lost after a duplicate ACK, recovery begins. If a new `head` is lost,
    /// it is sent again without a change of the window.
    fn is_lost(&mut self, head: Head, path: &PathView) -> bool {
        let _ = (head, path);
        false
    }

    /// A data segment was sent ([`Needs::sent`]). The control must not change the window before the
    /// next ACK.
    fn on_sent(&mut self, path: &PathView) {
        let _ = path;
    }

    /// An internal value, by name, for tests and traces.
    fn gauge(&self, name: &str) -> Option<f64> {
        let _ = name;
        None
    }

    /// Size of the bursts that leave back to back when data is paced, bytes; 0 for single segments.
    fn pacing_burst(&self, segment: u64) -> u64 {
        let _ = segment;
        0
    }

    /// The pacing rate ([`Needs::pacing`]); with `None` the connection spreads the window over a
    /// round trip.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
}

/// A congestion control from another crate. The congestion control must be `Clone`.
pub trait CustomControl: CongestionControl + Debug + Send {
    /// A copy, to be restored after a premature timeout.
    fn boxed_clone(&self) -> Box<dyn CustomControl>;
}

impl<T: CongestionControl + Clone + Debug + Send + 'static> CustomControl for T {
    fn boxed_clone(&self) -> Box<dyn CustomControl> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomControl> {
    fn clone(&self) -> Self {
        self.as_ref().boxed_clone()
    }
}

/// The windows of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial {
    /// Congestion window, bytes.
    pub window: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
}

macro_rules! congestion_controls {
    ($($name:literal => $variant:ident($place:ident $module:ident): $summary:literal;)+) => {
        /// A congestion control and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum CongestionControlConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A control that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign<dyn CustomControl, Initial>),
        }

        /// The list of congestion controls.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A running congestion control.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(#[doc = $summary] $variant($place<$module::$variant>),)+
            /// A control from another crate.
            Custom(Box<dyn CustomControl>),
        }

        impl CongestionControlConfig {
            /// A controller with this initial window and threshold, bytes.
            pub fn build(&self, window: u64, ssthresh: u64) -> Controller {
                match self {
                    $(Self::$variant(params) => {
                        let control = $module::$variant::new(params, window, ssthresh);
                        Controller::$variant($place::<$module::$variant>::from(control))
                    })+
                    Self::Foreign(control) => {
                        Controller::Custom(control.build(&Initial { window, ssthresh }))
                    }
                }
            }
        }

        impl CongestionControlConfig {
            /// The optional inputs and outputs that the control uses.
            pub fn needs(&self) -> Needs {
                self.build(1, 1).needs()
            }

            /// Finds the first invalid parameter.
            ///
            /// # Errors
            /// The key of this parameter, and the reason why its value is invalid.
            pub fn check(&self) -> Result<(), Fault> {
                match self {
                    $(Self::$variant(params) => params.check(),)+
                    Self::Foreign(_) => Ok(()),
                }
            }

            /// Sets the round trip of a full segment and its ACK on the idle network.
            pub fn know_distance(&mut self, round_trip: &dyn Fn() -> Span) {
                match self {
                    $(Self::$variant(params) => params.know_distance(round_trip),)+
                    Self::Foreign(_) => {}
                }
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn window(&self) -> u64 {
                match self {
                    $(Self::$variant(it) => it.window(),)+
                    Self::Custom(it) => it.window(),
                }
            }
            fn ssthresh(&self) -> u64 {
                match self {
                    $(Self::$variant(it) => it.ssthresh(),)+
                    Self::Custom(it) => it.ssthresh(),
                }
            }
            fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
                match self {
                    $(Self::$variant(it) => it.on_ack(ack, path),)+
                    Self::Custom(it) => it.on_ack(ack, path),
                }
            }
            fn on_congestion(&mut self, why: Congestion, path: &PathView) {
                match self {
                    $(Self::$variant(it) => it.on_congestion(why, path),)+
                    Self::Custom(it) => it.on_congestion(why, path),
                }
            }
            fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
                match self {
                    $(Self::$variant(it) => it.on_recovery_exit(exit, path),)+
                    Self::Custom(it) => it.on_recovery_exit(exit, path),
                }
            }
            fn on_limit(&mut self, limit: Limit, path: &PathView) {
                match self {
                    $(Self::$variant(it) => it.on_limit(limit, path),)+
                    Self::Custom(it) => it.on_limit(limit, path),
                }
            }
            fn on_undo(&mut self) -> bool {
                match self {
                    $(Self::$variant(it) => it.on_undo(),)+
                    Self::Custom(it) => it.on_undo(),
                }
            }
            fn needs(&self) -> Needs {
                match self {
                    $(Self::$variant(it) => it.needs(),)+
                    Self::Custom(it) => it.needs(),
                }
            }
            fn is_lost(&mut self, head: Head, path: &PathView) -> bool {
                match self {
                    $(Self::$variant(it) => it.is_lost(head, path),)+
                    Self::Custom(it) => it.is_lost(head, path),
                }
            }
            fn on_sent(&mut self, path: &PathView) {
                match self {
                    $(Self::$variant(it) => it.on_sent(path),)+
                    Self::Custom(it) => it.on_sent(path),
                }
            }
            fn gauge(&self, name: &str) -> Option<f64> {
                match self {
                    $(Self::$variant(it) => it.gauge(name),)+
                    Self::Custom(it) => it.gauge(name),
                }
            }
            fn pacing_burst(&self, segment: u64) -> u64 {
                match self {
                    $(Self::$variant(it) => it.pacing_burst(segment),)+
                    Self::Custom(it) => it.pacing_burst(segment),
                }
            }
            #[inline]
            fn pacing_rate(&self) -> Option<Rate> {
                match self {
                    $(Self::$variant(it) => it.pacing_rate(),)+
                    Self::Custom(it) => it.pacing_rate(),
                }
            }
        }
    };
}

congestion_controls! {
    "reno" => Reno(Here reno): "Slow start and congestion avoidance of RFC 5681.";
    "cubic" => Cubic(Box cubic): "A window that is a cubic function of time (RFC 9438).";
    "bic" => Bic(Box bic): "Binary search for the last maximum of the window (INFOCOM 2004).";
    "westwood" => Westwood(Box westwood): "Reduces the window to the measured bandwidth-delay product (Westwood+, CCR 2004).";
    "vegas" => Vegas(Box vegas): "Keeps a few segments of each flow in queues (JSAC 1995).";
    "dctcp" => Dctcp(Here dctcp): "Data Center TCP: reduces the window by the fraction of marked bytes (RFC 8257).";
    "d2tcp" => D2tcp(Box d2tcp): "DCTCP whose reductions are smaller near a deadline (SIGCOMM 2012).";
    "l2dct" => L2dct(Box l2dct): "DCTCP that favours blocks of which little data has been sent so far (INFOCOM 2013).";
    "tdctcp" => Tdctcp(Box tdctcp): "DCTCP with faster growth, and ACKs delayed by up to a round trip (after TDCTCP, 2013).";
    "tcp-fitdc" => Fitdc(Box fitdc): "DCTCP whose growth depends on the queueing delay (after TCP-FITDC, 2013).";
    "swift" => Swift(Box swift): "Controls the window, which may be smaller than one segment, by a target round-trip time (SIGCOMM 2020).";
    "bbr" => Bbr(Box bbr): "Sends at the measured bandwidth, with at most two bandwidth-delay products in flight (version 1).";
}

#[cfg(test)]
mod law_tests;
