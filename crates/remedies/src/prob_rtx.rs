//! Probabilistic retransmission (Kulkarni & Agrawal, §4.2, algorithms 1 to 3).
//!
//! A thread of the sender wakes every τ. While data is outstanding, the thread sends a marked copy
//! of an unacknowledged segment with probability p; `copy` selects the segment. If the original
//! segment was lost, the receiver answers the copy with three extra ACKs. The sender therefore
//! enters fast retransmit even after the loss of a full window. The third duplicate ACK suspends
//! the thread.
//!
//! The thread is not simulated tick by tick. Instead, the number of ticks up to the next successful
//! tick is drawn from a geometric distribution. A successful tick sends a copy if data is
//! outstanding.

use incast_engine::{Fault, Span, Stream, Time};
use incast_net::Packet;
use incast_tcp::hooks::{
    Advice, Copies, ReceiveView, ReceiverHook, SendEvent, SendView, SenderHook, TxPlan,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label;
use crate::or_auto::{Auto, OrAuto};
use crate::seam::{Installation, Place, Remedy, Situation};

/// Random copies of an outstanding segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Probability, 0 to 1, that a tick sends a copy; `auto` computes it from the timer, the round
    /// trip and the outstanding data. Default: 0.001.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub p: OrAuto<f64>,
    /// τ, the period of the sender's thread, in seconds. Default: 20 us.
    pub period: Span,
    /// Which segment is sent as a copy.
    pub copy: Which,
    /// When the thread resumes after the third duplicate ACK has suspended it.
    pub resumes: Resumes,
}

/// Meaning of "highest unacknowledged segment".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The outstanding segment with the largest sequence number: the literal reading. A copy of
    /// this segment repairs nothing if an earlier segment is lost.
    Highest,
    /// The first outstanding segment. The ACKs ask for this segment.
    #[default]
    Head,
}

/// When the thread resumes. The paper gives no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resumes {
    /// When the recovery is over.
    AfterRecovery,
    /// Directly after the fast retransmit. Segments that are lost again during recovery may then
    /// also be copied.
    #[default]
    AtOnce,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            p: OrAuto::Quantity(0.001),
            period: Span::from_micros(20),
            copy: Which::default(),
            resumes: Resumes::default(),
        }
    }
}

impl Remedy for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.period.is_zero() {
            return Err(Fault::new("period", "must be longer than 0; write e.g. \"20us\""));
        }
        Ok(())
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Threads { params: self.clone(), base_rtt: situation.base_rtt })
    }
}

/// The threads on a client's servers.
struct Threads {
    params: Params,
    base_rtt: Span,
}

impl Installation for Threads {
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let rule = Rule {
            repairs: (self.params.copy, self.params.resumes) == (Which::Head, Resumes::AtOnce),
            period: self.params.period,
            rto_min: place.config.rto.min,
            base_rtt: self.base_rtt,
        };
        Some(Box::new(Sender::new(&self.params, rule, place.random)))
    }

    fn receiver(&mut self, _: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Receiver))
    }
}

/// Extra ACKs in addition to the regular one (algorithm 2).
const MORE_ACKS: u8 = 3;

/// Mean number of copies that `auto` sends before the timer expires. With three copies on average,
/// 95 % of lost windows are detected before the timer expires.
const COPIES_PER_TIMEOUT: f64 = 3.0;
/// Maximum number of copies per segment that `auto` sends while the ACK clock runs.
const COPIES_PER_SEGMENT: f64 = 0.1;

/// Mean number of copies that `auto` sends per round trip of the idle network, if copies are
/// repairs. Copies are repairs if they are copies of the missing segment (`head`) and are also sent
/// during recovery (`at-once`).
const REPAIRS_PER_ROUND_TRIP: f64 = 0.1;

/// How `auto` chooses p. If copies are repairs, p depends only on the round trip. Otherwise, copies
/// only reveal a loss, and p depends on the timer and the ACK clock.
#[derive(Clone, Copy, Debug)]
struct Rule {
    repairs: bool,
    period: Span,
    rto_min: Span,
    base_rtt: Span,
}

impl Rule {
    /// The maximum of p.
    fn most(&self) -> f64 {
        let most = if self.repairs {
            REPAIRS_PER_ROUND_TRIP * ratio(self.period, self.base_rtt)
        } else {
            COPIES_PER_TIMEOUT * ratio(self.period, self.rto_min)
        };
        most.min(1.0)
    }

