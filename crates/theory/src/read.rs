//! The parameters of a read.

use crate::collapse::Collapse;
use crate::flavour::{Flavour, Growth, Repair, Style};
use crate::queue::Marking;

/// A read from servers at one switch. A packet time is the transmission time of a full packet on
/// the client's link.
#[derive(Clone, Debug)]
pub struct Read {
    /// N, at least 1.
    pub servers: usize,
    /// Number of segments of the SRU.
    pub segments: u32,
    /// Payload of the SRU's last segment, as a share of a full segment.
    pub last: f64,
    /// Bytes of a full packet.
    pub packet: f64,
    /// Bytes of a packet's header.
    pub header: f64,
    /// Bytes of a packet without payload.
    pub bare: f64,
    /// Layer-2 overhead of every packet, bytes.
    pub layer2: f64,
    /// Rate of the client's link divided by the rate of a server's link.
    pub slower: f64,
    /// Packet times per second.
    pub second: f64,
    /// Buffer at the client's link: bytes, or packets.
    pub buffer: f64,
    /// Whether the buffer counts packets.
    pub counts_packets: bool,
    /// Cell size of the buffer, bytes. A packet occupies whole cells.
    pub cell: f64,
    /// Additional buffer space of every packet, in bytes.
    pub extra: f64,
    /// When the switch marks packets.
    pub marking: Option<Marking>,
    /// Propagation delay of a round trip, packet times.
    pub propagation: f64,
    /// Mean time between two requests, packet times.
    pub gap: f64,
    /// Maximum delay of a request, which is drawn for each server independently, packet times.
    pub spread: f64,
    /// Maximum delay of data by a host, packet times.
    pub jitter: f64,
    /// Whether every block opens new connections.
    pub fresh: bool,
    /// Minimum RTO, packet times.
    pub least_rto: f64,
    /// Maximum RTO, packet times.
    pub most_rto: f64,
    /// Whether each server's first packet is part of a handshake, SYN-ACK or SYN, and needs an
    /// answer.
    pub handshakes: bool,
    /// Timeout of this SYN-ACK or SYN, packet times.
    pub syn_rto: f64,
    /// RTO before the first round-trip sample, packet times.
    pub first_rto: f64,
    /// RTO before the first round-trip sample after a lost SYN or SYN-ACK, packet times.
    pub later_rto: f64,
    /// Number of blocks of a run.
    pub blocks: u32,
    /// Window of a new connection, in segments.
    pub initial_window: f64,
    /// Slow-start threshold of a new connection, in segments.
    pub initial_threshold: f64,
    /// The receiver's window, segments.
    pub most_window: f64,
    /// The properties of the hosts' TCP stack.
    pub flavour: Flavour,
    /// The definition of a collapse of the read.
    pub collapse: Collapse,
}

impl Read {
    /// Number of packets of a block.
    pub fn packets(&self) -> u64 {
        self.servers as u64 * u64::from(self.segments)
    }

    /// The buffer space of a packet of `bytes` bytes.
    pub fn space(&self, bytes: f64) -> u64 {
        if self.counts_packets {
            return 1;
        }
        let cell = (self.cell as u64).max(1);
        ((bytes + self.extra).round() as u64).next_multiple_of(cell)
    }

    /// The transmission time of a packet of `bytes` bytes, in packet times.
    pub fn share(&self, bytes: f64) -> f64 {
        (bytes + self.layer2) / (self.packet + self.layer2)
    }

    /// The time that `count` SACK blocks add to an ACK on both links, in packet times. A block has
    /// eight bytes, and the option has four more bytes (RFC 2018 §3, with padding).
    pub fn blocks_time(&self, count: u32) -> f64 {
        if count == 0 || !self.flavour.block_bytes {
            return 0.0;
        }
        f64::from(4 + 8 * count) / (self.packet + self.layer2) * (1.0 + self.slower)
    }

    /// Number of full packets that fit into the buffer.
    fn places(&self) -> f64 {
        if self.counts_packets { self.buffer } else { self.buffer / self.packet }
    }

    /// Whether no possible round trip raises the RTO above its minimum.
    ///
    /// A packet may wait at the server behind all packets of its SRU, and at the switch behind a
    /// full buffer. Its ACK may be delayed at the client. SRTT and RTTVAR do not exceed the sum of
    /// these times (RFC 6298 §2).
    pub fn rto_is_least(&self) -> bool {
        let Flavour { style, granularity, ack_every, ack_timeout, .. } = self.flavour;
        // Besides the RTO, these stacks need the smoothed round trip itself.
        let is_used = matches!(self.flavour.growth, Growth::Cubic | Growth::Bbr)
            || self.flavour.repair == Repair::Rack
            || self.flavour.defers;
        if style == Style::Linux || is_used {
            return false;
        }
        let delay = if ack_every > 1 { ack_timeout } else { 0.0 };
        let behind = self.most_window.min(f64::from(self.segments)) * self.slower.max(1.0);
        let waits = self.places() + behind + delay + granularity;
        5.0 * (self.propagation + waits + 4.0) < self.least_rto
    }
}
