//! CUBIC as Linux counts it (`bictcp_update()` in `tcp_cubic.c`): in whole packets and in ticks of
//! a clock. The curve and the estimate of Reno's window determine how many acknowledged packets add
//! one packet to the window. This number is computed again when the window has changed, and
//! otherwise every 32 ms.

use crate::flavour::Cubic;

/// Ticks per second, as in Debian, and ticks between two computations, `HZ / 32`.
pub const HZ: u64 = 250;
const PAUSE: u64 = HZ / 32;
/// The curve counts time in units of 1/1024 s (`BICTCP_HZ`). Its scale and its factors are
/// multiples of 1/1024.
const SCALE: u32 = 10;
/// Number of windows that must be acknowledged before the window grows by a packet, while the curve
/// is not above the window.
const FLAT: u64 = 100;

/// The state of `struct bictcp`. Times are in ticks, windows in packets.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Acknowledged packets that add one packet to the window (`cnt`), and the packets counted so
    /// far (`snd_cwnd_cnt`).
    needed: u64,
    so_far: u64,
    /// The window and the tick of the last computation.
    last: (u64, u64),
    /// The tick in which the epoch began.
    began: Option<u64>,
    /// The curve's plateau, and the time until the plateau.
    plateau: u64,
    rise: u64,
    /// `W_max`; 0 before the first loss and after a timeout.
    most: u64,
    /// The window that Reno would have, and the packets acknowledged since its last growth.
    friendly: u64,
    acked: u64,
    /// The smallest round trip.
    delay: u64,
    /// The tick since which nothing has been outstanding.
    idle_since: Option<u64>,
}

fn scaled(factor: f64) -> u64 {
    (factor * f64::from(1 << SCALE)).round() as u64
}