    /// p for a sender in the state `view`. The backoff of the timer does not change p, because
    /// copies must be just as frequent in a stall with a longer timer.
    fn p(&self, view: &SendView) -> f64 {
        // Repairs do not use measured round trips, which are far too long or 0 if the clock is
        // coarse.
        if self.repairs {
            return self.most();
        }
        let round_trip = view.srtt.unwrap_or_default().max(self.base_rtt);
        let rto = Span::from_picos(view.rto.as_picos() >> view.doublings.min(63));
        let noticed = COPIES_PER_TIMEOUT * ratio(self.period, rto.max(self.rto_min));
        let flight = (view.next - view.una) as f64 / f64::from(view.mss);
        let afforded = COPIES_PER_SEGMENT * flight * ratio(self.period, round_trip);
        noticed.min(afforded)
    }
}

/// `one` in units of `other`; infinite if `other` is zero.
fn ratio(one: Span, other: Span) -> f64 {
    one.as_picos() as f64 / other.as_picos() as f64
}

struct Sender {
    period: Span,
    /// Probability of a success per tick.
    p: f64,
    /// The rule of `auto`, which decides whether a successful tick sends a copy. With `None`, every
    /// successful tick sends a copy.
    rule: Option<Rule>,
    copies: Copies,
    rests_in_recovery: bool,
    random: Stream,
    /// The next successful tick.
    next: Time,
    /// Whether the thread has started.
    runs: bool,
}

impl Sender {
    fn new(params: &Params, rule: Rule, random: Stream) -> Self {
        let copies = match params.copy {
            Which::Highest => Copies::HIGHEST,
            Which::Head => Copies::HEAD,
        };
        let (p, rule) = match params.p {
            OrAuto::Name(Auto) => (rule.most(), Some(rule)),
            OrAuto::Quantity(p) => (p, None),
        };
        Self {
            period: params.period,
            p,
            rule,
            copies,
            rests_in_recovery: params.resumes == Resumes::AfterRecovery,
            random,
            next: Time::NEVER,
            runs: false,
        }
    }

    /// Starts the thread. Its ticks have a random phase, so that the threads of different hosts do
    /// not tick together.
    fn start(&mut self, now: Time) {
        self.runs = true;
        let phase = now + self.random.uniform(self.period);
        self.next = self.success_after(phase);
    }

