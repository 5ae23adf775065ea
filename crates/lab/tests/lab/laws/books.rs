//! The state of a flow's data, derived from its packets without access to its connection.

use std::collections::BTreeSet;

use incast_host::cause::Cause;
use incast_host::milestone::EventRow;
use incast_net::{Flags, Packet};

/// The data that were sent and the data that arrived.
#[derive(Default)]
pub struct Books {
    /// Incarnation of the connection. Packets of earlier incarnations do not count.
    pub epoch: u8,
    /// Bytes that earlier incarnations delivered.
    pub retired: u64,
    pub written: u64,
    /// Bytes that arrived in order.
    pub in_order: u64,
    /// Whether the client has sent a packet.
    pub has_asked: bool,
    /// Whether the client delays an ACK.
    pub holds_ack: bool,
    /// The ranges that arrived beyond a gap.
    beyond: BTreeSet<(u64, u64)>,
    /// The right edge of the client's window; `None` before the client advertised a window.
    edge: Option<u64>,
    /// Sequence number of the FIN that arrived.
    fin: Option<u64>,
    /// The byte range of each of the server's transmissions, until the client has received this
    /// range in order.
    copies: Vec<(u64, u64)>,
}

impl Books {
    /// Begins a new incarnation.
    pub fn begin(&mut self, epoch: u8) {
        *self = Self { epoch, retired: self.retired + self.in_order, ..Self::default() };
    }

    /// Notes that the server sends data.
    pub fn on_sent(&mut self, packet: &Packet) {
        self.copies.push((packet.seq - 1, packet.seq_end() - 1));
    }

    /// Notes that the client sends a packet with a window.
    pub fn on_window(&mut self, packet: &Packet) {
        let edge = packet.ack.max(1) + u64::from(packet.window);
        self.edge = self.edge.max(Some(edge));
    }

    /// Notes the arrival of data at the client, which accepts nothing beyond its window (RFC 9293
    /// §3.10.7.4).
    pub fn on_arrival(&mut self, packet: &Packet) {
        if self.edge.is_some_and(|edge| packet.seq_end() > edge) {
            return;
        }
        let start = packet.seq - 1;
        self.beyond.insert((start, start + u64::from(packet.payload)));
        while let Some(range) = self.beyond.first().copied().filter(|r| r.0 <= self.in_order) {
            self.beyond.remove(&range);
            self.in_order = self.in_order.max(range.1);
        }
        self.copies.retain(|copy| copy.1 > self.in_order);
        if packet.flags.contains(Flags::FIN) {
            self.fin = Some(start + u64::from(packet.payload));
        }
    }

    /// The cumulative ACK that the client should send, without the SYN's sequence number.
    pub fn next(&self) -> u64 {
        self.in_order + u64::from(self.fin == Some(self.in_order))
    }

    /// The cause of a timeout of the server's data. `packets` are the packets of both directions
    /// that were in the network at that time.
    pub fn cause(&self, row: &EventRow, mss: u64, packets: &[Packet]) -> Cause {
        let una = row.seq - 1;
        let ahead = |packet: &&Packet| packet.route.is_forward();
        let data = packets.iter().filter(ahead).map(|it| (it.seq - 1, it.seq_end() - 1));
        let acks = packets.iter().filter(|it| !ahead(it)).map(|it| it.ack - 1);
        let covers = |range: &(u64, u64)| range.0 <= una && una < range.1;
        let arrived = self.next() > una;
        if data.clone().any(|range| covers(&range)) {
            return Cause::Spurious;
        }
        if arrived {
            let answered = self.holds_ack || acks.into_iter().any(|ack| ack > una);
            return if answered { Cause::Spurious } else { Cause::AckLoss };
        }
        let copies: Vec<_> = self.copies.iter().filter(|range| covers(range)).collect();
        if copies.len() > 1 {
            return Cause::LostRetransmission;
        }
        let nothing_left = data.chain(self.beyond.iter().copied()).all(|range| range.1 <= una);
        if nothing_left {
            return Cause::FullWindow;
        }
        let end = copies[0].1;
        let behind = self.written.saturating_sub(end).div_ceil(mss);
        if behind < 3 { Cause::Tail } else { Cause::LackOfDupacks }
    }
}
