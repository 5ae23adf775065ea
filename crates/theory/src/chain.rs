//! Runs that are followed until it is known what a mean block is like.
//!
//! Windows survive a block, so that a run is a chain of blocks. Its first block differs: connections
//! open, and start slowly. Later blocks are taken for alike, and those that are not followed for
//! like the others. Runs differ by the requests' jitter; reads that are compared share it.

use incast_engine::Stream;

use crate::network::{Block, Network};
use crate::read::Read;

const SEED: u64 = 20;

/// Runs of which it is asked whether their handshakes fail, where one has lost a SYN-ACK.
const RUNS: usize = 5;
/// The same where rare events are waited for: one that loses none may be worth all others.
const MANY_RUNS: usize = 40;

/// Blocks that are enough, however few events they have.
const MANY_BLOCKS: f64 = 3000.0;

/// Runs from which on it is asked how much they differ.
const ENOUGH: f64 = 4.0;

/// Standard deviation of a block, relative, that is believed before any block is seen, and the
/// number of blocks for which that belief stands: two blocks that happen to be alike prove nothing.
const BELIEF: f64 = 0.3;
const BELIEVED: f64 = 3.0;

/// How much of a read is followed. Events are packets, ACKs, requests and timers.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Standard error of the mean block, relative, that is enough.
    pub fine: f64,
    /// The same where it is clear whether the read has collapsed.
    pub coarse: f64,
    /// Standard errors by which it has to be clear.
    pub clear: f64,
    /// Events before which nothing is enough.
    pub least: u64,
    /// Events that are enough, if they are as many blocks besides the first.
    pub most: u64,
    /// See `most`.
    pub blocks: u32,
    /// Events after which a block is not played to its end.
    pub limit: u64,
    /// Whether timeouts are waited for that have not come yet although packets are lost: it is
    /// believed that the next block may have one.
    pub rare: bool,
}

/// Means over blocks and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Timeouts of a block.
    pub timeouts: f64,
    /// Duration of a block at which goodput is its mean over runs, packet times.
    pub duration: f64,
    /// Standard deviation of a run's goodput over its mean.
    pub scatter: f64,
    /// Standard error of the duration, relative.
    pub error: f64,
    /// Whether something was lost of which it is not known how it is repaired: it says nothing.
    pub is_beyond: bool,
}

/// Follows a read.
pub fn follow(read: &Read, effort: &Effort) -> Outcome {
    let mut account = Account::default();
    while !account.suffices(read, effort) {
        let (before, run) = (account.events, account.runs.len() as u64);
        let mut network = Network::new(read, Stream::named(SEED, "hosts", run));
        account.runs.push(Run::default());
        for block in 0..read.blocks.max(1) {
            let left = effort.limit.saturating_sub(account.events);
            let mut gaps = Stream::named(SEED, "gaps", run << 32 | u64::from(block));
            let played = network.block(&mut gaps, left);
            account.add(played, network.has_lost_handshakes());
            account.has_lost |= network.has_lost();
            account.events = before + network.events();
            if network.is_beyond() {
                return Outcome { is_beyond: true, ..Outcome::default() };
            }
            if !network.is_idle() {
                return account.outcome(read);
            }
            if account.knows_blocks(read, effort) {
                break;
            }
        }
    }
    account.outcome(read)
}

/// A run as far as it was followed.
#[derive(Debug, Default)]
struct Run {
    blocks: f64,
    duration: f64,
    has_lost_handshakes: bool,
}

/// What has been seen.
#[derive(Debug, Default)]
struct Account {
    events: u64,
    has_lost: bool,
    runs: Vec<Run>,
    first: Tally,
    /// Blocks but for the first of each run.
    later: Tally,
}

impl Account {
    fn add(&mut self, block: Block, has_lost_handshakes: bool) {
        let Some(run) = self.runs.last_mut() else { return };
        let tally = if run.blocks > 0.0 { &mut self.later } else { &mut self.first };
        tally.add(block);
        run.blocks += 1.0;
        run.duration += block.duration;
        run.has_lost_handshakes = has_lost_handshakes;
    }

