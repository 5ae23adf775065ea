//! Which ports have shortcuts.

use super::{Express, Shortcut};
use crate::packet::RouteId;
use crate::port::{Port, PortId};

/// Looks for ports behind which nothing is left to decide, once all flows are known. `feeders` are
/// the ports that each port is fed by; `routes` says which ports each route crosses.
///
/// A packet that leaves such a port next enters one that nobody else feeds and that leads to its
/// host, so its fate there is known when it is sent, and both links are crossed by one event. On a
/// star these are the ACKs' links, from the client through the switch to a server. No port on a
/// flow's way forward is entered before its time: what such a port counts is looked at whenever a
/// run ends. There is at most one relay, because several could disagree with the long way about who
/// comes first in a tie.
///
/// A packet that leaves a host for a port that others feed, too, arrives when its link says,
/// whatever else happens: it is announced there, and no event is needed while that port is busy.
pub fn plan<'a>(
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
    let mut express = Express::none(ports.len());
    for (lane, shortcut) in express.lanes.iter_mut().zip(relays.iter().zip(&announces)) {
        lane.shortcut = match shortcut {
            (true, _) => Shortcut::Relay,
            (false, true) => Shortcut::Announce,
            (false, false) => Shortcut::None,
        };
    }
    let fed_by = |shortcut| {
        let is_fed =
            |feeders: &[PortId]| feeders.iter().any(|it| express.shortcut(*it) == shortcut);
        let fed = (0..).map(PortId).zip(feeders).filter(|(_, feeders)| is_fed(feeders));
        fed.map(|(port, _)| port).collect()
    };
    (express.relayed, express.inlets) = (fed_by(Shortcut::Relay), fed_by(Shortcut::Announce));
    for port in &express.relayed {
        if let Some(port) = ports[port.0 as usize].fifo_mut() {
            port.disable_buffer();
        }
    }
    express
}

/// Which ports are crossed by routes back, and by nothing else, one link before their end.
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

/// Whether the time at which a packet arrives behind the port is known when it is offered, and
/// lies ahead.
fn can_announce(port: &Port) -> bool {
    port.fifo().is_some_and(|port| port.never_drops() && !port.delay().is_zero())
}

/// Whether nothing is lost by offering packets that come from `feeder`, and from nowhere else,
/// before they arrive.
fn follows(port: &Port, feeder: &Port) -> bool {
    match (port.fifo(), feeder.fifo()) {
        (Some(port), Some(feeder)) => port.follows(feeder),
        _ => false,
    }
}
