//! The end of slow start by growing round trips, as Linux has it (`tcp_cubic.c`, hystart).

use crate::packet::Ticks;
use crate::parts::{BITS, Parts};

/// Segments from which on it watches.
const LOW_WINDOW: Parts = 16 << BITS;
/// Samples of a round before they are compared.
const SAMPLES: u32 = 8;

/// Its spans.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    /// ACKs that are no further apart are a train.
    pub spacing: Ticks,
    /// By so much round trips have to grow, at least and at most.
    pub least: Ticks,
    /// See `least`.
    pub most: Ticks,
    /// Longest allowance for segments that hosts collect.
    pub allowance: Ticks,
}

/// What the sender is like.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// First segment that is not acknowledged.
    pub una: u32,
    /// One past the highest sent.
    pub max: u32,
    /// Its window.
    pub window: Parts,
    /// Its threshold.
    pub threshold: Parts,
    /// The smoothed round trip.
    pub srtt: Ticks,
}

/// A round, and the smallest round trip.
#[derive(Clone, Debug, Default)]
pub struct Hybrid {
    end: u32,
    round: Option<Ticks>,
    samples: u32,
    began: Ticks,
    last: Ticks,
    smallest: Option<Ticks>,
}

impl Hybrid {
    /// Whether an ACK ends slow start.
    pub fn ends(&mut self, now: Ticks, rtt: Ticks, state: &State, spans: &Spans) -> bool {
        let smallest = self.smallest.map_or(rtt, |it| it.min(rtt));
        self.smallest = Some(smallest);
        if state.window < LOW_WINDOW {
            return false;
        }
        if state.una > self.end {
            (self.end, self.round, self.samples) = (state.max, None, 0);
            (self.began, self.last) = (now, now);
        }
        if now - self.last <= spans.spacing {
            self.last = now;
            if now - self.began > u64::midpoint(smallest, allowance(state, spans)) {
                return true;
            }
        }
        let is_known = self.samples >= SAMPLES;
        self.round = Some(self.round.map_or(rtt, |it| it.min(rtt)));
        self.samples += 1;
        let least = smallest + (smallest / 8).clamp(spans.least, spans.most);
        is_known && self.round.is_some_and(|round| round > least)
    }
}

/// What bursts of hosts that collect segments may take.
fn allowance(state: &State, spans: &Spans) -> Ticks {
    let bytes = (state.window >> BITS).max(1) * 1448;
    let bursts = state.srtt.saturating_mul(4 << 16) / bytes;
    let span = if state.window < state.threshold / 2 { bursts / 2 } else { bursts / 12 * 10 };
    span.min(spans.allowance)
}
