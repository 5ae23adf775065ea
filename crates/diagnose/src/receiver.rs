//! A host that receives data: its load, the flows that begin together, and their waits.

use std::collections::{BTreeMap, VecDeque};

use incast_capture::read::{Address, Endpoint};

use crate::burst::{Begin, Burst, Bursts, Key};
use crate::event::{Acked, Event};
use crate::load::Load;
use crate::losses::Losses;
use crate::stall::{Reason, Wait};
use crate::time::{Span, Time};

/// The packets that a host has sent to this host.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub losses: Losses,
    pub stalls: u64,
}

impl Default for Sent {
    fn default() -> Self {
        Self { losses: Losses::of_host(), stalls: 0 }
    }
}

#[cfg(test)]
impl Sent {
    /// The packets of a host whose losses are spread evenly among them.
    pub fn of(packets: u64, lost: u64) -> Self {
        let mut sent = Self::default();
        for number in 0..packets {
            let until = |number| number * lost / packets;
            sent.losses.lost((until(number + 1) - until(number)) as u32);
            sent.losses.packet();
        }
        sent
    }
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    pub count: u64,
    pub total: Span,
    pub longest: Option<(Wait, Endpoint)>,
}

/// Counts that show look-alikes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tallies {
    /// Number of rounds of packets, and number of rounds that ended at the edge of the window.
    pub rounds: u64,
    pub full: u64,
    /// Number of ACKs of new data, and number of ACKs before which the window was used up.
    pub acks: u64,
    pub full_acks: u64,
    /// Number of messages for which no other flow sent between the request and the first packet,
    /// and number of all messages.
    pub lone: u64,
    pub messages: u64,
    /// Number of packets marked with congestion experienced, and number of ACKs that echo a mark.
    pub marked: u64,
    pub echoed: u64,
    /// Number of packets that a timer retransmitted although they had been acknowledged.
    pub in_vain: u64,
    /// Number of bytes that were acknowledged but never seen, and number of gaps with such bytes.
    pub unseen: (i64, u64),
    /// Number of losses that appeared while the link was in use, and number of losses that appeared
    /// while the link was idle.
    pub busy_losses: u64,
    pub idle_losses: u64,
}

/// A host that receives data.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    pub load: Load,
    /// The bytes that the host has acknowledged.
    pub taken: Load,
    pub losses: Losses,
    pub bursts: Bursts,
    pub hosts: BTreeMap<Address, Sent>,
    pub waits: BTreeMap<Reason, Waits>,
    pub tallies: Tallies,
    /// Time at which the last packet arrived.
    pub heard: Time,
    /// The latest long gaps between packets of data, each with its start and end.
    quiet: VecDeque<(Time, Time)>,
    /// The flow that sent last, and the time at which it sent.
    last: Option<(Key, Time)>,
    /// The last time at which any flow except the flow of `last` sent a packet.
    before: Time,
    /// Whether the newest packet came directly after another packet, as packets of one queue do.
    behind_another: bool,
}

/// A link that idles for this many round trips counts as stalled, as in the simulator's column
/// `stalls`.
const IDLE: i64 = 10;
const GAPS: usize = 256;
const HOSTS: usize = 4096;
/// A host counts as a sender if it has sent at least this number of packets. The capture may contain
/// a few packets of other hosts, which a switch has flooded to all ports.
const SENDS: u64 = 8;

/// A stall belongs to incast if the link idled for at least this share of the stall.
const STALL: f64 = 0.1;

/// If a host does not merge segments, its ACKs acknowledge at most two full segments each (RFC 1122
/// §4.2.3.2).
const TWO: i64 = 2 * 1460;

/// Bytes of a packet's headers.
const HEADERS: i64 = 40;

/// The shortest timer of a SYN.
const SYN_TIMER: Span = Span::from_millis(100);

/// If the gap between two packets is longer than this many times the duration of the second packet,
/// the two were not in a queue together.
const BEHIND: i64 = 4;

/// A wait for a server counts only if the link idled for this share of the wait.
const OWN_WAIT: f64 = 0.5;

