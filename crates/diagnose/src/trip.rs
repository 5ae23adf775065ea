//! How long an end takes to answer, as seen from the vantage point.

/// Times from the point to an end and back, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trip {
    least: Option<i64>,
    most: i64,
    /// Samples that were passed over.
    unusual: u32,
    /// The latest samples, for their median, and how many there were.
    latest: [i64; LATEST],
    count: usize,
}

const LATEST: usize = 9;

/// A first sample of so many usual round trips is rather a lost packet, if it is not confirmed.
const UNUSUAL: i64 = 8;
const CONFIRMED: u32 = 4;

/// A receiver may hold an ACK this long (Linux: 40 ms at least); such samples say nothing of queues.
const HELD: i64 = 35_000_000;
/// Nothing answers after an hour: the clock has jumped.
const LONGEST: i64 = 3_600_000_000_000;

impl Trip {
    /// Takes a sample that may be the wait for a timer, where a round trip is `usual`.
    pub fn guess(&mut self, sample: i64, waited: i64, usual: i64) {
        if self.least.is_none() && sample > UNUSUAL * usual {
            self.unusual += 1;
            if self.unusual < CONFIRMED {
                return;
            }
        }
        self.take(sample, waited);
    }

    /// Takes a sample; `waited` of it the connection was silent.
    pub fn take(&mut self, sample: i64, waited: i64) {
        if sample > LONGEST {
            return;
        }
        let least = self.least.map_or(sample, |least| least.min(sample));
        self.least = Some(least);
        if sample < least + HELD {
            self.latest[self.count % LATEST] = sample;
            self.count += 1;
        }
        if self.most >= least + HELD {
            self.most = least; // those before were pauses
        }
        if sample < least + HELD && waited < sample / 2 + 25_000 {
            self.most = self.most.max(sample);
        }
    }

    /// The shortest.
    pub fn least(&self) -> Option<i64> {
        self.least
    }

    /// The median of the latest, which has the queues of the way in it.
    pub fn median(&self) -> Option<i64> {
        let mut latest = self.latest;
        let known = &mut latest[..self.count.min(LATEST)];
        known.sort_unstable();
        known.get(known.len() / 2).copied()
    }

    /// The longest that was no pause.
    pub fn most(&self) -> i64 {
        self.most.max(self.least.unwrap_or(0))
    }
}
