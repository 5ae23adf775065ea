//! Messages to one host that begin together.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Message;
use crate::time::{Span, Time};

/// A flow: the number of its connection, and the end that sends.
pub type Key = (u64, usize);

/// A flow of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub key: Key,
    pub message: Option<Message>,
}

/// A host that asks many others takes its time: an answer of another one that begins so soon, while
/// none has ended, belongs to them.
const TOGETHER: Span = Span::from_millis(20);

/// So many addresses are those of hosts.
const SEVERAL: usize = 3;

/// A message that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// When it was requested, if the request was seen; else the time of its first packet.
    pub start: Time,
    /// When its first packet came.
    pub first: Time,
    /// The place of its host.
    pub host: usize,
    pub key: Key,
    /// Messages of one burst begin so close together.
    pub window: Span,
    /// A message that is requested this much later than its host began another one follows that
    /// one.
    pub apart: Span,
}

/// Messages to one host that begin together.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    pub start: Time,
    /// When the newest began.
    pub newest: Time,
    pub members: Vec<Member>,
    keys: BTreeSet<Key>,
    /// The places of the hosts that send, and when the first packet of each came.
    hosts: BTreeMap<usize, Time>,
    open: usize,
    /// The numbers of their stalls.
    pub stalls: Vec<usize>,
    /// Those of them in which the link idled for long.
    pub idle: Vec<usize>,
    /// Bytes of the fullest bin meanwhile.
    pub peak: u64,
    /// Packets to the host that were seen to be lost meanwhile.
    pub lost: u32,
}

impl Burst {
    /// Whether a message belongs to it.
    fn is_near(&self, it: &Begin) -> bool {
        let own = self.hosts.get(&it.host);
        let soon = it.start >= self.start && it.start - self.start <= TOGETHER;
        let whole = soon && self.open == self.members.len() && own.is_none();
        let near = (self.start - it.window..=self.newest + it.window).contains(&it.start);
        // Behind one address there may be many hosts.
        let each_once = self.hosts.len() >= SEVERAL && self.hosts.len() == self.members.len();
        let follows = each_once && own.is_some_and(|&first| first + it.apart < it.start);
        (near && !follows || whole) && !self.keys.contains(&it.key)
    }

    fn join(&mut self, it: &Begin) {
        self.newest = self.newest.max(it.start);
        self.start = self.start.min(it.start);
        self.members.push(Member { key: it.key, message: None });
        self.keys.insert(it.key);
        let first = self.hosts.entry(it.host).or_insert(it.first);
        *first = it.first.min(*first);
        self.open += 1;
    }

    /// How many hosts send.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Whether a flow is in both.
    fn shares(&self, other: &Self) -> bool {
        let (few, many) = if self.keys.len() < other.keys.len() {
            (&self.keys, &other.keys)
        } else {
            (&other.keys, &self.keys)
        };
        few.iter().any(|key| many.contains(key))
    }

    fn merge(&mut self, mut other: Self) {
        self.start = self.start.min(other.start);
        self.newest = self.newest.max(other.newest);
        self.members.append(&mut other.members);
        self.keys.append(&mut other.keys);
        for (host, first) in other.hosts {
            let own = self.hosts.entry(host).or_insert(first);
            *own = first.min(*own);
        }
        self.open += other.open;
        self.stalls.append(&mut other.stalls);
        self.idle.append(&mut other.idle);
        self.peak = self.peak.max(other.peak);
        self.lost += other.lost;
    }
}

/// Maximum number of open bursts of one host: more never overlap in a real network.
const BURSTS: usize = 64;

/// The bursts of a host that are open, by a number of their own, and where their open flows are.
#[derive(Clone, Debug, Default)]
pub struct Bursts {
    open: BTreeMap<u64, Burst>,
    /// The burst of each flow whose message has not ended, and its place there.
    places: BTreeMap<Key, (u64, usize)>,
    next: u64,
}

