//! What is known of a scenario.

/// A read over persistent connections to servers behind one switch, all links of one rate.
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
    /// Bytes of a packet without payload.
    pub header: f64,
    /// What may wait in front of the client's link: bytes, or packets.
    pub buffer: f64,
    /// Whether the buffer counts packets.
    pub counts_packets: bool,
    /// Round trip of propagation, packet times.
    pub propagation: f64,
    /// Mean time between two requests, packet times.
    pub gap: f64,
    /// RTO at least, packet times.
    pub least_rto: f64,
    /// RTO at most, packet times.
    pub most_rto: f64,
    /// Whether each server's first packet is a SYN-ACK, or a SYN, that has to be answered.
    pub handshakes: bool,
    /// Time after which one that is lost is sent again, packet times.
    pub syn_rto: f64,
    /// RTO before the first round trip: without a handshake, or after a lost one; packet times.
    pub first_rto: f64,
    /// Blocks of a run.
    pub blocks: u32,
    /// Window of a connection that has just opened, segments.
    pub initial_window: f64,
    /// Slow-start threshold of a connection that has just opened, segments.
    pub initial_threshold: f64,
    /// The receiver's window, segments.
    pub most_window: f64,
    /// Duration of a block above which the read has collapsed, packet times, if it has
    pub slow: f64,
    /// this many timeouts.
    pub often: f64,
}

impl Read {
    /// Packets of a block.
    pub fn packets(&self) -> u64 {
        self.servers as u64 * u64::from(self.segments)
    }

    /// Full packets that the buffer holds.
    fn places(&self) -> f64 {
        if self.counts_packets { self.buffer } else { self.buffer / self.packet }
    }

    /// Whether no round trip that may be measured lifts the RTO above its minimum.
    ///
    /// A packet waits behind a full buffer, and behind all of its SRU at the server. SRTT and RTTVAR
    /// are at most that (RFC 6298 §2).
    pub fn rto_is_least(&self) -> bool {
        let waits = self.places() + self.most_window.min(f64::from(self.segments));
        5.0 * (self.propagation + waits + 4.0) < self.least_rto
    }
}
