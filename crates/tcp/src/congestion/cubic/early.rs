//! CUBIC 2.1 of Linux 2.6.22, which ns-2's TCP/Linux runs. This CUBIC counts ACKs and multiplies
//! their number by the average number of segments per ACK. By default ns-2 sends no timestamps, and
//! without timestamps this CUBIC measures no round trip. So no round trip is added to the curve's
//! time, and growth has no upper bound.

use incast_engine::{Span, Time};

use super::super::ack_ratio::AckRatio;
use super::Params;
use super::curve::Stage;

/// Length of a tick (`1/HZ`, ns-2's `JIFFY_RATIO`), and number of ticks per second.
const TICK: Span = Span::from_millis(1);
const HZ: u64 = 1000;

/// The state of CUBIC between ACKs.
#[derive(Clone, Debug, Default)]
pub(super) struct Early {
    stage: Stage,
    /// Number of ACKs that add one packet to the window (`cnt`), and number of ACKs counted so far
    /// (`snd_cwnd_cnt`).
    needed: u64,
    so_far: u64,
    ratio: AckRatio,
}

impl Early {
    /// Counts an ACK of `acked` packets, in any state.
    pub fn count(&mut self, acked: u64) {
        self.ratio.count(acked);
    }

    /// Handles an ACK in congestion avoidance. Returns the growth of the window of `window`
    /// packets, in packets. The ACK that grows the window is not counted (`bictcp_cong_avoid()`).
    pub fn on_ack(&mut self, now: Time, window: u64, law: &Params) -> u64 {
        self.update(now.as_picos() / TICK.as_picos(), window, law);
        let grows = self.so_far >= self.needed;
        self.so_far = if grows { 0 } else { self.so_far + 1 };
        u64::from(grows)
    }

    /// Handles a loss with this window. Returns the reduced window.
    pub fn reduce(&mut self, window: u64, law: &Params) -> u64 {
        self.so_far = 0;
        self.stage.reduce(window, law)
    }

    /// Handles a timeout (`bictcp_reset()`).
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Begins a new epoch after a reduction that is neither a loss nor a timeout.
    pub fn restart(&mut self) {
        self.stage.restart();
    }

    /// Sets [`Self::needed`].
    fn update(&mut self, now: u64, window: u64, law: &Params) {
        if self.stage.rests(now, window, 1, HZ) {
            return;
        }
        let mut needed = self.stage.follow_curve((now, 0, HZ), (window, 1), law);
        if self.stage.most() == 0 && law.blind_growth > 0 {
            needed = law.blind_growth.into();
        }
        self.needed = self.ratio.divide(self.stage.follow_reno(window, needed, law));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Params {
        Params { beta: 819.0 / 1024.0, blind_growth: 50, ..Params::default() }
    }

    /// Handles `count` ACKs of one packet each. Returns the window after the last ACK.
    fn acks(early: &mut Early, millis: u64, mut window: u64, count: u64) -> u64 {
        for _ in 0..count {
            early.count(1);
            window += early.on_ack(Time::ZERO + Span::from_millis(millis), window, &law());
        }
        window
    }

    #[test]
    fn linux_2_6_22_recalc_ssthresh_leaves_819_of_1024() {
        let mut early = Early::default();
        assert_eq!(early.reduce(100, &law()), 79);
        assert_eq!((early.reduce(50, &law()), early.stage.most()), (39, 44), "fast convergence");
        assert_eq!(early.reduce(2, &law()), 2);
    }

    #[test]
    fn linux_2_6_22_update_needs_fifty_acks_times_16_over_31_while_no_maximum_is_known() {
        let mut early = Early::default();
        // 50 packets are 25 ACKs at a ratio of two, which falls to 31/16. The 26th ACK grows the
        // window.
        assert_eq!(acks(&mut early, 0, 100, 25), 100);
        assert_eq!(acks(&mut early, 0, 100, 1), 101);
        // A timeout forgets the maximum.
        early.reduce(20, &law());
        early.reset();
        assert_eq!(early.stage.most(), 0);
    }

    #[test]
    fn linux_2_6_22_update_looks_again_after_more_than_31_ms() {
        let mut early = Early::default();
        early.reduce(14, &law());
        let window = acks(&mut early, 0, 14, 1);
        let flat = early.needed;
        acks(&mut early, 31, window, 200);
        assert_eq!(early.needed, flat);
        acks(&mut early, 32, window, 1);
        assert!(early.needed < flat, "Reno's estimate has grown: {}", early.needed);
    }

    #[test]
    fn linux_2_6_22_acks_of_four_packets_add_one_after_a_quarter_of_them() {
        let mut early = Early::default();
        (0..100).for_each(|_| early.count(4));
        // At a ratio of four, 50 packets are 12.5 ACKs. The 13th grows the window.
        let growth: Vec<u64> = (0..13).map(|_| early.on_ack(Time::ZERO, 100, &law())).collect();
        assert_eq!(growth, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
