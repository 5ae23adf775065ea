//! Times in which nothing arrived from anybody, and how the flows went on.

use std::collections::BTreeSet;

use crate::burst::Key;
use crate::event::Resumed;
use crate::time::{Span, Time};

/// A shorter silence of all flows is a pause of the application, or an ordinary timer.
const LEAST: Span = Span::from_millis(50);
/// A flow had been sending if its last data came at most so long before the silence.
const JUST: Span = Span::from_millis(50);
/// So many flows must go on with what had been acknowledged: fewer may have lost an ACK each.
const FLOWS: u32 = 3;
/// And so many of a hundred of those that go on.
const SHARE: u32 = 80;
const LISTED: usize = 64;

/// A silence of all flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    pub start: Time,
    pub end: Time,
    /// Flows that had been sending and went on with bytes that had been acknowledged, with others
    /// that were sent or missing before, and with new ones.
    acknowledged: u32,
    again: u32,
    fresh: u32,
    /// Flows whose host asked again, and had heard nothing from anybody since it had asked.
    unanswered: u32,
}

impl Silence {
    /// Whether the path was out: data came again although it had been acknowledged, so neither
    /// direction worked. `None` if only the data is known to have been lost.
    pub fn is_outage(&self) -> Option<bool> {
        if self.unanswered >= FLOWS {
            return Some(true); // a full queue lets some answers through
        }
        let repeated = self.acknowledged + self.again;
        let all = repeated + self.fresh;
        let most = repeated > 0 && repeated * 100 >= all * SHARE;
        if !most {
            return if self.acknowledged >= FLOWS { None } else { Some(false) };
        }
        (self.acknowledged >= FLOWS && 2 * self.acknowledged >= repeated).then_some(true)
    }

    /// Whether flows have only repeated after it, and had not been heard before.
    fn is_in_vain(&self) -> bool {
        self.again > 0 && self.acknowledged + self.fresh + self.unanswered == 0
    }

    /// How many flows went on with what they had sent before.
    pub fn repeated(&self) -> u32 {
        (self.acknowledged + self.again).max(self.unanswered)
    }
}

/// The silences of a point.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    last: Option<Time>,
    all: Vec<Silence>,
    /// Since when a host has heard nothing, and the flows on which it has asked again.
    unanswered: (Time, BTreeSet<Key>),
}

impl Silences {
    /// A packet of data of any flow.
    pub fn data(&mut self, now: Time) {
        let last = self.last.replace(now);
        if let Some(start) = last
            && now - start > LEAST
        {
            // Repeats that nobody has answered are a part of the silence.
            let before = self.all.pop_if(|one| one.is_in_vain() && start - one.end <= JUST);
            let start = before.map_or(start, |one| one.start);
            if self.all.len() < LISTED {
                self.all.push(Silence { start, end: now, ..Silence::default() });
            }
        }
    }

    /// A flow goes on whose last data was at `last`.
    pub fn resumed(&mut self, last: Time, how: Resumed) {
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

    /// A host asks again on a flow at `now`, which had asked at `asked`, and heard something last at
    /// `heard`.
    pub fn unanswered(&mut self, (heard, asked, now): (Time, Time, Time), flow: Key) {
        if heard >= asked {
            return;
        }
        let (since, flows) = &mut self.unanswered;
        if *since != heard {
            *since = heard;
            flows.clear();
        }
        flows.insert(flow);
        let count = flows.len() as u32;
        if count == FLOWS && self.all.len() < LISTED {
            self.all.push(Silence {
                start: asked,
                end: now,
                unanswered: count,
                ..Silence::default()
            });
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
    use crate::time::tests::{MS, at};

    fn told(how: &[Resumed]) -> Option<bool> {
        let mut silences = Silences::default();
        silences.data(at(0));
        silences.data(at(0) + 230 * MS);
        for &how in how {
            silences.resumed(at(0) - MS, how);
        }
        silences.resumed(at(0) - 60 * MS, Resumed::New); // had ended before
        silences.all()[0].is_outage()
    }

    #[test]
    fn a_host_that_hears_nothing_from_anybody_has_no_path() {
        let mut silences = Silences::default();
        let ask = |silences: &mut Silences, heard, flow| {
            silences.unanswered((at(heard), at(5), at(205)), flow);
        };
        for flow in [(1, 0), (1, 0), (2, 0)] {
            ask(&mut silences, 4, flow);
        }
        ask(&mut silences, 6, (3, 0));
        assert!(silences.all().is_empty(), "the third had heard something");
        ask(&mut silences, 4, (3, 0));
        assert_eq!(silences.all()[0].is_outage(), Some(true));
    }

    #[test]
    fn repeats_that_nobody_answers_are_a_part_of_the_silence() {
        let found = |how| {
            let mut silences = Silences::default();
            silences.data(at(0));
            silences.data(at(0) + 200 * MS);
            (0..3).for_each(|_| silences.resumed(at(0), how));
            silences.data(at(0) + 600 * MS);
            (0..3).for_each(|_| silences.resumed(at(0) - MS, Resumed::Acknowledged));
            silences.all().last().unwrap().is_outage()
        };
        assert_eq!(found(Resumed::Again), Some(true));
        assert_eq!(found(Resumed::New), Some(false), "the path had worked in between");
    }

    #[test]
    fn all_flows_repeat_what_was_acknowledged_after_an_outage() {
        use Resumed::{Acknowledged, Again, New};
        assert_eq!(told(&[Acknowledged, Acknowledged, Acknowledged, Again]), Some(true));
        assert_eq!(told(&[Acknowledged, Acknowledged]), None, "or two ACKs were lost");
        assert_eq!(told(&[Again; 5]), None, "as the timers of incast do");
        assert_eq!(told(&[Acknowledged, Acknowledged, New, New]), Some(false));
        assert_eq!(told(&[]), Some(false));
    }
}
