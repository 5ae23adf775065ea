//! The parameters of a model, as measured in the capture.

use crate::burst::Burst;
use crate::chain::Timer;
use crate::connection::Connection;
use crate::stall::{Ended, Stall};
use crate::time::Span;

const SAMPLE: usize = 4096;

/// Numbers of the network and its connections.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The shortest round trip.
    pub round_trip: Option<Span>,
    /// The longest wait in a queue, of each connection that has shown one.
    queued: Vec<Span>,
    pub mss: u32,
    /// The largest window that a receiver of much data offered.
    pub window: i64,
    /// The usual wait for a timer.
    pub timer: Timer,
    pub sack: bool,
    pub timestamps: bool,
    /// Flows of the largest burst, and bursts with as many.
    pub fan_in: usize,
    pub blocks: u64,
    /// The median size of its messages.
    pub sru: i64,
    pub connections: u64,
    pub messages: u64,
    /// Whether a tail-loss probe was seen.
    pub probes: bool,
}

impl Parameters {
    /// A round trip of a connection.
    pub fn trip(&mut self, trip: Span) {
        self.round_trip = Some(self.round_trip.map_or(trip, |least| least.min(trip)));
    }

    /// A connection that has ended.
    pub fn connection(&mut self, connection: &Connection) {
        let flow = connection.flow(connection.sender());
        self.connections += 1;
        self.mss = self.mss.max(flow.segments.longest());
        self.window = self.window.max(flow.window.most());
        self.sack |= connection.is_selective();
        self.timestamps |= flow.timing.has_stamps();
        if self.queued.len() < SAMPLE {
            self.queued.extend(flow.queued.longest());
        }
    }

    /// The longest wait in a queue, without the longest two of a hundred: a full queue is met by
    /// many connections.
    pub fn queued(&self) -> Span {
        let mut all = self.queued.clone();
        all.sort_unstable();
        all.len().checked_sub(1 + all.len() / 50).map_or(Span::ZERO, |at| all[at])
    }

    /// A wait that a timer or a probe has ended.
    pub fn stall(&mut self, stall: &Stall) {
        self.probes |= stall.ended == Ended::Probe;
        if stall.shows_a_timer() {
            self.timer.take(stall.length());
        }
    }

    /// Flows that began together.
    pub fn burst(&mut self, burst: &Burst) {
        self.messages += burst.members.len() as u64;
        let fan_in = burst.members.len();
        if fan_in < self.fan_in {
            return;
        }
        let sizes = burst.members.iter().filter_map(|member| member.message);
        let mut sizes: Vec<i64> = sizes.map(|message| message.bytes).collect();
        sizes.sort_unstable();
        let sru = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
        // Where one flow is seen, its requests are as many as its answers, and smaller.
        if fan_in == self.fan_in && 4 * sru < self.sru {
            return;
        }
        if fan_in > self.fan_in || sru > 4 * self.sru {
            self.blocks = 0;
        }
        self.fan_in = fan_in;
        self.blocks += 1;
        self.sru = sru;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::ns;

    #[test]
    fn one_long_wait_of_many_is_no_queue() {
        let mut seen = Parameters::default();
        assert_eq!(seen.queued(), Span::ZERO);
        seen.queued = vec![ns(520_000)];
        assert_eq!(seen.queued(), ns(520_000));
        seen.queued = (0..99).map(|wait| 400_000 + wait).chain([9_000_000]).map(ns).collect();
        assert_eq!(seen.queued(), ns(400_097));
    }
}
