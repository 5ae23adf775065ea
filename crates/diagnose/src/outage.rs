//! Times in which nothing arrived from anybody, and how the flows went on.

use crate::event::Resumed;

/// A shorter silence of all flows is a pause of the application, or an ordinary timer.
const LEAST: i64 = 50_000_000;
/// A flow had been sending if its last data came at most so long before the silence.
const JUST: i64 = 50_000_000;
/// So many flows must go on with what they had sent before.
const FLOWS: u32 = 2;
/// And so many of a hundred of those that go on.
const SHARE: u32 = 80;
const LISTED: usize = 64;

/// A silence of all flows.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    pub start: i64,
    pub end: i64,
    /// Flows that had been sending and went on with bytes that had been acknowledged, with others
    /// that were sent or missing before, and with new ones.
    acknowledged: u32,
    again: u32,
    fresh: u32,
}

impl Silence {
    /// Whether the path was out: data came again although it had been acknowledged, so neither
    /// direction worked. `None` if only the data is known to have been lost.
    pub fn is_outage(&self) -> Option<bool> {
        let repeated = self.acknowledged + self.again;
        let all = repeated + self.fresh;
        if repeated < FLOWS || repeated * 100 < all * SHARE {
            return Some(false);
        }
        (self.acknowledged >= FLOWS && 2 * self.acknowledged >= repeated).then_some(true)
    }

    /// How many flows went on with what they had sent before.
    pub fn repeated(&self) -> u32 {
        self.acknowledged + self.again
    }
}

/// The silences of a point.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    last: Option<i64>,
    all: Vec<Silence>,
}

impl Silences {
    /// A packet of data of any flow.
    pub fn data(&mut self, now: i64) {
        let last = self.last.replace(now);
        if let Some(start) = last
            && now - start > LEAST
            && self.all.len() < LISTED
        {
            self.all.push(Silence { start, end: now, acknowledged: 0, again: 0, fresh: 0 });
        }
    }

    /// A flow goes on whose last data was at `last`.
    pub fn resumed(&mut self, last: i64, how: Resumed) {
        let Some(silence) = self.all.last_mut() else { return };
        if last > silence.start || last < silence.start - JUST {
            return;
        }
        match how {
            Resumed::Acknowledged => silence.acknowledged += 1,
            Resumed::Again => silence.again += 1,
            Resumed::New => silence.fresh += 1,
        }
    }

    /// All of them.
    pub fn all(&self) -> &[Silence] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(how: &[Resumed]) -> Option<bool> {
        let mut silences = Silences::default();
        silences.data(0);
        silences.data(230_000_000);
        how.iter().for_each(|&how| silences.resumed(-1_000_000, how));
        silences.resumed(-60_000_000, Resumed::New); // had ended before
        silences.all()[0].is_outage()
    }

    #[test]
    fn all_flows_repeat_what_was_acknowledged_after_an_outage() {
        use Resumed::{Acknowledged, Again, New};
        assert_eq!(told(&[Acknowledged, Acknowledged, Again, Again]), Some(true));
        assert_eq!(told(&[Again; 5]), None, "as the timers of incast do");
        assert_eq!(told(&[Acknowledged, Acknowledged, New, New]), Some(false));
        assert_eq!(told(&[]), Some(false));
    }
}
