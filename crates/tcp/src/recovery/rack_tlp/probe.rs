//! Tail loss probes (RFC 8985 §7).

use incast_engine::Time;

use super::params::Params;
use crate::recovery::{Episode, News, RecoveryView};
use crate::send::Scoreboard;

/// The probe timer and the unanswered probes.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    at: Time,
    /// One past the highest byte sent at the last probe, until its result is known (`TLP.end_seq`).
    end: Option<u64>,
    /// Whether that probe was a retransmission (`TLP.is_retrans`).
    retransmission: bool,
    /// Bytes outstanding when that probe was sent.
    flight: u64,
    /// Probes since the last round-trip sample.
    sent: u32,
}

impl Default for Probe {
    fn default() -> Self {
        Self { at: Time::NEVER, end: None, retransmission: false, flight: 0, sent: 0 }
    }
}

impl Probe {
    pub fn deadline(&self) -> Time {
        self.at
    }

    /// Whether no probe waits for its result.
    pub fn is_settled(&self) -> bool {
        self.end.is_none()
    }

    /// Stops the probe timer.
    pub fn cancel(&mut self) {
        self.at = Time::NEVER;
    }

    /// Forgets the probe after a timeout, because a timeout ends the probe's episode.
    pub fn reset(&mut self) {
        self.at = Time::NEVER;
        self.end = None;
    }

    /// Starts the count of probes again at 0 when a segment that was sent once has arrived.
    pub fn on_round_trip(&mut self) {
        self.sent = 0;
    }

    /// RFC 8985 §7.2: sets the timer after new data was sent or acknowledged.
    pub fn schedule(&mut self, params: &Params, board: &Scoreboard, view: &RecoveryView) {
        self.at = Time::NEVER;
        if board.is_empty() || board.sacked_segments() > 0 || self.sent >= params.probes {
            return;
        }
        let wait = match view.srtt {
            None => params.probe_initial,
            Some(srtt) => {
                let wait = srtt * u64::from(params.probe_rtts);
                if board.outstanding_segments() == 1 {
                    wait + params.max_ack_delay.unwrap_or(view.ack_delay)
                } else {
                    wait + params.timer_margin
                }
            }
        };
        self.at = view.wheel.after(view.now, wait).min(view.rto_at);
    }

    /// RFC 8985 §7.3: handles an expiry of the timer. Returns whether to send a probe.
    pub fn expire(&mut self, params: &Params) -> bool {
        self.at = Time::NEVER;
        self.sent < params.probes && (self.end.is_none() || params.probes > 1)
    }

    /// Records a sent probe.
    pub fn on_sent(&mut self, retransmission: bool, board: &Scoreboard) {
        self.sent += 1;
        self.end = Some(board.max());
        self.flight = board.flight();
        self.retransmission = retransmission;
    }

    /// RFC 8985 §7.4, `TLP_process_ack`. Returns an episode if the probe has repaired a loss.
    pub fn on_ack(&mut self, news: &News, una: u64) -> Option<Episode> {
        let end = self.end.filter(|end| una >= *end)?;
        let arrived_twice = news.twice.is_some_and(|duplicate| duplicate.1 == end)
            || (una == end && news.acked == 0 && news.repeats && !news.has_blocks);
        let repaired = self.retransmission && !arrived_twice && una > end;
        if !self.retransmission || arrived_twice || repaired {
            self.end = None;
        }
        repaired.then_some(Episode::Repaired { flight: self.flight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 §7.3 allows one probe in flight. With `probes` above 1, probes are sent without
    /// waiting for an answer.
    #[test]
    fn rfc8985_7_3_a_second_probe_takes_leave_to_send_several() {
        let allows = |probes: u32| {
            let params = Params { probes, ..Params::default() };
            let mut probe = Probe::default();
            let first = probe.expire(&params);
            probe.on_sent(false, &Scoreboard::new(1));
            (first, probe.expire(&params))
        };
        assert_eq!([0, 1, 2].map(allows), [(false, false), (true, false), (true, true)]);
    }
}
