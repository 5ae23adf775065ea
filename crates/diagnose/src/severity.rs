//! The cost of incast: the duration of blocks, with and without the waits on an idle link.

use serde::Serialize;

use crate::burst::Burst;
use crate::episode::Episode;
use crate::time::Span;

/// Below this share of the time lost, incast is mild.
const MILD: f64 = 0.05;
/// Blocks whose times are kept, evenly thinned beyond.
const SAMPLE: usize = 1 << 14;

/// The times of blocks: bursts of as many flows as an episode has.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    count: u64,
    time: Span,
    lost: Span,
    /// How long a block took, and how much of that it waited.
    sample: Vec<(Span, Span)>,
    /// One block in this many is kept.
    every: u64,
}

impl Blocks {
    /// A block has ended, perhaps as an episode.
    pub fn take(&mut self, burst: &Burst, episode: Option<&Episode>) {
        let ends = burst.members.iter().filter_map(|member| member.message.map(|one| one.last));
        let Some(end) = ends.max() else { return };
        let length = (end - burst.start).max(Span::ZERO);
        let lost = episode.map_or(Span::ZERO, |episode| episode.lost.min(length));
        self.time += length;
        self.lost += lost;
        if self.count.is_multiple_of(self.every.max(1)) {
            self.sample.push((length, lost));
        }
        self.count += 1;
        if self.sample.len() == SAMPLE {
            let mut keep = false;
            self.sample.retain(|_| {
                keep = !keep;
                keep
            });
            self.every = 2 * self.every.max(1);
        }
    }

    /// What incast costs; nothing if there was no block. `found` says whether the waits are those of
    /// incast.
    pub fn severity(&self, found: bool) -> Option<Severity> {
        if self.count == 0 {
            return None;
        }
        let cost = i64::from(found);
        let share = (cost * self.lost).share_of(self.time);
        Some(Severity {
            share,
            p99_s: percentile(self.sample.iter().map(|(length, _)| *length)),
            p99_without_s: percentile(
                self.sample.iter().map(|&(length, lost)| length - cost * lost),
            ),
            blocks: self.count,
            mild: share < MILD,
        })
    }
}

/// The 99th percentile, in seconds: the smallest time that is not exceeded by more than one of a
/// hundred.
fn percentile(times: impl Iterator<Item = Span>) -> f64 {
    let mut times: Vec<Span> = times.collect();
    times.sort_unstable();
    let at = (times.len() * 99).div_ceil(100).max(1) - 1;
    times.get(at).map_or(0.0, |time| time.as_secs_f64())
}

/// What incast costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Severity {
    /// The share of the time of all blocks in which flows waited on an idle link.
    pub share: f64,
    /// The 99th percentile of the time of blocks, and what it were without these waits.
    pub p99_s: f64,
    pub p99_without_s: f64,
    /// Bursts of as many flows as an episode has, or more.
    pub blocks: u64,
    /// Less than 5 % of the time is lost.
    pub mild: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::MS;

    #[test]
    fn the_share_and_the_tail_are_those_of_all_blocks() {
        let mut blocks = Blocks { count: 99, time: 99 * MS, ..Blocks::default() };
        blocks.sample = vec![(MS, Span::ZERO); 98];
        blocks.sample.extend([(201 * MS, 200 * MS); 2]);
        (blocks.time, blocks.lost, blocks.count) = (500 * MS, 400 * MS, 100);
        let told = blocks.severity(true).expect("blocks");
        assert_eq!((told.share, told.mild, told.blocks), (0.8, false, 100));
        assert_eq!((told.p99_s, told.p99_without_s), (0.201, 0.001));
        assert!(Blocks { lost: 20 * MS, ..blocks }.severity(true).expect("blocks").mild);
    }
}
