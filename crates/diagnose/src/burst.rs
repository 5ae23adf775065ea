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

/// A host takes some time to ask many other hosts. If no answer of a burst has ended yet, an answer
/// of another host that begins within this time from the start of the burst belongs to the burst,
/// too.
const TOGETHER: Span = Span::from_millis(20);

/// If a burst has at least this number of addresses, each address is taken for a single host.
const SEVERAL: usize = 3;

/// A message that begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// Time of the message's request if the request was seen, and otherwise time of the message's
    /// first packet.
    pub start: Time,
    /// Time of the message's first packet.
    pub first: Time,
    /// The index of the sending host.
    pub host: usize,
    pub key: Key,
    /// Longest time between the beginnings of two neighbouring messages of a burst.
    pub window: Span,
    /// If a message is requested more than this time after an earlier message of its host began,
    /// the message follows the earlier one, and the two are not simultaneous.
    pub apart: Span,
}

/// Messages to one host that begin together.
#[derive(Clone, Debug, Default)]
pub struct Burst {
    pub start: Time,
    /// Time at which the newest message began.
    pub newest: Time,
    pub members: Vec<Member>,
    keys: BTreeSet<Key>,
    /// The indices of the sending hosts, and the time of each host's first packet.
    hosts: BTreeMap<usize, Time>,
    open: usize,
    /// The indices of the members' stalls.
    pub stalls: Vec<usize>,
    /// The indices of those stalls in which the link was idle.
    pub idle: Vec<usize>,
    /// Bytes of the fullest bin during the burst.
    pub peak: u64,
    /// Number of packets to the host that were lost during the burst, as far as the capture shows
    /// losses.
    pub lost: u32,
}

impl Burst {
    /// Whether a message belongs to the burst.
    fn is_near(&self, it: &Begin) -> bool {
        let own = self.hosts.get(&it.host);
        let soon = it.start >= self.start && it.start - self.start <= TOGETHER;
        let whole = soon && self.open == self.members.len() && own.is_none();
        let near = (self.start - it.window..=self.newest + it.window).contains(&it.start);
        // Many hosts may share an address. An address counts as a single host only if there are
        // several addresses and each has sent one message.
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

    /// Number of hosts that send.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Whether the two bursts have a flow in common.
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

/// Maximum number of open bursts of one host. In a real network, fewer bursts than this overlap.
const BURSTS: usize = 64;

/// The open bursts of a host by number, and the positions of their open flows.
#[derive(Clone, Debug, Default)]
pub struct Bursts {
    open: BTreeMap<u64, Burst>,
    /// For each flow whose message has not ended: the number of its burst, and the flow's index in
    /// the burst.
    places: BTreeMap<Key, (u64, usize)>,
    next: u64,
}

impl Bursts {
    /// Notes the beginning of a message. The message joins the burst that is near in time. If two
    /// bursts are near, they become one burst. If no burst is near, the message joins a burst for
    /// which `missed` returns true, or begins a new burst. Returns the bursts that are over.
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

    /// Unites the bursts near a message, and returns the number of the united burst.
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
            // The members of the smaller burst are moved, so that uniting many bursts takes little
            // time.
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

    /// Notes the end of a message, and returns the bursts that are over.
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

    /// Removes and returns the bursts whose flows have all ended. The newest burst stays, because
    /// it may still get members whose first packets were lost.
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

    /// Removes and returns all bursts.
    pub fn finish(&mut self) -> impl Iterator<Item = Burst> + use<> {
        self.places.clear();
        std::mem::take(&mut self.open).into_values()
    }
}

#[cfg(test)]
mod tests;