    fn suffices(&self, read: &Read, effort: &Effort) -> bool {
        let runs = if effort.rare { MANY_RUNS } else { RUNS };
        let opens = !self.runs.iter().any(|run| run.has_lost_handshakes);
        self.knows_blocks(read, effort) && (opens || self.runs.len() >= runs)
    }

    /// Whether the mean of the later blocks is known well enough.
    fn knows_blocks(&self, read: &Read, effort: &Effort) -> bool {
        let tally = if read.blocks > 1 { &self.later } else { &self.first };
        if tally.count >= MANY_BLOCKS {
            return true;
        }
        if tally.count < 1.0 || self.events < effort.least {
            return false;
        }
        if self.events >= effort.most && tally.count >= f64::from(effort.blocks) {
            return true;
        }
        let (mean, error) = (self.outcome(read), tally.error());
        let relative = if effort.rare { mean.error } else { error.duration / mean.duration };
        if relative > effort.coarse {
            return false;
        }
        let is_clear = |by: f64, error: f64| by.abs() > effort.clear * error;
        let (slow, often) = (mean.duration - read.slow, mean.timeouts - read.often);
        let clearly_slow = is_clear(slow, error.duration);
        let clearly_often = is_clear(often, error.timeouts);
        let collapses = slow > 0.0 && clearly_slow && often > 0.0 && clearly_often;
        let does_not = slow < 0.0 && clearly_slow || often < 0.0 && clearly_often;
        relative <= effort.fine || collapses || does_not
    }

    /// By how much a run's blocks make it scatter, and how well their mean is known; relative.
    fn errors(&self, read: &Read, mean: &Block) -> (f64, f64) {
        let tally =
            if read.blocks > 1 && self.later.count > 0.0 { &self.later } else { &self.first };
        let mut error = tally.error().duration / mean.duration;
        let each = error * tally.count.sqrt();
        if self.has_lost && tally.sum.timeouts == 0.0 {
            error = error.max(read.least_rto / tally.count / mean.duration);
        }
        (each / f64::from(read.blocks.max(1)).sqrt(), error)
    }

    fn outcome(&self, read: &Read) -> Outcome {
        let blocks = f64::from(read.blocks.max(1));
        let first = self.first.mean();
        let later = if self.later.count > 0.0 { self.later.mean() } else { first };
        let goodput = |run: &Run| 1.0 / (run.duration + (blocks - run.blocks) * later.duration);
        let goodputs: f64 = self.runs.iter().map(goodput).sum();
        let runs = self.runs.len() as f64;
        let mean = goodputs / runs;
        let (scatter, error) = self.errors(read, &later);
        let between = self.runs.iter().map(|run| (goodput(run) / mean - 1.0).powi(2)).sum::<f64>();
        let between = if runs >= ENOUGH { (between / (runs - 1.0)).sqrt() } else { 0.0 };
        Outcome {
            timeouts: (first.timeouts + (blocks - 1.0) * later.timeouts) / blocks,
            duration: runs / goodputs / blocks,
            scatter: scatter.max(between),
            error: error.max(between / runs.sqrt()),
            is_beyond: false,
        }
    }
}

/// Sums over blocks.
#[derive(Debug, Default)]
struct Tally {
    count: f64,
    sum: Block,
    squares: Block,
}

impl Tally {
    fn add(&mut self, Block { timeouts, duration }: Block) {
        self.count += 1.0;
        self.sum.timeouts += timeouts;
        self.sum.duration += duration;
        self.squares.timeouts += timeouts * timeouts;
        self.squares.duration += duration * duration;
    }

    fn mean(&self) -> Block {
        let Block { timeouts, duration } = self.sum;
        Block { timeouts: timeouts / self.count, duration: duration / self.count }
    }

    /// Standard errors of the mean.
    fn error(&self) -> Block {
        let mean = self.mean();
        let error = |squares: f64, mean: f64| {
            let seen = (squares - self.count * mean * mean).max(0.0);
            let believed = BELIEVED * (BELIEF * mean).powi(2);
            ((seen + believed) / (self.count + BELIEVED - 1.0) / self.count).sqrt()
        };
        Block {
            timeouts: error(self.squares.timeouts, mean.timeouts),
            duration: error(self.squares.duration, mean.duration),
        }
    }
}
