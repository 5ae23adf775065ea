//! The effects of packets and deadlines on the ends, and the waits of blocks for packets.
//!
//! The flows of a read share one wait, and any other flow has a wait of its own. Each arrival at a
//! client costs a subtraction and a comparison.

use incast_engine::{Span, Time};
use incast_net::{Packet, Trigger};
use incast_tcp::connection::Predicted;

use super::Hosts;
use crate::End;
use crate::ids::EndId;
use crate::stalls::{ROUND_TRIPS, Stall, StallCause, StallCounts};

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

impl Hosts {
    /// Passes a packet to the receiving end. Returns the end, and the stall that the packet ends.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &Packet) -> (EndId, Option<Stall>) {
        let id = EndId(packet.route.reverse().0);
        let end = self.end_mut(id);
        end.handle_segment(now, packet);
        if id.is_server() {
            return (id, None);
        }
        // No timer has delayed the packets that the client sends now.
        end.set_trigger(Trigger::Arrival);
        (id, self.waits.note(now, id, packet.flags.trigger()))
    }

    /// Passes a packet to the receiving end, if this end predicts the packet. A predicted packet
    /// causes no event. If a predicted packet ends a stall, the stall is counted but not reported.
    #[inline]
    pub fn predict(&mut self, now: Time, packet: &mut Packet) -> (EndId, &mut End, Predicted) {
        let id = EndId(packet.route.reverse().0);
        let trigger = packet.flags.trigger();
        let answers_for = if id.is_server() { trigger } else { Trigger::Arrival };
        let end = self.ends.end_mut(id);
        let predicted = end.predict(now, packet, answers_for);
        if predicted != Predicted::Nothing && !id.is_server() {
            self.waits.note(now, id, trigger);
        }
        (id, end, predicted)
    }

    /// Handles the end's deadline if it has passed. Returns whether it has passed.
    pub fn expire(&mut self, now: Time, id: EndId) -> bool {
        let end = self.end_mut(id);
        let due = end.poll_timeout() <= now;
        if due {
            end.handle_timeout(now);
            if end.trigger() == Trigger::DelayedAck && self.waits.is_brief(now, id) {
                self.end_mut(id).set_trigger(Trigger::Arrival);
            }
        }
        due
    }
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