    /// The first successful tick from `tick` on.
    fn success_after(&mut self, tick: Time) -> Time {
        if self.p <= 0.0 {
            return Time::NEVER;
        }
        if self.p >= 1.0 {
            return tick;
        }
        let drawn = 1.0 - self.random.unit();
        // The cast below truncates the number of failures, as intended.
        let failures = libm::log(drawn) / libm::log1p(-self.p);
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
        // Thinning: successes are drawn with the maximum of p, and each is kept with probability
        // (current p) / (maximum of p).
        if let Some(rule) = self.rule
            && !self.random.chance(rule.p(view) / self.p)
        {
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

    const RULE: Rule = Rule {
        repairs: false,
        period: Span::from_micros(20),
        rto_min: Span::from_millis(200),
        base_rtt: Span::from_micros(100),
    };

    fn view(flight: u64) -> SendView {
        SendView {
            now: Time::ZERO,
            una: 1000,
            next: 1000 + flight * 1000,
            max: 1000 + flight * 1000,
            written: 100_000,
            cwnd: 10_000,
            ssthresh: 10_000,
            receive_window: 100_000,
            mss: 1000,
            in_recovery: false,
            dupacks: 0,
            srtt: Some(Span::from_micros(400)),
            rto: Span::from_millis(200),
            doublings: 0,
            head_sent_at: Time::ZERO,
            head_transmissions: 1,
        }
    }

    #[test]
    fn auto_is_three_copies_per_timeout_however_far_it_has_backed_off() {
        let close = |p: f64, expected: f64| assert!((p / expected - 1.0).abs() < 1e-9, "{p}");
        close(RULE.p(&view(2)), 3.0 * 20e-6 / 0.2);
        let backed_off = SendView { rto: Span::from_millis(800), doublings: 2, ..view(2) };
        close(RULE.p(&backed_off), 3.0 * 20e-6 / 0.2);
        // If the sender's RTO is above the minimum, p depends on this RTO.
        let slow = SendView { rto: Span::from_millis(600), ..view(2) };
        close(RULE.p(&slow), 3.0 * 20e-6 / 0.6);
    }

    #[test]
    fn auto_is_a_tenth_of_what_a_running_sender_sends_where_the_timer_is_fine() {
        let fine = Rule { rto_min: Span::from_micros(200), ..RULE };
        let state = SendView { rto: Span::from_micros(200), ..view(4) };
        assert!((fine.p(&state) - 0.1 * 4.0 * 20.0 / 400.0).abs() < 1e-9);
        assert!(fine.p(&state) <= fine.most());
        // If a coarse clock measures a round trip of 0, the round trip of the idle network is used.
        let blind = SendView { srtt: None, ..state };
        assert!((fine.p(&blind) - 0.1 * 4.0 * 20.0 / 100.0).abs() < 1e-9);
        let none = Rule { rto_min: Span::ZERO, ..RULE };
        assert!((none.most() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn auto_is_a_copy_in_ten_round_trips_where_copies_repair() {
        let repairing = Rule { repairs: true, ..RULE };
        for state in [view(1), view(4), SendView { srtt: None, ..view(4) }] {
            assert!((repairing.p(&state) - 0.1 * 20.0 / 100.0).abs() < 1e-9);
        }
        let instant = Rule { base_rtt: Span::ZERO, ..repairing };
        assert!((instant.most() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn auto_sends_as_many_copies_as_it_says() {
        let rule = Rule { rto_min: Span::from_millis(1), ..RULE };
        let params = Params { p: OrAuto::Name(Auto), ..Params::default() };
        let mut sender = Sender::new(&params, rule, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        let state = SendView { rto: Span::from_millis(1), ..view(4) };
        let (mut copies, end) = (0, Time::ZERO + Span::from_secs(20));
        while sender.next < end {
            copies += u32::from(sender.on_deadline(&state) != Advice::NONE);
        }
        // p is 0.02 at each of a million ticks. The standard error is 0.7 %.
        assert!((f64::from(copies) / 20_000.0 - 1.0).abs() < 0.03, "{copies}");
    }

    #[test]
    fn the_mean_wait_is_the_period_over_p() {
        let params = Params { p: OrAuto::Quantity(0.01), ..Params::default() };
        let mut sender = Sender::new(&params, RULE, Stream::named(1, "prob-rtx", 0));
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
        // Kulkarni & Agrawal §4.2: τ/p = 2 ms. The standard error of the mean is 0.7 %.
        assert!((mean / 0.002 - 1.0).abs() < 0.03, "{mean} s");
        let period = params.period.as_picos();
        let phase = ticks[0].as_picos() % period;
        assert!(ticks.iter().all(|tick| tick.as_picos() % period == phase));
    }

    /// With p = 1/2, the number of failures before a success is 0 in half of the cases, 1 in a
    /// quarter, and 2 in an eighth.
    #[test]
    fn failures_are_a_geometric_series() {
        let params = Params { p: OrAuto::Quantity(0.5), ..Params::default() };
        let mut sender = Sender::new(&params, RULE, Stream::named(1, "prob-rtx", 0));
        let mut failures = [0; 3];
        for _ in 0..20_000 {
            let wait = sender.success_after(Time::ZERO) - Time::ZERO;
            let ticks = (wait.as_picos() / sender.period.as_picos()) as usize;
            if let Some(count) = failures.get_mut(ticks) {
                *count += 1;
            }
        }
        // The standard errors of the three counts are 71, 61 and 47.
        for (count, expected) in failures.into_iter().zip([10_000_i32, 5000, 2500]) {
            assert!((count - expected).abs() < 250, "{failures:?}");
        }
    }

    #[test]
    fn a_certain_draw_is_every_tick_and_an_impossible_one_is_never() {
        let every = Params { p: OrAuto::Quantity(1.0), ..Params::default() };
        let mut sender = Sender::new(&every, RULE, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        let first = sender.next;
        assert_eq!(sender.success_after(first + sender.period), first + every.period);
        let never = Params { p: OrAuto::Quantity(0.0), ..Params::default() };
        let mut sender = Sender::new(&never, RULE, Stream::named(1, "prob-rtx", 0));
        sender.start(Time::ZERO);
        assert_eq!(sender.next, Time::NEVER);
    }
}
