//! A switch that pauses its neighbours instead of dropping their packets.

use incast_engine::{Span, Stream};
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_lab::{Control, Row};
use incast_net::queue::{QueueDiscipline, QueueView, Verdict};
use incast_net::topology::{HostId, Network};
use incast_net::{Packet, Port, PortId};
use incast_scenario::Scenario;
use serde_json::json;

use crate::harness::{MSS, scenario};

/// Above a threshold in bytes, the upstream neighbours of the port are paused until the waiting
/// packets have left.
struct Backpressure {
    threshold: u64,
}

impl QueueDiscipline for Backpressure {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn may_ask_for_pause(&self) -> bool {
        true
    }

    fn asks_for_pause(&mut self, view: &QueueView) -> Option<Span> {
        (view.bytes > self.threshold).then_some(Span::from_nanos(8) * view.bytes)
    }
}

/// Sixteen servers answer at once, with more data than the buffer holds.
fn incast() -> Scenario {
    scenario(&json!({
        "network": { "buffer": "256KiB" },
        "workload": { "servers": 16, "sru": 100 * MSS, "blocks": 3 },
        "transport": { "initial_window": 40 },
    }))
}

/// Runs with or without pauses, and returns the row and the ports that have departure events.
fn run(pauses: bool) -> (Row, Vec<u32>) {
    let scenario = incast();
    let mut world = World::new(&scenario, 1, |_| Silent);
    if pauses {
        let discipline = Backpressure { threshold: 32 << 10 };
        let port = Network::switch_port(HostId(0));
        world.core_mut().network.port_mut(port).set_discipline(Box::new(discipline));
    }
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    let network = &core.network;
    assert!(network.ports().iter().all(Port::is_conserving));
    let ports = (0..network.ports().len() as u32)
        .filter(|port| matches!(network.port(PortId(*port)), Port::Stepped(_)));
    (rows.into_iter().next().expect("a row"), ports.collect())
}

#[test]
fn a_switch_that_pauses_its_neighbours_drops_nothing() {
    let (plain, stepped) = run(false);
    assert!(plain.drops > 0, "without pauses the buffer overflows");
    assert_eq!(stepped, [0; 0], "nobody pays for pauses that does not use them");
    let (paused, stepped) = run(true);
    assert_eq!((paused.status, paused.drops, paused.timeouts), ("ok", 0, 0));
    assert!(paused.queue_max_bytes > 32 << 10, "the threshold was passed");
    // These are the servers' ports and the port that requests pauses. The client's own port is
    // never paused, and keeps its shortcut.
    let servers = (1..=16).map(|server| 2 * server);
    assert_eq!(stepped, [1].into_iter().chain(servers).collect::<Vec<_>>());
}
