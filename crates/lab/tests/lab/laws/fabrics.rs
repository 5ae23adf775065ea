//! Random topologies and switches of servers.

use proptest::prelude::*;
use serde_json::{Value, json};

/// A topology with its parameters, its number of switches, the links between switches (if they
/// differ from the links to hosts), and the switches of the servers.
#[derive(Clone, Debug)]
pub struct Shape {
    topology: Value,
    switches: u32,
    core: Option<Value>,
    servers_at: Option<Vec<u32>>,
}

impl Shape {
    /// Adds this shape to `[network]` and `[workload]` of a document.
    pub fn lay(self, document: &mut Value) {
        document["network"]["topology"] = self.topology;
        let has_servers = document["workload"].get("servers").is_some();
        if let Some(servers_at) = self.servers_at.filter(|_| has_servers) {
            let there = servers_at.iter().map(|place| place % self.switches).collect::<Vec<_>>();
            document["workload"]["servers_at"] = json!(there);
        }
        let Some(network) = document["network"].as_object_mut() else { return };
        if self.switches > 1 {
            if network.remove("base_rtt").is_some() {
                network.insert("delay".into(), json!("40us"));
            }
            if let Some(core) = self.core {
                network.insert("core".into(), core);
            }
        }
    }
}

/// Random shapes, half of which are stars.
pub fn shapes() -> impl Strategy<Value = Shape> {
    let several = prop_oneof![
        (2_u32..=4).prop_map(|n| (json!({ "name": "chain", "switches": n }), n)),
        (1_u32..=3).prop_map(|n| (json!({ "name": "two-tier", "racks": n }), n + 1)),
        (1_u32..=3, 1_u32..=3)
            .prop_map(|(n, m)| (json!({ "name": "leaf-spine", "leaves": n, "spines": m }), n + m)),
        (1_u32..=3).prop_map(|n| (json!({ "name": "parallel", "paths": n }), n + 2)),
    ];
    let shape = prop_oneof![1 => Just((json!("star"), 1)), 1 => several];
    let core = prop_oneof![
        Just(json!({ "rate": "10Gbps" })),
        Just(json!({ "rate": "700Mbps", "delay": "3us" })),
        Just(json!({ "delay": "150us", "queue": "drop-tail" })),
    ];
    let places = prop::collection::vec(0_u32..8, 1..=3);
    (shape, prop::option::of(core), prop::option::weighted(0.4, places)).prop_map(
        |((topology, switches), core, servers_at)| Shape { topology, switches, core, servers_at },
    )
}
