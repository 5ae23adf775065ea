//! Simulates runs until the mean duration of a block and its mean number of timeouts are known.
//!
//! Windows persist between blocks, so a run is a chain of blocks. The first block differs from
//! later blocks, because connections open and begin with slow start. All later blocks are assumed
//! to have the same distribution. Blocks that are not simulated are assumed to have the mean of the
//! simulated blocks. Runs differ by the jitter of the requests. Reads that are to be compared have
//! the same jitter.

use incast_engine::Stream;

use crate::collapse::Seen;
use crate::network::{Block, Network};
use crate::read::Read;

const SEED: u64 = 20;

/// Number of runs after which the frequency of failed handshakes counts as known, if a run has lost
/// a SYN-ACK.
const RUNS: usize = 5;
/// The number of such runs with [`Effort::rare`]. This number is larger than `RUNS`, because the
/// goodput of one run without losses may contribute as much to the mean as all other runs.
const MANY_RUNS: usize = 40;

/// Number of blocks after which the mean always counts as known.
const MANY_BLOCKS: f64 = 3000.0;

/// Minimum number of runs from which the variance between runs is estimated.
const ENOUGH: f64 = 4.0;

/// The prior: the relative standard deviation of a block, and the weight of the prior as a number
/// of blocks. With this prior, two blocks that are equal by chance do not suggest a small variance.
const BELIEF: f64 = 0.3;
const BELIEVED: f64 = 3.0;

/// When a simulation ends. Events are packets, ACKs, requests and timers.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Relative standard error of the mean duration of a block that is small enough for any read.
    pub fine: f64,
    /// Relative standard error that is small enough if the read has clearly collapsed or clearly
    /// not collapsed.
    pub coarse: f64,
    /// Minimum number of standard errors between a read with a clear result and the limit of a
    /// collapse.
    pub clear: f64,
    /// Minimum number of events.
    pub least: u64,
    /// Number of events after which the simulation ends, if `blocks` blocks after the first are
    /// complete.
    pub most: u64,
    /// See `most`.
    pub blocks: u32,
    /// Number of events after which the simulation of a block is aborted.
    pub limit: u64,
    /// Whether to expect a timeout in the next blocks if packets were lost but no timeout has
    /// occurred so far.
    pub rare: bool,
}

/// Means over blocks and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Timeouts per block.
    pub timeouts: f64,
    /// Timeouts of SYNs and SYN-ACKs per block, which are part of `timeouts`.
    pub handshakes: f64,
    /// Duration of a block at the mean goodput over runs, packet times.
    pub duration: f64,
    /// Relative standard deviation of a run's goodput.
    pub scatter: f64,
    /// Relative standard error of the duration.
    pub error: f64,
}

