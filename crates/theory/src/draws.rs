//! Random numbers that all scenarios share, so that curves are smooth: what is drawn depends on the
//! sample, the block, the round and the sender, and on nothing that a scenario says.

use incast_engine::Stream;

const SEED: u64 = 20;
const ROWS: u64 = 127; // rounds after which numbers repeat; a prime

/// What decides about one sender in one round, each uniform in `[0, 1)`.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Rounds a share of a loss to whole packets.
    pub chance: f32,
    /// Which of its packets is lost first.
    pub place: f32,
    /// The order in which bursts lose.
    pub lottery: f32,
}

/// The numbers of all rounds, and streams for everything else.
#[derive(Debug)]
pub struct Draws(Vec<Vec<Draw>>);

impl Draws {
    /// Numbers for this many senders; the first of them do not depend on how many.
    pub fn new(width: usize) -> Self {
        let row = |number| {
            let mut stream = Stream::named(SEED, "rounds", number);
            let mut unit = || (stream.next_u64() >> 40) as f32 / (1_u32 << 24) as f32;
            (0..width).map(|_| Draw { chance: unit(), place: unit(), lottery: unit() }).collect()
        };
        Self((0..ROWS).map(row).collect())
    }

    /// Every sender's numbers, round after round of a block without end.
    pub fn rounds(&self, place: Place) -> impl Iterator<Item = &[Draw]> {
        let first = Stream::named(SEED, "first round", place.index()).below(ROWS);
        self.0.iter().cycle().skip(first as usize).map(Vec::as_slice)
    }
}

/// A block of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which sample.
    pub sample: u32,
    /// Which block of it.
    pub block: u32,
}

impl Place {
    /// The stream for the gaps between requests.
    pub fn gaps(self) -> Stream {
        Stream::named(SEED, "gaps", self.index())
    }

    /// The stream for the phases of senders that meet.
    pub fn phases(self, meeting: u32) -> Stream {
        Stream::named(SEED, "phases", self.index() << 8 | u64::from(meeting))
    }

    /// The stream for what happens while they meet.
    pub fn events(self, meeting: u32) -> Stream {
        Stream::named(SEED, "events", self.index() << 8 | u64::from(meeting))
    }

    fn index(self) -> u64 {
        u64::from(self.sample) << 24 | u64::from(self.block)
    }
}
