//! Lateness of frames: the time from the moment that the simulation computes for a frame to the
//! moment at which the switch sends the frame to its host.

use incast_engine::Span;

/// Width of a bin in picoseconds, and number of bins. Together they cover delays up to 65 ms.
const BIN: u64 = 1_000_000;
const BINS: usize = 1 << 16;

/// A histogram of delays in bins of a microsecond.
#[derive(Clone, Debug)]
pub struct Lateness {
    bins: Vec<u32>,
    count: u64,
    worst: Span,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { bins: vec![0; BINS], count: 0, worst: Span::ZERO }
    }
}

impl Lateness {
    /// Counts one frame.
    pub fn add(&mut self, late: Span) {
        let bin = (late.as_picos() / BIN) as usize;
        self.bins[bin.min(BINS - 1)] += 1;
        self.count += 1;
        self.worst = self.worst.max(late);
    }

    /// The largest delay.
    pub fn worst(&self) -> Span {
        self.worst
    }

    /// The delay that `per_mille` of a thousand frames did not exceed, rounded up to whole
    /// microseconds.
    pub fn quantile(&self, per_mille: u64) -> Span {
        let due = (self.count * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        let bin = self.bins.iter().position(|count| {
            seen += u64::from(*count);
            seen >= due
        });
        let upper = bin.map_or(Span::ZERO, |bin| Span::from_picos((bin as u64 + 1) * BIN));
        upper.min(self.worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_frames() {
        let mut late = Lateness::default();
        assert_eq!((late.worst(), late.quantile(990)), (Span::ZERO, Span::ZERO));
        for micros in 0..100 {
            late.add(Span::from_micros(micros));
        }
        late.add(Span::from_secs(1));
        assert_eq!(late.worst(), Span::from_secs(1));
        assert_eq!(late.quantile(500), Span::from_micros(51));
        assert_eq!(late.quantile(990), Span::from_micros(100));
        assert_eq!(late.quantile(1000), Span::from_picos(BIN * BINS as u64));
    }
}
