//! The effect of idle and application-limited periods on cwnd.

use incast_engine::{Span, Time};

use crate::config::IdleRestart;
use crate::congestion::Limit;

/// The state of the connection when sending resumes.
#[derive(Clone, Copy, Debug)]
pub struct IdleView {
    /// Now.
    pub now: Time,
    /// cwnd, bytes.
    pub window: u64,
    /// Initial window, bytes.
    pub initial_window: u64,
    /// Current RTO.
    pub rto: Span,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
}

/// The state of the idle rules.
#[derive(Clone, Debug)]
pub struct IdleTracker {
    rule: IdleRestart,
    last_sent: Time,
    /// Start of the validation period of RFC 2861, and largest flight in this period.
    period_start: Time,
    used: u64,
    /// Bytes acknowledged in the current and the previous round trip (RFC 7661 pipeACK).
    acked: u64,
    pipe_ack: u64,
    round_end: Time,
}

impl IdleTracker {
    /// The initial state, if a rule is configured.
    pub fn new(rule: IdleRestart) -> Option<Box<Self>> {
        let tracker = Self {
            rule,
            last_sent: Time::ZERO,
            period_start: Time::ZERO,
            used: 0,
            acked: 0,
            pipe_ack: u64::MAX,
            round_end: Time::ZERO,
        };
        (rule != IdleRestart::None).then(|| Box::new(tracker))
    }

    /// Notes that data were sent, and that `flight` bytes are now outstanding.
    #[inline]
    pub fn on_send(&mut self, now: Time, flight: u64) {
        self.last_sent = now;
        self.used = self.used.max(flight);
    }

    /// Counts `acked` acknowledged bytes.
    pub fn on_ack(&mut self, acked: u64, view: &IdleView) {
        if self.rule != IdleRestart::Rfc7661 {
            return;
        }
        self.acked += acked;
        if view.now >= self.round_end {
            self.pipe_ack = self.acked;
            self.acked = 0;
            self.round_end = view.now + view.srtt.unwrap_or(view.rto);
        }
    }

    /// Whether cwnd may grow. RFC 7661 §4.3 freezes cwnd while less than half of it is used.
    #[inline]
    pub fn may_grow(&self, window: u64) -> bool {
        self.rule != IdleRestart::Rfc7661 || self.pipe_ack.max(self.acked) >= window / 2
    }

    /// RFC 7661 §4.4.1: the limit after a loss with `loss_flight` bytes outstanding.
    pub fn on_loss(&self, loss_flight: u64, window: u64) -> Option<Limit> {
        (self.rule == IdleRestart::Rfc7661 && !self.may_grow(window))
            .then(|| Limit::Unvalidated { used: self.pipe_ack.max(loss_flight) })
    }

    /// The limit that applies when sending is about to resume. `idle` is true if no data are in
    /// flight.
    pub fn before_send(&mut self, idle: bool, view: &IdleView) -> Option<Limit> {
        let quiet = view.now.saturating_since(self.last_sent);
        match self.rule {
            IdleRestart::None | IdleRestart::Rfc7661 => None,
            // RFC 5681 §4.1.
            IdleRestart::Rfc5681 => (idle && quiet > view.rto && view.window > view.initial_window)
                .then_some(Limit::Restart),
            IdleRestart::Rfc2861 => self.validate(idle, quiet, view),
        }
    }

    /// RFC 2861 §3: the window is halved for each RTO of idle time. After an RTO in which the
    /// application limited sending, the window falls to the mean of the window and its used part.
    fn validate(&mut self, idle: bool, quiet: Span, view: &IdleView) -> Option<Limit> {
        if idle && quiet >= view.rto {
            let rtos = (quiet.as_picos() / view.rto.as_picos().max(1)).min(63) as u32;
            self.begin_period(view.now);
            // A closed receive window may still prevent the transmission. The same idle time must
            // not count twice.
            self.last_sent = view.now;
            return Some(Limit::Idle { rtos });
        }
        if view.now.saturating_since(self.period_start) < view.rto {
            return None;
        }
        let used = self.used;
        self.begin_period(view.now);
        (used < view.window).then_some(Limit::Unused { used })
    }

    fn begin_period(&mut self, now: Time) {
        self.period_start = now;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Span = Span::from_millis(200);

    fn view(millis: u64) -> IdleView {
        IdleView {
            now: Time::ZERO + Span::from_millis(millis),
            window: 80_000,
            initial_window: 2_000,
            rto: RTO,
            srtt: Some(Span::from_millis(1)),
        }
    }

    #[test]
    fn none_never_restarts() {
        assert!(IdleTracker::new(IdleRestart::None).is_none());
    }

    #[test]
    fn rfc2861_3_the_same_idle_time_counts_once() {
        let mut tracker = IdleTracker::new(IdleRestart::Rfc2861).expect("a rule");
        let first = tracker.before_send(true, &view(450));
        assert!(matches!(first, Some(Limit::Idle { rtos: 2 })), "{first:?}");
        assert!(tracker.before_send(true, &view(450)).is_none(), "nothing was sent meanwhile");
    }

    #[test]
    fn rfc5681_4_1_restarts_after_more_than_an_rto_of_idleness() {
        let mut idle = IdleTracker::new(IdleRestart::Rfc5681).expect("a rule");
        idle.on_send(Time::ZERO, 80_000);
        assert_eq!(idle.before_send(true, &view(200)), None);
        assert_eq!(idle.before_send(true, &view(201)), Some(Limit::Restart));
        assert_eq!(idle.before_send(false, &view(201)), None, "data are in flight");
    }

    #[test]
    fn rfc2861_3_counts_the_idle_rtos() {
        let mut idle = IdleTracker::new(IdleRestart::Rfc2861).expect("a rule");
        idle.on_send(Time::ZERO, 80_000);
        let restart = |millis| idle.clone().before_send(true, &view(millis));
        assert_eq!(restart(199), None);
        assert_eq!(restart(450), Some(Limit::Idle { rtos: 2 }));
        assert_eq!(restart(20_000), Some(Limit::Idle { rtos: 63 }));
    }

    #[test]
    fn rfc2861_3_an_rto_of_less_than_the_window_is_told() {
        let mut idle = IdleTracker::new(IdleRestart::Rfc2861).expect("a rule");
        idle.before_send(false, &view(1000));
        idle.on_send(view(1000).now, 20_000);
        idle.on_send(view(1150).now, 30_000);
        assert_eq!(idle.before_send(false, &view(1150)), None, "less than an RTO");
        assert_eq!(idle.before_send(false, &view(1201)), Some(Limit::Unused { used: 30_000 }));
    }

    #[test]
    fn rfc7661_4_3_a_non_validated_window_is_frozen_and_4_4_1_cut_to_what_was_used() {
        let mut idle = IdleTracker::new(IdleRestart::Rfc7661).expect("a rule");
        assert!(idle.may_grow(80_000), "no acknowledged data is known yet");
        idle.on_ack(10_000, &view(1));
        idle.on_ack(5_000, &view(1));
        assert!(!idle.may_grow(80_000) && idle.may_grow(20_000));
        assert_eq!(idle.on_loss(12_000, 80_000), Some(Limit::Unvalidated { used: 12_000 }));
        assert_eq!(idle.on_loss(12_000, 20_000), None);
    }
}