/// Simulates a read.
pub fn follow(read: &Read, effort: &Effort) -> Outcome {
    let mut account = Account::default();
    while !account.suffices(read, effort) {
        let (before, run) = (account.events, account.runs.len() as u64);
        let mut network = Network::new(read, Stream::named(SEED, "hosts", run));
        account.runs.push(Run::default());
        for block in 0..read.blocks.max(1) {
            let left = effort.limit.saturating_sub(account.events);
            let mut gaps = Stream::named(SEED, "gaps", run << 32 | u64::from(block));
            let simulated = network.block(&mut gaps, left);
            account.add(simulated, network.has_lost_handshakes());
            account.has_lost |= network.has_lost();
            account.events = before + network.events();
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

/// The simulated part of a run.
#[derive(Debug, Default)]
struct Run {
    blocks: f64,
    duration: f64,
    has_lost_handshakes: bool,
}

/// The results so far.
#[derive(Debug, Default)]
struct Account {
    events: u64,
    has_lost: bool,
    runs: Vec<Run>,
    first: Tally,
    /// All blocks except the first of each run.
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

    /// Whether the mean of the later blocks is known accurately enough.
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
        relative <= effort.fine || self.is_clear(read, effort, &mean, error)
    }

    /// Whether the simulation shows clearly that the read has collapsed, or that it has not.
    fn is_clear(&self, read: &Read, effort: &Effort, mean: &Outcome, mut error: Block) -> bool {
        error.duration = error.duration.min(self.error_of_runs(read, mean));
        if effort.rare && self.has_lost && self.timeouts() == 0.0 {
            // Assumes that one timeout occurs in as many further blocks as were simulated, and that
            // it slows down one run.
            let blocks: f64 = self.runs.iter().map(|run| run.blocks).sum();
            let run = f64::from(read.blocks.max(1)) * mean.duration;
            error.timeouts = blocks.recip();
            error.duration = error.duration.max(read.least_rto.min(run) / blocks);
        }
        let waits = |timeouts: f64, handshakes: f64| {
            (timeouts - handshakes) * read.least_rto + handshakes * read.syn_rto
        };
        let waited = Seen {
            duration: mean.duration,
            timeouts: mean.timeouts,
            waits: waits(mean.timeouts, mean.handshakes),
        };
        let errors = Seen {
            duration: error.duration,
            timeouts: error.timeouts,
            waits: waits(error.timeouts, 0.0),
        };
        read.collapse.is_clear(waited, errors, effort.clear)
    }

    /// Standard error of the mean duration of a block, from the goodputs of whole runs. If a few
    /// blocks are very long, this error is smaller than the error from the durations of blocks.
    fn error_of_runs(&self, read: &Read, mean: &Outcome) -> f64 {
        let whole = f64::from(read.blocks.max(1));
        let goodputs: Vec<f64> = self
            .runs
            .iter()
            .filter(|run| run.blocks >= whole)
            .map(|run| whole / run.duration)
            .collect();
        let runs = goodputs.len() as f64;
        if runs < ENOUGH {
            return f64::INFINITY;
        }
        let seen = goodputs.iter().map(|one| (one * mean.duration - 1.0).powi(2)).sum::<f64>();
        let believed = BELIEVED * BELIEF.powi(2);
        mean.duration * ((seen + believed) / (runs + BELIEVED - 1.0) / runs).sqrt()
    }

    fn timeouts(&self) -> f64 {
        self.first.sum.timeouts + self.later.sum.timeouts
    }

    /// Relative standard deviation of a run, computed from its blocks, and relative standard error
    /// of the mean duration of a block.
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
            handshakes: (first.handshakes + (blocks - 1.0) * later.handshakes) / blocks,
            duration: runs / goodputs / blocks,
            scatter: scatter.max(between),
            error: error.max(between / runs.sqrt()),
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
    fn add(&mut self, Block { timeouts, handshakes, duration }: Block) {
        self.count += 1.0;
        self.sum.timeouts += timeouts;
        self.sum.handshakes += handshakes;
        self.sum.duration += duration;
        self.squares.timeouts += timeouts * timeouts;
        self.squares.duration += duration * duration;
    }

    fn mean(&self) -> Block {
        let Block { timeouts, handshakes, duration } = self.sum;
        let [timeouts, handshakes, duration] =
            [timeouts, handshakes, duration].map(|sum| sum / self.count);
        Block { timeouts, handshakes, duration }
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
            ..Block::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(timeouts: f64, duration: f64) -> Block {
        Block { timeouts, duration, ..Block::default() }
    }

    /// After the first block, blocks of 1 and 3 packet times follow in turn. A run has 16 blocks.
    #[test]
    fn a_run_scatters_by_its_blocks_and_the_mean_is_known_by_those_seen() {
        let read = Read { blocks: 16, least_rto: 0.5, ..crate::tests::read(1, 0.0) };
        let mut account = Account { runs: vec![Run::default()], ..Account::default() };
        account.add(block(0.0, 100.0), false);
        for _ in 0..500 {
            account.add(block(0.0, 1.0), false);
            account.add(block(0.0, 3.0), false);
        }
        let mean = account.later.mean();
        assert!((mean.duration - 2.0).abs() < 1e-12);
        let (scatter, error) = account.errors(&read, &mean);
        // The relative standard deviation of a block is one half. For `scatter` it is divided by
        // the square root of 16 blocks, and for `error` by the square root of the 1000 simulated
        // blocks.
        assert!((scatter / 0.125 - 1.0).abs() < 0.01, "{scatter}");
        assert!((error / (0.5 / 1000.0_f64.sqrt()) - 1.0).abs() < 0.01, "{error}");
        // There was no timeout yet. One timeout in the next 1000 blocks is plausible.
        account.has_lost = true;
        assert_eq!(account.errors(&Read { least_rto: 100.0, ..read }, &mean), (scatter, 0.05));
    }

    fn close(is: f64, due: f64) {
        assert!((is / due - 1.0).abs() < 1e-5, "{is}, not {due}");
    }

    /// One block takes 1 packet time, and another block takes 3 packet times. The prior has the
    /// weight of three blocks whose standard deviation is 0.3 of the mean.
    #[test]
    fn a_belief_keeps_few_blocks_from_proving_much() {
        let mut tally = Tally::default();
        tally.add(block(2.0, 1.0));
        tally.add(block(2.0, 3.0));
        let error = tally.error();
        close(error.duration, ((2.0 + 3.0 * 0.6 * 0.6) / 4.0 / 2.0_f64).sqrt());
        close(error.timeouts, (3.0 * 0.6 * 0.6 / 4.0 / 2.0_f64).sqrt());
    }

    /// The runs have two blocks each. The first blocks of the runs take 1, 2, 4 and 8 packet times.
    /// Each second block takes 1 packet time.
    #[test]
    fn an_outcome_is_the_mean_of_the_goodputs_of_runs() {
        let read = Read { blocks: 2, ..crate::tests::read(1, 0.0) };
        let of = |runs: &[f64]| {
            let mut account = Account::default();
            for &duration in runs {
                account.runs.push(Run::default());
                account.add(block(duration, duration), false);
                account.add(block(1.0, 1.0), false);
            }
            account.outcome(&read)
        };
        let four = of(&[1.0, 2.0, 4.0, 8.0]);
        // The duration of two blocks at the mean goodput is 4 / (1/2 + 1/3 + 1/5 + 1/9).
        close(four.duration, 1.747_573);
        close(four.timeouts, f64::midpoint(15.0 / 4.0, 1.0));
        // The relative standard deviation of these goodputs, and the relative standard error of
        // their mean.
        close(four.scatter, 0.591_833);
        close(four.error, 0.295_917);
        // The variance between three runs is not estimated. The prior alone gives the error,
        // because the second blocks are equal.
        let three = of(&[1.0, 2.0, 4.0]);
        let error = (3.0 * 0.3 * 0.3 / 5.0 / 3.0_f64).sqrt();
        close(three.error, error);
        close(three.scatter, error * (3.0_f64 / 2.0).sqrt());
    }

    /// In runs of two blocks, one block in ten takes 1000 packet times, and the others take 100.
    /// Four of five runs have no long block, so the mean goodput of the runs is known long before
    /// the mean duration of a block.
    #[test]
    fn few_long_blocks_leave_no_doubt_about_most_runs() {
        let read = Read { blocks: 2, least_rto: 900.0, ..crate::tests::read(1, 0.0) };
        let collapse = crate::Collapse { lossless: 100.0, ..read.collapse };
        let read = Read { collapse, ..read };
        let mut account = Account { has_lost: true, ..Account::default() };
        for run in 0..50 {
            account.runs.push(Run::default());
            for second in [false, true] {
                let is_long = run % 5 == 0 && second;
                let one = if is_long { block(1.0, 1000.0) } else { block(0.0, 100.0) };
                account.add(one, false);
            }
        }
        let mean = account.outcome(&read);
        let (of_blocks, of_runs) = (account.later.error(), account.error_of_runs(&read, &mean));
        assert!(of_runs < 0.2 * of_blocks.duration, "{of_runs} {of_blocks:?}");
        let effort = Effort {
            fine: 0.0,
            coarse: 9.0,
            clear: 3.0,
            least: 0,
            most: 0,
            blocks: 0,
            limit: 0,
            rare: true,
        };
        assert!(account.is_clear(&read, &effort, &mean, of_blocks));
        account.runs.truncate(3);
        assert!(account.error_of_runs(&read, &mean).is_infinite());
    }

    /// Packets were lost, but five blocks had no timeout. With `rare`, one of the next blocks may
    /// have a timeout.
    #[test]
    fn a_read_that_loses_packets_is_not_clear_before_a_timeout_could_have_come() {
        let collapse = crate::Collapse { lossless: 100.0, ..crate::tests::read(1, 0.0).collapse };
        let read = Read { blocks: 5, least_rto: 1e4, collapse, ..crate::tests::read(1, 0.0) };
        let rare = Effort {
            fine: 0.0,
            coarse: 9.0,
            clear: 3.0,
            least: 0,
            most: u64::MAX,
            blocks: 0,
            limit: 0,
            rare: true,
        };
        let mut account =
            Account { has_lost: true, runs: vec![Run::default()], ..Account::default() };
        for _ in 0..5 {
            account.add(block(0.0, 100.0), false);
        }
        assert!(!account.knows_blocks(&read, &rare));
        assert!(account.knows_blocks(&read, &Effort { rare: false, ..rare }));
        for _ in 0..20 {
            account.runs.push(Run::default());
            for _ in 0..5 {
                account.add(block(0.0, 100.0), false);
            }
        }
        assert!(account.knows_blocks(&read, &rare));
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
