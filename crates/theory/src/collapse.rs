//! Decides whether a read is below or above the point of collapse.

/// Means over blocks, or their standard errors. Times are packet times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Duration of a block at the mean goodput.
    pub duration: f64,
    /// Number of timeouts.
    pub timeouts: f64,
    /// Minimum total duration of the timeouts.
    pub waits: f64,
}

/// The definition of a collapse, with the numbers of `incast.collapse`.
#[derive(Clone, Copy, Debug)]
pub struct Collapse {
    /// Packet times of a block without losses.
    pub lossless: f64,
    /// Share of the lossless goodput below which a read may have collapsed.
    pub share: f64,
    /// Number of timeouts per block with which a read below `share` has collapsed.
    pub timeouts: f64,
    /// A read below `share` with fewer timeouts than `timeouts` has collapsed if its timeouts take
    /// at least this share of the lost time.
    pub wait: f64,
}

impl Collapse {
    /// Whether a read has clearly collapsed or clearly not collapsed. Differences must exceed `by`
    /// standard errors.
    pub fn is_clear(&self, mean: Seen, error: Seen, by: f64) -> bool {
        let side = |above: f64, error: f64| {
            if above.abs() > by * error { above.signum() } else { 0.0 }
        };
        let slow = side(mean.duration - self.lossless / self.share, error.duration);
        let often = side(mean.timeouts - self.timeouts, error.timeouts);
        let lost = mean.duration - self.lossless;
        let long = side(mean.waits - self.wait * lost, error.waits + self.wait * error.duration);
        let collapsed = slow > 0.0 && (often > 0.0 || long > 0.0);
        collapsed || slow < 0.0 || (often < 0.0 && long < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Collapse = Collapse { lossless: 100.0, share: 0.5, timeouts: 0.5, wait: 0.5 };

    /// Each row has the duration, the timeouts and the waits, each with its error. The last value
    /// of a row is whether the result is clear with 2 standard errors.
    #[test]
    fn a_side_is_clear_where_no_error_leads_to_the_other() {
        for (duration, timeouts, waits, is_clear) in [
            ((150.0, 20.0), (0.9, 0.9), (9.0, 90.0), true), // fast, for any number of timeouts
            ((150.0, 30.0), (0.9, 0.1), (90.0, 1.0), false),
            ((300.0, 40.0), (0.9, 0.1), (0.0, 0.0), true), // slow, with many timeouts
            ((300.0, 40.0), (0.6, 0.1), (0.0, 0.0), false), // not certain
            ((300.0, 40.0), (0.1, 0.1), (190.0, 20.0), true), // few timeouts, but long
            ((300.0, 40.0), (0.1, 0.1), (190.0, 40.0), false),
            ((300.0, 40.0), (0.1, 0.1), (10.0, 20.0), true), // few timeouts, and short
            ((210.0, 40.0), (0.1, 0.1), (190.0, 1.0), false), // about half
        ] {
            let mean = Seen { duration: duration.0, timeouts: timeouts.0, waits: waits.0 };
            let error = Seen { duration: duration.1, timeouts: timeouts.1, waits: waits.1 };
            assert_eq!(BOUNDS.is_clear(mean, error, 2.0), is_clear, "{mean:?} {error:?}");
        }
    }
}
