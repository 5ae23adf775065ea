//! The average number of segments per ACK (`delayed_ack` of Linux before 5.7), in sixteenths.

/// The average number of segments per ACK, which begins with 2.
#[derive(Clone, Debug)]
pub(super) struct AckRatio(u64);

const SIXTEENTHS: u64 = 16;

impl Default for AckRatio {
    fn default() -> Self {
        Self(2 * SIXTEENTHS)
    }
}

impl AckRatio {
    /// Counts an ACK of this many segments. As in `bictcp_acked()`, a sixteenth of the average is
    /// truncated to an integer before it is subtracted.
    pub fn count(&mut self, segments: u64) {
        self.0 = self.0 + segments - self.0 / SIXTEENTHS;
    }

    /// The number of ACKs for a number of segments, at least 1.
    pub fn divide(&self, segments: u64) -> u64 {
        (segments * SIXTEENTHS / self.0).max(1)
    }

    /// Segments per ACK.
    pub fn value(&self) -> f64 {
        self.0 as f64 / SIXTEENTHS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_bictcp_acked_stays_at_31_sixteenths_with_an_ack_for_every_segment() {
        let mut ratio = AckRatio::default();
        assert_eq!(ratio.divide(32), 16);
        for _ in 0..100 {
            ratio.count(1);
        }
        assert!((ratio.value() - 31.0 / 16.0).abs() < 1e-12);
        assert_eq!((ratio.divide(31), ratio.divide(1)), (16, 1));
    }
}
