//! Loss recovery. Each recovery has a file, and a line in the list below.
//!
//! A recovery decides which segments are lost and how much may be sent during their repair. A
//! recovery never writes cwnd. A recovery returns an [`Episode`], and the connection notifies the
//! congestion control.
//!
//! All recoveries use the same scoreboard and the same episodes. [`Traits`] describe the
//! differences between recoveries that affect the connection.

use incast_engine::{Entry, Fault, Foreign, Here, Span, Time};

use crate::send::{Scoreboard, Sent};

pub mod efr;
mod min_rtt;
mod newreno;
mod phase;
mod rack_tlp;
mod reno;
mod reported;
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
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A loss recovery.
pub trait LossRecovery {
    /// The recovery's properties; called once.
    fn traits(&self) -> Traits {
        Traits::DUPLICATES
    }

    /// Begins an episode without duplicate ACKs, because a hook or the congestion control has
    /// detected a loss.
    fn enter(&mut self, view: &RecoveryView) -> Episode;
    /// Consecutive duplicate ACKs.
    fn dupacks(&self) -> u32;
    /// Whether an episode is in progress.
    fn in_recovery(&self) -> bool;

    /// Handles the current ACK, after the scoreboard has recorded it. After the end of a recovery,
    /// this method is called again, with empty news.
    fn on_ack(&mut self, news: &News, board: &mut Scoreboard, view: &RecoveryView) -> Episode;
    /// Handles an expiry of the retransmission timer and marks lost segments. By default, all
    /// segments return to the send queue, and the expiry is then handled as if nothing were
    /// outstanding.
    fn on_timeout(&mut self, board: &mut Scoreboard, view: &RecoveryView) {
        board.go_back();
        self.on_idle_expiry(view);
    }
    /// Handles an expiry of the retransmission timer while nothing is outstanding.
    fn on_idle_expiry(&mut self, view: &RecoveryView) {
        let _ = view;
    }
    /// Takes the round trip of the handshake as a sample.
    fn on_handshake(&mut self, now: Time, rtt: Span) {
        let _ = (now, rtt);
    }
    /// Ends the repair of the last timeout, which was premature.
    fn on_undo(&mut self) {}
    /// Resumes the repair of the last timeout, which was genuine although new data was sent after
    /// it (RFC 5682 §2.1, step 3 a).
    fn on_genuine(&mut self, board: &mut Scoreboard) {
        if !self.traits().in_place {
            board.go_back();
        }
    }
    /// Handles a `segment` that an ACK reports as arrived for the first time.
    fn on_delivered(&mut self, segment: &Sent, now: Time, echo: Option<Echo>) {
        let _ = (segment, now, echo);
    }
    /// Notes that the segment that ends at `end` was sent again, because it was lost or as a
    /// rescue.
    fn on_resent(&mut self, end: u64, rescue: bool) {
        let _ = (end, rescue);
    }

    /// Whether [`Self::on_ack`] does nothing for an ACK of new data without a SACK option, if no
    /// outstanding segment is marked. In a calm recovery, only cwnd limits the outstanding data:
    /// [`Self::quota`] and [`Self::pipe`] do not change the limit.
    fn is_calm(&self) -> bool {
        !self.in_recovery() && self.dupacks() == 0
    }
    /// Whether the recovery processes the SACK option of the current ACK.
    fn reads_blocks(&self) -> bool {
        self.traits().selective
    }
    /// Whether `Config::recovery_burst` limits the new segments for this ACK.
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
    /// Number of segments that the duplicate ACKs so far allow beyond the window. `limited` is the
    /// number of segments that limited transmit (RFC 3042) allows.
    fn released(&self, limited: u32) -> u32 {
        limited
    }
    /// Number of duplicate ACKs that signals a loss. The configured number is `usual`.
    fn threshold(&self, usual: u32) -> u32 {
        usual
    }
    /// Number of segments that duplicate ACKs without SACK have reported, if the recovery counts
    /// them.
    fn reported(&self) -> Option<u64> {
        None
    }
    /// Bytes in the network, as estimated by the scoreboard or by the recovery itself.
    fn pipe(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }
    /// Whether the first unacknowledged segment is lost and waits until rate reduction allows its
    /// retransmission.
    fn has_hole(&self) -> bool {
        false
    }
    /// The value that a loss halves, if `flight` bytes are outstanding (RFC 5681 §3.1, equation 4).
    fn flight_size(&self, flight: u64, board: &Scoreboard) -> u64 {
        let _ = board;
        flight
    }
    /// A segment to send again although it is not lost, if no retransmission is due and there is no
    /// new data.
    fn spare(&mut self, board: &Scoreboard) -> Option<Spare> {
        let _ = board;
        None
    }

