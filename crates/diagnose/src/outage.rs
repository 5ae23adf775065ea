//! Times in which no packet arrived from any host, and how the flows continued.

use std::collections::BTreeSet;

use incast_capture::read::{Packet, flags};

use crate::burst::Key;
use crate::event::Resumed;
use crate::time::{Span, Time};

/// A shorter silence of all flows is a pause of the application, or an ordinary timer.
const LEAST: Span = Span::from_millis(50);
/// A flow had been sending if its last data came at most this long before the silence.
const JUST: Span = Span::from_millis(50);
/// Minimum number of flows that resume with acknowledged data: fewer may have lost an ACK each.
const FLOWS: u32 = 3;
/// And this percentage of the flows that resume.
const SHARE: u32 = 80;
/// An answer that is missing for longer was lost: stacks delay an ACK by 40 to 200 ms.
const HELD: Span = Span::from_millis(300);
/// Number of flows that ask again which leaves it undecided.
const SOME: u32 = 2;
const LISTED: usize = 64;

/// A silence of all flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    pub start: Time,
    pub end: Time,
    /// When its last packet of data was seen: a useless retransmission, or the packet at its start.
    last: Time,
    /// Flows that had been sending and went on with bytes that had been acknowledged, with others
    /// that were sent or missing before, and with new ones.
    acknowledged: u32,
    again: u32,
    fresh: u32,
    /// Those of the first two that do not ask.
    told: u32,
    /// Flows whose host asked again, and had heard nothing from anybody since it had asked.
    unanswered: u32,
    /// Flows that retransmitted in the middle of it, all without an answer.
    in_vain: u32,
    /// Whether any packet without data came since it ended.
    answered: bool,
}

impl Silence {
    /// Whether the path was out: data came again although it had been acknowledged, so neither
    /// direction worked. `None` if only the data is known to have been lost.
    pub fn is_outage(&self) -> Option<bool> {
        if self.unanswered >= FLOWS || self.lost_repeats() {
            return Some(true); // a full queue lets some answers through
        }
        if self.unanswered > 0 {
            return None;
        }
        let repeated = self.acknowledged + self.again;
        let all = repeated + self.fresh;
        let most = repeated > 0 && repeated * 100 >= all * SHARE;
        if !most {
            return if self.acknowledged >= FLOWS { None } else { Some(false) };
        }
        (self.acknowledged >= FLOWS && 2 * self.acknowledged >= repeated).then_some(true)
    }

    /// Whether in the middle of it several flows have repeated, not one of them was answered, and all
    /// repeat once more: a queue that had been idle for so long has room for some of them.
    pub fn lost_repeats(&self) -> bool {
        self.in_vain >= FLOWS && self.fresh == 0 && self.told >= FLOWS
    }

    /// Whether flows have only repeated after it, and had not been heard before.
    fn is_in_vain(&self) -> bool {
        let only_repeats = self.again > 0 && self.fresh + self.unanswered == 0;
        let unheard = self.acknowledged == 0 || !self.answered;
        only_repeats && unheard && self.is_outage() != Some(true)
    }

    /// How many flows went on with what they had sent before.
    pub fn repeated(&self) -> u32 {
        (self.acknowledged + self.again).max(self.unanswered).max(self.in_vain)
    }
}

/// The silences of a point.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    last: Option<Time>,
    all: Vec<Silence>,
    /// Since when a host has heard nothing, and the flows on which it has asked again.
    unanswered: (Time, BTreeSet<Key>),
    /// The same with those that it had asked shortly before that, and a silence of some of them.
    silent: (Time, BTreeSet<Key>),
    doubtful: Option<Silence>,
}

impl Silences {
    /// A packet of any flow.
    pub fn take(&mut self, packet: &Packet, now: Time) {
        if packet.payload > 0 {
            self.data(now);
        } else if !packet.has(flags::SYN) {
            self.answer();
        }
    }

    /// A packet of data of any flow.
    pub fn data(&mut self, now: Time) {
        let last = self.last.replace(now);
        if let Some(start) = last
            && now - start > LEAST
        {
            // Repeats that nobody has answered are a part of the silence.
            let before = self.all.pop_if(|one| one.is_in_vain() && start - one.end <= JUST);
            let mut silence = Silence { start, end: now, last: start, ..Silence::default() };
            if let Some(one) = before {
                silence.start = one.start;
                silence.in_vain = one.in_vain;
                if one.answered {
                    silence.last = one.last;
                } else if now - start > HELD {
                    silence.in_vain = one.in_vain.max(one.told);
                }
            }
            self.add(silence);
        }
    }

    fn add(&mut self, silence: Silence) {
        if self.all.len() < LISTED {
            self.all.push(silence);
        }
    }

    /// A packet without data, which answers one of any flow.
    pub fn answer(&mut self) {
        if let Some(silence) = self.all.last_mut() {
            silence.answered = true;
        }
    }

