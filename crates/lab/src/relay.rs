//! The network of a scenario for packets of real hosts.
//!
//! The caller has the clock. The caller puts packets into the network, and takes them out at the
//! end of their last link. Ports, buffers and queue disciplines are the same as in a simulation,
//! and decide at the same times.

use incast_engine::{Span, Time};
use incast_net::port::PortCounters;
use incast_net::topology::HostId;
use incast_net::{Packet, PacketId, PortId};
use incast_scenario::Scenario;

use crate::core::{Core, Event};
use crate::probe::{Listener, Probe};
use crate::wiring;

/// A probe that records nothing. Simulations without a probe use another type (`Silent`). The
/// functions that depend on the type therefore have one caller each, and are inlined.
struct Unwatched;

impl Listener for Unwatched {}

impl Probe for Unwatched {
    const ON: bool = false;
}

/// A network without simulated hosts.
pub struct Relay {
    core: Core<Unwatched>,
    own_port: PortId,
    flows: Vec<(HostId, HostId)>,
}

/// A packet that has left the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The time at which the last bit of the packet reached the host.
    pub at: Time,
    /// The index of the packet's slot, which is already free again.
    pub id: PacketId,
    /// The packet, as it was after the last switch.
    pub packet: Packet,
}

/// The counters of all ports, and those of the busiest port.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Packets dropped in the network.
    pub drops: u64,
    /// Packets marked in the network.
    pub marks: u64,
    /// Number of links crossed, summed over the packets.
    pub hops: u64,
    /// The busiest switch port on a path to a client.
    pub port: PortCounters,
    /// Time for which the link of this port was sending.
    pub sending: Span,
}

impl Relay {
    /// The network of a scenario. `seed` is the seed of the ports' random streams.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let groups = scenario.groups();
        let mut network = wiring::build(scenario, &groups, seed);
        let senders = wiring::senders(scenario, &groups);
        let pairs = groups.iter().zip(&senders);
        let flows: Vec<_> =
            pairs.flat_map(|(group, senders)| group.config.workload().flows(senders)).collect();
        for (sender, client) in &flows {
            network.add_flow(*sender, *client);
        }
        network.connect();
        let core = Core::new(network, scenario.network.arrival_order, seed, Unwatched);
        Self { core, own_port: wiring::own_port(&groups), flows }
    }

    /// Number of hosts, the clients first.
    pub fn hosts(&self) -> u32 {
        self.core.wires.network.hosts()
    }

    /// Sender and client of each flow.
    pub fn flows(&self) -> &[(HostId, HostId)] {
        &self.flows
    }

    /// Sends a packet from its host at `now`, or at the last event if that is later.
    ///
    /// # Panics
    /// Panics if the packet's route belongs to no flow.
    pub fn put(&mut self, now: Time, packet: Packet) -> PacketId {
        self.core.keep(now.max(self.core.now()), packet)
    }

    /// The time of the next event.
    pub fn next_event(&self) -> Option<Time> {
        self.core.wires.queue.next_time()
    }

    /// Lets time pass until the next packet leaves the network, but not beyond `until`.
    pub fn advance(&mut self, until: Time) -> Option<Arrived> {
        while self.next_event().is_some_and(|next| next <= until) {
            let (at, event) = self.core.wires.queue.pop()?;
            match event {
                Event::Arrival(port) => {
                    if let Some(id) = self.core.arrive(port) {
                        let packet = *self.core.wires.network.packet(id);
                        self.core.wires.network.packets().release(id);
                        return Some(Arrived { at, id, packet });
                    }
                }
                Event::Entry(port) => self.core.enter(port),
                Event::Leave => self.core.leave(),
                Event::Departure(port) => self.core.depart(port),
                Event::Signal(port, signal) => self.core.heed(port, signal),
                Event::Card(_) | Event::Wake(_) | Event::Timer { .. } | Event::TimeLimit => {}
            }
        }
        None
    }

    /// The counters of the ports up to `now`.
    pub fn tally(&self, now: Time) -> Tally {
        let network = &self.core.wires.network;
        let now = now.max(self.core.now());
        let ports = network.ports();
        let busiest = network.port(wiring::busiest(network, self.own_port, now));
        Tally {
            drops: ports.iter().map(|port| port.counters().dropped).sum(),
            marks: ports.iter().map(|port| port.counters().marked).sum(),
            hops: network.packet_hops(now),
            port: PortCounters { byte_time: busiest.byte_time_until(now), ..*busiest.counters() },
            sending: busiest.sending_until(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_net::RouteId;
    use serde_json::json;

    use super::*;

    fn relay(buffer: &str, queue: &str) -> Relay {
        let document = json!({
            "profile": "rfc",
            "network": {
                "rate": "100Mbps", "delay": "10us", "buffer": buffer,
                "queue": { "name": queue },
            },
            "workload": { "name": "barrier-read", "servers": 2, "sru": "64KiB", "blocks": 1 },
            "transport": { "name": "newreno" },
        });
        Relay::new(&Scenario::from_document(&document).expect("it is valid"), 1)
    }

    fn packet(flow: u32) -> Packet {
        let route = RouteId::new(flow, true);
        Packet { route, header: 52, payload: 1448, ..Packet::default() }
    }

    /// Each of the two links sends 1500 bytes in 120 µs, and has a propagation delay of 10 µs.
    #[test]
    fn a_packet_takes_what_the_links_take() {
        let mut relay = relay("64KiB", "drop-tail");
        assert_eq!((relay.hosts(), relay.flows().len()), (3, 2));
        let start = Time::ZERO + Span::from_millis(1);
        relay.put(start, packet(0));
        assert_eq!(relay.next_event(), Some(start));
        let arrival = start + Span::from_micros(260);
        assert_eq!(relay.advance(start + Span::from_micros(259)), None, "not yet");
        let arrived = relay.advance(arrival).expect("it arrives");
        assert_eq!((arrived.at, arrived.packet), (arrival, packet(0)));
        assert_eq!((relay.advance(Time::NEVER), relay.next_event()), (None, None));
    }

    /// Two senders send at full rate into one port, so every second packet must wait. The buffer
    /// has room for three packets.
    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let mut relay = relay("4500B", "drop-tail");
        for flow in [0, 1].repeat(10) {
            relay.put(Time::ZERO, packet(flow));
        }
        let end = Time::ZERO + Span::from_secs(1);
        let arrived = std::iter::from_fn(|| relay.advance(end)).count();
        let tally = relay.tally(end);
        assert_eq!(arrived as u64 + tally.drops, 20);
        assert_eq!((tally.port.max_bytes, tally.port.delivered), (4500, arrived as u64));
        assert!(tally.drops > 0 && tally.marks == 0);
        assert_eq!(tally.sending, Span::from_micros(120) * arrived as u64);
    }
}