impl Bursts {
    /// A message begins: it joins the burst that it is near; it may lie between two, which then are
    /// one. Else it joins one that `missed` it, or begins a new one. Returns the bursts that are
    /// over.
    pub fn begin(
        &mut self,
        it: &Begin,
        filled: u64,
        missed: impl Fn(&Burst) -> bool,
    ) -> Vec<Burst> {
        let (start, host, key) = (it.start, it.host, it.key);
        let near = |(_, burst): &(&u64, &Burst)| burst.is_near(it);
        let mut at = self.open.iter().find(near).map(|(&number, _)| number);
        if let Some(first) = at {
            at = Some(self.united(first, it));
        }
        let late = |(_, burst): &(&u64, &Burst)| !burst.hosts.contains_key(&host) && missed(burst);
        let at = at.or_else(|| self.open.iter().find(late).map(|(&number, _)| number));
        let number = at.unwrap_or(self.next);
        if at.is_none() {
            self.next += 1;
            let burst = Burst { start, newest: start, peak: filled, ..Burst::default() };
            self.open.insert(number, burst);
        }
        if let Some(burst) = self.open.get_mut(&number) {
            burst.join(it);
            self.places.insert(key, (number, burst.members.len() - 1));
        }
        if at.is_some() {
            return Vec::new();
        }
        let mut over = self.over();
        if self.open.len() > BURSTS {
            let oldest = self.open.keys().next().copied();
            over.extend(oldest.and_then(|number| self.take(number)));
        }
        over
    }

    /// Unites the bursts near a message, and returns the number of the one.
    fn united(&mut self, mut first: u64, it: &Begin) -> u64 {
        let others: Vec<u64> = self.open.range(first + 1..).map(|(&number, _)| number).collect();
        for number in others {
            let fits = match (self.open.get(&first), self.open.get(&number)) {
                (Some(one), Some(other)) => other.is_near(it) && !one.shares(other),
                _ => false,
            };
            if !fits {
                continue;
            }
            // The smaller one moves, so that many bursts that grow together cost little.
            let (Some(one), Some(other)) = (self.open.remove(&first), self.open.remove(&number))
            else {
                break;
            };
            let swap = other.members.len() > one.members.len();
            let (kept, mut large, small) =
                if swap { (number, other, one) } else { (first, one, other) };
            let base = large.members.len();
            for (at, member) in small.members.iter().enumerate() {
                if member.message.is_none() {
                    self.places.insert(member.key, (kept, base + at));
                }
            }
            large.merge(small);
            self.open.insert(kept, large);
            first = kept;
        }
        first
    }

    /// The newest burst, if one is open.
    pub fn newest(&mut self) -> Option<&mut Burst> {
        self.open.last_entry().map(std::collections::btree_map::OccupiedEntry::into_mut)
    }

    /// The burst in which a flow's message is open.
    pub fn of(&mut self, key: Key) -> Option<&mut Burst> {
        let (number, _) = self.places.get(&key)?;
        self.open.get_mut(number)
    }

    /// A message has ended; returns the bursts that are over.
    pub fn end(&mut self, key: Key, message: Message) -> Vec<Burst> {
        if let Some((number, at)) = self.places.remove(&key)
            && let Some(burst) = self.open.get_mut(&number)
        {
            burst.members[at].message = Some(message);
            burst.open -= 1;
            if burst.open > 0 {
                return Vec::new();
            }
        }
        self.over()
    }

    /// Takes out the bursts whose flows have all ended. The newest may still get members: those
    /// whose first packets were lost.
    fn over(&mut self) -> Vec<Burst> {
        let newest = self.open.values().map(|burst| burst.newest).max().unwrap_or_default();
        let over = |(&number, burst): (&u64, &Burst)| {
            (burst.open == 0 && burst.newest < newest).then_some(number)
        };
        let numbers: Vec<u64> = self.open.iter().filter_map(over).collect();
        numbers.into_iter().filter_map(|number| self.take(number)).collect()
    }

    fn take(&mut self, number: u64) -> Option<Burst> {
        let burst = self.open.remove(&number)?;
        for member in burst.members.iter().filter(|member| member.message.is_none()) {
            self.places.remove(&member.key);
        }
        Some(burst)
    }

