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
mod tests;
