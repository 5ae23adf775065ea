//! The load of a receiver's link.

use std::collections::BTreeMap;

use crate::time::{Span, Time};

/// The bytes that go to one host, and the time in which the host's link is nearly idle.
#[derive(Clone, Debug, Default)]
pub struct Load {
    bytes: u64,
    /// The size of the last packet.
    size: u32,
    /// The sum of the gaps between packets in which the rate is below a tenth of the peak rate.
    idle: Span,
    last: Option<Time>,
    /// The last time at which the link was known to be in use: data arrived or were acknowledged.
    used: Option<Time>,
    /// The time that the data of the last ACK would take at a tenth of the rate of the full link.
    slow: Span,
    /// The current bin of time, and its bytes.
    bin: i64,
    filled: u64,
    peak: u64,
    /// For each rounded size of a bin in bytes, the number of bins of this size, and the sum of
    /// their bytes.
    bins: BTreeMap<i32, (u64, u64)>,
}

/// The load at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// The time in which the link was idle so far.
    pub idle: Span,
}

/// The base-2 logarithm in sixteenths, rounded down, so that there are few values.
fn rounded(bytes: u64) -> i32 {
    ((bytes.max(1) as f64).log2() * 16.0).floor() as i32
}

/// Bins are grouped by their rounded size. A group is usual if its bins together contain at least
/// this fraction (1/n) of the bytes in the largest group.
const USUAL: u64 = 3;

/// The shortest gap that counts as a time without load, whatever the rate of the link is.
const LEAST_GAP: Span = Span::from_micros(20);

/// The length of the bins in which the rate is measured.
pub const BIN: Span = Span::from_micros(500);

impl Load {
    /// The load of a link that has been idle since `began`.
    pub fn idle_since(began: Time) -> Self {
        Self { last: Some(began), used: Some(began), ..Self::default() }
    }

    /// Time at which the newest packet arrived.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    /// Takes a packet of data that arrives.
    pub fn take(&mut self, now: Time, size: u32) {
        self.size = size;
        self.idle += self.gap(now);
        self.last = Some(self.last.map_or(now, |last| last.max(now)));
        self.used = self.used.max(self.last);
        let bin = now.bin(BIN);
        if bin != self.bin {
            let (count, bytes) = self.bins.entry(rounded(self.filled)).or_default();
            *count += 1;
            *bytes += self.filled;
            self.bin = bin;
            self.filled = 0;
        }
        self.filled += u64::from(size);
        self.bytes += u64::from(size);
        self.peak = self.peak.max(self.filled);
    }

    /// Notes acknowledged data that take `duration` at the rate of a full link. These data have
    /// left a queue on the path from the vantage point to the receiver.
    pub fn drains(&mut self, now: Time, duration: Span) {
        let Some(used) = self.used else { return };
        self.slow = 10 * duration;
        if now - used > self.slow.max(LEAST_GAP) {
            self.idle += now - used;
        }
        self.used = Some(used.max(now));
    }

    /// The time since the link's last packet, or zero if this time is so short that the link counts
    /// as in use.
    fn gap(&self, now: Time) -> Span {
        let Some(last) = self.used else { return Span::ZERO };
        let gap = now - last;
        if gap <= self.slow.max(LEAST_GAP) {
            return Span::ZERO;
        }
        // The time that a packet would take at a tenth of the peak rate.
        let busy = 10 * self.duration(self.size);
        if gap > busy { gap } else { Span::ZERO }
    }

    /// The time that a packet of this size takes at the peak rate; zero before a peak rate is
    /// known.
    pub fn duration(&self, size: u32) -> Span {
        if self.peak == 0 { Span::ZERO } else { i64::from(size) * BIN / self.peak as i64 }
    }

    /// The current load.
    pub fn mark(&self, now: Time) -> Mark {
        Mark { idle: self.idle + self.gap(now) }
    }

    /// The number of all bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the fullest bin.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Bytes per bin of a full link: the mean size in the usual group with the largest bins. Only
    /// bins that are at least half as full as the fullest bin are used. The fullest bin may have
    /// packets that had waited in a queue and came close together.
    pub fn full(&self) -> u64 {
        let half: Vec<_> = self.bins.range(rounded(self.peak / 2)..).map(|(_, bin)| bin).collect();
        let most = half.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let usual = half.iter().rfind(|(_, bytes)| *bytes * USUAL >= most);
        usual.map_or(self.peak, |(count, bytes)| bytes / count.max(&1))
    }

