//! A probe that keeps its own records of a run, and panics if the run contradicts them.

use std::collections::{BTreeMap, VecDeque};

use incast_engine::Time;
use incast_host::cause::Cause;
use incast_host::milestone::{EventKind, EventRow};
use incast_host::stalls::StallCause;
use incast_host::{End, EndId};
use incast_lab::probe::{Listener, Probe};
use incast_net::topology::Network;
use incast_net::{Ecn, Flags, Packet, PortId};

use super::books::Books;
use super::waits::{Rule, Waits};

/// The records of a run.
#[derive(Default)]
pub struct Witness {
    /// Payload of a full segment of each flow.
    mss: Vec<u64>,
    /// Number of hosts.
    pub hosts: u32,
    /// Whether packets may overtake other packets, or be dropped while earlier packets are still on
    /// the link.
    overtaking: bool,
    now: Time,
    /// Number of events at the current time.
    at_once: u32,
    /// Packets admitted to each port that have not crossed its link, oldest first.
    crossing: BTreeMap<PortId, VecDeque<Packet>>,
    /// The packet that arrived at a switch and was not yet offered to its next port.
    forwarded: Option<Packet>,
    pub offered: BTreeMap<PortId, u64>,
    pub dropped: u64,
    /// Number of packets that hosts sent, and number of packets that hosts received.
    pub sent: u64,
    pub received: u64,
    /// Number of segments that servers sent, and number of retransmissions among these segments.
    pub data: u64,
    pub retransmissions: u64,
    /// Number of links that packets have crossed.
    pub hops: u64,
    books: BTreeMap<u32, Books>,
    causes: BTreeMap<&'static str, u64>,
    pub stalls: BTreeMap<&'static str, u64>,
    pub requests: Vec<Time>,
    /// The waits, derived from the arrivals.
    pub waits: Waits,
}

impl Witness {
    /// The witness of a run whose flows have segments of `mss` bytes. Flows with connections are
    /// first.
    pub fn new(mss: Vec<u64>, overtaking: bool, waits: Waits) -> Self {
        Self { mss, overtaking, waits, ..Self::default() }
    }

    /// Number of packets in a port or on its link.
    pub fn crossing(&self, port: PortId) -> usize {
        self.crossing.get(&port).map_or(0, VecDeque::len)
    }

    /// Application bytes that reached the client in order on a flow.
    pub fn delivered(&self, flow: u32) -> u64 {
        self.books.get(&flow).map_or(0, |books| books.retired + books.in_order)
    }

    /// Number of timeouts with this cause.
    pub fn timeouts(&self, cause: Cause) -> u64 {
        self.causes.get(cause.name()).copied().unwrap_or(0)
    }

    fn cause(&self, row: &EventRow) -> Cause {
        let flow = row.flow.expect("a timeout has a flow");
        let books = &self.books[&flow];
        let packets: Vec<Packet> = self
            .crossing
            .values()
            .flatten()
            .filter(|it| it.route.flow() == flow && it.epoch == books.epoch)
            .filter(|it| is_data(it) || !it.route.is_forward() && it.flags.contains(Flags::ACK))
            .copied()
            .collect();
        books.cause(row, self.mss[flow as usize], &packets)
    }

    /// Whether a port leads from a host to a switch.
    fn is_uplink(&self, port: PortId) -> bool {
        self.is_of_host(port) && port.0.is_multiple_of(2)
    }

    /// Whether a port leads from a host or to a host; the other ports are trunks.
    fn is_of_host(&self, port: PortId) -> bool {
        port.0 < 2 * self.hosts
    }

    fn tick(&mut self, now: Time) {
        assert!(now >= self.now, "the clock ran back from {} to {now}", self.now);
        self.at_once = if now == self.now { self.at_once + 1 } else { 0 };
        assert!(self.at_once < MOST_AT_ONCE, "the clock stands still at {now}");
        self.now = now;
    }

    /// Notes that a packet leaves a port. This packet is the oldest one, except if packets may
    /// overtake. The packet may have been marked at departure.
    fn leave(&mut self, port: PortId, packet: &Packet) {
        let crossing = self.crossing.get_mut(&port).expect("something was admitted");
        let is_it = |it: &Packet| it.with_ecn(packet.ecn()) == *packet;
        let place = crossing.iter().position(is_it).expect("it was on the way");
        assert!(place == 0 || self.overtaking, "a link keeps the order");
        let admitted = crossing.remove(place).expect("it is there");
        let is_marked = packet.ecn() == Ecn::CongestionExperienced;
        assert!(admitted.ecn() == packet.ecn() || is_marked && admitted.ecn() == Ecn::Capable);
    }

