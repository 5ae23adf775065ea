//! Decimation: each series has a limited number of bins. When all bins are in use, their width
//! doubles.

use incast_engine::{Span, Time};

/// Maximum number of bins of a decimated series.
const CAPACITY: usize = 2048;
/// Width of the first bins.
const FINEST: Span = Span::from_micros(1);

/// After this many notes, a trace with full detail passes on the rows that can no longer change, so
/// that they need no memory. A note is a call that may have recorded something.
const MANY: usize = 1 << 18;

/// Counts the notes of a trace with full detail.
#[derive(Clone, Debug)]
pub struct Tally {
    detail: Detail,
    notes: usize,
}

impl Tally {
    /// A tally without notes.
    pub fn new(detail: Detail) -> Self {
        Self { detail, notes: 0 }
    }

    /// Counts a call that may have noted something.
    #[inline]
    pub fn count(&mut self) {
        self.notes += 1;
    }

    /// Whether a trace with full detail has more than `MANY` notes. If so, the count restarts at 0.
    pub fn is_full(&mut self) -> bool {
        let is_full = self.detail == Detail::Full && self.notes > MANY;
        if is_full {
            self.notes = 0;
        }
        is_full
    }
}

/// The resolution of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A limited number of bins, each with minimum, maximum and last value, so that no peak is
    /// lost.
    Binned,
    /// An unlimited number of bins of one microsecond. Consecutive equal bins are stored as one
    /// run.
    Full,
}

/// The values of a series within one bin.
pub trait Summary: Copy {
    /// Adds the summary of the following bin.
    fn absorb(&mut self, later: &Self);

    /// Whether the summary `next` of the following bin equals this summary, and neither bin
    /// contains a change.
    fn is_repeated_by(&self, next: &Self) -> bool {
        let _ = next;
        false
    }
}

/// Consecutive equal bins.
#[derive(Clone, Copy, Debug)]
pub struct Run<S> {
    /// Number of the first bin.
    first: u64,
    /// Number of bins.
    pub bins: u64,
    /// The summary that all these bins share.
    pub of: S,
}

/// A series of summaries in the order of time. Bins without a value are omitted.
#[derive(Clone, Debug)]
pub struct Bins<S> {
    width: Span,
    detail: Detail,
    /// The runs in ascending order. Runs have several bins only in full detail.
    runs: Vec<Run<S>>,
}

impl<S: Summary> Bins<S> {
    /// An empty series.
    pub fn new(detail: Detail) -> Self {
        Self { width: FINEST, detail, runs: Vec::new() }
    }

    /// The resolution of the series.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// Width of the bins.
    pub fn width(&self) -> Span {
        self.width
    }

    /// The number of the bin that contains `now`.
    pub fn index(&self, now: Time) -> u64 {
        now.as_picos() / self.width.as_picos()
    }

    /// Adds a summary at `now`, which must not be earlier than the last summary.
    pub fn note(&mut self, now: Time, summary: S) {
        let index = self.index(now);
        match self.runs.last_mut() {
            Some(last) if last.first == index => last.of.absorb(&summary),
            _ => {
                if self.detail == Detail::Full {
                    self.join();
                }
                self.runs.push(Run { first: index, bins: 1, of: summary });
                if self.detail == Detail::Binned && self.runs.len() > CAPACITY {
                    self.widen();
                }
            }
        }
    }

    /// With full detail, adds `times` copies of the last bin. The last bin must be complete.
    pub fn repeat(&mut self, times: u64) {
        if let Some(last) = self.runs.last_mut() {
            last.bins += times;
        }
    }

    /// Each run of equal bins, with the start of the run.
    pub fn runs(&self) -> impl Iterator<Item = (Time, &Run<S>)> {
        let width = self.width.as_picos();
        self.runs.iter().map(move |run| (Time::from_picos(run.first * width), run))
    }

    /// Start of each bin and its summary.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &S)> {
        self.runs().flat_map(move |(start, run)| {
            (0..run.bins).map(move |bin| (start + self.width * bin, &run.of))
        })
    }

    /// With full detail, takes out the runs of equal bins that can no longer change.
    pub fn take_final(&mut self) -> Self {
        let rest = self.runs.split_off(self.runs.len().saturating_sub(2));
        Self { runs: std::mem::replace(&mut self.runs, rest), ..*self }
    }

    /// Merges the last two runs, if they are equal.
    fn join(&mut self) {
        if let [.., before, last] = &mut self.runs[..]
            && before.first + before.bins == last.first
            && before.of.is_repeated_by(&last.of)
        {
            before.bins += last.bins;
            self.runs.pop();
        }
    }

    /// Doubles the width until the bins need less than half of the capacity.
    fn widen(&mut self) {
        while self.runs.len() > CAPACITY / 2 && self.runs.len() > 1 {
            self.width = self.width * 2;
            let mut merged: Vec<Run<S>> = Vec::with_capacity(CAPACITY);
            for run in &self.runs {
                let first = run.first / 2;
                match merged.last_mut() {
                    Some(last) if last.first == first => last.of.absorb(&run.of),
                    _ => merged.push(Run { first, ..*run }),
                }
            }
            self.runs = merged;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Peak(u64);

    impl Summary for Peak {
        fn absorb(&mut self, later: &Self) {
            self.0 = self.0.max(later.0);
        }

        fn is_repeated_by(&self, next: &Self) -> bool {
            self == next
        }
    }

    fn series(detail: Detail) -> Bins<Peak> {
        let mut bins = Bins::new(detail);
        for micros in 0..100_000_u64 {
            let value = if micros == 77_777 { 999 } else { micros % 10 };
            bins.note(Time::ZERO + Span::from_micros(micros), Peak(value));
        }
        bins
    }

    #[test]
    fn decimation_bounds_the_bins_and_loses_no_peak() {
        let bins = series(Detail::Binned);
        assert!(bins.iter().count() <= CAPACITY);
        let (start, _) = bins.iter().find(|(_, peak)| peak.0 == 999).expect("the peak survives");
        let at = Time::ZERO + Span::from_micros(77_777);
        assert!(start <= at && at < start + bins.width());
    }

    #[test]
    fn full_detail_keeps_every_bin() {
        let bins = series(Detail::Full);
        assert_eq!((bins.iter().count(), bins.width()), (100_000, FINEST));
    }

    #[test]
    fn equal_bins_in_a_row_are_one_run() {
        let mut bins = Bins::new(Detail::Full);
        for (micros, value) in [(0, 1), (1, 1), (2, 1), (4, 1), (5, 2), (6, 2), (7, 3)] {
            bins.note(Time::ZERO + Span::from_micros(micros), Peak(value));
        }
        bins.repeat(2);
        bins.note(Time::ZERO + Span::from_micros(10), Peak(3));
        bins.note(Time::ZERO + Span::from_micros(11), Peak(4));
        let runs: Vec<_> = bins.runs().map(|(_, run)| (run.first, run.bins, run.of.0)).collect();
        assert_eq!(runs, [(0, 3, 1), (4, 1, 1), (5, 2, 2), (7, 4, 3), (11, 1, 4)]);
        assert_eq!(bins.iter().count(), 11);
    }
}
