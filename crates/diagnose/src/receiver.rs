//! A host that data goes to: its load, the flows that begin together, and what they waited for.

use std::collections::{BTreeMap, VecDeque};

use incast_capture::read::{Address, Endpoint};

use crate::event::{Message, Reason, Wait};
use crate::load::Load;
use crate::losses::Losses;

/// A flow of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its connection and the end that sends.
    pub key: (u64, usize),
    host: Address,
    pub message: Option<Message>,
}

/// Messages to one host that begin together.
#[derive(Clone, Debug)]
pub struct Burst {
    pub start: i64,
    /// When the newest began.
    newest: i64,
    pub members: Vec<Member>,
    open: usize,
    /// The numbers of their stalls.
    pub stalls: Vec<usize>,
    /// Those of them in which the link idled for long.
    pub idle: Vec<usize>,
    /// Bytes of the fullest bin meanwhile.
    pub peak: u64,
}

impl Burst {
    /// Takes over what another burst has, unless a flow is in both.
    fn merge_from(&mut self, other: &Self) -> bool {
        let both = |one: &Member| other.members.iter().any(|member| member.key == one.key);
        if self.members.iter().any(both) {
            return false;
        }
        self.start = self.start.min(other.start);
        self.newest = self.newest.max(other.newest);
        self.members.extend(&other.members);
        self.open += other.open;
        self.stalls.extend(&other.stalls);
        self.idle.extend(&other.idle);
        self.peak = self.peak.max(other.peak);
        true
    }
}

/// What a host has sent to this one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub packets: u64,
    pub lost: u64,
    pub stalls: u64,
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    pub count: u64,
    pub total: i64,
    pub longest: Option<(Wait, Endpoint)>,
}

/// A host that data goes to.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    pub load: Load,
    /// What it says that it has got.
    pub taken: Load,
    pub losses: Losses,
    pub bursts: Vec<Burst>,
    pub hosts: BTreeMap<Address, Sent>,
    pub waits: BTreeMap<Reason, Waits>,
    /// Rounds of packets, and those that ended where the window does.
    pub rounds: u64,
    pub full: u64,
    /// ACKs of new data, and those before which the window was used up.
    pub acks: u64,
    pub full_acks: u64,
    /// Messages that began when no other flow had sent since they were asked for; and all.
    pub lone: u64,
    pub messages: u64,
    /// Sizes of messages, a sample.
    pub sizes: Vec<i64>,
    /// Bytes that were acknowledged and never seen, and how often.
    pub unseen: (i64, u64),
    /// The latest long times without data, from packet to packet.
    quiet: VecDeque<(i64, i64)>,
    /// Which flow sent last, and when.
    last: Option<((u64, usize), i64)>,
    /// When the flow before that one did.
    before: i64,
}

/// At most so many bursts of one host are open: more overlap in no real network.
const BURSTS: usize = 64;
/// A link that idles for so many round trips waits for a timer, as in the simulator's `stalls`.
const IDLE: i64 = 10;
const GAPS: usize = 256;
const HOSTS: usize = 4096;
const SIZES: usize = 4096;

/// Bytes of a packet that are no data.
const HEADERS: i64 = 40;

/// No timer of a SYN is shorter.
const SYN_TIMER: i64 = 100_000_000;

impl Receiver {
    /// A packet of data arrives.
    pub fn packet(
        &mut self,
        (now, size): (i64, u32),
        key: (u64, usize),
        sender: Address,
        (round_trip, queued): (i64, i64),
    ) {
        // What is queued behind the point keeps the link busy meanwhile.
        let busy = IDLE * round_trip + queued;
        let quiet = self.load.last().filter(|last| now - last > busy);
        if let Some(last) = quiet {
            if self.quiet.len() == GAPS {
                self.quiet.pop_front();
            }
            self.quiet.push_back((last, now));
        }
        self.load.take(now, size);
        self.losses.packet();
        let filled = self.load.filled();
        if let Some(burst) = self.bursts.last_mut() {
            burst.peak = burst.peak.max(filled);
        }
        match self.last {
            Some((other, time)) if other != key => self.before = time,
            _ => {}
        }
        self.last = Some((key, now));
        if let Some(sent) = self.host(sender) {
            sent.packets += 1;
        }
    }

    /// What a host has sent, unless there are too many.
    pub fn host(&mut self, address: Address) -> Option<&mut Sent> {
        if self.hosts.len() >= HOSTS && !self.hosts.contains_key(&address) {
            return None;
        }
        Some(self.hosts.entry(address).or_default())
    }

