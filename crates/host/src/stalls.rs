//! Stalls: times in which no packet of a block arrives at the client, and their causes.
//!
//! Only packets of the block count; packets of other flows on the same link neither begin nor end a
//! wait. The flows of a read share one wait, and any other flow has a wait of its own. Each arrival
//! at a client costs a subtraction and a comparison.
//!
//! The cause of a stall is the [`Trigger`] of the packet that ended it. This trigger is the last
//! event that made a host send without the arrival of a packet; only events since the client last
//! received data count. A timer for repairs or probes can always be the cause. A delay by a host
//! (pacer, delayed ACK, application) can be the cause only if it is at least half as long as the
//! shortest stall.

use incast_engine::{Span, Time};
use incast_net::Trigger;

use crate::ids::EndId;

/// A wait is a stall if it is longer than this number of base round trips.
pub const ROUND_TRIPS: u64 = 10;

/// The cause of a stall: the trigger of the packet that ended the stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StallCause {
    /// A retransmission timer of data.
    Timeout,
    /// The timer of a tail loss probe, another timer of loss recovery, or a remedy's timer.
    TailProbe,
    /// The timer of a SYN, SYN-ACK or request.
    Handshake,
    /// The sender's host had delayed data.
    Pacer,
    /// A probe of a closed window.
    Persist,
    /// The receiver's host had delayed an ACK.
    DelayedAck,
    /// An application's timer.
    Application,
    /// None of the other causes: the packet was in the network during the stall, and no host had
    /// delayed it for long.
    Network,
}

impl StallCause {
    /// All causes.
    pub const ALL: [Self; 8] = [
        Self::Timeout,
        Self::TailProbe,
        Self::Handshake,
        Self::Pacer,
        Self::Persist,
        Self::DelayedAck,
        Self::Application,
        Self::Network,
    ];

    /// The name in event rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::TailProbe => "tail_probe",
            Self::Handshake => "handshake",
            Self::Pacer => "pacer",
            Self::Persist => "persist",
            Self::DelayedAck => "delayed_ack",
            Self::Application => "application",
            Self::Network => "network",
        }
    }
}

impl From<Trigger> for StallCause {
    fn from(trigger: Trigger) -> Self {
        match trigger {
            Trigger::Arrival => Self::Network,
            Trigger::Timeout => Self::Timeout,
            Trigger::TailProbe => Self::TailProbe,
            Trigger::Handshake => Self::Handshake,
            Trigger::Pacer => Self::Pacer,
            Trigger::Persist => Self::Persist,
            Trigger::DelayedAck => Self::DelayedAck,
            Trigger::Application => Self::Application,
        }
    }
}

/// The stalls of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StallCounts {
    by_cause: [u64; StallCause::ALL.len()],
    /// The longest stall.
    pub longest: Option<Span>,
}

impl StallCounts {
    /// Adds a stall.
    pub fn add(&mut self, cause: StallCause, wait: Span) {
        self.by_cause[cause as usize] += 1;
        self.longest = self.longest.max(Some(wait));
    }

    /// The counts of `self` and `others`, added up.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        for (count, other) in self.by_cause.iter_mut().zip(others.by_cause) {
            *count += other;
        }
        self.longest = self.longest.max(others.longest);
        self
    }

    /// Number of stalls with this cause.
    pub fn of(&self, cause: StallCause) -> u64 {
        self.by_cause[cause as usize]
    }

    /// Number of stalls.
    pub fn total(&self) -> u64 {
        self.by_cause.iter().sum()
    }
}

/// A stall that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The flow of the packet that ended the stall.
    pub flow: u32,
    /// The duration of the stall.
    pub wait: Span,
    /// The cause of the stall.
    pub cause: StallCause,
}

/// The current wait of a block, which belongs to a read or to a single flow.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// Time of the last packet, or of the beginning of the block.
    since: Time,
    /// The longest wait that does not count as a stall; [`NO_LIMIT`] between blocks.
    limit: Span,
    /// The value of `limit` during a block.
    limit_of_blocks: Span,
    group: u16,
}

/// The maximum span. No wait is longer.
const NO_LIMIT: Span = Span::from_picos(u64::MAX);

/// The waits of all blocks.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    blocks: Vec<Wait>,
    /// For each flow, the index of the wait that ends when a packet of the flow arrives.
    of_flow: Vec<u32>,
    counts: Vec<StallCounts>,
}