    // Methods for recoveries with deadlines.

    /// Notes that new data was sent or acknowledged. `view` has the state of the retransmission
    /// timer.
    fn on_progress(&mut self, board: &Scoreboard, view: &RecoveryView) {
        let _ = (board, view);
    }
    /// The recovery's next deadline.
    fn deadline(&self) -> Time {
        Time::NEVER
    }
    /// Handles an expiry of the deadline.
    fn on_deadline(&mut self, board: &mut Scoreboard, view: &RecoveryView) -> Episode {
        let _ = (board, view);
        Episode::None
    }
    /// Notes that the requested probe was sent, as a retransmission or as new data.
    fn on_probe_sent(&mut self, retransmission: bool, board: &Scoreboard) {
        let _ = (retransmission, board);
    }
}

/// A recovery that uses duplicate ACKs.
trait ByDuplicates {
    /// Handles an ACK of `acked` new bytes.
    fn on_new_ack(&mut self, acked: u64, view: &RecoveryView) -> Episode;
    /// Handles a duplicate ACK with or without the echo of a mark.
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
    ($($name:literal => $variant:ident($place:ident $module:ident): $summary:literal;)+) => {
        /// A loss recovery and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum RecoveryConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A recovery that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign<dyn LossRecovery + Send>),
        }

        /// The list of loss recoveries.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A running loss recovery.
        pub enum Recovery {
            $(#[doc = $summary] $variant($place<$module::$variant>),)+
            /// A recovery from another crate.
            Custom(Box<dyn LossRecovery + Send>),
        }

        impl RecoveryConfig {
            /// The recovery's properties.
            pub fn traits(&self) -> Traits {
                self.build().traits()
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

            /// A recovery with these parameters.
            pub fn build(&self) -> Recovery {
                match self {
                    $(Self::$variant(params) => {
                        let recovery = $module::$variant::new(params);
                        Recovery::$variant($place::<$module::$variant>::from(recovery))
                    })+
                    Self::Foreign(recovery) => Recovery::Custom(recovery.build(&())),
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
            fn on_handshake(&mut self, now: Time, rtt: Span) {
                match self {
                    $(Self::$variant(it) => it.on_handshake(now, rtt),)+
                    Self::Custom(it) => it.on_handshake(now, rtt),
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
            fn threshold(&self, usual: u32) -> u32 {
                match self {
                    $(Self::$variant(it) => it.threshold(usual),)+
                    Self::Custom(it) => it.threshold(usual),
                }
            }
            #[inline]
            fn reported(&self) -> Option<u64> {
                match self {
                    $(Self::$variant(it) => it.reported(),)+
                    Self::Custom(it) => it.reported(),
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
            fn has_hole(&self) -> bool {
                match self {
                    $(Self::$variant(it) => it.has_hole(),)+
                    Self::Custom(it) => it.has_hole(),
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
    "tahoe" => Tahoe(Here tahoe): "Fast retransmit, then slow start (4.3BSD Tahoe).";
    "reno" => Reno(Here reno): "Fast retransmit and fast recovery of RFC 5681, which repair one loss per window.";
    "newreno" => NewReno(Here newreno): "Fast retransmit and partial-ACK recovery of RFC 6582.";
    "efr" => Efr(Box efr): "Fast retransmit that depends on marks and on the outstanding data (TCP-EFR).";
    "sack" => Sack(Here sack): "Recovery by selective acknowledgements of RFC 6675.";
    "sack1" => Sack1(Here sack1): "ns-2's SACK of 1996: lost segments still count as data in the network (the pipe).";
    "rack-tlp" => RackTlp(Box rack_tlp): "Detects losses by time, and losses at the tail by probes (RFC 8985).";
}

#[cfg(test)]
mod law_tests;