    /// A message begins; returns the bursts that are over. `opens` says that its sender has opened
    /// the connection.
    pub fn begin(
        &mut self,
        (start, host): (i64, Address),
        key: (u64, usize),
        (window, opens): (i64, bool),
    ) -> Vec<Burst> {
        self.messages += 1;
        let other =
            self.last.map_or(i64::MIN, |(last, time)| if last == key { self.before } else { time });
        self.lone += u64::from(other <= start);
        let member = Member { key, host, message: None };
        let joined = self
            .joined(start, key, window)
            .or_else(|| if opens { self.joined_late(start, host) } else { None });
        if let Some(at) = joined {
            let burst = &mut self.bursts[at];
            burst.newest = burst.newest.max(start);
            burst.start = burst.start.min(start);
            burst.members.push(member);
            burst.open += 1;
            return Vec::new();
        }
        let filled = self.load.filled();
        self.bursts.push(Burst {
            start,
            newest: start,
            members: vec![member],
            open: 1,
            stalls: Vec::new(),
            idle: Vec::new(),
            peak: filled,
        });
        let mut over = self.over();
        if self.bursts.len() > BURSTS {
            over.push(self.bursts.remove(0));
        }
        over
    }

    /// The burst that a message joins, if it begins near others. It may lie between two bursts,
    /// which then are one.
    fn joined(&mut self, start: i64, key: (u64, usize), window: i64) -> Option<usize> {
        let near = |burst: &Burst| {
            (burst.start - window..=burst.newest + window).contains(&start)
                && burst.members.iter().all(|one| one.key != key)
        };
        let at = self.bursts.iter().position(near)?;
        let mut other = at + 1;
        while other < self.bursts.len() {
            let (before, after) = self.bursts.split_at_mut(other);
            if near(&after[0]) && before[at].merge_from(&after[0]) {
                self.bursts.remove(other);
            } else {
                other += 1;
            }
        }
        Some(at)
    }

    /// The burst that a host which opens its connection now has missed, because its first SYN was
    /// lost on the way to here: the others wait, too.
    fn joined_late(&self, start: i64, host: Address) -> Option<usize> {
        let missed = |burst: &Burst| {
            let lag = start - burst.start;
            let idle: i64 = self.quiet.iter().map(|&gap| overlap(gap, (burst.start, start))).sum();
            lag >= SYN_TIMER
                && 2 * idle > lag
                && burst.members.iter().all(|member| member.host != host)
        };
        self.bursts.iter().position(missed)
    }

    /// What it gets in a bin if its link is full. Before a queue more arrives, so what it
    /// acknowledges counts, if it does so in small steps: hosts that merge segments do not.
    pub fn full(&self, at_client: bool) -> u64 {
        let small_steps = 8 * self.taken.bytes() > self.load.bytes();
        if at_client || !small_steps {
            return self.load.peak();
        }
        self.taken.full().min(self.load.peak())
    }

    /// The host has acknowledged new bytes.
    pub fn taken(&mut self, now: i64, bytes: i64) {
        let packets = (bytes + 1459) / 1460;
        self.taken.take(now, (bytes + HEADERS * packets).try_into().unwrap_or(0));
    }

    /// A message has ended; returns the bursts that are over.
    pub fn end(&mut self, key: (u64, usize), message: Message) -> Vec<Burst> {
        if self.sizes.len() < SIZES {
            self.sizes.push(message.bytes);
        }
        if let Some((burst, member)) = self.of(key) {
            burst.members[member].message = Some(message);
            burst.open -= 1;
        }
        self.over()
    }

    /// A stall of a flow, by its number.
    pub fn stalled(&mut self, key: (u64, usize), stall: usize, span: (i64, i64)) {
        let idle = self.quiet.iter().any(|&gap| 2 * overlap(gap, span) > gap.1 - gap.0);
        if let Some((burst, _)) = self.of(key) {
            burst.stalls.push(stall);
            if idle {
                burst.idle.push(stall);
            }
        }
    }

    /// The newest burst of which a flow is an open member.
    fn of(&mut self, key: (u64, usize)) -> Option<(&mut Burst, usize)> {
        let place = |burst: &Burst| {
            burst.members.iter().position(|one| one.key == key && one.message.is_none())
        };
        self.bursts.iter_mut().rev().find_map(|burst| place(burst).map(|at| (burst, at)))
    }

    /// Takes out the bursts whose flows have all ended. The newest may still get members: those
    /// whose first packets were lost.
    fn over(&mut self) -> Vec<Burst> {
        let newest = self.bursts.iter().map(|burst| burst.newest).max().unwrap_or(0);
        let over = |burst: &mut Burst| burst.open == 0 && burst.newest < newest;
        self.bursts.extract_if(.., over).collect()
    }

    /// A wait without a loss. While the link is busy, it is for others, and not for a server.
    pub fn waited(&mut self, wait: Wait, sender: Endpoint) {
        let span = (wait.start, wait.end);
        let idle: i64 = self.quiet.iter().map(|&gap| overlap(gap, span)).sum();
        let of_server = matches!(wait.reason, Reason::FirstByte | Reason::Middle);
        if of_server && 2 * idle < wait.end - wait.start {
            return;
        }
        let waits = self.waits.entry(wait.reason).or_default();
        let length = wait.end - wait.start;
        waits.count += 1;
        waits.total = waits.total.saturating_add(length);
        if waits.longest.is_none_or(|(longest, _)| longest.end - longest.start < length) {
            waits.longest = Some((wait, sender));
        }
    }
}

/// How long two spans have in common.
fn overlap(one: (i64, i64), other: (i64, i64)) -> i64 {
    (one.1.min(other.1) - one.0.max(other.0)).max(0)
}