    /// Takes out all.
    pub fn finish(&mut self) -> impl Iterator<Item = Burst> + use<> {
        self.places.clear();
        std::mem::take(&mut self.open).into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{at, ns};

    const WINDOW: Span = ns(1000);

    fn begin(bursts: &mut Bursts, start: i64, key: Key) -> Vec<Burst> {
        bursts.begin(&message(start, 0, key), 0, |_| false)
    }

    fn message(start: i64, host: usize, key: Key) -> Begin {
        let (start, first) = (at(start), at(start) + ns(50));
        Begin { start, first, host, key, window: WINDOW, apart: ns(100) }
    }

    #[test]
    fn a_host_that_is_asked_again_after_it_answered_answers_in_another_burst() {
        let bursts = |later| {
            let mut bursts = Bursts::default();
            for host in 0..3 {
                bursts.begin(&message(0, host, (host as u64, 0)), 0, |_| false);
            }
            bursts.begin(&message(later, 1, (9, 0)), 0, |_| false);
            bursts.open.len()
        };
        assert_eq!(bursts(150), 1, "two connections at a time");
        assert_eq!(bursts(151), 2);
    }

    #[test]
    fn what_begins_between_two_bursts_unites_them() {
        let mut bursts = Bursts::default();
        for (key, start) in [(0, 0), (1, 100), (2, 1900), (3, 2000)] {
            assert!(begin(&mut bursts, start, (key, 0)).is_empty());
        }
        assert_eq!(bursts.open.len(), 2);
        assert!(begin(&mut bursts, 1050, (4, 0)).is_empty());
        let [burst] = bursts.finish().collect::<Vec<_>>().try_into().expect("one burst");
        assert_eq!((burst.start, burst.newest, burst.members.len()), (at(0), at(2000), 5));
    }

    #[test]
    fn the_newest_of_united_bursts_decides_who_still_joins() {
        let mut bursts = Bursts::default();
        for (key, start) in [(0, 1900), (1, 0), (2, 950)] {
            begin(&mut bursts, start, (key, 0));
        }
        begin(&mut bursts, 2800, (3, 0));
        assert_eq!(bursts.open.len(), 1, "900 behind the newest");
    }

    #[test]
    fn another_host_joins_late_while_no_answer_has_ended() {
        let mut bursts = Bursts::default();
        let late = |bursts: &mut Bursts, host: u64, start| {
            bursts.begin(&message(start, host as usize, (host, 0)), 0, |_| false);
            bursts.open.len()
        };
        assert_eq!(late(&mut bursts, 1, 0), 1);
        assert_eq!(late(&mut bursts, 2, 9_000_000), 1);
        assert_eq!(late(&mut bursts, 3, 21_000_000), 2, "too late");
        bursts.end((3, 0), Message::default());
        assert_eq!(late(&mut bursts, 4, 22_000_000), 2, "one has ended, and is over");
    }

    #[test]
    fn a_flow_that_begins_again_begins_another_burst() {
        let mut bursts = Bursts::default();
        begin(&mut bursts, 0, (0, 0));
        begin(&mut bursts, 10, (1, 0));
        bursts.end((0, 0), Message::default());
        bursts.end((1, 0), Message::default());
        let over = begin(&mut bursts, 20, (0, 0));
        assert_eq!(over.iter().map(|burst| burst.members.len()).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn the_end_of_a_united_flow_is_found() {
        let mut bursts = Bursts::default();
        for (key, start) in [(0, 0), (1, 1900), (2, 1950), (3, 950)] {
            begin(&mut bursts, start, (key, 0));
        }
        for key in 0..4 {
            assert!(bursts.of((key, 0)).is_some(), "{key}");
            bursts.end((key, 0), Message { bytes: 1 + key as i64, ..Message::default() });
        }
        let [burst] = bursts.finish().collect::<Vec<_>>().try_into().expect("one burst");
        for member in burst.members {
            assert_eq!(member.message.map(|one| one.bytes), Some(1 + member.key.0 as i64));
        }
    }
}
