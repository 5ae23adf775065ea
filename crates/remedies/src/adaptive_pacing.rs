//! Adaptive pacing, modelled on AP: if more servers answer at once, the gaps between each server's
//! packets become longer and more random (Zou, Huang, Wang & He, IEEE/ACM Transactions on
//! Networking 29(1), 2021).
//!
//! A window that is sent at once is a burst, and many simultaneous bursts cause the incast. A
//! sender therefore spreads its window over the round trip. If this is not enough, the sender adds
//! random gaps, so that n senders together fill the link on average. The available texts say that a
//! sender estimates n, but not how. Here, a sender that notices congestion estimates n from its
//! window and its round trip.

use std::sync::{Arc, Mutex, PoisonError};

use incast_engine::time::mul_div;
use incast_engine::{Rate, Span, Stream, Time};
use incast_net::Flags;
use incast_tcp::hooks::{Advice, SendEvent, SendView, SenderHook, TxPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seam::{Installation, Place, Remedy, Situation};

/// Gaps between packets that grow with the number of servers (after adaptive pacing).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// How a sender learns the number of senders.
    pub flows: Flows,
    /// Whether a server's next connection starts with the estimate of the last connection (in the
    /// spirit of RFC 9040, temporal sharing). Default: true.
    pub carry: bool,
    /// Scale of θ, at least 0. With 1, n senders fill the link on average. With 0, gaps depend only
    /// on window and round trip. Default: 1.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub spread: f64,
}

/// How a sender learns n, the number of simultaneous senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flows {
    /// The sender estimates n from marks, losses, its window and the round trip.
    #[default]
    Estimated,
    /// The request contains the number of servers of the block.
    Given,
}

impl Default for Params {
    fn default() -> Self {
        Self { flows: Flows::default(), carry: true, spread: 1.0 }
    }
}

impl Remedy for Params {
    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Servers {
            params: self.clone(),
            given: f64::from(situation.servers),
            rate: situation.client_rate,
            estimates: Vec::new(),
        })
    }
}

/// The estimates of n at a client's servers, one per host.
struct Servers {
    params: Params,
    given: f64,
    rate: Rate,
    estimates: Vec<Arc<Mutex<f64>>>,
}

impl Installation for Servers {
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let server = place.server as usize;
        let fresh = || Arc::new(Mutex::new(1.0));
        let flows = match self.params.flows {
            Flows::Given => Arc::new(Mutex::new(self.given)),
            Flows::Estimated if self.params.carry => {
                if self.estimates.len() <= server {
                    self.estimates.resize_with(server + 1, fresh);
                }
                Arc::clone(&self.estimates[server])
            }
            Flows::Estimated => fresh(),
        };
        let packet = place.config.mss + u32::from(place.config.header);
        Some(Box::new(Sender {
            learns: self.params.flows == Flows::Estimated,
            spread: self.params.spread,
            slot: self.rate.transmission_time(packet.into()),
            flows,
            random: place.random,
            next_at: Time::ZERO,
            round: Round::default(),
            was_in_recovery: false,
        }))
    }
}

/// Observations of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The round ends when this sequence number is acknowledged.
    end: u64,
    acks: u32,
    echoes: u32,
}

struct Sender {
    learns: bool,
    spread: f64,
    /// Transmission time of a full packet on the client's link.
    slot: Span,
    /// The estimate of n, which the host's later connections may share.
    flows: Arc<Mutex<f64>>,
    random: Stream,
    /// Earliest departure time of the next new segment.
    next_at: Time,
    round: Round,
    was_in_recovery: bool,
}

