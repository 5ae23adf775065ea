//! Loss recovery: one file each, and one line in the list below.
//!
//! A recovery decides what is lost and how much may be sent meanwhile. It never writes cwnd: it
//! reports an [`Episode`], on which the connection tells the congestion control.

use incast_net::queue::Entry;

use crate::congestion::RecoveryExit;

mod newreno;

/// What a recovery sees of its connection.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryView {
    /// First unacknowledged sequence number, after the ACK at hand.
    pub una: u64,
    /// One past the highest sequence number sent.
    pub max: u64,
    /// Current segment size, bytes.
    pub segment: u64,
    /// cwnd, bytes.
    pub window: u64,
    /// Duplicate ACKs that mean a loss.
    pub dupack_threshold: u32,
}

/// What an ACK meant for loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Nothing.
    None,
    /// A loss: reduce the window and retransmit the first unacknowledged segment.
    Enter {
        /// Restart the retransmission timer.
        restart_timer: bool,
    },
    /// A partial ACK: retransmit the first unacknowledged segment.
    Partial {
        /// Restart the retransmission timer.
        restart_timer: bool,
    },
    /// Everything that was outstanding at the loss is acknowledged.
    Exit(RecoveryExit),
}

/// Decides what is lost.
pub trait LossRecovery {
    /// Whether it works by selective acknowledgements.
    const NEEDS_SACK: bool = false;

    /// A duplicate ACK arrived.
    fn on_duplicate_ack(&mut self, view: &RecoveryView) -> Episode;
    /// `acked` bytes were newly acknowledged.
    fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode;
    /// The retransmission timer expired.
    fn on_timeout(&mut self, view: &RecoveryView);
    /// A remedy knows of a loss and starts the episode without waiting for duplicate ACKs.
    fn enter(&mut self, view: &RecoveryView) -> Episode;
    /// Bytes that may be outstanding with this cwnd.
    fn quota(&self, cwnd: u64) -> u64;
    /// Consecutive duplicate ACKs.
    fn dupacks(&self) -> u32;
    /// Whether an episode is going on.
    fn in_recovery(&self) -> bool;
}

macro_rules! loss_recoveries {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A loss recovery and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum RecoveryConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
        }

        /// The loss recoveries that exist.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A loss recovery at work.
        #[derive(Clone, Debug)]
        pub enum Recovery {
            $(#[doc = $summary] $variant($module::$variant),)+
        }

        impl RecoveryConfig {
            /// Whether it works by selective acknowledgements.
            pub fn needs_sack(&self) -> bool {
                match self { $(Self::$variant(_) => $module::$variant::NEEDS_SACK,)+ }
            }

            /// The recovery with these parameters.
            pub fn build(&self) -> Recovery {
                match self {
                    $(Self::$variant(params) => Recovery::$variant($module::$variant::new(params)),)+
                }
            }
        }

        impl LossRecovery for Recovery {
            fn on_duplicate_ack(&mut self, view: &RecoveryView) -> Episode {
                match self { $(Self::$variant(it) => it.on_duplicate_ack(view),)+ }
            }
            fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode {
                match self { $(Self::$variant(it) => it.on_new_ack(acked, view),)+ }
            }
            fn on_timeout(&mut self, view: &RecoveryView) {
                match self { $(Self::$variant(it) => it.on_timeout(view),)+ }
            }
            fn enter(&mut self, view: &RecoveryView) -> Episode {
                match self { $(Self::$variant(it) => it.enter(view),)+ }
            }
            fn quota(&self, cwnd: u64) -> u64 {
                match self { $(Self::$variant(it) => it.quota(cwnd),)+ }
            }
            fn dupacks(&self) -> u32 {
                match self { $(Self::$variant(it) => it.dupacks(),)+ }
            }
            fn in_recovery(&self) -> bool {
                match self { $(Self::$variant(it) => it.in_recovery(),)+ }
            }
        }
    };
}

loss_recoveries! {
    "newreno" => NewReno(newreno): "Fast retransmit and partial-ACK recovery of RFC 6582.";
}
