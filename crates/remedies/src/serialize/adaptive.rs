//! Adaptive OCS (§6): more connections while the client's link is not full.
//!
//! The paper gives only the idea. Here the client opens a set, waits for T₁ and a round trip, and
//! measures its throughput for some round trips. If the throughput is below a configured share of
//! the link's payload rate, the client allows one more open set. The client repeats the measurement
//! while servers wait.

use incast_engine::{Span, Time};

use super::formulas::Path;
use crate::schedule::{ClientView, Order};

/// Online measurement of the client's throughput.
#[derive(Clone, Debug)]
pub(crate) struct Adaptive {
    /// Share of the link's payload rate at which the link counts as full.
    full: f64,
    /// Round trips of one measurement.
    round_trips: u32,
    /// Additional sets that may be open at once. The value is kept for later blocks.
    pub(super) more_sets: usize,
    /// When the current phase ends.
    until: Time,
    /// Beginning of the measurement, and bytes received by then; `None` while windows grow.
    since: Option<(Time, u64)>,
}

impl Adaptive {
    pub(crate) const fn new(full: f64, round_trips: u32) -> Self {
        Self { full, round_trips, more_sets: 0, until: Time::NEVER, since: None }
    }

    /// Ends the measurements, because no server waits.
    pub(super) const fn rest(&mut self) {
        self.until = Time::NEVER;
        self.since = None;
    }

    /// Starts a measurement after connections were opened, unless a measurement is running.
    pub(super) fn begin(&mut self, path: &Path, now: Time, orders: &mut Vec<Order>) {
        if self.until == Time::NEVER {
            self.wait(Self::opening(path), now, orders);
        }
    }

    /// The time from an order to open a set until the client receives data at full windows. `T_1`
    /// begins and ends at the server, so a round trip is added.
    fn opening(path: &Path) -> Span {
        path.ramp() + path.base_rtt
    }

    fn wait(&mut self, span: Span, now: Time, orders: &mut Vec<Order>) {
        self.until = now + span;
        orders.push(Order::Alarm(self.until));
    }

    /// Whether to open another set. Called while servers wait.
    pub(super) fn on_alarm(
        &mut self,
        path: &Path,
        view: &ClientView<'_>,
        orders: &mut Vec<Order>,
    ) -> bool {
        if view.now < self.until {
            return false;
        }
        let delivered = (0..view.servers).map(view.delivered).sum();
        let more = self.since.is_some_and(|(since, before)| {
            let carried = path.bytes_in(view.now - since);
            let payload = f64::from(path.mss) / f64::from(path.mss + path.header);
            ((delivered - before) as f64) < self.full * payload * carried as f64
        });
        if more {
            self.more_sets += 1;
            self.since = None;
            self.wait(Self::opening(path), view.now, orders);
        } else {
            self.since = Some((view.now, delivered));
            self.wait(path.base_rtt * u64::from(self.round_trips), view.now, orders);
        }
        more
    }
}
