//! Loss recovery: one file each, and one line in the list below.
//!
//! A recovery decides what is lost and how much may be sent meanwhile. It never writes cwnd: it
//! reports an [`Episode`], and the connection notifies the congestion control.
//!
//! All mark the same scoreboard and report the same episodes. Where connections with different
//! recoveries have to differ, the recovery's [`Traits`] say how.

use incast_engine::{Entry, Fault, Time};

use crate::send::{Scoreboard, Sent};

pub mod efr;
mod min_rtt;
mod newreno;
mod phase;
mod rack_tlp;
mod reno;
mod sack;
mod sack1;
mod tahoe;
mod view;

pub use view::{Answer, Echo, Episode, News, RecoveryView, Spare, Traits};

/// The parameters of a loss recovery.
pub trait Parameters {
    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Decides what is lost.
pub trait LossRecovery {
    /// How it works; asked once.
    fn traits(&self) -> Traits {
        Traits::DUPLICATES
    }

    /// A remedy has detected a loss and starts the episode without duplicate ACKs.
    fn enter(&mut self, view: &RecoveryView) -> Episode;
    /// Consecutive duplicate ACKs.
    fn dupacks(&self) -> u32;
    /// Whether an episode is in progress.
    fn in_recovery(&self) -> bool;

    /// The current ACK was entered on the scoreboard. After an exit this is called again, without
    /// news.
    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode;
    /// The retransmission timer expired: marks what is lost. Unless it says otherwise, everything is
    /// called back, and the rest is as with nothing outstanding.
    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        board.go_back();
        self.on_idle_expiry(view);
    }
    /// The retransmission timer expired although nothing is outstanding.
    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        let _ = view;
    }
    /// The last timeout was premature: its repair ends.
    fn on_undo(&mut self) {}
    /// The last timeout was genuine, although new data had left in between (RFC 5682 §2.1, step 3 a).
    fn on_genuine(&mut self, board: &mut Scoreboard) {
        if !self.traits().in_place {
            board.go_back();
        }
    }
    /// An ACK reports `segment` for the first time.
    fn on_delivered(&mut self, segment: &Sent, now: Time, echo: Option<Echo>) {
        let _ = (segment, now, echo);
    }
    /// The segment that ends at `end` was sent again, as a rescue or because it was due.
    fn on_resent(&mut self, end: u64, rescue: bool) {
        let _ = (end, rescue);
    }

    /// Whether [`Self::on_ack`] would do nothing for an ACK of new data without a SACK option, if no
    /// outstanding segment is marked, and cwnd alone bounds what is outstanding: [`Self::quota`] and
    /// [`Self::pipe`] add nothing to it.
    fn is_calm(&self) -> bool {
        !self.in_recovery() && self.dupacks() == 0
    }
    /// Whether it reads the SACK option of the current ACK.
    fn reads_blocks(&self) -> bool {
        self.traits().selective
    }
    /// Whether this ACK releases at most a burst of new segments.
    fn limits_burst(&self, news: &News, threshold: u32) -> bool {
        if self.traits().selective || news.acked > 0 {
            self.in_recovery()
        } else {
            self.dupacks() >= threshold
        }
    }
    /// Bytes that may be outstanding with this cwnd.
    fn quota(&self, cwnd: u64) -> u64 {
        cwnd
    }
    /// Segments that the duplicate ACKs so far release beyond the window, of which limited transmit
    /// (RFC 3042) would release `limited`.
    fn released(&self, limited: u32) -> u32 {
        limited
    }
    /// Bytes in the network, by the scoreboard's marks or the recovery itself.
    fn pipe(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }
    /// What a loss halves, if the data outstanding at the loss are `flight` (RFC 5681 §3.1,
    /// equation 4).
    fn flight_size(&self, flight: u64, board: &Scoreboard) -> u64 {
        let _ = board;
        flight
    }
    /// What to send again although it is not lost, when nothing is due and there are no new data.
    fn spare(&mut self, board: &Scoreboard) -> Option<Spare> {
        let _ = board;
        None
    }

    // By time.

    /// New data were sent or acknowledged, and the retransmission timer is as `view` says.
    fn on_progress(&mut self, board: &Scoreboard, view: &RecoveryView) {
        let _ = (board, view);
    }
    /// When it must be called next.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    /// The deadline has expired.
    fn on_deadline(&mut self, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        let _ = (board, view);
        Episode::None
    }
    /// The requested probe was sent; `retransmission` distinguishes it from new data.
    fn on_probe_sent(&mut self, retransmission: bool, board: &Scoreboard) {
        let _ = (retransmission, board);
    }
}

