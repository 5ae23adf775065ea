//! cwnd, ssthresh, RTO and flight of the servers' connections, over time.

use incast_engine::{Span, Time};
use incast_host::{End, EndId, State};
use incast_net::topology::Network;
use incast_net::{Flags, Packet, PortId};

use super::bins::{Bins, Summary, Tally};
use super::kind::Read::{F64, I64, U32, U64};
use super::{Detail, Field, Listener, Setting, TraceKind};

/// A sender's windows within one bin, in bytes.
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
    /// New segments sent with a label, since the start of the run.
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
    /// New segments sent with a label, per flow.
    labelled: Vec<u32>,
    tally: Tally,
}

impl FlowTrace {
    /// The bins of each flow, in the order of the flows.
    pub fn flows(&self) -> &[Bins<WindowSummary>] {
        &self.flows
    }
}

/// One bin of one flow.
pub struct FlowRow {
    start: Time,
    width: Span,
    flow: u32,
    of: WindowSummary,
}

impl TraceKind for FlowTrace {
    const NAME: &'static str = "cwnd";
    const TABLE: &'static str = "flows";
    const SUMMARY: &'static str = "cwnd, ssthresh, RTO and flight of the servers' connections.";
    type Row = FlowRow;
    const FIELDS: &'static [Field<FlowRow>] = &[
        Field::new("time_s", "s", "Start of the bin.", F64(|row| row.start.as_secs_f64())),
        Field::new(
            "bin_s",
            "s",
            "Width of the bin; bins without a change are left out.",
            F64(|row| row.width.as_secs_f64()),
        ),
        Field::new(
            "flow",
            "1",
            "Number of the flow; in the workload, this is the server's number.",
            I64(|row| row.flow.into()),
        ),
        Field::new("cwnd_min", "byte", "Smallest congestion window.", U64(|row| row.of.cwnd[0])),
        Field::new("cwnd_max", "byte", "Largest congestion window.", U64(|row| row.of.cwnd[1])),
        Field::new(
            "cwnd_last",
            "byte",
            "Congestion window at the end of the bin.",
            U64(|row| row.of.cwnd[2]),
        ),
        Field::new(
            "ssthresh_last",
            "byte",
            "Slow-start threshold at the end of the bin.",
            U64(|row| row.of.ssthresh),
        ),
        Field::new(
            "rto_s_last",
            "s",
            "Retransmission timeout at the end of the bin, including backoff.",
            F64(|row| row.of.rto.as_secs_f64()),
        ),
        Field::new(
            "flight_last",
            "byte",
            "Outstanding data at the end of the bin.",
            U64(|row| row.of.flight),
        ),
        Field::new(
            "labelled_last",
            "1",
            "New segments sent with a label up to the end of the bin: PLATO's heartbeats.",
            U32(|row| row.of.labelled),
        ),
    ];

    fn new(detail: Detail, setting: &Setting) -> Self {
        let flows = setting.flows as usize;
        Self {
            flows: vec![Bins::new(detail); flows],
            labelled: vec![0; flows],
            tally: Tally::new(detail),
        }
    }

    fn take_final(&mut self, _: &Network) -> Option<Self> {
        self.tally.is_full().then(|| Self {
            flows: self.flows.iter_mut().map(Bins::take_final).collect(),
            labelled: Vec::new(),
            tally: self.tally.clone(),
        })
    }

    fn for_each_row(&self, mut emit: impl FnMut(&FlowRow)) {
        for (bins, flow) in self.flows.iter().zip(0..) {
            for (start, run) in bins.runs() {
                emit(&FlowRow { start, width: bins.width(), flow, of: run.of });
            }
        }
    }
}

impl Listener for FlowTrace {
    /// Counts a packet with new data and a label when its host sends the packet. The next sample of
    /// the connection is taken at the same time, and includes this packet.
    fn after_offer(&mut self, _: Time, port: PortId, packet: &Packet, network: &Network) {
        if packet.label == 0 || network.route(packet.route).first() != Some(&port) {
            return;
        }
        let is_new = packet.payload > 0 && !packet.flags.contains(Flags::RETRANSMISSION);
        let labelled = self.labelled.get_mut(packet.route.flow() as usize);
        if let Some(labelled) = labelled.filter(|_| is_new && packet.route.is_forward()) {
            *labelled += 1;
        }
    }

    fn on_served(&mut self, now: Time, id: EndId, end: &End) {
        let flow = id.flow() as usize;
        let (Some(bins), Some(labelled)) = (self.flows.get_mut(flow), self.labelled.get(flow))
        else {
            return;
        };
        if id.is_server() {
            let State { cwnd, ssthresh, rto, flight, .. } = end.state();
            let summary = WindowSummary {
                cwnd: [cwnd; 3],
                ssthresh,
                rto: rto.unwrap_or_default(),
                flight,
                labelled: *labelled,
            };
            bins.note(now, summary);
            self.tally.count();
        }
    }
}
