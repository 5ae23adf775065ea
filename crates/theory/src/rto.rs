//! The retransmission timeout (RFC 6298).

use crate::flavour::Style;
use crate::packet::Ticks;
use crate::peaks::Peaks;

/// The common parameters of all connections of a read.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Minimum RTO.
    pub least: Ticks,
    /// Maximum RTO.
    pub most: Ticks,
    /// Minimum variance term, or the tick in which samples are counted.
    pub granularity: Ticks,
    /// The computation of the RTO.
    pub style: Style,
    /// Whether samples never raise the RTO above its minimum.
    pub is_least: bool,
}

/// SRTT, RTTVAR and the RTO.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    /// The RTO with backoff.
    pub wait: Ticks,
    /// The RTO without backoff.
    base: Ticks,
    srtt: i64,
    rttvar: i64,
    /// The variance, with [`Style::Linux`].
    peaks: Peaks,
}

impl Rto {
    /// The state before the first sample.
    pub fn new(initial: Ticks) -> Self {
        Self { wait: initial, base: initial, srtt: 0, rttvar: 0, peaks: Peaks::default() }
    }

    /// Adds a sample, which ends the backoff. `window` has two numbers: the first unacknowledged
    /// segment, and the next segment to send.
    #[inline]
    pub fn sample(&mut self, rtt: Ticks, window: (u32, u32), bounds: &Bounds) {
        if bounds.is_least {
            self.base = bounds.least;
        } else {
            self.estimate(rtt as i64, window, bounds);
        }
        self.wait = self.base;
    }

    #[inline]
    fn estimate(&mut self, rtt: i64, window: (u32, u32), bounds: &Bounds) {
        let tick = bounds.granularity as i64;
        let is_ns2 = bounds.style == Style::Ns2;
        let rtt = if is_ns2 && tick > 0 { ((rtt + tick / 2) / tick).max(1) * tick } else { rtt };
        if bounds.style == Style::Linux {
            self.peaks.sample(rtt, self.srtt, bounds.least as i64, window);
        }
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
        } else {
            let off = rtt - self.srtt;
            self.rttvar += (off.abs() - self.rttvar) >> 2;
            self.srtt += off >> 3;
        }
        let least = bounds.least as i64;
        let rto = match bounds.style {
            Style::Rfc | Style::Ns3 => (self.srtt + (4 * self.rttvar).max(tick)).max(least),
            Style::Linux => self.srtt + self.peaks.variance().max(tick).max(least),
            Style::Ns2 => (self.srtt + 4 * self.rttvar).max(least).max(2 * tick),
        };
        self.base = (rto as Ticks).min(bounds.most);
    }

    /// Handles an ACK of new data.
    #[inline]
    pub fn progress(&mut self, bounds: &Bounds) {
        if bounds.style == Style::Ns3 {
            self.wait = self.base;
        }
    }

    /// Doubles the RTO after an expiry of the timer.
    pub fn back_off(&mut self, bounds: &Bounds) {
        self.wait = self.wait.saturating_mul(2).min(bounds.most);
    }

    /// The smoothed round trip; zero before the first sample.
    pub fn smoothed(&self) -> Ticks {
        self.srtt as Ticks
    }
}
