//! cwnd, ssthresh, RTO and flight of the servers' connections, over time.

use incast_engine::{Span, Time};
use incast_tcp::Connection;

use super::Detail;
use super::bins::{Bins, Summary};

/// A sender's windows within one bin, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSummary {
    /// Smallest, largest and last cwnd.
    pub cwnd: [u64; 3],
    /// Last ssthresh.
    pub ssthresh: u64,
    /// Last RTO.
    pub rto: Span,
    /// Last flight.
    pub flight: u64,
}

impl Summary for WindowSummary {
    fn absorb(&mut self, later: &Self) {
        let [min, max, _] = self.cwnd;
        *self = Self {
            cwnd: [min.min(later.cwnd[0]), max.max(later.cwnd[1]), later.cwnd[2]],
            ..*later
        };
    }
}

/// The window traces of all flows.
#[derive(Clone, Debug)]
pub struct FlowTrace {
    flows: Vec<Bins<WindowSummary>>,
}

impl FlowTrace {
    pub(super) fn new(detail: Detail, flows: u32) -> Self {
        Self { flows: (0..flows).map(|_| Bins::new(detail)).collect() }
    }

    /// The bins of each flow, in the order of the flows.
    pub fn flows(&self) -> &[Bins<WindowSummary>] {
        &self.flows
    }

    pub(super) fn note(&mut self, now: Time, flow: u32, connection: &Connection) {
        let summary = WindowSummary {
            cwnd: [connection.cwnd(); 3],
            ssthresh: connection.ssthresh(),
            rto: connection.rtt().rto(),
            flight: connection.flight(),
        };
        if let Some(bins) = self.flows.get_mut(flow as usize) {
            bins.note(now, summary);
        }
    }
}
