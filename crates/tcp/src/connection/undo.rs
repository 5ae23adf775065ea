//! Spurious timeouts: detection by F-RTO (RFC 5682) or by timestamps (Eifel, RFC 3522), and undo by
//! RFC 4015.

use incast_engine::Time;
use incast_net::Packet;

use super::Connection;
use super::demand::Demand;
use super::extras::Extras;
use crate::config::UndoKind;
use crate::congestion::{Limit, Snapshot};
use crate::recovery::LossRecovery;
use crate::send::Sent;
use crate::send::rtt::timestamp;

/// The steps of checking a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing to check.
    Off,
    /// The first segment was sent again. The next ACK of new data decides how the check continues
    /// (RFC 5682 §2.1, step 2).
    Retransmitted,
    /// New data were sent (step 3).
    Forward,
    /// Only echoed timestamps count.
    Echo,
}

/// The state needed to undo a timeout.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    kind: UndoKind,
    step: Step,
    /// The congestion control before the timeout.
    saved: Option<Snapshot>,
    /// At the timeout: one past the highest sequence number sent, and the end of the first segment.
    recover: u64,
    head_end: u64,
    /// The timestamp of the first retransmission.
    retransmitted_at: u32,
    /// New data may be sent up to this sequence number, regardless of cwnd.
    forward_end: u64,
}

impl Undo {
    pub fn new(kind: UndoKind) -> Option<Box<Self>> {
        (kind != UndoKind::None).then(|| {
            Box::new(Self {
                kind,
                step: Step::Off,
                saved: None,
                recover: 0,
                head_end: 0,
                retransmitted_at: 0,
                forward_end: 0,
            })
        })
    }

    /// Whether an ACK must be checked.
    pub fn is_examining(&self) -> bool {
        self.step != Step::Off
    }

    /// The end of the new data that the check sends.
    pub fn forward_end(&self) -> Option<u64> {
        (self.step == Step::Forward).then_some(self.forward_end)
    }

    /// Whether a segment was outstanding at the timeout and was not retransmitted.
    pub fn is_original(&self, segment: &Sent) -> bool {
        self.step != Step::Off && segment.seq < self.recover && segment.transmissions == 1
    }
}

/// The evidence that an ACK gives about a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Bytes newly acknowledged; a duplicate ACK acknowledges none.
    pub acked: u64,
    /// Whether the receiver has data that was outstanding at the timeout and has not been
    /// retransmitted since.
    pub original: bool,
}

impl Connection {
    /// Saves the state at an expiry of the retransmission timer, before anything changes.
    pub(super) fn remember_timeout(&mut self, now: Time) {
        let (una, max, flight) = (self.board.una(), self.board.max(), self.board.flight());
        let head_end = self.board.head().map_or(una, Sent::end);
        let tick = self.config.timestamps.unwrap_or_default();
        let is_repeated = self.timed_out_at == Some(una);
        let in_recovery = self.recovery.in_recovery();
        let Some(undo) = &mut self.undo else { return };
        // RFC 5682 §2.1, step 1: a timeout is not examined while an earlier timeout is being
        // repaired.
        let is_first = una >= undo.recover;
        undo.step = match undo.kind {
            UndoKind::Linux if in_recovery && !is_repeated => {
                // tcp_enter_loss() examines a timeout by sending new data only if no repair was in
                // progress.
                (undo.step, undo.saved, undo.recover) = (Step::Off, None, max);
                return;
            }
            _ if is_first => Step::Retransmitted,
            UndoKind::Linux if is_repeated => {
                // tcp_enter_loss() keeps the window and the time of the first retransmission.
                (undo.step, undo.recover, undo.head_end) = (Step::Retransmitted, max, head_end);
                return;
            }
            UndoKind::Linux => Step::Echo,
            UndoKind::FRto => {
                undo.step = Step::Off;
                undo.saved = None;
                return;
            }
            UndoKind::Eifel | UndoKind::None => return,
        };
        undo.saved = Some(self.congestion.snapshot(flight));
        undo.recover = max;
        undo.head_end = head_end;
        undo.retransmitted_at = timestamp(now, tick);
    }

