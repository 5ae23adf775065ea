//! Congestion control: one file each, and one line in the list below.
//!
//! A congestion control is the sole owner of cwnd and ssthresh. Windows are counted in bytes and
//! grow by the connection's current segment size, because a remedy may change that.

use incast_net::queue::Entry;

mod reno;

/// What a congestion control sees of its connection.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// Current segment size, bytes.
    pub segment: u64,
    /// Outstanding bytes before the event (RFC 5681 `FlightSize`).
    pub flight: u64,
    /// Window that the receiver advertised, bytes.
    pub receive_window: u64,
    /// Initial window, bytes.
    pub initial_window: u64,
}

/// Why the window has to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Loss recovery began.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout {
        /// The same segment timed out before (RFC 5681 §3.1: ssthresh is held).
        repeated: bool,
    },
}

/// What becomes of cwnd when loss recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryExit {
    /// `cwnd = ssthresh` (RFC 6582 §3.2, step 3, option 2).
    Ssthresh,
    /// `cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)` (option 1).
    Flight,
    /// cwnd keeps the value of the reduction, less what partial ACKs took from it (ns-2).
    Keep {
        /// Bytes that partial ACKs took.
        deficit: u64,
    },
}

/// Owner of cwnd and ssthresh.
pub trait CongestionControl {
    /// cwnd, bytes.
    fn window(&self) -> u64;
    /// ssthresh, bytes.
    fn ssthresh(&self) -> u64;
    /// New data were acknowledged outside loss recovery.
    fn on_ack(&mut self, acked: u64, path: &PathView);
    /// A loss was detected.
    fn on_congestion(&mut self, why: Congestion, path: &PathView);
    /// Loss recovery ended.
    fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView);
    /// Caps cwnd, optionally raising ssthresh, after an idle or application-limited time.
    fn on_idle(&mut self, window: u64, ssthresh: u64);
}

macro_rules! congestion_controls {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A congestion control and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum CongestionControlConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
        }

        /// The congestion controls that exist.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A congestion control at work.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(#[doc = $summary] $variant($module::$variant),)+
        }

        impl CongestionControlConfig {
            /// A controller with this initial window and threshold, bytes.
            pub fn build(&self, window: u64, ssthresh: u64) -> Controller {
                match self {
                    $(Self::$variant(params) =>
                        Controller::$variant($module::$variant::new(params, window, ssthresh)),)+
                }
            }
        }

        impl CongestionControl for Controller {
            fn window(&self) -> u64 {
                match self { $(Self::$variant(it) => it.window(),)+ }
            }
            fn ssthresh(&self) -> u64 {
                match self { $(Self::$variant(it) => it.ssthresh(),)+ }
            }
            fn on_ack(&mut self, acked: u64, path: &PathView) {
                match self { $(Self::$variant(it) => it.on_ack(acked, path),)+ }
            }
            fn on_congestion(&mut self, why: Congestion, path: &PathView) {
                match self { $(Self::$variant(it) => it.on_congestion(why, path),)+ }
            }
            fn on_recovery_exit(&mut self, exit: RecoveryExit, path: &PathView) {
                match self { $(Self::$variant(it) => it.on_recovery_exit(exit, path),)+ }
            }
            fn on_idle(&mut self, window: u64, ssthresh: u64) {
                match self { $(Self::$variant(it) => it.on_idle(window, ssthresh),)+ }
            }
        }
    };
}

congestion_controls! {
    "reno" => Reno(reno): "Slow start and congestion avoidance of RFC 5681.";
}

#[cfg(test)]
mod law_tests;
