//! Plans the shortcuts of ports.

use incast_engine::Time;

use crate::packet::RouteId;
use crate::port::{Port, PortId, Shortcut};

/// The ports that shortcuts lead to.
#[derive(Default)]
pub(crate) struct Express {
    /// Ports fed by a relay.
    pub(crate) relayed: Vec<PortId>,
    /// Ports to which packets are announced.
    pub(crate) inlets: Vec<PortId>,
}

impl Express {
    /// Number of packets that a port has already counted as delivered, although they are still on
    /// its link at `now`.
    pub(crate) fn early(&self, now: Time, ports: &[Port]) -> u64 {
        let relayed = self.relayed.iter().filter_map(|port| ports[port.0 as usize].fifo());
        let relayed = relayed.map(|port| port.admitted_after(now)).sum::<u64>();
        let awaited =
            self.inlets.iter().map(|port| ports[port.0 as usize].awaited().count() as u64);
        relayed + awaited.sum::<u64>()
    }
}

/// Plans the shortcuts, once all flows are known. `feeders` are the ports that send to each port.
/// `routes` are the ports of each route.
///
/// A port is a relay if all its packets go to a port that leads to a host, and no other port sends
/// to this next port. When a relay sends a packet, it is already known what the next port does with
/// the packet, so the packet crosses both links with one event. In a star, a relay is a port on the
/// path of ACKs from the client through the switch to a server. A relay and its next port are never
/// on a forward path, because the counters of ports on such a path are read at the end of a run,
/// and must not include packets that have not arrived yet. At most one relay is allowed, because
/// several relays could change the order of simultaneous arrivals.
///
/// A host's port that is not a relay announces its packets if the next port has no departure
/// events. When such a packet is sent, its arrival time is known. The packet needs no event while
/// the next port is busy.
pub(crate) fn plan<'a>(
    ports: &mut [Port],
    feeders: &[Vec<PortId>],
    routes: impl Iterator<Item = (RouteId, &'a [PortId])> + Clone,
) -> Express {
    let mut relays = relays(ports.len(), routes.clone());
    let mut announces: Vec<bool> = ports.iter().map(can_announce).collect();
    for (_, hops) in routes {
        if let [.., last] = hops {
            announces[last.0 as usize] = false;
        }
    }
    for (port, feeders) in ports.iter().zip(feeders) {
        for feeder in feeders {
            let feeder = feeder.0 as usize;
            relays[feeder] &= feeders.len() == 1 && follows(port, &ports[feeder]);
            announces[feeder] &= port.fifo().is_some();
        }
    }
    if relays.iter().filter(|relay| **relay).count() > 1 {
        relays.fill(false);
    }
    for (port, flags) in ports.iter_mut().zip(relays.iter().zip(&announces)) {
        let shortcut = match flags {
            (true, _) => Shortcut::Relay,
            (false, true) => Shortcut::Announce,
            (false, false) => continue,
        };
        if let Some(port) = port.fifo_mut() {
            port.shortcut = shortcut;
        }
    }
    let fed_by = |shortcut| -> Vec<PortId> {
        let is_fed = |feeders: &[PortId]| {
            feeders.iter().any(|feeder| ports[feeder.0 as usize].shortcut() == shortcut)
        };
        let fed = (0..).map(PortId).zip(feeders).filter(|(_, feeders)| is_fed(feeders));
        fed.map(|(port, _)| port).collect()
    };
    let express = Express { relayed: fed_by(Shortcut::Relay), inlets: fed_by(Shortcut::Announce) };
    for port in &express.relayed {
        if let Some(port) = ports[port.0 as usize].fifo_mut() {
            port.disable_buffer();
        }
    }
    express
}

/// For each port: whether all routes that use the port are reverse routes, and the port is the last
/// but one of each such route.
fn relays<'a>(
    ports: usize,
    routes: impl Iterator<Item = (RouteId, &'a [PortId])> + Clone,
) -> Vec<bool> {
    let mut relays = vec![false; ports];
    for (_, hops) in routes.clone().filter(|(route, _)| !route.is_forward()) {
        relays[hops[0].0 as usize] = true;
    }
    for (route, hops) in routes {
        for (hop, to_go) in hops.iter().rev().zip(0..) {
            relays[hop.0 as usize] &= to_go == 1 && !route.is_forward();
        }
    }
    relays
}

/// Whether the arrival time of a packet at the end of the link is already known when the packet is
/// offered to the port, and is later than the offer.
fn can_announce(port: &Port) -> bool {
    port.fifo().is_some_and(|port| port.never_drops() && !port.delay().is_zero())
}

/// Whether packets may be offered to `port` before they arrive, if `feeder` is the only port that
/// sends to `port`.
fn follows(port: &Port, feeder: &Port) -> bool {
    match (port.fifo(), feeder.fifo()) {
        (Some(port), Some(feeder)) => port.follows(feeder),
        _ => false,
    }
}
