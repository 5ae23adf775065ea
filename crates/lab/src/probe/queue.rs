//! The queues at the switches' ports towards the clients, over time.

use incast_engine::{Span, Time};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use incast_remedies::label::{DUMMY, HEARTBEAT};

use super::Detail;
use super::bins::{Bins, Summary};

/// Waiting packets and bytes, drops and sending time within one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSummary {
    /// Smallest, largest and last number of waiting packets.
    pub packets: [u32; 3],
    /// Smallest, largest and last number of waiting bytes.
    pub bytes: [u64; 3],
    /// Smallest, largest and last number of waiting packets that carry a label.
    pub labelled: [u32; 3],
    /// Last number of waiting heartbeats of PLATO.
    pub heartbeats: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Time that the link was sending.
    pub sending: Span,
}

impl Summary for QueueSummary {
    fn absorb(&mut self, later: &Self) {
        self.packets = absorb(self.packets, later.packets);
        self.bytes = absorb(self.bytes, later.bytes);
        self.labelled = absorb(self.labelled, later.labelled);
        self.heartbeats = later.heartbeats;
        self.drops += later.drops;
        self.sending += later.sending;
    }
}

/// What keeps the ACK clock alive; a dummy, which asks whether it is, has the same bit and its own.
fn is_heartbeat(label: u16) -> bool {
    label & (HEARTBEAT | DUMMY) == HEARTBEAT
}

/// Smallest, largest and last value of two bins.
fn absorb<T: Ord>([min, max, _]: [T; 3], [later_min, later_max, last]: [T; 3]) -> [T; 3] {
    [min.min(later_min), max.max(later_max), last]
}

/// The queue traces of the ports on the way to the clients.
#[derive(Clone, Debug)]
pub struct QueueTraces {
    traces: Vec<QueueTrace>,
    /// Which of them belongs to a port.
    by_port: Vec<Option<u32>>,
}

impl QueueTraces {
    pub(super) fn new(detail: Detail, ports: &[(PortId, String)]) -> Self {
        let most = ports.iter().map(|(port, _)| port.0 as usize + 1).max().unwrap_or(0);
        let mut by_port = vec![None; most];
        for ((port, _), index) in ports.iter().zip(0..) {
            by_port[port.0 as usize] = Some(index);
        }
        let traces = ports.iter().map(|(port, name)| QueueTrace::new(detail, *port, name.clone()));
        Self { traces: traces.collect(), by_port }
    }

    /// The trace of a port, if it has one.
    pub(super) fn at(&mut self, port: PortId) -> Option<&mut QueueTrace> {
        let index = (*self.by_port.get(port.0 as usize)?)?;
        self.traces.get_mut(index as usize)
    }

    /// Closes the last bins, and keeps what belongs to `ports`.
    pub(super) fn finish(&mut self, now: Time, network: &mut Network, ports: &[PortId]) {
        self.traces.retain(|trace| ports.contains(&trace.port));
        for trace in &mut self.traces {
            trace.advance(now, network);
        }
        self.by_port.clear();
    }

    /// One by one, the first client's port first.
    pub fn iter(&self) -> impl Iterator<Item = &QueueTrace> {
        self.traces.iter()
    }
}

/// The queue trace of one port.
#[derive(Clone, Debug)]
pub struct QueueTrace {
    port: PortId,
    name: String,
    bins: Bins<QueueSummary>,
    /// Up to when the bins are complete.
    now: Time,
    sent: Span,
    drops: u32,
    /// Whether a packet with a label has come: only then are labels looked for.
    sees_labels: bool,
}

impl QueueTrace {
    fn new(detail: Detail, port: PortId, name: String) -> Self {
        Self {
            port,
            name,
            bins: Bins::new(detail),
            now: Time::ZERO,
            sent: Span::ZERO,
            drops: 0,
            sees_labels: false,
        }
    }

    /// The port it belongs to.
    pub fn port(&self) -> PortId {
        self.port
    }

    /// Its name in tables.
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

    /// Completes the bins up to `now`, when something is about to happen to the port.
    pub(super) fn advance(&mut self, now: Time, network: &mut Network) {
        while self.bins.index(self.now) < self.bins.index(now) {
            let width = self.bins.width().as_picos();
            let boundary = Time::from_picos((self.bins.index(self.now) + 1) * width);
            if self.now >= network.port(self.port).last_departure() {
                // Nothing was sent in the meantime: an idle stretch needs no bins of its own.
                self.now = now;
                break;
            }
            let just_before = Time::from_picos(boundary.as_picos() - 1);
            network.port_mut(self.port).drain(just_before);
            self.note(just_before, network);
            // The new bin begins with what the old one leaves behind.
            network.port_mut(self.port).drain(boundary);
            self.note(boundary, network);
        }
        network.port_mut(self.port).drain(now);
        self.note(now, network);
    }

    /// Completes the bins up to the moment before `now`, when something departs.
    pub(super) fn advance_before(&mut self, now: Time, network: &mut Network) {
        let just_before = Time::from_picos(now.as_picos().saturating_sub(1));
        if just_before > self.now {
            self.advance(just_before, network);
        }
    }

    /// Notes the state of the port.
    pub(super) fn note(&mut self, now: Time, network: &Network) {
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
            drops: std::mem::take(&mut self.drops),
            sending: sent.saturating_sub(self.sent),
        };
        self.bins.note(now, summary);
        self.sent = sent;
        self.now = now;
    }

    /// Notes the state of the port, which has just admitted a packet.
    pub(super) fn note_packet(&mut self, now: Time, packet: &Packet, network: &Network) {
        self.sees_labels |= packet.label != 0;
        self.note(now, network);
    }

    pub(super) fn note_drop(&mut self) {
        self.drops += 1;
    }
}
