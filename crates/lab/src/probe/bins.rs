//! Decimation: each series has a limited number of bins. When they are used up, their width
//! doubles.

use incast_engine::{Span, Time};

/// Maximum number of bins of a decimated series.
const CAPACITY: usize = 2048;
/// Width of the first bins.
const FINEST: Span = Span::from_micros(1);

/// The resolution of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Bins with minimum, maximum and last value, so no peak is lost.
    Binned,
    /// Bins of one microsecond, in any number.
    Full,
}

/// The values of a series within one bin.
pub trait Summary: Copy {
    /// Adds the summary of the following bin.
    fn absorb(&mut self, later: &Self);
}

/// A series of summaries by time. Bins without a value are omitted.
#[derive(Clone, Debug)]
pub struct Bins<S> {
    width: Span,
    detail: Detail,
    /// By the number of their bin.
    summaries: Vec<(u64, S)>,
}

impl<S: Summary> Bins<S> {
    /// An empty series.
    pub fn new(detail: Detail) -> Self {
        Self { width: FINEST, detail, summaries: Vec::new() }
    }

    /// Width of the bins.
    pub fn width(&self) -> Span {
        self.width
    }

    /// The bin of `now`.
    pub fn index(&self, now: Time) -> u64 {
        now.as_picos() / self.width.as_picos()
    }

    /// Adds a summary at `now`, which must not be earlier than the last one.
    pub fn note(&mut self, now: Time, summary: S) {
        let index = self.index(now);
        match self.summaries.last_mut() {
            Some((last, existing)) if *last == index => existing.absorb(&summary),
            _ => {
                self.summaries.push((index, summary));
                if self.detail == Detail::Binned && self.summaries.len() > CAPACITY {
                    self.widen();
                }
            }
        }
    }

    /// Start of each bin and its summary.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &S)> {
        let width = self.width.as_picos();
        self.summaries
            .iter()
            .map(move |(index, summary)| (Time::from_picos(index * width), summary))
    }

    /// Doubles the width until the bins need less than half of the capacity.
    fn widen(&mut self) {
        while self.summaries.len() > CAPACITY / 2 && self.summaries.len() > 1 {
            self.width = self.width * 2;
            let mut merged: Vec<(u64, S)> = Vec::with_capacity(CAPACITY);
            for (index, summary) in &self.summaries {
                match merged.last_mut() {
                    Some((last, existing)) if *last == index / 2 => existing.absorb(summary),
                    _ => merged.push((index / 2, *summary)),
                }
            }
            self.summaries = merged;
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
}