    /// Examines an ACK that arrives after a timeout. The normal processing of the ACK is complete.
    pub(super) fn examine(&mut self, now: Time, packet: &Packet, evidence: Evidence) {
        let has_echoes = self.config.timestamps.is_some();
        let Some(undo) = &mut self.undo else { return };
        // RFC 3522 §3.2, step 5: whether the echoed timestamp is older than the retransmission.
        let is_older = (packet.ts_echo.wrapping_sub(undo.retransmitted_at) as i32) < 0;
        let by_echo = match undo.kind {
            UndoKind::Eifel => true,
            UndoKind::Linux => has_echoes,
            UndoKind::FRto | UndoKind::None => false,
        };
        if by_echo && evidence.acked > 0 && is_older {
            undo.step = Step::Off;
            self.undo_timeout(now, evidence.acked);
            return;
        }
        match (undo.kind, undo.step) {
            (UndoKind::Eifel, _) => {
                if evidence.acked > 0 {
                    undo.step = Step::Off;
                }
            }
            (_, Step::Echo) => {
                if packet.ack >= undo.recover {
                    undo.step = Step::Off;
                }
            }
            (_, Step::Retransmitted) => self.step_forward(packet, evidence),
            (_, Step::Forward) => {
                undo.step = Step::Off;
                // Without SACK, no segment after the first was retransmitted (RFC 5682 §2.1).
                let is_basic = !self.extras.has(Extras::SELECTIVE);
                if evidence.original || (is_basic && evidence.acked > 0) {
                    // RFC 5682 §2.1, step 3 b.
                    self.undo_timeout(now, evidence.acked);
                } else {
                    self.resume_repair(now);
                }
            }
            (_, Step::Off) => {}
        }
    }

    /// RFC 5682 §2.1 and §3.1, step 2.
    fn step_forward(&mut self, packet: &Packet, evidence: Evidence) {
        let (una, max, end) = (self.board.una(), self.board.max(), self.stream_end());
        let segment = u64::from(self.segment_size);
        let is_selective = self.extras.has(Extras::SELECTIVE);
        let Some(undo) = &mut self.undo else { return };
        if evidence.acked == 0 {
            // With SACK, duplicate ACKs only update the scoreboard.
            if !is_selective {
                undo.step = Step::Off;
            }
            return;
        }
        let can_send = end > max && una + self.peer_window > max;
        if packet.ack >= undo.recover || packet.ack < undo.head_end || !can_send {
            undo.step = Step::Off;
            return;
        }
        undo.step = Step::Forward;
        undo.forward_end = max + 2 * segment;
        self.board.go_forward();
    }

    /// The end of the new data that is sent as a test, instead of segments marked as lost (RFC 5682
    /// §3.1, step 2).
    pub(super) fn forward_only(&self) -> Option<u64> {
        let forward = self.undo.as_ref().and_then(|undo| undo.forward_end());
        forward.filter(|_| self.extras.has(Extras::IN_PLACE))
    }

    /// RFC 5682 §2.1, step 3 a: the timeout was genuine.
    fn resume_repair(&mut self, now: Time) {
        self.limit(now, Limit::Genuine);
        self.recovery.on_genuine(&mut self.board);
    }

    /// RFC 4015 §3: continues with new data and restores the congestion control's state. cwnd is
    /// the flight plus at most an initial window.
    fn undo_timeout(&mut self, now: Time, acked: u64) {
        let Some(undo) = &mut self.undo else { return };
        let Some(saved) = undo.saved.take() else { return };
        self.board.lose_nothing();
        self.recovery.on_undo();
        let path = self.path(now, self.in_flight());
        self.congestion.undo(saved, acked, &path);
        self.waive(Demand::Head);
        self.timed_out_at = None;
        self.defer_again();
        self.counters.undone_timeouts += 1;
    }
}
