//! The chain of blocks: what a block leaves behind is what the next one begins with.
//!
//! The state is the window and the slow-start threshold of every connection at the end of a block.
//! The expectation over requests' jitter and phases is taken over samples with the same random
//! numbers for every scenario, so that answers are repeatable and curves smooth.

use crate::draws::{Draws, Place};
use crate::opening::open;
use crate::read::Read;
use crate::rounds::Rounds;
use crate::sender::Sender;

/// How much of a read is followed.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Samples at least, and at most.
    pub samples: (u32, u32),
    /// Standard error of the mean block at which no more samples are taken, relative.
    pub error: f64,
    /// Blocks of a sample at least, and at most; what follows is like the second half of them.
    pub blocks: (u32, u32),
    /// Round trips of a block; what is left then goes on at the same pace.
    pub rounds: u32,
    /// Windows that senders send, within which no limit below counts: then the least is enough.
    pub work: u64,
}

/// Means over blocks and samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Timeouts of a block.
    pub timeouts: f64,
    /// Duration of a block, packet times.
    pub duration: f64,
}

/// One read after another.
#[derive(Debug)]
pub struct Chain<'a> {
    draws: &'a Draws,
    senders: Vec<Sender>,
    followed: Vec<Outcome>,
    work: u64,
}

impl<'a> Chain<'a> {
    /// A chain that draws from these numbers.
    pub fn new(draws: &'a Draws) -> Self {
        Self { draws, senders: Vec::new(), followed: Vec::new(), work: 0 }
    }

    /// Follows a read until its mean block is known well enough.
    pub fn follow(&mut self, read: &Read, effort: &Effort) -> Outcome {
        let (mut timeouts, mut sum, mut squares, mut taken) = (0.0, 0.0, 0.0, 0.0_f64);
        let (least, most) = effort.samples;
        self.work = 0;
        for sample in 0..most {
            if sample >= least {
                let mean: f64 = sum / taken;
                let variance = (squares / taken - mean * mean).max(0.0) / (taken - 1.0).max(1.0);
                let known = variance.sqrt() <= effort.error * mean;
                if known || self.work >= effort.work {
                    break;
                }
            }
            let one = self.sample(read, sample, effort);
            timeouts += one.timeouts;
            sum += one.duration;
            squares += one.duration * one.duration;
            taken += 1.0;
        }
        Outcome { timeouts: timeouts / taken, duration: sum / taken }
    }

    /// Follows one sample; the later blocks of the run are like those last followed.
    fn sample(&mut self, read: &Read, sample: u32, effort: &Effort) -> Outcome {
        self.senders.clear();
        self.senders.resize(read.servers, Sender::connected(read.initial_window));
        let (least, most) = effort.blocks;
        let share =
            (effort.work / u64::from(effort.samples.0)).saturating_mul(u64::from(sample) + 1);
        self.followed.clear();
        for block in 0..most.min(read.blocks as u32).max(1) {
            if block >= least && self.work >= share {
                break;
            }
            let one = self.block(read, Place { sample, block }, effort.rounds);
            self.followed.push(one);
        }
        let late = self.followed.len() / 2;
        let unfollowed = (read.blocks - self.followed.len() as f64).max(0.0);
        let more = unfollowed / (self.followed.len() - late) as f64;
        let mut mean = Outcome::default();
        for (block, one) in self.followed.iter().enumerate() {
            let weight = if block < late { 1.0 } else { 1.0 + more };
            mean.timeouts += weight * one.timeouts / read.blocks;
            mean.duration += weight * one.duration / read.blocks;
        }
        mean
    }

    /// Plays one block.
    fn block(&mut self, read: &Read, place: Place, most: u32) -> Outcome {
        let mut gaps = place.gaps();
        let mut start = 0.0;
        for (number, sender) in self.senders.iter_mut().enumerate() {
            let gap = gaps.unit() * 2.0 * read.gap;
            start += if number > 0 { gap } else { 0.0 };
            sender.ask(read.segments, start);
        }
        let opened = open(read, &mut self.senders, place);
        let mut rounds = Rounds::new(read, &mut self.senders, opened.clock);
        let mut draws = self.draws.rounds(place);
        let mut played = 0;
        let longer = loop {
            let Some(row) = draws.next() else { unreachable!("rows repeat without end") };
            if rounds.play(row).is_none() {
                break 1.0;
            }
            played += 1;
            if played == most {
                break rounds.pace();
            }
        };
        let (timeouts, clock) = (rounds.timeouts * longer, rounds.clock * longer);
        self.work += rounds.work;
        let work = (start + read.segments).max(read.work()) + read.pipe;
        Outcome { timeouts: opened.timeouts + timeouts, duration: clock.max(work) }
    }
}
