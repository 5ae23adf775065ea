//! A switch that stops its neighbours instead of dropping their packets.

use incast_engine::Foreign;
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_lab::{Control, Row};
use incast_net::buffer::Pool;
use incast_net::flow_control::{Controls, FlowControl, FlowControlConfig, Ingress, Signal};
use incast_net::topology::Network;
use incast_net::{Port, PortId};
use incast_scenario::Scenario;
use serde_json::json;

use crate::harness::{MSS, scenario};

/// Sixteen servers answer at once, with more data than the buffer holds.
fn incast() -> Scenario {
    scenario(&json!({
        "network": { "buffer": "256KiB" },
        "workload": { "servers": 16, "sru": 100 * MSS, "blocks": 3 },
        "transport": { "initial_window": 40 },
    }))
}

/// Runs the incast, and returns the row and the network.
fn run(control: Option<fn() -> Controls>) -> (Row, Network) {
    let scenario = incast();
    let mut world = World::new(&scenario, 1, |_| Silent);
    if let Some(control) = control {
        world.core_mut().wires.network.set_flow_control(|_| control());
    }
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    assert!(core.wires.network.ports().iter().all(Port::is_conserving));
    (rows.into_iter().next().expect("a row"), core.wires.network)
}

/// When the switch holds 4 KiB of a server's packets, it signals the server, which sends up to 10
/// kB more before it stops. The buffer holds 16 · (4 KiB + 10 kB).
fn pause() -> Controls {
    let config = json!({ "name": "pause", "xoff": "4KiB", "xon": "2KiB" });
    let config: FlowControlConfig = serde_json::from_value(config).expect("a scheme");
    config.check().expect("it is valid");
    config.build()
}

#[test]
fn a_switch_that_pauses_its_neighbours_drops_nothing() {
    let (plain, network) = run(None);
    assert!(plain.drops > 0, "without pauses the buffer overflows");
    let stepped = network.ports().iter().filter(|port| matches!(port, Port::Stepped(_))).count();
    assert_eq!(stepped, 0, "nobody pays for pauses that does not use them");
    let (paused, network) = run(Some(pause));
    assert_eq!((paused.status, paused.drops, paused.timeouts), ("ok", 0, 0));
    assert!(paused.queue_max_bytes > 4 << 10, "the threshold was passed");
    let stepped = network.ports().iter().filter(|port| matches!(port, Port::Stepped(_))).count();
    assert_eq!(stepped, network.ports().len(), "every port may be stopped");
    // At the end of the run, the switch's counts agree with what it holds: it holds no packet of
    // the servers, only the last ACKs.
    let servers = (1..=16).map(|server| PortId(2 * server));
    let held = |port| network.input(port).expect("there is flow control").total();
    assert!(servers.map(held).all(|held| held.packets == 0));
}

/// Never signals. Panics if the counts of an input contain no packet after a packet has entered, or
/// less than 40 bytes per packet after a packet has left.
struct Watches;

impl FlowControl for Watches {
    fn entered(&mut self, input: &Ingress, class: usize, pool: Option<&Pool>) -> Option<Signal> {
        assert!(class == 0 && pool.is_none() && input.held[0].packets > 0);
        None
    }

    fn left(&mut self, input: &Ingress, _: usize, _: Option<&Pool>) -> Option<Signal> {
        assert!(input.total().bytes >= 40 * input.total().packets);
        None
    }
}

/// A custom scheme that never stops a neighbour changes no row, although every port then has
/// departure events.
#[test]
fn accounting_alone_changes_nothing() {
    let (plain, _) = run(None);
    let (watched, _) = run(Some(|| Controls::Custom(Box::new(Watches))));
    let without_time = |row: Row| Row { wall_s: 0.0, ..row };
    let plain_row = plain.clone();
    assert_eq!(format!("{:?}", without_time(watched)), format!("{:?}", without_time(plain_row)));
    let foreign = || {
        let scheme = |(): &()| -> Box<dyn FlowControl + Send> { Box::new(Watches) };
        FlowControlConfig::Foreign(Foreign::new("watches", scheme)).build()
    };
    let (foreign, _) = run(Some(foreign));
    assert_eq!(format!("{:?}", without_time(foreign)), format!("{:?}", without_time(plain)));
    let none = || FlowControlConfig::default().build();
    let (none, _) = run(Some(none));
    assert_eq!(none.drops, run(None).0.drops);
    assert!(FlowControlConfig::default().is_none());
}
