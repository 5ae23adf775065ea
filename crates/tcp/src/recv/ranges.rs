//! Ranges of received bytes beyond a gap.

use std::collections::VecDeque;

/// Received bytes: from the first to one past the last.
pub type Range = (u64, u64);

/// Disjoint, non-adjacent, ascending ranges.
///
/// The ranges are split into two queues at the range that was changed last. Retransmissions fill
/// gaps in ascending order, and new data comes after the last range, so few ranges move with each
/// change.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    before: VecDeque<Range>,
    after: VecDeque<Range>,
}

impl Ranges {
    /// Whether there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The last range.
    #[inline]
    pub fn last(&self) -> Option<Range> {
        self.after.back().or_else(|| self.before.back()).copied()
    }

    /// The first range.
    #[inline]
    pub fn first(&self) -> Option<Range> {
        self.before.front().or_else(|| self.after.front()).copied()
    }

    /// Adds a range that starts at the end of the last range or later.
    #[inline]
    pub fn append(&mut self, range: Range) {
        let part = if self.after.is_empty() { &mut self.before } else { &mut self.after };
        match part.back_mut() {
            Some(last) if last.1 == range.0 => last.1 = range.1,
            _ => part.push_back(range),
        }
    }

    /// Removes the first range.
    #[inline]
    pub fn pop_first(&mut self) {
        if self.before.pop_front().is_none() {
            self.after.pop_front();
        }
    }

    /// All ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = &Range> {
        self.before.iter().chain(&self.after)
    }

    /// The first range that ends after `seq`.
    #[inline]
    pub fn first_after(&self, seq: u64) -> Option<Range> {
        let last = self.last()?;
        if last.0 <= seq {
            return Some(last).filter(|last| seq < last.1);
        }
        self.find_after(seq)
    }

    fn find_after(&self, seq: u64) -> Option<Range> {
        let part = match self.before.back() {
            Some(last) if seq < last.1 => &self.before,
            _ => &self.after,
        };
        part.get(part.partition_point(|range| range.1 <= seq)).copied()
    }

    /// Removes the ranges that `range` overlaps or touches, and returns their union with `range`.
    /// If one of these ranges contains `range`, removes no range and returns `None`.
    pub fn take_union(&mut self, (mut start, mut end): Range) -> Option<Range> {
        if self.first_after(start).is_some_and(|range| range.0 <= start && end <= range.1) {
            return None;
        }
        self.split_at(start);
        while let Some(&next) = self.after.front()
            && next.0 <= end
        {
            (start, end) = (start.min(next.0), end.max(next.1));
            self.after.pop_front();
        }
        Some((start, end))
    }

    /// Adds a range that overlaps and touches no other range.
    pub fn insert(&mut self, range: Range) {
        self.split_at(range.0);
        self.after.push_front(range);
    }

    /// Splits the ranges in front of the first range that ends at `seq` or later.
    fn split_at(&mut self, seq: u64) {
        while let Some(&last) = self.before.back()
            && last.1 >= seq
        {
            self.after.push_front(last);
            self.before.pop_back();
        }
        while let Some(&first) = self.after.front()
            && first.1 < seq
        {
            self.before.push_back(first);
            self.after.pop_front();
        }
    }
}
