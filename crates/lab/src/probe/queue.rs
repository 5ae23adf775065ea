//! The queues at the switches' ports towards the clients, over time.

use std::sync::Arc;

use incast_engine::{Span, Time};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use incast_remedies::label::{DUMMY, HEARTBEAT};

use super::bins::{Bins, Run, Summary, Tally};
use super::kind::Read::{F64, Text, U32, U64};
use super::{Detail, Field, Listener, Setting, TraceKind};

/// Waiting packets and bytes, drops and sending time within one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSummary {
    /// Smallest, largest and last number of waiting packets.
    pub packets: [u32; 3],
    /// Smallest, largest and last number of waiting bytes.
    pub bytes: [u64; 3],
    /// Smallest, largest and last number of waiting packets with a label.
    pub labelled: [u32; 3],
    /// Last number of waiting PLATO heartbeats.
    pub heartbeats: u32,
    /// Packets that arrived at the port, including packets that it dropped.
    pub arrivals: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Time that the link was busy.
    pub sending: Span,
}

impl Summary for QueueSummary {
    fn absorb(&mut self, later: &Self) {
        self.packets = absorb(self.packets, later.packets);
        self.bytes = absorb(self.bytes, later.bytes);
        self.labelled = absorb(self.labelled, later.labelled);
        self.heartbeats = later.heartbeats;
        self.arrivals += later.arrivals;
        self.drops += later.drops;
        self.sending += later.sending;
    }

    fn is_repeated_by(&self, next: &Self) -> bool {
        self == next && self.is_steady()
    }
}

impl QueueSummary {
    /// Whether nothing changed.
    fn is_steady(&self) -> bool {
        fn one<T: PartialEq>([min, max, last]: &[T; 3]) -> bool {
            min == max && max == last
        }
        one(&self.packets)
            && one(&self.bytes)
            && one(&self.labelled)
            && (self.arrivals, self.drops) == (0, 0)
    }
}

/// Whether a packet's label is that of a heartbeat, which keeps the ACK clock running. The label of
/// a dummy has the heartbeat's bit and one more bit.
fn is_heartbeat(label: u16) -> bool {
    label & (HEARTBEAT | DUMMY) == HEARTBEAT
}

/// Smallest, largest and last value of two consecutive bins.
fn absorb<T: Ord>([min, max, _]: [T; 3], [later_min, later_max, last]: [T; 3]) -> [T; 3] {
    [min.min(later_min), max.max(later_max), last]
}

/// The queue traces of the ports on the paths to the clients.
#[derive(Clone, Debug)]
pub struct QueueTraces {
    traces: Vec<QueueTrace>,
    /// The index of each port's trace.
    by_port: Vec<Option<u32>>,
    tally: Tally,
}

impl QueueTraces {
    /// The trace of a port, if it has one.
    fn at(&mut self, port: PortId) -> Option<&mut QueueTrace> {
        let index = (*self.by_port.get(port.0 as usize)?)?;
        self.tally.count();
        self.traces.get_mut(index as usize)
    }

    /// All traces. The first trace is that of the first client's port.
    pub fn iter(&self) -> impl Iterator<Item = &QueueTrace> {
        self.traces.iter()
    }
}

/// Consecutive equal bins of one port.
pub struct QueueRow {
    start: Time,
    bin_width: Span,
    port: Arc<str>,
    run: Run<QueueSummary>,
}