impl Receiver {
    /// Whether only one host sends to this host.
    pub fn has_one_sender(&self) -> bool {
        self.senders() == 1 || self.hosts.len() == 1
    }

    /// Number of hosts that send to this host, without hosts whose packets were flooded.
    pub fn senders(&self) -> usize {
        self.hosts.values().filter(|sent| sent.losses.packets() >= SENDS).count()
    }

    /// A receiver that has received nothing since `began`.
    pub fn idle_since(began: Time) -> Self {
        Self { load: Load::idle_since(began), ..Self::default() }
    }

    /// Takes a packet of data that arrives.
    pub fn packet(
        &mut self,
        (now, size): (Time, u32),
        key: Key,
        sender: Address,
        (round_trip, queued): (Span, Span),
    ) {
        let last = self.load.last();
        // Packets that are queued behind the point keep the link busy meanwhile.
        let busy = IDLE * round_trip + queued;
        if let Some(last) = last.filter(|&last| now - last > busy) {
            if self.quiet.len() == GAPS {
                self.quiet.pop_front();
            }
            self.quiet.push_back((last, now));
        }
        let duration = self.load.duration(size);
        self.behind_another = last.is_some_and(|last| now - last <= BEHIND * duration);
        self.load.take(now, size);
        self.losses.packet();
        let filled = self.load.filled();
        if let Some(burst) = self.bursts.newest() {
            burst.peak = burst.peak.max(filled);
        }
        match self.last {
            Some((other, time)) if other != key => self.before = time,
            _ => {}
        }
        self.last = Some((key, now));
        if let Some(sent) = self.host(sender) {
            sent.losses.packet();
        }
    }

    /// The packets of a sending host, unless there are too many hosts.
    pub fn host(&mut self, address: Address) -> Option<&mut Sent> {
        if self.hosts.len() >= HOSTS && !self.hosts.contains_key(&address) {
            return None;
        }
        Some(self.hosts.entry(address).or_default())
    }

    /// Notes the beginning of a message, and returns the bursts that are over. `opens` is true if
    /// the sender of the message has opened the connection.
    pub fn begin(&mut self, it: &Begin, opens: bool) -> Vec<Burst> {
        self.tallies.messages += 1;
        let (start, key) = (it.start, it.key);
        let other = self
            .last
            .map_or(Time::EVER, |(last, time)| if last == key { self.before } else { time });
        self.tallies.lone += u64::from(other <= start);
        let filled = self.load.filled();
        let quiet = &self.quiet;
        // If the host opens its connection only now, and the link was idle for most of the time
        // since a burst began, the host's first SYN was probably lost before the point. The message
        // then belongs to this burst.
        let missed = |burst: &Burst| {
            let lag = start - burst.start;
            opens && lag >= SYN_TIMER && idle(quiet, (burst.start, start)) * 2 > lag
        };
        self.bursts.begin(it, filled, missed)
    }

    /// The bytes per bin that the host gets if its link is full. A capture before the queue may
    /// have more bytes than the link carries, so the acknowledged bytes count instead. They only
    /// count if the ACKs come in small steps, because hosts that merge segments acknowledge in
    /// large steps.
    pub fn full(&self, at_client: bool) -> u64 {
        let small_steps = 8 * self.taken.bytes() > self.load.bytes();
        if at_client || !small_steps {
            return self.load.full();
        }
        self.taken.full().min(self.load.peak())
    }

    /// Whether the packet that arrived at `time` ended a long gap between packets.
    pub fn was_quiet_before(&self, time: Time) -> bool {
        self.quiet.iter().any(|&(_, end)| end == time)
    }

    /// Notes that the host has acknowledged new bytes.
    fn taken(&mut self, now: Time, bytes: i64) {
        let packets = (bytes + 1459) / 1460;
        self.taken.take(now, (bytes + HEADERS * packets).try_into().unwrap_or(0));
    }

