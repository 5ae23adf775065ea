//! CUBIC 2.1 of Linux 2.6.22, which ns-2's TCP/Linux runs. It counts ACKs and multiplies by the
//! average number of segments per ACK. ns-2 sends no timestamps by default, without which this CUBIC
//! measures no round trip: nothing is added to the curve's time, and no largest growth is applied.

use incast_engine::{Span, Time};

use super::super::ack_ratio::AckRatio;
use super::Params;
use super::curve::{Curve, Friendly, SCALE, reduce};

/// `1/HZ`: ns-2's `JIFFY_RATIO`.
const TICK: Span = Span::from_millis(1);
/// Ticks in a second, and in `HZ / 32`.
const HZ: u64 = 1000;
const PAUSE: u64 = HZ / 32;

/// The state of `struct bictcp`.
#[derive(Clone, Debug, Default)]
pub(super) struct Early {
    /// ACKs that add one to the window (`cnt`), and those counted so far (`snd_cwnd_cnt`).
    needed: u64,
    so_far: u64,
    /// The window and the tick of the last computation.
    last: (u64, u64),
    /// The tick in which the epoch began.
    began: Option<u64>,
    curve: Curve,
    /// `W_max`; 0 before the first loss and after a timeout.
    most: u64,
    friendly: Friendly,
    ratio: AckRatio,
}

impl Early {
    /// An ACK of `acked` packets, in any state.
    pub fn count(&mut self, acked: u64) {
        self.ratio.count(acked);
    }

    /// An ACK in congestion avoidance. Returns by how many packets the window of `window` packets
    /// grows (`bictcp_cong_avoid()`): the ACK with which it grows is not counted.
    pub fn on_ack(&mut self, now: Time, window: u64, law: &Params) -> u64 {
        self.update(now.as_picos() / TICK.as_picos(), window, law);
        let grows = self.so_far >= self.needed;
        self.so_far = if grows { 0 } else { self.so_far + 1 };
        u64::from(grows)
    }

    /// A loss with this window. Returns the reduced window.
    pub fn reduce(&mut self, window: u64, law: &Params) -> u64 {
        self.began = None;
        self.so_far = 0;
        let (most, reduced) = reduce(window, self.most, law);
        self.most = most;
        reduced
    }

    /// A timeout (`bictcp_reset()`).
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The window was reduced by something else.
    pub fn restart(&mut self) {
        self.began = None;
    }

    fn update(&mut self, now: u64, window: u64, law: &Params) {
        self.friendly.acked += 1;
        if self.last.0 == window && now <= self.last.1 + PAUSE {
            return;
        }
        self.last = (window, now);
        let began = *self.began.get_or_insert_with(|| {
            self.friendly = Friendly { window, acked: 1 };
            self.curve = Curve::begin(window, self.most, law);
            now
        });
        let time = ((now - began) << SCALE) / HZ;
        let mut needed = self.curve.needed(time, window, law);
        if self.most == 0 && law.blind_growth > 0 {
            needed = law.blind_growth.into();
        }
        if law.reno_friendly {
            needed = self.friendly.needed(window, law).map_or(needed, |most| needed.min(most));
        }
        self.needed = self.ratio.divide(needed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Params {
        Params { beta: 819.0 / 1024.0, blind_growth: 50, ..Params::default() }
    }

    /// One ACK per packet; returns the window after them.
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
        assert_eq!((early.reduce(50, &law()), early.most), (39, 44), "fast convergence");
        assert_eq!(early.reduce(2, &law()), 2);
    }

    #[test]
    fn linux_2_6_22_update_needs_fifty_acks_times_16_over_31_while_no_maximum_is_known() {
        let mut early = Early::default();
        // 25 by the ratio that it begins with less one, and the one that grows.
        assert_eq!(acks(&mut early, 0, 100, 25), 100);
        assert_eq!(acks(&mut early, 0, 100, 1), 101);
        // A timeout forgets the maximum.
        early.reduce(20, &law());
        early.reset();
        assert_eq!(early.most, 0);
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
}
