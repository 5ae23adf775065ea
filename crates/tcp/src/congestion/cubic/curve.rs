//! CUBIC's curve and its estimate of Reno in whole packets, as `tcp_cubic.c` of every Linux has them.

use super::Params;

/// Times of the curve are in 1/1024 s (`BICTCP_HZ`), its scale and factors in 1/1024.
pub(super) const SCALE: u32 = 10;
/// While the curve is not above the window, this many windows must be acknowledged.
const FLAT: u64 = 100;

/// The curve since the last loss.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    plateau: u64,
    /// The time until the plateau (`bic_K`).
    rise: u64,
}

impl Curve {
    /// An epoch begins with a window of `window` packets; `most` is `W_max`.
    pub fn begin(window: u64, most: u64, law: &Params) -> Self {
        let plateau = most.max(window);
        let above = (plateau - window) as f64 * f64::from(1 << SCALE);
        let rise = (libm::cbrt(above / scale(law)) * f64::from(1 << SCALE)) as u64;
        Self { plateau, rise }
    }

    /// How many packets must be acknowledged for a packet of growth, at this time of the epoch.
    pub fn needed(&self, time: u64, window: u64, law: &Params) -> u64 {
        let apart = u128::from(time.abs_diff(self.rise));
        let height = (scale(law) as u128 * apart * apart * apart) >> (4 * SCALE);
        let height = u64::try_from(height).unwrap_or(u64::MAX / 2);
        let target = if time < self.rise {
            self.plateau.saturating_sub(height)
        } else {
            self.plateau + height
        };
        if target > window { window / (target - window) } else { FLAT * window }
    }
}

fn scale(law: &Params) -> f64 {
    (law.c * f64::from(1 << SCALE)).round()
}

/// `W_max` after a loss (fast convergence), and the reduced window.
pub(super) fn reduce(window: u64, most: u64, law: &Params) -> (u64, u64) {
    let beta = (law.beta * f64::from(1 << SCALE)).round() as u64;
    let fast = law.fast_convergence && window < most;
    let most = if fast { (window * ((1 << SCALE) + beta)) >> (SCALE + 1) } else { window };
    (most, ((window * beta) >> SCALE).max(2))
}

/// The window that Reno would have. It grows by 3 (1 - β) / (1 + β) packets per window, in eighths
/// of the inverse.
#[derive(Clone, Debug, Default)]
pub(super) struct Friendly {
    pub window: u64,
    /// Packets or ACKs counted since it has grown.
    pub acked: u64,
}

impl Friendly {
    /// How many packets must be acknowledged at most for a packet of growth.
    pub fn needed(&mut self, window: u64, law: &Params) -> Option<u64> {
        let eighths = (8.0 * (1.0 + law.beta) / 3.0 / (1.0 - law.beta)) as u64;
        let per_packet = (window * eighths) >> 3;
        if per_packet > 0 && self.acked > per_packet {
            let packets = (self.acked - 1) / per_packet;
            self.acked -= packets * per_packet;
            self.window += packets;
        }
        (self.window > window).then(|| window / (self.window - window))
    }
}