    /// Notes an ACK of new data.
    pub fn acked(&mut self, Acked { full, bytes, step, at }: Acked) {
        self.load.drains(at, self.taken.duration(step.clamp(0, TWO) as u32));
        self.tallies.acks += 1;
        self.tallies.full_acks += u64::from(full);
        if bytes > 0 {
            self.taken(at, bytes);
        }
    }

    /// Takes an event of one of the host's flows.
    pub fn take(&mut self, event: &Event, sender: Endpoint) {
        let tallies = &mut self.tallies;
        match *event {
            Event::Waited { wait, .. } => self.waited(wait, sender),
            Event::Lost { packets, at_once, .. } => self.lost(packets, at_once, sender.address),
            Event::Reordered { .. } => {
                self.losses.found();
                if let Some(sent) = self.hosts.get_mut(&sender.address) {
                    sent.losses.found();
                }
            }
            Event::InVain { first, .. } => tallies.in_vain += u64::from(first),
            Event::Unseen { bytes, .. } => {
                tallies.unseen.0 = tallies.unseen.0.saturating_add(bytes);
                tallies.unseen.1 += 1;
            }
            Event::Acked { acked, .. } => self.acked(acked),
            Event::Round { full, .. } => {
                tallies.rounds += 1;
                tallies.full += u64::from(full);
            }
            // The point handles these events.
            Event::Begun { .. }
            | Event::Ended { .. }
            | Event::Stalled { .. }
            | Event::Resumed { .. }
            | Event::AskedAgain { .. }
            | Event::BlackHole { .. } => {}
        }
    }

    /// Notes packets whose loss the newest packet has shown.
    fn lost(&mut self, packets: u32, at_once: bool, sender: Address) {
        self.losses.lost(packets);
        if let Some(burst) = self.bursts.newest() {
            burst.lost += packets;
        }
        if let Some(sent) = self.host(sender) {
            sent.losses.lost(packets);
        }
        if !at_once {
            return;
        }
        if self.behind_another {
            self.tallies.busy_losses += u64::from(packets);
        } else {
            self.tallies.idle_losses += u64::from(packets);
        }
    }

    /// Notes a flow's stall, which has the index `stall` in the list of stalls.
    pub fn stalled(&mut self, key: Key, stall: usize, span: (Time, Time), share: f64) {
        let idle =
            share >= STALL && self.quiet.iter().any(|&gap| overlap(gap, span) * 2 > gap.1 - gap.0);
        if let Some(burst) = self.bursts.of(key) {
            burst.stalls.push(stall);
            if idle {
                burst.idle.push(stall);
            }
        }
    }

    /// Notes a wait without a loss. While the link is busy, a flow waits for other flows, and not
    /// for a server.
    fn waited(&mut self, wait: Wait, sender: Endpoint) {
        let length = wait.end - wait.start;
        let busy = match wait.reason {
            Reason::FirstByte => wait.idle < OWN_WAIT,
            // In the middle of an answer, the sender may wait for an ACK of data that are still in
            // a queue.
            Reason::Middle => {
                wait.idle < OWN_WAIT || idle(&self.quiet, (wait.start, wait.end)) * 2 < length
            }
            _ => false,
        };
        if busy {
            return;
        }
        let waits = self.waits.entry(wait.reason).or_default();
        waits.count += 1;
        waits.total += length;
        if waits.longest.is_none_or(|(longest, _)| longest.end - longest.start < length) {
            waits.longest = Some((wait, sender));
        }
    }
}

/// The time for which a link idled within a span.
fn idle(quiet: &VecDeque<(Time, Time)>, span: (Time, Time)) -> Span {
    // The gaps are in order, so gaps that ended before the span need not be examined.
    quiet.iter().rev().take_while(|gap| gap.1 > span.0).map(|&gap| overlap(gap, span)).sum()
}

/// The length of the overlap of two spans.
fn overlap(one: (Time, Time), other: (Time, Time)) -> Span {
    (one.1.min(other.1) - one.0.max(other.0)).max(Span::ZERO)
}

#[cfg(test)]
mod tests;
