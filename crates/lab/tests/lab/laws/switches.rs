//! Random buffers and queue disciplines of a switch.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Keys of `[network]` that depend on each other: the buffer, its accounting, and the queue
/// discipline. A full packet has at most `packet` bytes.
pub fn switch(packet: u64) -> BoxedStrategy<Vec<(&'static str, Value)>> {
    let in_packets = prop_oneof![3 => 1_u64..=8, 2 => 9_u64..=64, 1 => 65_u64..=2000];
    let in_packets =
        in_packets.prop_map(|n| (json!(format!("{n}pkt")), json!(format!("{}pkt", 2 * n))));
    let in_bytes = (packet + CELL..=20 * packet).prop_map(|bytes| (json!(bytes), json!(2 * bytes)));
    let size = prop_oneof![in_packets, in_bytes];
    let sharing =
        prop_oneof![4 => Just(None), 1 => Just(Some("shared")), 2 => Just(Some("dynamic"))];
    let alpha =
        prop::sample::select(vec![json!("2^-3"), json!(0.5), json!(1), json!("3/2"), json!(8)]);
    let queue =
        prop::option::weighted(0.5, prop_oneof![1 => loss().boxed(), 3 => others(packet).boxed()]);
    let counting = (prop::bool::weighted(0.2), prop::option::weighted(0.4, any::<bool>()));
    (size, sharing, alpha, queue, counting)
        .prop_map(|((limit, total), sharing, alpha, queue, (in_cells, counts_in_service))| {
            let in_bytes = limit.is_u64();
            let is_ample = limit.as_str().is_none_or(|limit| limit.len() > "9pkt".len());
            let mut keys = vec![(
                "buffer",
                match sharing {
                    None => limit,
                    Some(name @ "shared") => {
                        json!({ "name": name, "total": total, "limit": limit })
                    }
                    Some(name) => json!({ "name": name, "total": total, "alpha": alpha }),
                },
            )];
            if in_cells && in_bytes {
                keys.push(("buffer_cell", json!(CELL)));
            }
            keys.extend(counts_in_service.map(|it| ("buffer_counts_in_service", json!(it))));
            // A threshold as a share of the buffer needs a buffer of a few packets per port,
            // because a threshold below one packet admits no packet.
            let fits = |queue: &Value| {
                !queue.to_string().contains('%') || (sharing != Some("dynamic") && is_ample)
            };
            keys.extend(queue.filter(fits).map(|queue| ("queue", queue)));
            keys
        })
        .boxed()
}

/// A common cell size, bytes.
const CELL: u64 = 208;

fn loss() -> impl Strategy<Value = Value> {
    (0.0..0.2, any::<bool>())
        .prop_map(|(p, data_only)| json!({ "name": "bernoulli", "p": p, "data_only": data_only }))
}

/// Thresholds in bytes are at least the size of a packet, because packets above a threshold would
/// never be admitted.
fn others(packet: u64) -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({ "name": "ecn-threshold", "threshold": "2pkt" }),
        json!({ "name": "ecn-threshold", "threshold": 2 * packet, "counts_arriving": true,
                "drop_non_ect": true }),
        json!({ "name": "red" }),
        json!({ "name": "red", "min_th": "10%", "max_th": "60%", "weight": 0.5, "ecn": true }),
        json!({ "name": "wred", "weight": 1, "gentle": false, "classes": [{ "control": true }] }),
        json!({ "name": "label-threshold", "threshold": "2pkt" }),
        json!({ "name": "label-threshold", "threshold": "70%", "control": true }),
        json!({ "name": "push-out" }),
        json!({ "name": "push-out", "victim": "newest", "control": true }),
        json!({ "name": "rapid" }),
        json!({ "name": "rapid", "early": true, "threshold": "2pkt" }),
        json!({ "name": "codel" }),
        json!({ "name": "codel", "target": "5us", "interval": "50us", "ecn": true }),
        json!({ "name": "segregation", "by": "variation", "burst_limit": "2pkt" }),
        json!({ "name": "segregation", "train": 5, "gaps": 1, "first": "burst",
                "burst_limit": 4 * packet }),
        json!({ "name": "priority", "classes": [{ "retransmissions": true }, { "control": true }] }),
    ])
}

/// Reordering on links.
pub fn reorder() -> impl Strategy<Value = Value> {
    let links = prop::sample::select(vec!["all", "client", "servers"]);
    (0.0..0.3, 0_u64..300, links).prop_map(
        |(p, delay, links)| json!({ "p": p, "delay": format!("{delay}us"), "links": links }),
    )
}