/// A recovery by duplicate ACKs.
trait ByDuplicates {
    /// An ACK covers `acked` new bytes.
    fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode;
    /// A duplicate ACK, with or without the echo of a mark.
    fn on_duplicate_ack(&mut self, ece: bool, view: &RecoveryView) -> Episode;

    /// [`LossRecovery::on_ack`].
    fn read(&mut self, news: &News, view: &RecoveryView) -> Episode {
        if news.acked > 0 {
            self.on_new_ack(news.acked, view)
        } else if news.is_duplicate {
            self.on_duplicate_ack(news.ece, view)
        } else {
            Episode::None
        }
    }
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
        pub enum Recovery {
            $(#[doc = $summary] $variant($module::$variant),)+
            /// One from outside this crate.
            Custom(Box<dyn LossRecovery + Send>),
        }

        impl RecoveryConfig {
            /// How it works.
            pub fn traits(&self) -> Traits {
                self.build().traits()
            }

            /// Finds the first invalid parameter.
            ///
            /// # Errors
            /// What is wrong with it.
            pub fn check(&self) -> Result<(), Fault> {
                match self { $(Self::$variant(params) => params.check(),)+ }
            }

            /// The recovery with these parameters.
            pub fn build(&self) -> Recovery {
                match self {
                    $(Self::$variant(params) => Recovery::$variant($module::$variant::new(params)),)+
                }
            }
        }

