//! Connections are open only while they are needed.

use incast_host::EndId;
use serde_json::{Value, json};

use crate::harness::{Outcome, run, scenario};

fn outcome(changes: &Value) -> Outcome {
    run(&scenario(changes), Vec::new())
}

fn shuffle(spread: &str, rounds: u32) -> Value {
    json!({
        "network": { "clients": 30, "buffer": "4KB" },
        "workload": {
            "name": "all-to-all",
            "servers": null,
            "sru": null,
            "message": "10KB",
            "start_spread": spread,
            "rounds": rounds,
        },
    })
}

const FLOWS: usize = 30 * 29;

#[test]
fn messages_one_after_the_other_need_few_connections() {
    let outcome = outcome(&shuffle("10s", 1));
    let row = outcome.row();
    assert_eq!((row.status, row.bytes), ("ok", FLOWS as u64 * 10_000));
    assert!(row.packets_sent >= FLOWS as u64 * 7, "those of freed connections count");
    let open = outcome.core.hosts.most_open();
    assert!(open < FLOWS / 4, "{open} connections");
}

#[test]
fn connections_with_losses_are_freed_as_well() {
    let outcome = outcome(&shuffle("100ms", 1));
    assert!(outcome.row().drops > 0);
    let hosts = &outcome.core.hosts;
    let gone = (0..FLOWS as u32).filter(|flow| hosts.connection(EndId::server(*flow)).is_none());
    assert!(gone.count() > FLOWS / 2);
}

#[test]
fn connections_for_another_round_stay_open() {
    let outcome = outcome(&shuffle("1s", 2));
    assert_eq!(outcome.row().blocks, 2);
    assert_eq!(outcome.core.hosts.most_open(), FLOWS);
}

#[test]
fn flows_between_many_pairs_have_a_connection_each_only_while_they_last() {
    let outcome = outcome(&json!({
        "network": { "clients": 20 },
        "workload": {
            "name": "empirical-flows",
            "servers": 50,
            "sru": null,
            "sizes": [[5_000, 1]],
            "flows": 2000,
            "load": 0.2,
            "to": (0..20).collect::<Vec<_>>(),
        },
    }));
    assert_eq!((outcome.row().status, outcome.row().blocks), ("ok", 2000));
    assert!(outcome.row().packets_sent >= 2000 * 4);
    let open = outcome.core.hosts.most_open();
    assert!((1..300).contains(&open), "{open} of 1000 pairs");
}