impl Counted {
    /// Handles an ACK of `acked` packets in congestion avoidance. Returns the growth of the window
    /// of `window` packets, in packets.
    pub fn on_ack(
        &mut self,
        now: u64,
        (acked, window): (u64, u64),
        is_idle: bool,
        law: &Cubic,
    ) -> u64 {
        if let (Some(began), Some(since)) = (&mut self.began, self.idle_since.take()) {
            // cubictcp_cwnd_event(): time without data does not count.
            *began = (*began + (now - since)).min(now);
        }
        self.idle_since = is_idle.then_some(now);
        self.update(now, window, acked, law);
        // As in tcp_cong_avoid_ai().
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
    pub fn on_rtt(&mut self, now: u64, rtt: u64) {
        let is_new = self.began.is_some_and(|began| now - began < HZ);
        if !is_new && (self.delay == 0 || rtt < self.delay) {
            self.delay = rtt;
        }
    }

    /// Handles a loss at a cwnd of `window` packets. Returns the reduced window
    /// (`cubictcp_recalc_ssthresh()`).
    pub fn reduce(&mut self, window: u64, law: &Cubic) -> u64 {
        let beta = scaled(law.beta);
        self.began = None;
        let yields = law.yields && window < self.most;
        self.most = if yields { (window * ((1 << SCALE) + beta)) >> (SCALE + 1) } else { window };
        ((window * beta) >> SCALE).max(2)
    }

    /// Handles a timeout (`bictcp_reset()`).
    pub fn reset(&mut self) {
        *self = Self { so_far: self.so_far, ..Self::default() };
    }

    /// Begins a new epoch after a reduction that is neither a loss nor a timeout.
    pub fn restart(&mut self) {
        self.began = None;
    }

    /// Sets [`Self::needed`].
    fn update(&mut self, now: u64, window: u64, acked: u64, law: &Cubic) {
        self.acked += acked;
        if self.last.0 == window && now <= self.last.1 + PAUSE {
            self.needed = self.needed.max(1);
            return;
        }
        // The curve is computed once per tick.
        if self.began.is_none() || now != self.last.1 {
            self.last = (window, now);
            self.follow_curve(now, window, acked, law);
        }
        if law.is_friendly {
            self.follow_reno(window, law);
        }
        self.needed = self.needed.max(2);
    }

    fn follow_curve(&mut self, now: u64, window: u64, acked: u64, law: &Cubic) {
        let scale = scaled(law.c);
        let began = *self.began.get_or_insert_with(|| {
            self.acked = acked;
            self.friendly = window;
            self.plateau = self.most.max(window);
            let above = (self.plateau - window) as f64;
            let seconds = (above * f64::from(1 << SCALE) / scale as f64).cbrt();
            self.rise = (seconds * f64::from(1 << SCALE)) as u64;
            now
        });
        let time = ((now - began + self.delay) << SCALE) / HZ;
        let apart = u128::from(time.abs_diff(self.rise));
        let height = (u128::from(scale) * apart * apart * apart) >> (4 * SCALE);
        let height = u64::try_from(height).unwrap_or(u64::MAX / 2);
        let target = if time < self.rise {
            self.plateau.saturating_sub(height)
        } else {
            self.plateau + height
        };
        self.needed = if target > window { window / (target - window) } else { FLAT * window };
        if self.most == 0 && law.blind > 0.0 {
            self.needed = self.needed.min(law.blind as u64);
        }
    }

    /// Grows the estimate of Reno's window by 3 (1 - β) / (1 + β) packets per window. The inverse
    /// of this growth is rounded down to eighths.
    fn follow_reno(&mut self, window: u64, law: &Cubic) {
        let eighths = (8.0 * (1.0 + law.beta) / 3.0 / (1.0 - law.beta)) as u64;
        let per_packet = (window * eighths) >> 3;
        if per_packet > 0 && self.acked > per_packet {
            let packets = (self.acked - 1) / per_packet;
            self.acked -= packets * per_packet;
            self.friendly += packets;
        }
        if self.friendly > window {
            self.needed = self.needed.min(window / (self.friendly - window));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flavour::Flavour;

    fn law() -> Cubic {
        Cubic { blind: 20.0, ..Flavour::LAB.cubic }
    }

    /// Handles `count` ACKs of one packet each.
    fn acks(counted: &mut Counted, tick: u64, window: &mut u64, count: u64) {
        for _ in 0..count {
            *window += counted.on_ack(tick, (1, *window), false, &law());
        }
    }

    #[test]
    fn linux_cubictcp_recalc_ssthresh_leaves_717_of_1024() {
        let mut counted = Counted::default();
        assert_eq!(counted.reduce(100, &law()), 70);
        assert_eq!((counted.reduce(50, &law()), counted.most), (35, 42), "fast convergence");
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
        // Reno's estimate grows by a packet for 16 ACKs, but is not read before tick 8.
        acks(&mut counted, 0, &mut window, 40);
        acks(&mut counted, 7, &mut window, 1);
        assert_eq!(window, 14);
        acks(&mut counted, 8, &mut window, 1);
        assert_eq!(window, 15);
    }

    #[test]
    fn linux_bictcp_update_has_one_increment_beyond_the_last_maximum_too() {
        let mut counted = Counted::default();
        let mut window = counted.reduce(10, &law());
        for round in 0..100 {
            let count = window;
            acks(&mut counted, 10 * round, &mut window, count);
        }
        assert!((55..=62).contains(&window), "{window}");
    }

    #[test]
    fn linux_bictcp_acked_takes_no_round_trip_in_the_first_second_of_an_epoch() {
        let (mut counted, mut window) = (Counted::default(), 10);
        acks(&mut counted, 0, &mut window, 1);
        counted.on_rtt(249, 3);
        assert_eq!(counted.delay, 0);
        counted.on_rtt(250, 3);
        assert_eq!(counted.delay, 3);
    }

    #[test]
    fn linux_cubictcp_cwnd_event_leaves_idle_time_out() {
        let mut counted = Counted::default();
        counted.on_ack(0, (1, 10), true, &law());
        counted.on_ack(100, (1, 10), false, &law());
        assert_eq!(counted.began, Some(100));
    }
}