    /// Bytes in the current bin.
    pub fn filled(&self) -> u64 {
        self.filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{MS, at, ns};

    #[test]
    fn a_link_idles_if_it_carries_less_than_a_tenth_of_its_peak() {
        let mut load = Load::idle_since(at(0));
        load.take(at(0) + 2 * MS, 1500);
        assert_eq!(load.mark(at(0) + 2 * MS).idle, 2 * MS, "before its first packet");
        assert_eq!(load.duration(1500), BIN);
        assert_eq!(load.mark(at(0) + 2 * MS + 10 * BIN).idle, 2 * MS, "a tenth");
        assert_eq!(load.mark(at(1) + 2 * MS + 10 * BIN).idle, 7 * MS + ns(1));
    }

    #[test]
    fn the_shortest_gaps_are_no_idle_time() {
        let mut load = Load::default();
        (0..1000).for_each(|_| load.take(at(0), 9000));
        assert_eq!(load.mark(at(0) + LEAST_GAP).idle, Span::ZERO);
        assert_eq!(load.mark(at(1) + LEAST_GAP).idle, LEAST_GAP + ns(1));
    }

    #[test]
    fn a_full_link_has_the_usual_one_of_the_fuller_bins() {
        let mut load = Load::default();
        for bin in 0..20 {
            (0..40).for_each(|_| load.take(at(0) + bin * BIN, 1500));
        }
        (0..70).for_each(|_| load.take(at(0) + 20 * BIN, 1500)); // had been in a queue
        (0..3).for_each(|_| load.take(at(0) + 21 * BIN, 1500));
        assert_eq!((load.peak(), load.full()), (105_000, 60_000));
        assert_eq!((load.filled(), load.bytes()), (4500, 870 * 1500 + 4500));
        assert_eq!(Load::default().full(), 0);
    }

    /// The idle time that an ACK adds. `after` is the time from a packet to the ACK.
    fn drained(after: Span, duration: Span) -> Span {
        let mut load = Load::default();
        load.take(at(0), 1500);
        load.drains(at(0) + after, duration);
        load.idle
    }

    #[test]
    fn a_queue_drains_until_its_data_are_acknowledged() {
        assert_eq!(drained(10 * MS, MS), Span::ZERO, "ten times what it takes");
        assert_eq!(drained(10 * MS + ns(1), MS), 10 * MS + ns(1));
        assert_eq!(drained(LEAST_GAP, Span::ZERO), Span::ZERO);
        assert_eq!(drained(LEAST_GAP + ns(1), Span::ZERO), LEAST_GAP + ns(1));
        let mut unused = Load::default();
        unused.drains(at(0) + 100 * MS, MS);
        assert_eq!(unused.mark(at(0) + 900 * MS).idle, Span::ZERO, "it was never in use");
    }

    #[test]
    fn idle_times_add_up_from_the_last_use() {
        let mut load = Load::default();
        load.take(at(0), 1500);
        load.drains(at(0) + 20 * MS, MS);
        assert_eq!(load.idle, 20 * MS);
        load.drains(at(0) + 50 * MS, MS);
        assert_eq!(load.idle, 50 * MS);
        load.drains(at(0) + 45 * MS, MS);
        assert_eq!(load.mark(at(0) + 60 * MS).idle, 50 * MS, "an ACK takes 10 ms at least");
        assert_eq!(load.mark(at(1) + 60 * MS).idle, 60 * MS + ns(1));
        assert_eq!(load.last(), Some(at(0)));
        load.take(at(0) + 61 * MS, 1500);
        assert_eq!((load.idle, load.last()), (61 * MS, Some(at(0) + 61 * MS)));
        load.take(at(0) + 55 * MS, 1500);
        assert_eq!((load.idle, load.last()), (61 * MS, Some(at(0) + 61 * MS)), "out of order");
    }

    #[test]
    fn a_bin_is_usual_with_a_third_of_the_bytes_of_the_commonest() {
        // The bins have 40 packets, except for one fuller bin.
        let full = |bins: i64, packets: i64| {
            let mut load = Load::default();
            for bin in 0..bins {
                (0..40).for_each(|_| load.take(at(0) + bin * BIN, 1000));
            }
            (0..packets).for_each(|_| load.take(at(0) + bins * BIN, 1000));
            load.take(at(0) + (bins + 1) * BIN, 1000);
            load.full()
        };
        assert_eq!(full(3, 40), 40_000);
        assert_eq!(full(4, 54), 54_000, "a third of 160 is less");
        assert_eq!(full(4, 53), 40_000);
        assert_eq!(full(40, 80), 40_000, "half as full as the fullest");
        assert_eq!(full(40, 90), 90_000, "less than half");
    }
}
