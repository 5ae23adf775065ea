//! What is known of a scenario.

use crate::collapse::Collapse;
use crate::flavour::{Flavour, Style};

/// A read from servers behind one switch. Packet times are those of a full packet on the client's
/// link.
#[derive(Clone, Debug)]
pub struct Read {
    /// N, at least 1.
    pub servers: usize,
    /// Segments of the SRU.
    pub segments: u32,
    /// Payload of the last of them, as a share of a full segment's.
    pub last: f64,
    /// Bytes of a full packet.
    pub packet: f64,
    /// Bytes of its header.
    pub header: f64,
    /// Bytes of a packet without payload.
    pub bare: f64,
    /// Bytes that every packet takes on a link besides.
    pub layer2: f64,
    /// Rate of the client's link over that of a server's.
    pub slower: f64,
    /// Packet times of a second.
    pub second: f64,
    /// What may wait in front of the client's link: bytes, or packets.
    pub buffer: f64,
    /// Whether the buffer counts packets.
    pub counts_packets: bool,
    /// Bytes of its cells, each of which holds one packet's bytes only.
    pub cell: f64,
    /// Bytes that every packet occupies besides.
    pub extra: f64,
    /// Round trip of propagation, packet times.
    pub propagation: f64,
    /// Mean time between two requests, packet times.
    pub gap: f64,
    /// Each request comes so much later at most, packet times.
    pub spread: f64,
    /// A host waits for so long at most before it sends, packet times.
    pub jitter: f64,
    /// Whether every block opens new connections.
    pub fresh: bool,
    /// RTO at least, packet times.
    pub least_rto: f64,
    /// RTO at most, packet times.
    pub most_rto: f64,
    /// Whether each server's first packet is a SYN-ACK, or a SYN, that has to be answered.
    pub handshakes: bool,
    /// Time after which one that is lost is sent again, packet times.
    pub syn_rto: f64,
    /// RTO before the first round trip, packet times.
    pub first_rto: f64,
    /// The same after a lost SYN or SYN-ACK.
    pub later_rto: f64,
    /// Blocks of a run.
    pub blocks: u32,
    /// Window of a connection that has just opened, segments.
    pub initial_window: f64,
    /// Slow-start threshold of a connection that has just opened, segments.
    pub initial_threshold: f64,
    /// The receiver's window, segments.
    pub most_window: f64,
    /// How its hosts differ from others.
    pub flavour: Flavour,
    /// When it has collapsed.
    pub collapse: Collapse,
}

impl Read {
    /// Packets of a block.
    pub fn packets(&self) -> u64 {
        self.servers as u64 * u64::from(self.segments)
    }

    /// What a packet of so many bytes occupies in the buffer.
    pub fn space(&self, bytes: f64) -> u64 {
        if self.counts_packets {
            return 1;
        }
        let cell = (self.cell as u64).max(1);
        ((bytes + self.extra).round() as u64).next_multiple_of(cell)
    }

    /// What a packet of so many bytes takes of a link's time, as a share of a full one.
    pub fn share(&self, bytes: f64) -> f64 {
        (bytes + self.layer2) / (self.packet + self.layer2)
    }

    /// Full packets that the buffer holds.
    fn places(&self) -> f64 {
        if self.counts_packets { self.buffer } else { self.buffer / self.packet }
    }

    /// Whether no round trip that may be measured lifts the RTO above its minimum.
    ///
    /// A packet waits behind a full buffer, behind all of its SRU at the server, and at the client
    /// for an ACK that is delayed. SRTT and RTTVAR are at most that (RFC 6298 §2).
    pub fn rto_is_least(&self) -> bool {
        let Flavour { style, granularity, ack_every, ack_timeout, .. } = self.flavour;
        if style == Style::Linux {
            return false;
        }
        let delay = if ack_every > 1 { ack_timeout } else { 0.0 };
        let behind = self.most_window.min(f64::from(self.segments)) * self.slower.max(1.0);
        let waits = self.places() + behind + delay + granularity;
        5.0 * (self.propagation + waits + 4.0) < self.least_rto
    }
}