        impl LossRecovery for Recovery {
            fn traits(&self) -> Traits {
                match self {
                    $(Self::$variant(it) => it.traits(),)+
                    Self::Custom(it) => it.traits(),
                }
            }
            fn enter(&mut self, view: &RecoveryView) -> Episode {
                match self {
                    $(Self::$variant(it) => it.enter(view),)+
                    Self::Custom(it) => it.enter(view),
                }
            }
            #[inline]
            fn dupacks(&self) -> u32 {
                match self {
                    $(Self::$variant(it) => it.dupacks(),)+
                    Self::Custom(it) => it.dupacks(),
                }
            }
            #[inline]
            fn in_recovery(&self) -> bool {
                match self {
                    $(Self::$variant(it) => it.in_recovery(),)+
                    Self::Custom(it) => it.in_recovery(),
                }
            }
            fn on_ack(
                &mut self,
                news: &News,
                board: &mut Scoreboard,
                view: &RecoveryView,
            ) -> Episode {
                match self {
                    $(Self::$variant(it) => it.on_ack(news, board, view),)+
                    Self::Custom(it) => it.on_ack(news, board, view),
                }
            }
            fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
                match self {
                    $(Self::$variant(it) => it.on_timeout(board, view),)+
                    Self::Custom(it) => it.on_timeout(board, view),
                }
            }
            fn on_idle_expiry(&mut self, view: &RecoveryView) {
                match self {
                    $(Self::$variant(it) => it.on_idle_expiry(view),)+
                    Self::Custom(it) => it.on_idle_expiry(view),
                }
            }
            fn on_undo(&mut self) {
                match self {
                    $(Self::$variant(it) => it.on_undo(),)+
                    Self::Custom(it) => it.on_undo(),
                }
            }
            fn on_genuine(&mut self, board: &mut Scoreboard) {
                match self {
                    $(Self::$variant(it) => it.on_genuine(board),)+
                    Self::Custom(it) => it.on_genuine(board),
                }
            }
            fn limits_burst(&self, news: &News, threshold: u32) -> bool {
                match self {
                    $(Self::$variant(it) => it.limits_burst(news, threshold),)+
                    Self::Custom(it) => it.limits_burst(news, threshold),
                }
            }
            #[inline]
            fn quota(&self, cwnd: u64) -> u64 {
                match self {
                    $(Self::$variant(it) => it.quota(cwnd),)+
                    Self::Custom(it) => it.quota(cwnd),
                }
            }
            fn released(&self, limited: u32) -> u32 {
                match self {
                    $(Self::$variant(it) => it.released(limited),)+
                    Self::Custom(it) => it.released(limited),
                }
            }
            #[inline]
            fn on_delivered(&mut self, segment: &Sent, now: Time, echo: Option<Echo>) {
                match self {
                    $(Self::$variant(it) => it.on_delivered(segment, now, echo),)+
                    Self::Custom(it) => it.on_delivered(segment, now, echo),
                }
            }
            #[inline]
            fn is_calm(&self) -> bool {
                match self {
                    $(Self::$variant(it) => it.is_calm(),)+
                    Self::Custom(it) => it.is_calm(),
                }
            }
            #[inline]
            fn reads_blocks(&self) -> bool {
                match self {
                    $(Self::$variant(it) => it.reads_blocks(),)+
                    Self::Custom(it) => it.reads_blocks(),
                }
            }
            #[inline]
            fn pipe(&self, board: &Scoreboard) -> u64 {
                match self {
                    $(Self::$variant(it) => it.pipe(board),)+
                    Self::Custom(it) => it.pipe(board),
                }
            }
            fn flight_size(&self, flight: u64, board: &Scoreboard) -> u64 {
                match self {
                    $(Self::$variant(it) => it.flight_size(flight, board),)+
                    Self::Custom(it) => it.flight_size(flight, board),
                }
            }
            fn spare(&mut self, board: &Scoreboard) -> Option<Spare> {
                match self {
                    $(Self::$variant(it) => it.spare(board),)+
                    Self::Custom(it) => it.spare(board),
                }
            }
            fn on_resent(&mut self, end: u64, rescue: bool) {
                match self {
                    $(Self::$variant(it) => it.on_resent(end, rescue),)+
                    Self::Custom(it) => it.on_resent(end, rescue),
                }
            }
            #[inline]
            fn on_progress(&mut self, board: &Scoreboard, view: &RecoveryView) {
                match self {
                    $(Self::$variant(it) => it.on_progress(board, view),)+
                    Self::Custom(it) => it.on_progress(board, view),
                }
            }
            #[inline]
            fn deadline(&self) -> Time {
                match self {
                    $(Self::$variant(it) => it.deadline(),)+
                    Self::Custom(it) => it.deadline(),
                }
            }
            fn on_deadline(&mut self, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
                match self {
                    $(Self::$variant(it) => it.on_deadline(board, view),)+
                    Self::Custom(it) => it.on_deadline(board, view),
                }
            }
            fn on_probe_sent(&mut self, retransmission: bool, board: &Scoreboard) {
                match self {
                    $(Self::$variant(it) => it.on_probe_sent(retransmission, board),)+
                    Self::Custom(it) => it.on_probe_sent(retransmission, board),
                }
            }
        }
    };
}

loss_recoveries! {
    "tahoe" => Tahoe(tahoe): "Fast retransmit, and slow start from the loss on (4.3BSD Tahoe).";
    "reno" => Reno(reno): "Fast retransmit and fast recovery of RFC 5681, one loss per window.";
    "newreno" => NewReno(newreno): "Fast retransmit and partial-ACK recovery of RFC 6582.";
    "efr" => Efr(efr): "Fast retransmit by marks and by what is outstanding (TCP-EFR).";
    "sack" => Sack(sack): "Recovery by selective acknowledgements of RFC 6675.";
    "sack1" => Sack1(sack1): "ns-2's SACK of 1996: what is lost stays in the pipe.";
    "rack-tlp" => RackTlp(rack_tlp): "Losses by time, and probes for those at the tail (RFC 8985).";
}

#[cfg(test)]
mod law_tests;
