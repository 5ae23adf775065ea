//! cwnd, ssthresh, RTO and flight of the servers' connections, over time.

use incast_engine::{Span, Time};
use incast_net::{Flags, Packet};
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
    /// New segments sent with a label, since the beginning.
    pub labelled: u32,
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
    /// New segments that each has sent with a label.
    labelled: Vec<u32>,
}

impl FlowTrace {
    pub(super) fn new(detail: Detail, flows: u32) -> Self {
        let flows = flows as usize;
        Self { flows: vec![Bins::new(detail); flows], labelled: vec![0; flows] }
    }

    /// The bins of each flow, in the order of the flows.
    pub fn flows(&self) -> &[Bins<WindowSummary>] {
        &self.flows
    }

    pub(super) fn note(&mut self, now: Time, flow: u32, connection: &Connection) {
        let flow = flow as usize;
        let (Some(bins), Some(labelled)) = (self.flows.get_mut(flow), self.labelled.get(flow))
        else {
            return;
        };
        let summary = WindowSummary {
            cwnd: [connection.cwnd(); 3],
            ssthresh: connection.ssthresh(),
            rto: connection.rtt().rto(),
            flight: connection.flight(),
            labelled: *labelled,
        };
        bins.note(now, summary);
    }

    /// Counts a packet with a label that its host sends, if it brings new data; the connection's
    /// next note, in the same instant, tells of it.
    pub(super) fn note_label(&mut self, packet: &Packet) {
        let is_new = packet.payload > 0 && !packet.flags.contains(Flags::RETRANSMISSION);
        let labelled = self.labelled.get_mut(packet.route.flow() as usize);
        if let Some(labelled) = labelled.filter(|_| is_new && packet.route.is_forward()) {
            *labelled += 1;
        }
    }
}
