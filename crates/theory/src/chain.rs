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

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 1 and 3 seconds in turn behind a first one, of 16 that a run has.
    #[test]
    fn a_run_scatters_by_its_blocks_and_the_mean_is_known_by_those_seen() {
        let read = Read { blocks: 16, least_rto: 0.5, ..crate::tests::read(1, 0.0) };
        let mut account = Account { runs: vec![Run::default()], ..Account::default() };
        account.add(Block { timeouts: 0.0, duration: 100.0 }, false);
        for _ in 0..500 {
            account.add(Block { timeouts: 0.0, duration: 1.0 }, false);
            account.add(Block { timeouts: 0.0, duration: 3.0 }, false);
        }
        let mean = account.later.mean();
        assert!((mean.duration - 2.0).abs() < 1e-12);
        let (scatter, error) = account.errors(&read, &mean);
        // One in two, over the root of 16 blocks, and of the thousand seen.
        assert!((scatter / 0.125 - 1.0).abs() < 0.01, "{scatter}");
        assert!((error / (0.5 / 1000.0_f64.sqrt()) - 1.0).abs() < 0.01, "{error}");
        // Without a timeout so far, one in as many blocks again would not be strange.
        account.has_lost = true;
        assert_eq!(account.errors(&Read { least_rto: 100.0, ..read }, &mean), (scatter, 0.05));
    }

    fn close(is: f64, due: f64) {
        assert!((is / due - 1.0).abs() < 1e-5, "{is}, not {due}");
    }

    /// Two blocks of 1 and 3, beside the belief that three blocks scatter by 0.3 of the mean.
    #[test]
    fn a_belief_keeps_few_blocks_from_proving_much() {
        let mut tally = Tally::default();
        tally.add(Block { timeouts: 2.0, duration: 1.0 });
        tally.add(Block { timeouts: 2.0, duration: 3.0 });
        let error = tally.error();
        close(error.duration, ((2.0 + 3.0 * 0.6 * 0.6) / 4.0 / 2.0_f64).sqrt());
        close(error.timeouts, (3.0 * 0.6 * 0.6 / 4.0 / 2.0_f64).sqrt());
    }

    /// Runs of two blocks each, the first of 1, 2, 4 and 8, the second of 1.
    #[test]
    fn an_outcome_is_the_mean_of_the_goodputs_of_runs() {
        let read = Read { blocks: 2, ..crate::tests::read(1, 0.0) };
        let of = |runs: &[f64]| {
            let mut account = Account::default();
            for &duration in runs {
                account.runs.push(Run::default());
                account.add(Block { timeouts: duration, duration }, false);
                account.add(Block { timeouts: 1.0, duration: 1.0 }, false);
            }
            account.outcome(&read)
        };
        let four = of(&[1.0, 2.0, 4.0, 8.0]);
        // 4 / (1/2 + 1/3 + 1/5 + 1/9) for two blocks.
        close(four.duration, 1.747_573);
        close(four.timeouts, f64::midpoint(15.0 / 4.0, 1.0));
        // The standard deviation of these goodputs, relative, and that of their mean.
        close(four.scatter, 0.591_833);
        close(four.error, 0.295_917);
        // Of fewer runs it is not asked how they differ; the second blocks do not.
        let three = of(&[1.0, 2.0, 4.0]);
        let error = (3.0 * 0.3 * 0.3 / 5.0 / 3.0_f64).sqrt();
        close(three.error, error);
        close(three.scatter, error * (3.0_f64 / 2.0).sqrt());
    }

    #[test]
    fn a_read_knows_whether_it_has_lost_a_packet() {
        for (servers, buffer, loses) in [(4, 1e4, false), (12, 4.0, true)] {
            let read = crate::tests::read(servers, buffer);
            let mut network = Network::new(&read, Stream::named(1, "hosts", 0));
            network.block(&mut Stream::named(1, "gaps", 0), u64::MAX / 2);
            assert_eq!(network.has_lost(), loses, "{servers} servers");
        }
    }
}
