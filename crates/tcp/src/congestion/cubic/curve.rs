//! The parts that all versions of Linux's `tcp_cubic.c` share: CUBIC's curve and the estimate of
//! Reno's window, in whole packets and in ticks of a clock.

use super::Params;

/// The curve counts time in units of 1/1024 s (`BICTCP_HZ`). The curve's scale and factors are
/// multiples of 1/1024.
const SCALE: u32 = 10;
/// Number of windows that must be acknowledged before the window grows by a packet, while the curve
/// is not above the window.
const FLAT: u64 = 100;
/// Computations per second while the window does not change.
const PAUSES: u64 = 32;

/// The state that is kept between ACKs (`struct bictcp`).
#[derive(Clone, Debug, Default)]
pub(super) struct Stage {
    /// The window and the tick of the last computation.
    last: (u64, u64),
    /// The tick in which the epoch began.
    began: Option<u64>,
    plateau: u64,
    /// The time until the plateau (`bic_K`).
    rise: u64,
    /// `W_max`; 0 before the first loss and after a timeout.
    most: u64,
    /// The window that Reno would have, and the packets or ACKs counted since its last growth.
    friendly: u64,
    acked: u64,
}

fn scaled(factor: f64) -> u64 {
    (factor * f64::from(1 << SCALE)).round() as u64
}

impl Stage {
    /// Counts an ACK: `acked` is the number of acknowledged packets, or 1 if ACKs are counted.
    /// Returns whether the last computation still holds; a second has `hz` ticks.
    pub fn rests(&mut self, now: u64, window: u64, acked: u64, hz: u64) -> bool {
        self.acked += acked;
        self.last.0 == window && now <= self.last.1 + hz / PAUSES
    }

    /// Whether the curve was computed in this tick.
    pub fn is_current(&self, now: u64) -> bool {
        self.began.is_some() && now == self.last.1
    }

    /// Follows the curve at a time `delay` ticks after now. Returns how many packets must be
    /// acknowledged before the window grows by a packet.
    pub fn follow_curve(
        &mut self,
        (now, delay, hz): (u64, u64, u64),
        (window, acked): (u64, u64),
        law: &Params,
    ) -> u64 {
        self.last = (window, now);
        let scale = scaled(law.c);
        let began = *self.began.get_or_insert_with(|| {
            self.acked = acked;
            self.friendly = window;
            self.plateau = self.most.max(window);
            let above = (self.plateau - window) as f64 * f64::from(1 << SCALE);
            self.rise = (libm::cbrt(above / scale as f64) * f64::from(1 << SCALE)) as u64;
            now
        });
        let time = ((now - began + delay) << SCALE) / hz;
        let apart = u128::from(time.abs_diff(self.rise));
        let height = (u128::from(scale) * apart * apart * apart) >> (4 * SCALE);
        let height = u64::try_from(height).unwrap_or(u64::MAX / 2);
        let target = if time < self.rise {
            self.plateau.saturating_sub(height)
        } else {
            self.plateau + height
        };
        if target > window { window / (target - window) } else { FLAT * window }
    }

    /// Returns `needed`, or less if Reno's window is larger than `window`. Reno's window grows by 3
    /// (1 - β) / (1 + β) packets per window. The inverse of this growth is rounded down to eighths.
    pub fn follow_reno(&mut self, window: u64, needed: u64, law: &Params) -> u64 {
        if !law.reno_friendly {
            return needed;
        }
        let eighths = (8.0 * (1.0 + law.beta) / 3.0 / (1.0 - law.beta)) as u64;
        let per_packet = (window * eighths) >> 3;
        if per_packet > 0 && self.acked > per_packet {
            let packets = (self.acked - 1) / per_packet;
            self.acked -= packets * per_packet;
            self.friendly += packets;
        }
        if self.friendly > window { needed.min(window / (self.friendly - window)) } else { needed }
    }

    /// Handles a loss with this window. Returns the reduced window.
    pub fn reduce(&mut self, window: u64, law: &Params) -> u64 {
        let beta = scaled(law.beta);
        self.began = None;
        let fast = law.fast_convergence && window < self.most;
        self.most = if fast { (window * ((1 << SCALE) + beta)) >> (SCALE + 1) } else { window };
        ((window * beta) >> SCALE).max(2)
    }

    /// Begins a new epoch after a reduction that is neither a loss nor a timeout.
    pub fn restart(&mut self) {
        self.began = None;
    }

    /// Excludes the time between two ticks from the epoch, because nothing was outstanding.
    pub fn skip(&mut self, since: u64, now: u64) {
        if let Some(began) = &mut self.began {
            *began = (*began + (now - since)).min(now);
        }
    }

    /// The tick in which the epoch began.
    pub fn began(&self) -> Option<u64> {
        self.began
    }

    /// `W_max`; 0 before the first loss and after a timeout.
    pub fn most(&self) -> u64 {
        self.most
    }
}
