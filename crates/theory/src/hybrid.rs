//! Ends slow start when round trips grow, as in Linux (`tcp_cubic.c`, hystart).

use crate::flavour::Watch;
use crate::packet::{Ticks, ticks};
use crate::parts::{BITS, Parts};

/// Windows below this window are not checked.
const LOW_WINDOW: Parts = 16 << BITS;
/// Number of samples of a round before the comparison begins.
const SAMPLES: u32 = 8;

/// The time parameters of hybrid slow start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    /// Maximum gap between ACKs of a train.
    pub spacing: Ticks,
    /// Bounds of the growth of round trips that ends slow start.
    pub least: Ticks,
    /// See `least`.
    pub most: Ticks,
    /// Maximum allowance for segmentation offload.
    pub allowance: Ticks,
    /// Slow start ends if round trips grow by the smallest round trip divided by this number,
    /// within the bounds.
    pub divisor: Ticks,
    /// A train as long as the smallest round trip divided by this number ends slow start.
    pub train: Ticks,
}

impl Spans {
    /// The parameters of a stack, with this many packet times per second.
    pub fn of(watch: Watch, second: f64) -> Self {
        let span = |seconds: f64| ticks(seconds * second);
        let (spacing, least) = (span(2e-3), span(4e-3));
        match watch {
            // `most` is `HyStartDelayMax`, and a train must last a whole round trip.
            Watch::Ns3 => {
                Self { spacing, least, most: span(1.0), allowance: 0, divisor: 1, train: 1 }
            }
            _ => Self {
                spacing,
                least,
                most: span(16e-3),
                allowance: span(1e-3),
                divisor: 8,
                train: 2,
            },
        }
    }
}

/// The state of the sender.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// First unacknowledged segment.
    pub una: u32,
    /// One past the highest segment sent.
    pub max: u32,
    /// cwnd.
    pub window: Parts,
    /// ssthresh.
    pub threshold: Parts,
    /// The smoothed round trip.
    pub srtt: Ticks,
}

/// The current round, and the smallest round trip.
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
            if now - self.began > (smallest + allowance(state, spans)) / spans.train {
                return true;
            }
        }
        let is_known = self.samples >= SAMPLES;
        self.round = Some(self.round.map_or(rtt, |it| it.min(rtt)));
        self.samples += 1;
        let least = smallest + (smallest / spans.divisor).clamp(spans.least, spans.most);
        is_known && self.round.is_some_and(|round| round > least)
    }
}

/// The allowance for bursts of segmentation offload.
fn allowance(state: &State, spans: &Spans) -> Ticks {
    let bytes = (state.window >> BITS).max(1) * 1448;
    let bursts = state.srtt.saturating_mul(4 << 16) / bytes;
    let span = if state.window < state.threshold / 2 { bursts / 2 } else { bursts / 12 * 10 };
    span.min(spans.allowance)
}