    /// Notes that a packet is offered by a host, or by the switch at which it has just arrived.
    fn on_offer(&mut self, port: PortId, packet: &Packet) {
        *self.offered.entry(port).or_default() += 1;
        if self.is_uplink(port) {
            self.sent += 1;
            if is_data(packet) {
                self.data += 1;
                self.books.entry(packet.route.flow()).or_default().on_sent(packet);
            }
            if !packet.route.is_forward() && !packet.flags.contains(Flags::DATAGRAM) {
                let flow = packet.route.flow();
                let books = self.books.entry(flow).or_default();
                if books.epoch != packet.epoch {
                    books.begin(packet.epoch);
                }
                if !books.has_asked {
                    books.has_asked = true;
                    self.waits.begin(Rule::Flow, flow, self.now);
                }
                books.on_window(packet);
            }
            self.retransmissions += u64::from(packet.flags.contains(Flags::RETRANSMISSION));
            assert_eq!(self.forwarded, None, "nothing waits while a host sends");
        } else {
            let reached = self.forwarded.take().expect("the switch makes up packets");
            let marked = reached.with_ecn(Ecn::CongestionExperienced);
            let is_it = reached == *packet || reached.ecn() == Ecn::Capable && marked == *packet;
            assert!(is_it, "the switch makes up packets: {packet:?} of {reached:?}");
        }
    }
}

/// A larger number than the number of simultaneous events in any of these runs.
const MOST_AT_ONCE: u32 = 1_000_000;

/// Whether a packet carries a server's data or a server's FIN.
fn is_data(packet: &Packet) -> bool {
    let control = Flags::DATAGRAM.with(Flags::SYN).with(Flags::REQUEST);
    packet.route.is_forward() && packet.seq_end() > packet.seq && !packet.flags.intersects(control)
}

impl Probe for Witness {}

impl Listener for Witness {
    fn before_offer(&mut self, now: Time, _: PortId, _: &mut Network) {
        self.tick(now);
    }

    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {
        self.tick(now);
        assert!(
            network.port(port).in_flight().any(|it| network.packet(it) == packet),
            "it was admitted"
        );
        self.on_offer(port, packet);
        self.crossing.entry(port).or_default().push_back(*packet);
    }

    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.tick(now);
        self.leave(port, packet);
        self.dropped += 1;
        assert!(!self.is_uplink(port), "a host's own queue never drops");
    }

    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.tick(now);
        self.on_offer(port, packet);
        self.dropped += 1;
        assert!(!self.is_uplink(port), "a host's own queue never drops");
    }

    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.tick(now);
        self.leave(port, packet);
        self.hops += 1;
        if self.is_uplink(port) || !self.is_of_host(port) {
            self.forwarded = Some(*packet);
            return;
        }
        self.received += 1;
        let flow = packet.route.flow();
        if packet.route.is_forward() && !packet.flags.contains(Flags::DATAGRAM) {
            self.waits.note(now, flow);
        }
        if is_data(packet) {
            let books = self.books.get_mut(&flow).expect("the client asked");
            if books.epoch == packet.epoch {
                books.on_arrival(packet);
                if books.written > 0 && books.in_order >= books.written {
                    self.waits.end(Rule::Flow, flow);
                }
            }
        }
    }

    fn on_served(&mut self, now: Time, end: EndId, served: &End) {
        self.tick(now);
        let connection = served.connection().expect("it is TCP");
        if !connection.is_drained() {
            let deadline = connection.poll_timeout();
            assert_ne!(deadline, Time::NEVER, "{now}: {end:?} has work and no timer");
        }
        let books = self.books.entry(end.flow()).or_default();
        if books.epoch != connection.epoch() {
            books.begin(connection.epoch());
        }
        if end.is_server() {
            assert!(connection.written() >= books.written, "{now}: {end:?} takes data back");
            books.written = connection.written();
        } else {
            books.holds_ack = connection.is_holding_ack();
            assert_eq!(connection.received().next() - 1, books.next(), "{now}: {end:?}");
            assert!(books.in_order <= books.written, "{now}: {end:?} got what nobody wrote");
        }
    }

    fn on_event(&mut self, row: EventRow) {
        self.tick(row.time);
        match row.kind {
            EventKind::Timeout => {
                let cause = row.cause.expect("a timeout has a cause");
                // Only timeouts of data have bytes in flight; those of requests and handshakes have
                // none.
                if row.flight > 0 {
                    assert_eq!(cause, self.cause(&row), "{row:?}");
                }
                *self.causes.entry(cause.name()).or_default() += 1;
            }
            EventKind::Request => self.requests.push(row.time),
            EventKind::BlockStart => self.waits.begin(Rule::Read, row.flow.unwrap_or(0), row.time),
            EventKind::BlockDone => self.waits.end(Rule::Read, row.flow.unwrap_or(0)),
            EventKind::Stall => {
                let cause = row.stall.map(StallCause::name).expect("a stall has a cause");
                *self.stalls.entry(cause).or_default() += 1;
                self.waits.check(&row);
            }
            _ => {}
        }
    }
}
