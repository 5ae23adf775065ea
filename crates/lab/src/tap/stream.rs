//! The bytes that the client of a connection sends. In the simulator, a request is a packet with a
//! number. In a capture, a request consists of bytes of the stream.

use incast_net::{Flags, Packet};

/// Bytes of a request if the scenario gives requests no size.
const LEAST_REQUEST: u64 = 64;

/// The requests of one incarnation of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    /// The epoch of the connection's packets.
    pub epoch: u8,
    /// The number of this incarnation among the flow's incarnations.
    pub incarnation: u32,
    /// Bytes of a request; 0 before the first request.
    size: u64,
    /// Number of requests that were made before the connection was opened. They are not part of its
    /// byte stream.
    outside: u64,
    /// Number of requests seen at the tap.
    seen: u64,
    /// Number of requests that the server has received, and this number before the last request
    /// arrived.
    heard: u64,
    heard_before: u64,
    /// The first sequence number that the server sent after the last request.
    answered_from: Option<u64>,
    /// Whether the server sent the first SYN; `None` before a SYN.
    server_opens: Option<bool>,
    /// Whether the server has sent data.
    has_data: bool,
}

impl Stream {
    pub fn new(epoch: u8, incarnation: u32) -> Self {
        Self { epoch, incarnation, ..Self::default() }
    }

    /// Notes that a host sends a packet.
    pub fn on_sent(&mut self, packet: &Packet) {
        let forward = packet.route.is_forward();
        if forward {
            self.has_data |= packet.payload > 0;
            self.answered_from.get_or_insert(packet.seq);
        } else if packet.flags.contains(Flags::REQUEST) {
            if self.size == 0 {
                self.size = u64::from(packet.payload).max(LEAST_REQUEST);
            }
            if is_outside(packet) {
                self.outside = self.outside.max(packet.seq);
            }
        }
        if packet.flags.contains(Flags::SYN) && !packet.flags.contains(Flags::ACK) {
            self.server_opens.get_or_insert(forward);
        }
    }

    /// Notes that a host receives a packet.
    pub fn on_received(&mut self, packet: &Packet) {
        if packet.flags.contains(Flags::REQUEST) && packet.seq > self.heard {
            self.heard_before = self.heard;
            self.heard = packet.seq;
            self.answered_from = None;
        }
    }

    /// First sequence number and payload of a client's packet that passes the tap. The SYN has the
    /// number 0.
    pub fn of_client(&mut self, packet: &Packet) -> (u64, u64) {
        if packet.flags.contains(Flags::REQUEST) {
            self.seen = self.seen.max(packet.seq);
            return (1 + self.bytes(packet.seq - 1), self.size);
        }
        let requests = if packet.flags.contains(Flags::SYN) { 0 } else { self.bytes(self.seen) };
        (packet.seq + requests, packet.payload.into())
    }

    /// The sequence number that a packet of the server acknowledges. A packet that the server sent
    /// before a request arrived does not acknowledge this request.
    pub fn acknowledged(&self, packet: &Packet) -> u64 {
        let knows = packet.flags.contains(Flags::RETRANSMISSION)
            || self.answered_from.is_some_and(|from| packet.seq >= from);
        let heard = if knows { self.heard } else { self.heard_before };
        packet.ack + if packet.flags.contains(Flags::SYN) { 0 } else { self.bytes(heard) }
    }

    /// Whether a packet without a SYN flag stands for a SYN-ACK. In a simulated handshake in which
    /// only one end sends a SYN, the answer to this SYN is such a packet.
    pub fn is_answer_to_syn(&self, packet: &Packet) -> bool {
        let numbers = (packet.seq, packet.ack, packet.payload) == (1, 1, 0);
        numbers
            && !packet.flags.intersects(Flags::SYN.with(Flags::REQUEST))
            && !self.has_data
            && self.server_opens == Some(!packet.route.is_forward())
    }

    /// Bytes of the first `requests` requests.
    fn bytes(&self, requests: u64) -> u64 {
        requests.saturating_sub(self.outside) * self.size
    }
}

/// Whether a packet is a request to a server that has not opened the connection yet.
pub fn is_outside(packet: &Packet) -> bool {
    packet.flags.contains(Flags::REQUEST) && !packet.flags.contains(Flags::ACK)
}

#[cfg(test)]
mod tests {
    use incast_net::RouteId;

    use super::*;

    fn request(ordinal: u64) -> Packet {
        let flags = Flags::ACK.with(Flags::REQUEST);
        Packet { route: RouteId::new(0, false), seq: ordinal, ack: 1, flags, ..Packet::default() }
    }

    fn data(seq: u64) -> Packet {
        let route = RouteId::new(0, true);
        Packet { route, seq, ack: 1, payload: 1000, flags: Flags::ACK, ..Packet::default() }
    }

    fn ack(number: u64) -> Packet {
        let route = RouteId::new(0, false);
        Packet { route, seq: 1, ack: number, flags: Flags::ACK, ..Packet::default() }
    }

    #[test]
    fn requests_are_bytes_between_acknowledgements() {
        let mut stream = Stream::new(0, 0);
        stream.on_sent(&request(1));
        assert_eq!(stream.of_client(&request(1)), (1, 64));
        assert_eq!(stream.of_client(&ack(1001)), (65, 0));
        stream.on_sent(&request(2));
        assert_eq!(stream.of_client(&ack(1001)), (65, 0), "it passes the tap before the request");
        assert_eq!(stream.of_client(&request(2)), (65, 64));
        assert_eq!(stream.of_client(&request(2)), (65, 64), "again");
        assert_eq!(stream.of_client(&ack(2001)), (129, 0));
    }

    #[test]
    fn a_server_acknowledges_what_it_had_received_when_it_sent() {
        let mut stream = Stream::new(0, 0);
        for ordinal in 1..=2 {
            stream.on_sent(&request(ordinal));
            stream.of_client(&request(ordinal));
        }
        stream.on_received(&request(1));
        stream.on_sent(&data(1));
        assert_eq!(stream.acknowledged(&data(1)), 65);
        stream.on_received(&request(2));
        assert_eq!(stream.acknowledged(&data(1)), 65, "it was under way");
        stream.on_sent(&data(1001));
        assert_eq!(stream.acknowledged(&data(1)), 65);
        assert_eq!(stream.acknowledged(&data(1001)), 129);
        let again = Packet { flags: Flags::ACK.with(Flags::RETRANSMISSION), ..data(1) };
        assert_eq!(stream.acknowledged(&again), 129);
    }

    #[test]
    fn a_request_before_the_connection_is_no_part_of_it() {
        let mut stream = Stream::new(0, 0);
        let first = Packet { flags: Flags::REQUEST, ..request(1) };
        assert!(is_outside(&first) && !is_outside(&request(2)));
        stream.on_sent(&first);
        stream.on_received(&first);
        stream.on_sent(&request(2));
        assert_eq!(stream.of_client(&request(2)), (1, 64));
    }
}
