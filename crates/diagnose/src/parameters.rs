//! What a model asks for, as it was seen.

use std::collections::BTreeMap;

use crate::connection::Connection;
use crate::receiver::Burst;
use crate::stall::{Cause, Ended, Stall};

/// Numbers of the network and its connections.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The shortest round trip, in nanoseconds.
    pub round_trip: Option<i64>,
    /// How many connections had which longest round trip.
    slow_round_trips: BTreeMap<i64, u64>,
    pub mss: u32,
    /// The largest window that a receiver of much data offered.
    pub window: i64,
    /// The shortest wait for a timer.
    pub timer: Option<i64>,
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
    pub fn trip(&mut self, trip: i64) {
        self.round_trip = Some(self.round_trip.map_or(trip, |least| least.min(trip)));
    }

    /// A connection that has ended.
    pub fn connection(&mut self, connection: &Connection) {
        let sender = usize::from(connection.flows[1].top > connection.flows[0].top);
        let flow = &connection.flows[sender];
        self.connections += 1;
        self.mss = self.mss.max(flow.mss);
        self.window = self.window.max(flow.window_most);
        self.sack |= connection.sack[0] && connection.sack[1];
        self.timestamps |= flow.stamp.is_some();
        *self.slow_round_trips.entry(rounded(connection.slow_round_trip())).or_default() += 1;
    }

    /// The longest round trip of half of the connections: one packet may have waited for others.
    pub fn slow_round_trip(&self) -> i64 {
        let half = self.slow_round_trips.values().sum::<u64>().div_ceil(2);
        let mut count = 0;
        let reaches = |(_, connections): &(&i64, &u64)| {
            count += *connections;
            count >= half
        };
        self.slow_round_trips.iter().find(reaches).map_or(0, |(trip, _)| *trip)
    }

    /// A wait that a timer or a probe has ended.
    pub fn stall(&mut self, stall: &Stall) {
        self.probes |= stall.ended == Ended::Probe;
        if stall.ended == Ended::Timeout && stall.cause != Ok(Cause::Handshake) {
            let length = stall.length();
            self.timer = Some(self.timer.map_or(length, |least| least.min(length)));
        }
    }

    /// Flows that began together.
    pub fn burst(&mut self, burst: &Burst) {
        self.messages += burst.members.len() as u64;
        let fan_in = burst.members.len();
        if fan_in < self.fan_in {
            return;
        }
        if fan_in > self.fan_in {
            self.blocks = 0;
        }
        self.fan_in = fan_in;
        self.blocks += 1;
        let sizes = burst.members.iter().filter_map(|member| member.message);
        let mut sizes: Vec<i64> = sizes.map(|message| message.bytes).collect();
        sizes.sort_unstable();
        self.sru = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    }
}

/// Rounds to an eighth of a power of two, so that few values differ.
fn rounded(trip: i64) -> i64 {
    let step = (1_i64 << trip.max(1).ilog2()) / 8;
    trip / step.max(1) * step.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_long_round_trips_do_not_count() {
        let mut seen = Parameters::default();
        for trip in [0, 520_000, 530_000, 540_000, 9_000_000] {
            *seen.slow_round_trips.entry(rounded(trip)).or_default() += 1;
        }
        assert!(
            (490_000..=540_000).contains(&seen.slow_round_trip()),
            "{}",
            seen.slow_round_trip()
        );
        assert_eq!(Parameters::default().slow_round_trip(), 0);
    }
}
