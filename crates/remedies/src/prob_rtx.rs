//! Probabilistic retransmission (Kulkarni & Agrawal, §4.2, algorithms 1 to 3).
//!
//! A thread of the sender wakes every τ and, while something is outstanding, sends with probability
//! p a marked copy of the highest unacknowledged segment. If the segment itself was lost, the
//! receiver answers the copy with three more ACKs than usual, so that the sender, which a full
//! window's loss would have left to its timer, enters fast retransmit. The thread rests during
//! recovery, unless told otherwise.
//!
//! The thread is not simulated tick by tick: the ticks at which it would draw a success are a
//! geometric series, and a tick at which nothing is outstanding is one at which nothing is sent.

use incast_engine::{Span, Stream, Time};
use incast_net::Packet;
use incast_net::queue::Fault;
use incast_tcp::hooks::{
    Advice, Copies, ReceiveView, ReceiverHook, SendEvent, SendView, SenderHook, TxPlan,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label;
use crate::seam::{Installation, Place, Remedy, Situation};

/// Random copies of the highest unacknowledged segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Probability, 0 to 1, that a tick sends a copy. Default: 0.001.
    pub p: f64,
    /// τ, the period of the sender's thread, seconds. Default: 20 us.
    pub period: Span,
    /// Which segment is copied.
    pub copy: Which,
    /// When the thread goes on that the third duplicate ACK suspended.
    pub resumes: Resumes,
}

/// What the text calls the highest unacknowledged segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The one with the largest sequence number: the literal reading.
    #[default]
    Highest,
    /// The first one.
    Head,
}

/// When the thread goes on, which the text leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resumes {
    /// When the recovery is over.
    #[default]
    AfterRecovery,
    /// When the fast retransmit is done: what is lost again in the recovery may be copied, too.
    AtOnce,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            p: 0.001,
            period: Span::from_micros(20),
            copy: Which::default(),
            resumes: Resumes::default(),
        }
    }
}

impl Remedy for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.period.is_zero() {
            return Err(Fault::new("period", "0 is no period; write e.g. \"20us\""));
        }
        Fault::unless_probability("p", self.p)
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(self.clone())
    }
}

impl Installation for Params {
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        Some(Box::new(Sender::new(self, place.random)))
    }

    fn receiver(&mut self, _: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Receiver))
    }
}

/// More ACKs than the one that every segment gets (algorithm 2).
const MORE_ACKS: u8 = 3;

struct Sender {
    period: Span,
    p: f64,
    copies: Copies,
    rests_in_recovery: bool,
    random: Stream,
    /// The next tick that will draw a success.
    next: Time,
    /// There has been something to copy.
    runs: bool,
}

impl Sender {
    fn new(params: &Params, random: Stream) -> Self {
        let copies = match params.copy {
            Which::Highest => Copies::HIGHEST,
            Which::Head => Copies::HEAD,
        };
        Self {
            period: params.period,
            p: params.p,
            copies,
            rests_in_recovery: params.resumes == Resumes::AfterRecovery,
            random,
            next: Time::NEVER,
            runs: false,
        }
    }

    /// Starts the thread; threads of different hosts are not in step.
    fn start(&mut self, now: Time) {
        self.runs = true;
        let phase = now + self.random.uniform(self.period);
        self.next = self.success_after(phase);
    }

    /// The first tick, from `tick` on, at which the thread draws a success.
    fn success_after(&mut self, tick: Time) -> Time {
        if self.p <= 0.0 {
            return Time::NEVER;
        }
        if self.p >= 1.0 {
            return tick;
        }
        let drawn = 1.0 - self.random.unit();
        let failures = libm::floor(libm::log(drawn) / libm::log1p(-self.p));
        let wait = failures * self.period.as_picos() as f64;
        if wait >= Span::from_secs(1_000_000).as_picos() as f64 {
            return Time::NEVER;
        }
        tick + Span::from_picos(self.period.as_picos() * failures as u64)
    }
}

impl SenderHook for Sender {
    fn deadline(&self) -> Time {
        self.next
    }

    fn on_deadline(&mut self, view: &SendView) -> Advice {
        self.next = self.success_after(self.next + self.period);
        let rests = self.rests_in_recovery && view.in_recovery;
        if rests || view.next == view.una {
            return Advice::NONE;
        }
        Advice { copies: self.copies, ..Advice::NONE }
    }

    fn shape(&self, _: &SendView, plan: &TxPlan) -> Advice {
        let label = if plan.requested { label::RANDOM_COPY } else { 0 };
        Advice { label, ..Advice::NONE }
    }

    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        if !self.runs && matches!(event, SendEvent::Sent(_)) {
            self.start(view.now);
        }
        Advice::NONE
    }
}

struct Receiver;

impl ReceiverHook for Receiver {
    fn on_segment(&mut self, packet: &Packet, view: &ReceiveView) -> Advice {
        let answers = packet.label & label::RANDOM_COPY != 0 && !view.duplicate;
        Advice { extra_acks: if answers { MORE_ACKS } else { 0 }, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_wait_is_the_period_over_p() {
        let params = Params { p: 0.01, ..Params::default() };
        let mut sender = Sender::new(&params, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        let ticks: Vec<Time> = (0..20_000)
            .map(|_| {
                let at = sender.next;
                sender.next = sender.success_after(at + sender.period);
                at
            })
            .collect();
        let span = ticks[ticks.len() - 1] - ticks[0];
        let mean = span.as_secs_f64() / (ticks.len() - 1) as f64;
        // Kulkarni & Agrawal §4.2: τ/p = 2 ms; the standard error of the mean is 0.7 %.
        assert!((mean / 0.002 - 1.0).abs() < 0.03, "{mean} s");
        let period = params.period.as_picos();
        let phase = ticks[0].as_picos() % period;
        assert!(ticks.iter().all(|tick| tick.as_picos() % period == phase));
    }

    #[test]
    fn a_certain_draw_is_every_tick_and_an_impossible_one_is_never() {
        let every = Params { p: 1.0, ..Params::default() };
        let mut sender = Sender::new(&every, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        let first = sender.next;
        assert_eq!(sender.success_after(first + sender.period), first + every.period);
        let never = Params { p: 0.0, ..Params::default() };
        let mut sender = Sender::new(&never, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        assert_eq!(sender.next, Time::NEVER);
    }
}
