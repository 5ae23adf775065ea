//! What an end of any family counts, and the state that traces show.

use incast_engine::Span;
use incast_tcp::Connection;
use incast_tcp::connection;

/// Counters of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of data packets sent, including retransmissions.
    pub data_packets: u64,
    /// Number of retransmitted data packets.
    pub retransmitted_packets: u64,
    /// Number of loss-recovery episodes that have begun.
    pub fast_retransmits: u64,
    /// Number of tail-loss probes sent (RFC 8985 §7).
    pub tail_probes: u64,
}

impl Counters {
    /// The sum of both counters.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            data_packets: self.data_packets + other.data_packets,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            fast_retransmits: self.fast_retransmits + other.fast_retransmits,
            tail_probes: self.tail_probes + other.tail_probes,
        }
    }
}

impl From<&connection::Counters> for Counters {
    #[inline]
    fn from(of: &connection::Counters) -> Self {
        Self {
            data_packets: of.data_packets,
            retransmitted_packets: of.retransmitted_packets,
            fast_retransmits: of.fast_retransmits,
            tail_probes: of.tail_probes,
        }
    }
}

/// The state of an end as a sender. Fields that its family does not have are zero or `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// First unacknowledged sequence number.
    pub seq: u64,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    /// Outstanding bytes.
    pub flight: u64,
    /// Number of duplicate ACKs received.
    pub dupacks: u32,
    /// Smoothed round-trip time, if there was a sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Option<Span>,
}

impl From<&Connection> for State {
    fn from(of: &Connection) -> Self {
        Self {
            seq: of.una(),
            cwnd: of.cwnd(),
            ssthresh: of.ssthresh(),
            flight: of.flight(),
            dupacks: of.dupacks(),
            srtt: of.rtt().srtt(),
            rto: Some(of.rtt().rto()),
        }
    }
}
