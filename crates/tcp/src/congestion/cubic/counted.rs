//! CUBIC as Linux counts it (`bictcp_update()` in `tcp_cubic.c`): in whole packets and in ticks of
//! a clock. The curve and the estimate of Reno's window determine how many acknowledged packets add
//! one packet to the window. The number of acknowledged packets per packet of growth is computed
//! again when the window has changed, and otherwise every 32 ms.

use incast_engine::{Span, Time};

use super::Params;
use super::curve::Stage;

/// Length of a tick (`1/HZ`, as in Debian), and number of ticks per second.
const TICK: Span = Span::from_millis(4);
const HZ: u64 = 250;

/// The state of CUBIC between ACKs.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    stage: Stage,
    /// Number of acknowledged packets that add one packet to the window (`cnt`), and number of
    /// packets counted so far (`snd_cwnd_cnt`).
    needed: u64,
    so_far: u64,
    /// The smallest round trip, ticks.
    delay: u64,
    /// The tick since which nothing has been outstanding.
    idle_since: Option<u64>,
}

fn tick(now: Time) -> u64 {
    now.as_picos() / TICK.as_picos()
}

impl Counted {
    /// Handles an ACK of `acked` packets in congestion avoidance. Returns the growth of the window
    /// of `window` packets, in packets.
    pub fn on_ack(
        &mut self,
        now: Time,
        window: u64,
        acked: u64,
        is_idle: bool,
        law: &Params,
    ) -> u64 {
        let now = tick(now);
        if let Some(since) = self.idle_since.take() {
            // cubictcp_cwnd_event().
            self.stage.skip(since, now);
        }
        self.idle_since = is_idle.then_some(now);
        self.update(now, window, acked, law);
        // tcp_cong_avoid_ai().
        let mut grown = 0;
        if self.so_far >= self.needed {
            self.so_far = 0;
            grown = 1;
        }
        self.so_far += acked;
        if self.so_far >= self.needed {
            grown += self.so_far / self.needed;
            self.so_far %= self.needed;
        }
        grown
    }

    /// Handles a measured round trip. A round trip in the first second of an epoch does not count.
    pub fn on_rtt(&mut self, now: Time, rtt: Span) {
        if self.stage.began().is_some_and(|began| tick(now) - began < HZ) {
            return;
        }
        let ticks = rtt.as_picos().div_ceil(TICK.as_picos());
        if self.delay == 0 || ticks < self.delay {
            self.delay = ticks;
        }
    }

    /// Handles a loss with this window. Returns the reduced window (`cubictcp_recalc_ssthresh()`).
    pub fn reduce(&mut self, window: u64, law: &Params) -> u64 {
        self.stage.reduce(window, law)
    }

    /// Handles a timeout (`bictcp_reset()`).
    pub fn reset(&mut self) {
        *self = Self { so_far: self.so_far, ..Self::default() };
    }

    /// Begins a new epoch after a reduction that is neither a loss nor a timeout.
    pub fn restart(&mut self) {
        self.stage.restart();
    }

    /// Sets [`Self::needed`].
    fn update(&mut self, now: u64, window: u64, acked: u64, law: &Params) {
        if self.stage.rests(now, window, acked, HZ) {
            self.needed = self.needed.max(1);
            return;
        }
        // The curve is computed once per tick.
        if !self.stage.is_current(now) {
            let clock = (now, self.delay, HZ);
            self.needed = self.stage.follow_curve(clock, (window, acked), law);
            if self.stage.most() == 0 && law.blind_growth > 0 {
                self.needed = self.needed.min(law.blind_growth.into());
            }
        }
        self.needed = self.stage.follow_reno(window, self.needed, law).max(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn law() -> Params {
        Params { blind_growth: 20, ..Params::default() }
    }

    /// Handles `count` ACKs of one packet each, and grows `window`.
    fn acks(counted: &mut Counted, millis: u64, window: &mut u64, count: u64) {
        for _ in 0..count {
            *window += counted.on_ack(at(millis), *window, 1, false, &law());
        }
    }

    #[test]
    fn linux_cubictcp_recalc_ssthresh_leaves_717_of_1024() {
        let mut counted = Counted::default();
        assert_eq!(counted.reduce(100, &law()), 70);
        assert_eq!(
            (counted.reduce(50, &law()), counted.stage.most()),
            (35, 42),
            "fast convergence"
        );
        assert_eq!(counted.reduce(2, &law()), 2);
    }

    #[test]
    fn linux_bictcp_update_adds_a_packet_for_twenty_while_no_maximum_is_known() {
        let (mut counted, mut window) = (Counted::default(), 10);
        acks(&mut counted, 0, &mut window, 20);
        assert_eq!(window, 11);
    }

    #[test]
    fn linux_bictcp_update_looks_again_after_more_than_seven_ticks() {
        let mut counted = Counted::default();
        counted.reduce(14, &law());
        let mut window = 14;
        // The estimate of Reno's window grows by a packet per 16 ACKs, but is not read before tick
        // 8.
        acks(&mut counted, 0, &mut window, 40);
        acks(&mut counted, 28, &mut window, 1);
        assert_eq!(window, 14);
        acks(&mut counted, 32, &mut window, 1);
        assert_eq!(window, 15);
    }

    #[test]
    fn linux_bictcp_update_has_one_increment_beyond_the_last_maximum_too() {
        let mut counted = Counted::default();
        let mut window = counted.reduce(10, &law());
        for round in 0..100 {
            let count = window;
            acks(&mut counted, 40 * round, &mut window, count);
        }
        // Growth is 0.53 packets per round trip, as in RFC 8312. In RFC 9438, growth beyond the
        // last maximum is 1 packet per round trip.
        assert!((55..=62).contains(&window), "{window}");
    }

    #[test]
    fn linux_bictcp_update_reaches_the_plateau_in_k_seconds() {
        let law = Params { reno_friendly: false, ..law() };
        let mut counted = Counted::default();
        let mut window = counted.reduce(1000, &law);
        let mut millis = 0;
        while window < 999 {
            let count = window;
            for _ in 0..count {
                window += counted.on_ack(at(millis), window, 1, false, &law);
            }
            millis += 100;
        }
        // K = cbrt(300 / 0.4) = 9.1 s. In the last cbrt(1 / 0.4) s of this time, the curve is less
        // than a packet below the plateau.
        assert!((7400..=7800).contains(&millis), "{millis}");
    }

    #[test]
    fn linux_bictcp_acked_takes_no_round_trip_in_the_first_second_of_an_epoch() {
        let mut counted = Counted::default();
        let mut window = 10;
        acks(&mut counted, 0, &mut window, 1);
        counted.on_rtt(at(900), Span::from_millis(9));
        assert_eq!(counted.delay, 0);
        counted.on_rtt(at(1000), Span::from_millis(9));
        assert_eq!(counted.delay, 3);
    }

    #[test]
    fn linux_cubictcp_cwnd_event_leaves_idle_time_out() {
        let mut counted = Counted::default();
        counted.on_ack(at(0), 10, 1, true, &law());
        counted.on_ack(at(400), 10, 1, false, &law());
        assert_eq!(counted.stage.began(), Some(100));
    }
}