    /// A flow goes on whose last data was at `last`; `asks` says that it is one of requests, which
    /// servers may leave unanswered until they have the answer.
    pub fn resumed(&mut self, last: Time, how: Resumed, asks: bool) {
        let Some(silence) = self.all.last_mut() else { return };
        if last > silence.last || last < silence.start - JUST {
            return;
        }
        match how {
            // The answers that acknowledged a request may be what was lost.
            Resumed::Acknowledged if asks => silence.again += 1,
            Resumed::Acknowledged => silence.acknowledged += 1,
            Resumed::Again => silence.again += 1,
            Resumed::New => silence.fresh += 1,
        }
        silence.told += u32::from(how != Resumed::New && !asks);
    }

    /// A host asks again on a flow at `now`, which had asked at `asked`, and heard something last at
    /// `heard`.
    pub fn unanswered(&mut self, (heard, asked, now): (Time, Time, Time), flow: Key) {
        // What came soon after it may have been under way.
        if now - asked < LEAST || heard > asked && 4 * (now - heard) < 3 * (now - asked) {
            return;
        }
        let silence = |unanswered| {
            let start = asked.max(heard);
            Silence { start, end: now, last: start, unanswered, ..Silence::default() }
        };
        if count(&mut self.silent, heard, flow) == SOME {
            self.doubtful.get_or_insert(silence(SOME));
        }
        if heard < asked && count(&mut self.unanswered, heard, flow) == FLOWS {
            self.add(silence(FLOWS));
        }
    }

    /// One of which a host's repeated questions leave open what it was.
    pub fn doubtful(&self) -> Option<&Silence> {
        self.doubtful.as_ref()
    }

    /// The file lacks answers, so nothing follows from there being none.
    pub fn lack_answers(&mut self) {
        self.all.iter_mut().for_each(|silence| silence.in_vain = 0);
    }

    /// All of them.
    pub fn all(&self) -> &[Silence] {
        &self.all
    }
}

/// Adds a flow to those since a time, which is perhaps another one than before; returns how many they
/// are.
fn count((since, flows): &mut (Time, BTreeSet<Key>), time: Time, flow: Key) -> u32 {
    if *since != time {
        *since = time;
        flows.clear();
    }
    flows.insert(flow);
    flows.len() as u32
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
            silences.resumed(at(0) - MS, how, false);
        }
        silences.resumed(at(0) - 60 * MS, Resumed::New, false); // had ended before
        silences.all()[0].is_outage()
    }

    #[test]
    fn a_host_that_hears_nothing_from_anybody_has_no_path() {
        let mut silences = Silences::default();
        let ask = |silences: &mut Silences, heard, flow| {
            silences.unanswered((at(heard), at(5), at(5) + 200 * MS), flow);
        };
        for flow in [(1, 0), (1, 0), (2, 0)] {
            ask(&mut silences, 4, flow);
        }
        ask(&mut silences, 60, (3, 0));
        assert!(silences.all().is_empty(), "the third had heard something");
        for flow in [(1, 0), (2, 0), (3, 0)] {
            ask(&mut silences, 4, flow);
        }
        assert_eq!(silences.all()[0].is_outage(), Some(true));
    }

    #[test]
    fn a_host_that_soon_heard_nothing_any_more_may_have_no_path() {
        let found = |heard, flows| {
            let mut silences = Silences::default();
            for flow in 0..flows {
                silences
                    .unanswered((at(0) + heard * MS, at(0) + 5 * MS, at(0) + 205 * MS), (flow, 0));
            }
            assert!(silences.all().is_empty());
            silences.doubtful().map(Silence::is_outage)
        };
        assert_eq!([found(4, 2), found(5, 4), found(55, 2)], [Some(None); 3]);
        assert_eq!(found(5, 1), None);
        assert_eq!(found(56, 4), None, "it was heard for a quarter of the time");
    }

    #[test]
    fn repeats_of_several_flows_that_are_all_lost_are_no_queue_s() {
        let found = |flows, answered| {
            let mut silences = Silences::default();
            silences.data(at(0));
            silences.data(at(0) + 200 * MS);
            (0..flows).for_each(|_| silences.resumed(at(0), Resumed::Again, false));
            if answered {
                silences.answer();
            }
            silences.data(at(0) + 600 * MS);
            (0..flows).for_each(|_| silences.resumed(at(0), Resumed::Again, false));
            let told = silences.all().last().unwrap().is_outage();
            silences.lack_answers();
            assert_eq!(silences.all().last().unwrap().is_outage(), None);
            told
        };
        assert_eq!(found(FLOWS, false), Some(true));
        assert_eq!(found(FLOWS - 1, false), None);
        assert_eq!(found(FLOWS, true), None, "one was answered");
    }

    #[test]
    fn repeats_that_nobody_answers_are_a_part_of_the_silence() {
        let found = |how| {
            let mut silences = Silences::default();
            silences.data(at(0));
            silences.data(at(0) + 200 * MS);
            (0..3).for_each(|_| silences.resumed(at(0), how, false));
            silences.data(at(0) + 600 * MS);
            (0..3).for_each(|_| silences.resumed(at(0) - MS, Resumed::Acknowledged, false));
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
