//! The cost of incast: the duration of blocks, with and without the waits on an idle link.

use serde::Serialize;

use crate::burst::Burst;
use crate::episode::Episode;
use crate::time::Span;

/// Incast is mild if less than this share of the blocks' time is lost.
const MILD: f64 = 0.05;
/// Maximum number of blocks whose times are kept. If there are more blocks, an even sample of them
/// is kept.
const SAMPLE: usize = 1 << 14;

/// The times of blocks. A block is a burst with at least as many flows as an episode must have.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    count: u64,
    time: Span,
    lost: Span,
    /// The duration of a block, and the part of it in which the block waited.
    sample: Vec<(Span, Span)>,
    /// Of each group of `every` consecutive blocks, the times of one block are kept.
    every: u64,
}

impl Blocks {
    /// Takes a block that has ended, and its episode, if there was one.
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

    /// The cost of incast; `None` if there was no block. `found` tells whether incast caused the
    /// waits.
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

/// The 99th percentile, in seconds: the smallest time such that at most 1 % of the times are
/// longer.
fn percentile(times: impl Iterator<Item = Span>) -> f64 {
    let mut times: Vec<Span> = times.collect();
    times.sort_unstable();
    let at = (times.len() * 99).div_ceil(100).max(1) - 1;
    times.get(at).map_or(0.0, |time| time.as_secs_f64())
}

/// The cost of incast.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Severity {
    /// The share of all blocks' time in which flows waited on an idle link.
    pub share: f64,
    /// The 99th percentile of the duration of blocks, with and without the waits on an idle link.
    pub p99_s: f64,
    pub p99_without_s: f64,
    /// Number of blocks, which are bursts with at least as many flows as an episode must have.
    pub blocks: u64,
    /// Whether less than 5 % of the blocks' time is lost.
    pub mild: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::burst::Member;
    use crate::event::Message;
    use crate::time::tests::{MS, at, ns};
    use incast_capture::read::Address;

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

    /// A block that begins at 5 ms, and whose messages end after these numbers of milliseconds.
    fn block(ends: &[i64]) -> Burst {
        let mut burst = Burst::default();
        burst.start = at(0) + 5 * MS;
        let message = |&end: &i64| {
            let last = at(0) + (5 + end) * MS;
            let message = (end >= 0).then(|| Message { last, ..Message::default() });
            Member { key: (0, 0), message }
        };
        burst.members.extend(ends.iter().map(message));
        burst
    }

    fn episode(lost: Span) -> Episode {
        Episode {
            start: at(0),
            end: at(0),
            receiver: Address::default(),
            fan_in: 3,
            hosts: 3,
            proven: true,
            bytes: 0,
            lost,
            stalls: Vec::new(),
        }
    }

    #[test]
    fn a_block_ends_with_its_last_message() {
        let mut blocks = Blocks::default();
        assert!(blocks.severity(true).is_none());
        blocks.take(&block(&[-1]), None);
        assert!(blocks.severity(true).is_none(), "no message has ended");
        blocks.take(&block(&[10, 40, -1, 30]), None);
        blocks.take(&block(&[60]), Some(&episode(25 * MS)));
        blocks.take(&block(&[100]), Some(&episode(900 * MS)));
        let told = blocks.severity(true).expect("blocks");
        assert_eq!((told.blocks, told.share), (3, 125.0 / 200.0));
        assert_eq!((told.p99_s, told.p99_without_s), (0.1, 0.04));
        let other = blocks.severity(false).expect("blocks");
        assert_eq!((other.share, other.p99_s, other.p99_without_s), (0.0, 0.1, 0.1));
        assert!(other.mild && !told.mild);
    }

    #[test]
    fn incast_is_mild_below_a_twentieth_of_the_time() {
        let mild = |lost| {
            let mut blocks = Blocks::default();
            blocks.take(&block(&[1000]), Some(&episode(lost)));
            blocks.severity(true).expect("a block").mild
        };
        assert!(mild(50 * MS - ns(1)) && !mild(50 * MS));
    }

    #[test]
    fn a_percentile_is_exceeded_by_one_in_a_hundred() {
        let of = |count: i64| percentile((1..=count).rev().map(|time| time * MS));
        let expected = [0.0, 0.001, 0.002, 0.099, 0.099, 0.1, 0.198];
        for (count, seconds) in [0, 1, 2, 99, 100, 101, 200].into_iter().zip(expected) {
            assert!((of(count) - seconds).abs() < 1e-12, "{count}: {}", of(count));
        }
    }

    #[test]
    fn of_many_blocks_every_second_or_fourth_is_kept() {
        let mut blocks = Blocks::default();
        let most = SAMPLE as i64;
        for number in 0..2 * most {
            blocks.take(&block(&[number]), None);
        }
        assert_eq!(
            (blocks.count, blocks.every, blocks.sample.len()),
            (2 * SAMPLE as u64, 4, SAMPLE / 2)
        );
        let kept: Vec<_> = blocks.sample.iter().map(|(length, _)| *length).collect();
        assert!(kept.iter().zip(0..).all(|(length, number)| *length == 4 * number * MS));
        assert_eq!(blocks.time, (2 * most - 1) * most * MS, "all of them count");
    }
}