impl TraceKind for QueueTraces {
    const NAME: &'static str = "queue";
    const TABLE: &'static str = "queues";
    const SUMMARY: &'static str = "The queues at the switches' ports towards the clients.";
    type Row = QueueRow;
    const FIELDS: &'static [Field<QueueRow>] = &[
        Field::new("time_s", "s", "Start of the bin.", F64(|row| row.start.as_secs_f64())),
        Field::new(
            "bin_s",
            "s",
            "Width of the bin. Bins in which nothing happened are left out. In full detail, one \
             row stands for consecutive equal bins, and has their total width.",
            F64(|row| (row.bin_width * row.run.bins).as_secs_f64()),
        ),
        Field::new(
            "port",
            "",
            "Name of the switch port on the path to a client; with several switches, the name has \
             the numbers of the switches on its link.",
            Text(|row| &row.port),
        ),
        Field::new(
            "packets_min",
            "1",
            "Smallest number of waiting packets, without the packet in service.",
            U32(|row| row.run.of.packets[0]),
        ),
        Field::new(
            "packets_max",
            "1",
            "Largest number of waiting packets.",
            U32(|row| row.run.of.packets[1]),
        ),
        Field::new(
            "packets_last",
            "1",
            "Packets waiting at the end of the bin.",
            U32(|row| row.run.of.packets[2]),
        ),
        Field::new(
            "bytes_min",
            "byte",
            "Smallest number of waiting bytes.",
            U64(|row| row.run.of.bytes[0]),
        ),
        Field::new(
            "bytes_max",
            "byte",
            "Largest number of waiting bytes.",
            U64(|row| row.run.of.bytes[1]),
        ),
        Field::new(
            "bytes_last",
            "byte",
            "Bytes waiting at the end of the bin.",
            U64(|row| row.run.of.bytes[2]),
        ),
        Field::new(
            "labelled_min",
            "1",
            "Smallest number of waiting packets with a label, such as PLATO's.",
            U32(|row| row.run.of.labelled[0]),
        ),
        Field::new(
            "labelled_max",
            "1",
            "Largest number of waiting packets with a label.",
            U32(|row| row.run.of.labelled[1]),
        ),
        Field::new(
            "labelled_last",
            "1",
            "Number of waiting packets with a label at the end of the bin.",
            U32(|row| row.run.of.labelled[2]),
        ),
        Field::new(
            "heartbeats_last",
            "1",
            "Number of PLATO's heartbeats among the waiting packets with a label, without \
             retransmissions and dummies; 0 with `single_bit`, which does not distinguish \
             heartbeats.",
            U32(|row| row.run.of.heartbeats),
        ),
        Field::new("drops", "1", "Packets dropped.", U32(|row| row.run.of.drops)),
        Field::new(
            "busy",
            "1",
            "Share of the bin in which the link was sending.",
            F64(|row| row.run.of.sending.as_secs_f64() / row.bin_width.as_secs_f64()),
        ),
        Field::new(
            "arrivals",
            "1",
            "Packets that arrived, including dropped packets.",
            U32(|row| row.run.of.arrivals),
        ),
    ];

    fn new(detail: Detail, setting: &Setting) -> Self {
        let ports = &setting.ports;
        let most = ports.iter().map(|(port, _)| port.0 as usize + 1).max().unwrap_or(0);
        let mut by_port = vec![None; most];
        for ((port, _), index) in ports.iter().zip(0..) {
            by_port[port.0 as usize] = Some(index);
        }
        let traces = ports.iter().map(|(port, name)| QueueTrace::new(detail, *port, name));
        Self { traces: traces.collect(), by_port, tally: Tally::new(detail) }
    }

    /// Completes the last bins, and removes the traces of ports that were not on a path to a
    /// client.
    fn finish(&mut self, now: Time, network: &mut Network) {
        let ports = network.switch_ports_forward();
        self.traces.retain(|trace| ports.contains(&trace.port));
        for trace in &mut self.traces {
            trace.advance(now, network);
        }
        self.by_port.clear();
    }

    fn take_final(&mut self, network: &Network) -> Option<Self> {
        if !self.tally.is_full() {
            return None;
        }
        let ports = network.switch_ports_forward();
        let are_forward = |trace: &&mut QueueTrace| ports.binary_search(&trace.port).is_ok();
        let traces = self.traces.iter_mut().filter(are_forward).map(QueueTrace::take_final);
        Some(Self { traces: traces.collect(), by_port: Vec::new(), tally: self.tally.clone() })
    }

    fn for_each_row(&self, mut emit: impl FnMut(&QueueRow)) {
        for trace in &self.traces {
            let bin_width = trace.bin_width();
            let mut port = Arc::clone(&trace.name);
            for (start, run) in trace.bins.runs() {
                let row = QueueRow { start, bin_width, port, run: *run };
                emit(&row);
                port = row.port;
            }
        }
    }
}

impl Listener for QueueTraces {
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.at(port) {
            queue.advance(now, network);
            queue.arrivals += 1;
        }
    }

    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.at(port) {
            queue.advance(now, network);
        }
    }

    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {
        if let Some(queue) = self.at(port) {
            queue.sees_labels |= packet.label != 0;
            queue.note(now, network);
        }
    }

    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {
        if let Some(queue) = self.at(port) {
            queue.advance_before(now, network);
        }
    }

    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {
        if let Some(queue) = self.at(port) {
            queue.note(now, network);
        }
    }

    fn on_drop(&mut self, _: Time, port: PortId, _: &Packet) {
        if let Some(queue) = self.at(port) {
            queue.drops += 1;
        }
    }
}