impl Sender {
    fn flows(&self) -> f64 {
        *self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of n if all servers send equal windows in a round trip and together fill the link
    /// and the queue.
    fn alike(&self, view: &SendView) -> f64 {
        let Some(srtt) = view.srtt else { return 1.0 };
        let window = view.cwnd.min(view.receive_window).max(view.mss.into()) as f64;
        let packets = srtt.as_picos() as f64 / self.slot.as_picos() as f64;
        packets * f64::from(view.mss) / window
    }

    /// Raises the estimate, because more servers send than estimated. The new estimate is the old
    /// estimate times `1 + how_sure` (`how_sure` is 0 to 1), but at least [`Self::alike`].
    fn raise(&mut self, view: &SendView, how_sure: f64) {
        let flows = (self.flows() * (1.0 + how_sure)).max(self.alike(view));
        self.set(flows);
    }

    fn set(&mut self, flows: f64) {
        if self.learns {
            let flows = flows.clamp(1.0, f64::from(u16::MAX));
            *self.flows.lock().unwrap_or_else(PoisonError::into_inner) = flows;
        }
    }

    fn on_new_ack(&mut self, echo: bool, view: &SendView) {
        self.round.acks += 1;
        self.round.echoes += u32::from(echo);
        let lost = view.in_recovery && !self.was_in_recovery;
        self.was_in_recovery = view.in_recovery;
        if lost {
            self.raise(view, 1.0);
            self.round = Round { end: view.max, ..Round::default() };
        } else if view.una >= self.round.end {
            let Round { acks, echoes, .. } = self.round;
            if echoes > 0 {
                self.raise(view, f64::from(echoes) / f64::from(acks));
            } else {
                self.set(self.flows() - 1.0);
            }
            self.round = Round { end: view.max, ..Round::default() };
        }
    }

    /// The gap after a segment: `RTT/cwnd`, plus a random part up to θ. With a `spread` of 1, the
    /// mean gap is at least n slots.
    fn interval(&mut self, view: &SendView) -> Span {
        let window = view.cwnd.min(view.receive_window).max(view.mss.into());
        let even = view.srtt.map_or(0, |it| mul_div(it.as_picos(), view.mss.into(), window));
        let turn = self.slot.as_picos() as f64 * self.flows();
        let theta = (turn - even as f64).max(0.0) * 2.0 * self.spread;
        Span::from_picos(even) + self.random.uniform(Span::from_picos(theta as u64))
    }
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            // Servers with simultaneous requests begin at random times, within the time that the
            // link needs for one packet from each server.
            SendEvent::Ack { packet, .. } if packet.flags.contains(Flags::REQUEST) => {
                let turn = self.slot.as_picos() as f64 * (self.flows() - 1.0) * self.spread;
                let phase = self.random.uniform(Span::from_picos(turn as u64));
                self.next_at = self.next_at.max(view.now + phase);
            }
            SendEvent::Ack { packet, .. } => {
                self.on_new_ack(packet.flags.contains(Flags::ECE), view);
            }
            SendEvent::Timeout => {
                self.raise(view, 1.0);
                self.round = Round { end: view.max, ..Round::default() };
            }
            SendEvent::Sent(packet) if !packet.flags.contains(Flags::RETRANSMISSION) => {
                let interval = self.interval(view);
                self.next_at = self.next_at.max(view.now) + interval;
            }
            SendEvent::Sent(_) => {}
        }
        Advice::NONE
    }

    fn shape(&self, _: &SendView, plan: &TxPlan) -> Advice {
        let hold_until = if plan.retransmission { Time::ZERO } else { self.next_at };
        Advice { hold_until, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender whose estimate of n is `flows`. The link sends 1000 bytes and a header in 8.32 us.
    fn sender(flows: f64) -> Sender {
        Sender {
            learns: true,
            spread: 1.0,
            slot: Span::from_nanos(8320),
            flows: Arc::new(Mutex::new(flows)),
            random: Stream::named(1, "test", 0),
            next_at: Time::ZERO,
            round: Round::default(),
            was_in_recovery: false,
        }
    }

    fn view(cwnd: u64, srtt_micros: u64) -> SendView {
        SendView {
            now: Time::ZERO,
            una: 1,
            next: 1,
            max: 1,
            written: 1_000_000,
            cwnd,
            ssthresh: 1 << 30,
            receive_window: 1 << 30,
            mss: 1000,
            in_recovery: false,
            dupacks: 0,
            srtt: Some(Span::from_micros(srtt_micros)),
            rto: Span::from_millis(200),
            doublings: 0,
            head_sent_at: Time::ZERO,
            head_transmissions: 0,
        }
    }

    #[test]
    fn packets_are_n_slots_apart_on_average_or_a_window_s_share_of_the_round_trip() {
        let mean = |flows: f64, cwnd: u64| {
            let mut sender = sender(flows);
            let sum: u64 = (0..20_000).map(|_| sender.interval(&view(cwnd, 100)).as_picos()).sum();
            sum as f64 / 20_000.0 / 1e6
        };
        assert!((mean(1.0, 4000) - 25.0).abs() < 1e-9, "for a single sender, nothing is random");
        assert!((mean(100.0, 2000) / 832.0 - 1.0).abs() < 0.02, "{}", mean(100.0, 2000));
        assert!((mean(100.0, 1000) / 832.0 - 1.0).abs() < 0.02, "{}", mean(100.0, 1000));
    }

    #[test]
    fn congestion_tells_of_others_and_its_absence_that_they_are_gone() {
        let mut one = sender(1.0);
        // In a round trip of 832 us, the link sends 100 packets, of which two are this sender's.
        one.raise(&view(2000, 832), 0.1);
        assert!((one.flows() - 50.0).abs() < 1e-9, "{}", one.flows());
        one.raise(&view(50_000, 832), 0.5);
        assert!((one.flows() - 75.0).abs() < 1e-9, "{}", one.flows());
        let quiet = SendView { una: 3001, max: 5001, ..view(2000, 832) };
        one.on_new_ack(false, &quiet);
        one.on_new_ack(true, &SendView { una: 4001, ..quiet });
        assert!((one.flows() - 74.0).abs() < 1e-9, "once in a round trip: {}", one.flows());
        one.on_new_ack(false, &SendView { una: 5001, max: 6001, ..view(50_000, 832) });
        assert!((one.flows() - 111.0).abs() < 1e-9, "half of the ACKs: {}", one.flows());
    }
}
