//! The retransmission timeout (RFC 6298).

use crate::packet::Ticks;

/// What all connections of a read have in common.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// RTO at least.
    pub least: Ticks,
    /// RTO at most.
    pub most: Ticks,
    /// Whether samples never lift it above the least.
    pub is_least: bool,
}

/// SRTT, RTTVAR and the RTO.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    /// How long the timer runs.
    pub wait: Ticks,
    /// The same without backoff.
    base: Ticks,
    srtt: f32,
    rttvar: f32,
}

impl Rto {
    /// Before the first sample.
    pub fn new(initial: Ticks) -> Self {
        Self { wait: initial, base: initial, srtt: 0.0, rttvar: 0.0 }
    }

    /// Takes a sample, which ends the backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Ticks, bounds: &Bounds) {
        if bounds.is_least {
            self.base = bounds.least;
        } else {
            self.estimate(rtt as f32, bounds);
        }
        self.wait = self.base;
    }

    #[inline]
    fn estimate(&mut self, rtt: f32, bounds: &Bounds) {
        if self.srtt == 0.0 {
            (self.srtt, self.rttvar) = (rtt, rtt / 2.0);
        } else {
            self.rttvar += ((self.srtt - rtt).abs() - self.rttvar) / 4.0;
            self.srtt += (rtt - self.srtt) / 8.0;
        }
        let rto = (self.srtt + 4.0 * self.rttvar) as i64 as Ticks;
        self.base = rto.clamp(bounds.least, bounds.most);
    }

    /// The timer has expired: it runs twice as long.
    pub fn back_off(&mut self, bounds: &Bounds) {
        self.wait = self.wait.saturating_mul(2).min(bounds.most);
    }
}