/// The queue trace of one port.
#[derive(Clone, Debug)]
pub struct QueueTrace {
    port: PortId,
    name: Arc<str>,
    bins: Bins<QueueSummary>,
    /// Time up to which the bins are complete.
    now: Time,
    sent: Span,
    arrivals: u32,
    drops: u32,
    /// Whether a packet with a label has arrived. Before the first such packet, labels are not
    /// counted.
    sees_labels: bool,
}

impl QueueTrace {
    fn new(detail: Detail, port: PortId, name: &str) -> Self {
        Self {
            port,
            name: name.into(),
            bins: Bins::new(detail),
            now: Time::ZERO,
            sent: Span::ZERO,
            arrivals: 0,
            drops: 0,
            sees_labels: false,
        }
    }

    /// The port of this trace.
    pub fn port(&self) -> PortId {
        self.port
    }

    /// The name of the port in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Width of the bins.
    pub fn bin_width(&self) -> Span {
        self.bins.width()
    }

    /// Start of each bin and its summary.
    pub fn iter(&self) -> impl Iterator<Item = (Time, &QueueSummary)> {
        self.bins.iter()
    }

    /// Takes out the bins that can no longer change.
    fn take_final(&mut self) -> Self {
        Self { bins: self.bins.take_final(), name: Arc::clone(&self.name), ..*self }
    }

    /// Completes the bins up to `now`. Called before an event at the port.
    fn advance(&mut self, now: Time, network: &mut Network) {
        while self.bins.index(self.now) < self.bins.index(now) {
            let width = self.bins.width().as_picos();
            let boundary = Time::from_picos((self.bins.index(self.now) + 1) * width);
            if self.now >= network.port(self.port).last_departure() {
                // The link has been idle since the last departure, and idle time needs no bins.
                self.now = now;
                break;
            }
            let just_before = Time::from_picos(boundary.as_picos() - 1);
            network.port_mut(self.port).drain(just_before);
            self.note(just_before, network);
            // The new bin begins with the last state of the old bin.
            network.port_mut(self.port).drain(boundary);
            self.note(boundary, network);
            if self.bins.detail() == Detail::Full {
                self.skip_equal(now, network);
            }
        }
        network.port_mut(self.port).drain(now);
        self.note(now, network);
    }

    /// Skips from the beginning of a bin to the beginning of the last bin before the next change.
    /// The skipped bins are recorded as equal bins.
    fn skip_equal(&mut self, now: Time, network: &Network) {
        let port = network.port(self.port);
        let change = port.next_change().min(port.last_departure()).min(now);
        let (this, last) = (self.bins.index(self.now), self.bins.index(change).saturating_sub(1));
        if last < this + 2 {
            return;
        }
        let start = |bin: u64| Time::from_picos(bin * self.bins.width().as_picos());
        let (end, resumed) = (start(this + 1), start(last));
        let just_before = |boundary: Time| Time::from_picos(boundary.as_picos() - 1);
        self.note(just_before(end), network);
        self.bins.repeat(last - this - 1);
        self.sent = port.sending_until(just_before(resumed));
        self.note(resumed, network);
    }

    /// Completes the bins up to the instant before `now`. Called before a departure.
    fn advance_before(&mut self, now: Time, network: &mut Network) {
        let just_before = Time::from_picos(now.as_picos().saturating_sub(1));
        if just_before > self.now {
            self.advance(just_before, network);
        }
    }

    /// Records the state of the port.
    fn note(&mut self, now: Time, network: &Network) {
        let port = network.port(self.port);
        let view = port.view();
        let (mut labelled, mut heartbeats) = (0, 0);
        if self.sees_labels {
            for id in port.waiting() {
                let label = network.packet(id).label;
                labelled += u32::from(label != 0);
                heartbeats += u32::from(is_heartbeat(label));
            }
        }
        let sent = port.sending_until(now);
        let summary = QueueSummary {
            packets: [view.packets; 3],
            bytes: [view.bytes; 3],
            labelled: [labelled; 3],
            heartbeats,
            arrivals: std::mem::take(&mut self.arrivals),
            drops: std::mem::take(&mut self.drops),
            sending: sent.saturating_sub(self.sent),
        };
        self.bins.note(now, summary);
        self.sent = sent;
        self.now = now;
    }
}
