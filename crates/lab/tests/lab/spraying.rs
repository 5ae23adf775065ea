//! Paths chosen per packet.

use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_lab::{Control, Row};
use incast_net::topology::PathChoice;
use incast_net::{Packet, Port};
use serde_json::json;

use crate::harness::{MSS, scenario};

/// Sends the packets of each route over its paths in turn.
#[derive(Default)]
struct RoundRobin {
    next: Vec<u32>,
}

impl PathChoice for RoundRobin {
    fn choose(&mut self, packet: &Packet, paths: u32) -> u32 {
        let route = packet.route.0 as usize;
        self.next.resize(self.next.len().max(route + 1), 0);
        let next = &mut self.next[route];
        *next = (*next + 1) % paths;
        *next
    }
}

/// Runs a server that sends to a client over four spines. Returns the row and two lists of packet
/// counts, one count per spine: on the links from the server's leaf, and on the links from the
/// client's leaf.
fn run(sprayed: bool) -> (Row, [Vec<u64>; 2]) {
    let scenario = scenario(&json!({
        "network": { "topology": { "name": "leaf-spine", "leaves": 2, "spines": 4 } },
        "workload": { "servers": 1, "sru": 400 * MSS },
    }));
    let mut world = World::new(&scenario, 1, |_| Silent);
    if sprayed {
        world.core_mut().network.choose_paths(Box::new(RoundRobin::default()));
    }
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    let network = &core.network;
    assert!(network.ports().iter().all(Port::is_conserving));
    // After the ports of two hosts come the ports from each leaf to each spine, and from there to
    // the leaf. The client is at the first leaf, the server at the second leaf.
    let delivered = |port: usize| network.ports()[port].counters().delivered;
    let links = [8, 0].map(|first| (0..4).map(|spine| delivered(4 + first + 2 * spine)).collect());
    (rows.into_iter().next().expect("a row"), links)
}

#[test]
fn the_packets_of_one_flow_are_spread_evenly_over_all_spines() {
    let (fixed, links) = run(false);
    for link in links {
        assert_eq!(link.iter().filter(|packets| **packets > 0).count(), 1, "{link:?}");
    }
    let (sprayed, links) = run(true);
    assert_eq!((sprayed.status, sprayed.drops, sprayed.packets_sent), ("ok", 0, 400));
    for link in &links {
        let (least, most) = (link.iter().min(), link.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{links:?}");
        // At the end of the run, the last ACKs are still in the network.
        assert!(link.iter().sum::<u64>() > 380, "{links:?}");
    }
    // All paths have equal lengths, and the server sends no faster than one link.
    assert_eq!(sprayed.completion_s, fixed.completion_s);
}
