//! Proportional rate reduction in a recovery (RFC 9937), as in Linux (`tcp_cwnd_reduction()`): the
//! data that may be sent are in proportion to the data that have arrived.

use crate::parts::{BITS, Parts};

/// The counters of a recovery, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Proportion {
    /// cwnd when the recovery began.
    window: Parts,
    delivered: u32,
    out: u32,
    /// Segments that may be sent until the next ACK.
    pub allowance: u32,
    /// Without SACK: segments that duplicate ACKs have reported and no cumulative ACK has covered.
    credited: u32,
}

impl Proportion {
    /// The counters at the start of a recovery with a cwnd of `window`. Duplicate ACKs have
    /// reported `credited` segments.
    pub fn new(window: Parts, credited: u32) -> Self {
        Self { window: window.max(1), delivered: 0, out: 0, allowance: 0, credited }
    }

    /// Credits the segment that a duplicate ACK reports. Returns the number of all such segments.
    pub fn credit(&mut self) -> u32 {
        self.credited += 1;
        self.credited
    }

    /// Handles a cumulative ACK of `acked` segments, the first of which was lost. Returns the
    /// number of acknowledged segments that no duplicate ACK had reported, and the number of
    /// reported segments that the cumulative ACK does not cover.
    pub fn settle(&mut self, acked: u32) -> (u32, u32) {
        let new = acked.saturating_sub(self.credited).max(1);
        self.credited -= self.credited.min(acked.saturating_sub(1));
        (new, self.credited)
    }

    /// Handles an ACK that reports `delivered` new segments and leaves `pipe` segments in the
    /// network. `is_safe` says whether the ACK covers new data and indicates no further loss.
    pub fn on_ack(&mut self, delivered: u32, pipe: u32, window: Parts, is_safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let flight = Parts::from(pipe) << BITS;
        self.allowance = if flight > window {
            let owed = (Parts::from(self.delivered) * window).div_ceil(self.window);
            (owed as u32).saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out);
            let most = conserved.max(delivered) + u32::from(is_safe);
            most.min(((window - flight) >> BITS) as u32)
        };
    }

    /// Counts sent segments.
    pub fn on_sent(&mut self, count: u32) {
        self.out += count;
        self.allowance = self.allowance.saturating_sub(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::SEGMENT;

    /// One of 20 segments is lost, and the window is halved, so one segment leaves for every two
    /// that arrive.
    #[test]
    fn rfc9937_a_loss_spreads_the_reduction_over_a_round_trip() {
        let mut it = Proportion::new(20 * SEGMENT, 0);
        let (mut pipe, mut sent) = (19, 0);
        for _ in 0..19 {
            pipe -= 1;
            it.on_ack(1, pipe, 10 * SEGMENT, false);
            let count = it.allowance;
            it.on_sent(count);
            (pipe, sent) = (pipe + count, sent + count);
        }
        assert_eq!((sent, pipe), (10, 10));
    }

    #[test]
    fn rfc9937_below_the_window_as_much_leaves_as_arrives_and_one_more_if_that_is_safe() {
        let after = |is_safe| {
            let mut it = Proportion::new(20 * SEGMENT, 0);
            it.on_ack(2, 4, 10 * SEGMENT, is_safe);
            it.allowance
        };
        assert_eq!([after(false), after(true)], [2, 3]);
        let mut it = Proportion::new(20 * SEGMENT, 0);
        it.on_ack(5, 9, 10 * SEGMENT, false);
        assert_eq!(it.allowance, 1, "there is room for one segment");
    }

    #[test]
    fn linux_takes_the_hole_for_delivered_and_the_rest_for_announced() {
        let settled = |acked| Proportion::new(10 * SEGMENT, 3).settle(acked);
        assert_eq!([1, 2, 4, 6].map(settled), [(1, 3), (1, 2), (1, 0), (3, 0)]);
    }
}