impl Waits {
    /// Adds the flows of a group with this base round trip. The flows have a common wait if they
    /// are `shared`, that is, parts of the same block.
    pub fn add(&mut self, group: u16, flows: u32, shared: bool, base_rtt: Span) {
        let limit_of_blocks = Span::from_picos(base_rtt.as_picos().saturating_mul(ROUND_TRIPS));
        for flow in 0..flows {
            if flow == 0 || !shared {
                let since = Time::ZERO;
                self.blocks.push(Wait { since, limit: NO_LIMIT, limit_of_blocks, group });
            }
            self.of_flow.push(self.blocks.len() as u32 - 1);
        }
        self.counts.resize(usize::from(group) + 1, StallCounts::default());
    }

    /// Begins the wait of the block that includes `flow`.
    pub fn begin(&mut self, now: Time, flow: u32) {
        let wait = &mut self.blocks[self.of_flow[flow as usize] as usize];
        (wait.since, wait.limit) = (now, wait.limit_of_blocks);
    }

    /// Ends the wait of the block that includes `flow`, because the block is complete.
    pub fn end(&mut self, flow: u32) {
        self.blocks[self.of_flow[flow as usize] as usize].limit = NO_LIMIT;
    }

    /// Whether the wait so far is shorter than half of the shortest stall. A packet that an end
    /// sends during such a brief wait was delayed only briefly.
    pub fn is_brief(&self, now: Time, end: EndId) -> bool {
        let wait = &self.blocks[self.of_flow[end.flow() as usize] as usize];
        now.saturating_since(wait.since) < Span::from_picos(wait.limit_of_blocks.as_picos() / 2)
    }

    /// Notes the arrival of a packet at a client. Returns the stall that the packet ends, if there
    /// is one.
    #[inline]
    pub fn note(&mut self, now: Time, client: EndId, trigger: Trigger) -> Option<Stall> {
        let wait = &mut self.blocks[self.of_flow[client.flow() as usize] as usize];
        let waited = now.saturating_since(wait.since);
        wait.since = now;
        if waited <= wait.limit {
            return None;
        }
        let group = usize::from(wait.group);
        Some(self.count(group, client.flow(), waited, trigger))
    }

    #[cold]
    #[inline(never)]
    fn count(&mut self, group: usize, flow: u32, wait: Span, trigger: Trigger) -> Stall {
        let cause = StallCause::from(trigger);
        self.counts[group].add(cause, wait);
        Stall { flow, wait, cause }
    }

    /// The stalls of a group; no stalls if the group has no connections.
    pub fn of(&self, group: u16) -> StallCounts {
        self.counts.get(usize::from(group)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_stall_is_longer_than_ten_round_trips_within_a_block() {
        let mut waits = Waits::default();
        waits.add(0, 2, true, Span::from_micros(1));
        let client = EndId::client;
        assert_eq!(waits.note(at(50), client(0), Trigger::Timeout), None, "there is no block");
        waits.begin(at(100), 0);
        assert_eq!(waits.note(at(110), client(1), Trigger::Timeout), None);
        let stall = Stall { flow: 0, wait: Span::from_micros(11), cause: StallCause::Pacer };
        assert_eq!(waits.note(at(121), client(0), Trigger::Pacer), Some(stall));
        assert_eq!(waits.note(at(130), client(1), Trigger::Pacer), None);
        waits.end(1);
        assert_eq!(waits.note(at(999), client(0), Trigger::Timeout), None);
        assert_eq!(waits.of(0).total(), 1);
        assert_eq!(waits.of(0).longest, Some(Span::from_micros(11)));
        assert_eq!(waits.of(7), StallCounts::default());
    }

    #[test]
    fn flows_of_no_common_block_wait_by_themselves() {
        let mut waits = Waits::default();
        waits.add(0, 1, true, Span::from_micros(1));
        waits.add(2, 2, false, Span::from_micros(2));
        for flow in 0..3 {
            waits.begin(at(0), flow);
        }
        for micros in [9, 18] {
            assert_eq!(waits.note(at(micros), EndId::client(1), Trigger::Arrival), None);
        }
        assert!(waits.note(at(21), EndId::client(2), Trigger::Arrival).is_some());
        assert_eq!((waits.of(0).total(), waits.of(1).total(), waits.of(2).total()), (0, 0, 1));
        assert_eq!(waits.of(2).of(StallCause::Network), 1);
    }
}
