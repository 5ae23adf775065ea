//! The part of BBR that the connection calls.

use incast_engine::Rate;

use super::policer::{Policer, Progress};
use super::{Bbr, LastAck, MOST_OFFLOADED, State, UNPACED};
use crate::congestion::{
    AckSample, Congestion, CongestionControl, Delivery, Limit, Needs, PathView, RecoveryExit,
};

impl CongestionControl for Bbr {
    fn window(&self) -> u64 {
        self.window
    }

    /// BBR has no ssthresh.
    fn ssthresh(&self) -> u64 {
        u64::MAX >> 2
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView) {
        let Some(delivery) = ack.delivery else { return };
        self.note_timeout(&delivery, path.segment);
        let is_valid = delivery.rate.is_some() || !self.params.valid_rounds;
        let begins = is_valid && self.note_delivery(&delivery);
        if is_valid {
            self.look_for_policer(Progress {
                now: path.now,
                begins,
                has_lost: delivery.losses > 0,
                app_limited: delivery.app_limited,
                delivered: delivery.delivered,
                lost: delivery.lost * path.segment,
                cycles: self.state == State::ProbeBandwidth,
            });
        }
        self.check_full(begins, &delivery);
        if self.state == State::Startup && self.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain && delivery.in_flight <= self.inflight(1.0, path.segment) {
            self.enter_probe_bandwidth(path.now);
        } else if self.state == State::ProbeBandwidth {
            self.advance_phase(delivery.in_flight, delivery.newly, path);
        }
        self.note_round_trip(ack, &delivery, path);
        if self.params.aggregation_gain > 0.0 && delivery.prior_delivered.is_some() && is_valid {
            let before = self.aggregation.most();
            let Delivery { newly, .. } = delivery;
            self.aggregation.on_ack(path.now, newly, self.bandwidth, begins, self.window);
            self.is_new |= before != self.aggregation.most();
        }
        self.follow_model(path);
        self.set_window(&delivery, path);
        self.last_ack = LastAck {
            at: path.now,
            held: delivery.in_flight + delivery.newly,
            delivered: delivery.delivered,
        };
        self.lost = false;
    }

    fn on_congestion(&mut self, why: Congestion, path: &PathView) {
        if why == Congestion::Ecn {
            // Version 1 of BBR ignores marks.
            return;
        }
        self.save_window();
        self.lost = true;
        self.repaired_at = Some(path.max);
        // §4.2.3.3: the window becomes one segment after a timeout, and otherwise the sum of the
        // data in the network and the data just delivered. If a timer detects the loss between two
        // ACKs, this sum is known at the next ACK.
        if matches!(why, Congestion::Timeout { .. }) {
            self.window = path.segment;
            if self.params.loss_begins_round {
                self.full_bandwidth = 0;
                self.timeouts += 1;
            }
            return;
        }
        self.conserve = Some(self.round + 1);
        if self.last_ack.at == path.now {
            self.window = self.last_ack.held.max(path.segment);
            self.begin_round(self.last_ack.delivered);
        } else {
            self.recovers = true;
        }
    }

    fn on_recovery_exit(&mut self, _: RecoveryExit, path: &PathView) {
        let holds = self.holds;
        self.end_repair(|until| !holds || path.una > until);
    }

    fn on_limit(&mut self, limit: Limit, path: &PathView) {
        let (most, _) = limit.bounds(self.window, self.ssthresh(), path);
        self.window = self.window.min(most);
        if limit == Limit::SynLost {
            self.initial_window = self.window;
        }
    }

    /// Linux's `bbr_undo_cwnd()`: Startup and the search for a policer begin anew. If duplicate
    /// ACKs report which data arrived (SACK), the next ACK restores the window.
    fn on_undo(&mut self) -> bool {
        if self.params.loss_begins_round {
            self.full_bandwidth = 0;
            self.full_rounds = 0;
            self.policer = Policer::default();
            self.update_product();
            self.timeouts = 0;
            if !self.holds {
                self.repaired_at = self.repaired_at.map(|_| 0);
            }
        }
        self.params.loss_begins_round
    }

    fn needs(&self) -> Needs {
        Needs {
            every_ack: true,
            delivery_rate: true,
            sent: true,
            pacing: true,
            whole_window: true,
            ..Needs::default()
        }
    }

    fn on_sent(&mut self, path: &PathView) {
        if self.rate.is_none() {
            self.set_rate(self.gains().0, path);
        }
        // §4.2.2: only this segment is outstanding, at the beginning of a block.
        if path.una == path.block_start && path.flight <= path.segment {
            self.idle_restart = true;
            self.aggregation.restart(path.now);
            if self.state == State::ProbeBandwidth {
                self.set_rate(1.0, path);
                self.is_new = true;
            } else if self.probe_ends.is_some_and(|(at, _)| path.now >= at) {
                self.end_probe(path.now);
            }
        }
    }

    fn pacing_burst(&self, segment: u64) -> u64 {
        if self.params.burst_time.is_zero() {
            return 0;
        }
        if self.bandwidth == 0 {
            return UNPACED * segment;
        }
        let near = match self.round_trip {
            _ if self.params.burst_rtt.is_zero() => 0,
            None => MOST_OFFLOADED,
            Some(trip) => {
                let halvings = trip.as_picos() / self.params.burst_rtt.as_picos();
                MOST_OFFLOADED.checked_shr(halvings as u32).unwrap_or(0)
            }
        };
        let Rate(rate) = self.rate.unwrap_or(Rate(0));
        let paced = (rate as f64 / 8.0 * self.params.burst_time.as_secs_f64()) as u64;
        let segments = ((paced + near).min(MOST_OFFLOADED) / segment.max(1))
            .max(self.params.burst.into())
            .min((self.window / segment.max(1) / 2).max(1));
        segments * segment
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn gauge(&self, name: &str) -> Option<f64> {
        match name {
            "bandwidth" => Some(self.bandwidth as f64),
            "pacing_gain" => Some(self.gains().0),
            "cwnd_gain" => Some(self.gains().1),
            "round" => Some(self.round as f64),
            "phase" => Some(f64::from(self.phase)),
            "state" => Some(f64::from(self.state as u8)),
            "pacing_rate" => self.rate.map(|rate| rate.0 as f64),
            _ => None,
        }
    }
}
