//! Laws that every scheme obeys.

use incast_engine::Stream;
use serde_json::{from_value, json};

use super::*;

fn every_entry() -> impl Iterator<Item = (&'static str, FlowControlConfig)> {
    ENTRIES.iter().map(|entry| {
        let config = match entry.name {
            // Its thresholds have no defaults.
            "pause" => json!({ "name": "pause", "xoff": 9000, "xon": 3000 }),
            name => json!({ "name": name }),
        };
        (entry.name, from_value(config).expect("an entry is found by its name"))
    })
}

const PACKET: Occupancy = Occupancy { packets: 1, bytes: 1500 };

fn change(input: &mut Ingress, signal: Option<Signal>, stops: bool, name: &str) {
    let Some(signal) = signal else { return };
    assert_eq!(signal.stops, stops, "{name}: arrivals stop a neighbour, departures do not");
    let before = input.stopped;
    input.stopped = if stops { before | signal.classes } else { before & !signal.classes };
    assert_ne!(input.stopped, before, "{name}: a signal changes something");
}

/// Packets of random classes arrive and leave. A neighbour of which the switch holds nothing may
/// send.
#[test]
fn every_neighbour_continues_when_the_switch_is_empty() {
    for (name, config) in every_entry() {
        config.check().expect("it is valid");
        let (mut scheme, mut random) = (config.build(), Stream::named(1, "law", 0));
        let (mut input, mut inside) = (Ingress::default(), Vec::new());
        for step in 0..4000 {
            // The switch fills and drains in turn, and is empty at the end.
            let arrives = step < 3000 && random.below(4) < if step / 100 % 2 == 0 { 3 } else { 1 };
            if arrives {
                let class = random.below(CLASSES as u64) as usize;
                input.held[class] = input.held[class] + PACKET;
                inside.push(class);
                let signal = scheme.entered(&input, class, None);
                change(&mut input, signal, true, name);
            } else if let Some(class) = inside.pop() {
                input.held[class].packets -= PACKET.packets;
                input.held[class].bytes -= PACKET.bytes;
                let signal = scheme.left(&input, class, None);
                change(&mut input, signal, false, name);
            }
        }
        assert_eq!((inside.len(), input.stopped), (0, 0), "{name}");
    }
}
