//! Errors have one line with the key, the given value and the accepted values.

mod bounds;
mod deciding;
mod network;
mod transport;
mod void;

use serde_json::{Value, json};

use super::super::entries;
use super::{Scenario, plan, refusal};

#[track_caller]
fn refused(keys: &[(&str, Value)], line: &str) {
    assert_eq!(refusal(keys), line);
}

#[test]
fn unknown_keys_name_the_nearest_valid_one_at_any_depth() {
    refused(
        &[("titel", json!("x"))],
        "titel: unknown key; did you mean \"title\"? \
        accepted: title, profile, network, workload, transport, background, run",
    );
    // The given key has the letters of the valid key in another order.
    refused(
        &[("transport.minrto", json!("1ms"))],
        "transport.minrto: unknown key; did you mean \"rto_min\"?",
    );
    refused(&[("network.bufer", json!(1))], "network.bufer: unknown key; did you mean \"buffer\"?");
    refused(
        &[("workload.severs", json!(1))],
        "workload.severs: unknown key; did you mean \"servers\"?",
    );
    refused(
        &[("transport.recovery.carefull", json!(true))],
        "transport.recovery.carefull: unknown key; did you mean \"careful\"? \
         accepted: careful, impatient, exit, restart_timer_on_entry, \
         reduce_from, partial_acks, counts_reports",
    );
    refused(
        &[("network.queue", json!({ "name": "drop-tail", "limit": 3 }))],
        "network.queue.limit: unknown key; \"drop-tail\" takes no parameters",
    );
    refused(
        &[("transport.delayed_ack.segment", json!(2))],
        "transport.delayed_ack.segment: unknown key; did you mean \"segments\"? \
         accepted: segments, timeout, quickack, pingpong, below_rto_min",
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "transport": { "msss": 9000 } }]))],
        "background.0.transport.msss: unknown key; did you mean \"mss\"?",
    );
    // The words may come in any order.
    for (given, meant) in
        [("minrto", "rto_min"), ("min_rto", "rto_min"), ("window_receive", "receive_window")]
    {
        refused(
            &[(&format!("transport.{given}"), json!(1))],
            &format!("transport.{given}: unknown key; did you mean {meant:?}?"),
        );
    }
    refused(&[("run.zzz", json!(1))], "run.zzz: unknown key; accepted: seeds, time_limit");
}

#[test]
fn a_key_in_the_wrong_table_is_sent_to_the_right_one() {
    refused(
        &[("network.rto_min", json!("1ms"))],
        "network.rto_min: unknown key here; it belongs in [transport]",
    );
    refused(&[("mss", json!(1460))], "mss: unknown key here; it belongs in [transport]");
    refused(
        &[("background", json!([{ "name": "poisson-flows", "rate": "1Gbps" }]))],
        "background.0.rate: unknown key; \
         accepted: group, interval, size, from, at, to, start, transport; \
         [network] has a key of that name",
    );
    refused(
        &[("network.queue", json!({ "name": "drop-tail", "mss": 3 }))],
        "network.queue.mss: unknown key here; it belongs in [transport]",
    );
}

#[test]
fn wrong_units_say_what_to_write() {
    refused(
        &[("transport.rto_min", json!("5 parsecs"))],
        "transport.rto_min: \"5 parsecs\" is not a time; write e.g. \"100us\", \"1ms\", \"0.2s\"",
    );
    refused(
        &[("transport.rto_min", json!(200))],
        "transport.rto_min: 200 is not a time: the unit is missing; \
         write e.g. \"100us\", \"1ms\", \"0.2s\"",
    );
    refused(
        &[("network.rate", json!("1GBps"))],
        "network.rate: \"1GBps\" is not a rate: B is for bytes, rates are in bits (b) per second; \
         write e.g. \"1Gbps\", \"10Gb/s\", \"100Mbit/s\", \"10gbit\"",
    );
    // The error also names a key below a table that is identified by its name.
    refused(
        &[("workload.request_jitter", json!("20uz"))],
        "workload.request_jitter: \"20uz\" is not a time; \
         write e.g. \"100us\", \"1ms\", \"0.2s\"",
    );
    refused(
        &[(
            "background",
            json!([{ "name": "cbr", "rate": "1Mbps" }, { "name": "cbr", "rate": 5 }]),
        )],
        "background.1.rate: 5 is not a rate: the unit is missing; \
         write e.g. \"1Gbps\", \"10Gb/s\", \"100Mbit/s\", \"10gbit\"",
    );
    refused(
        &[("transport.initial_window", json!("rfc1"))],
        "transport.initial_window: \"rfc1\" is not a window; \
         write e.g. 2, \"100seg\", \"64KiB\" (65536 bytes), or \"rfc5681\", \"rfc6928\"",
    );
}

#[test]
fn wrong_types_say_what_to_write() {
    refused(
        &[("workload.servers", json!("many"))],
        "workload.servers: \"many\" is not accepted; write a whole number from 0 to 1000000000",
    );
    refused(
        &[("workload.servers", json!(2.5))],
        "workload.servers: 2.5 is not accepted; write a whole number from 0 to 1000000000",
    );
    refused(
        &[("transport.limited_transmit", json!("yes"))],
        "transport.limited_transmit: \"yes\" is not accepted; write true or false",
    );
    refused(
        &[("transport.idle_restart", json!(5681))],
        "transport.idle_restart: 5681 is not accepted; write a name in quotes",
    );
    refused(
        &[("workload.servers", json!([2, 4]))],
        "workload.servers: [2,4] is not accepted; write a whole number from 0 to 1000000000; \
         several values belong under [sweep], or in --set sweep.KEY=[…]",
    );
    refused(
        &[("network", json!("1Gbps"))],
        "network: \"1Gbps\" is not a table; write e.g. { rate = \"1Gbps\" }",
    );
    refused(
        &[("background", json!("cbr"))],
        "background: \"cbr\" is not a list of tables; \
         write e.g. [{ name = \"cbr\", rate = \"1Mbps\" }]",
    );
    refused(
        &[("sweep", json!({ "transport.remedies": ["fine-rto"] }))],
        "transport.remedies: \"fine-rto\" is not accepted; write a list, or, in a sweep, a list of \
         lists: [[…], […]]",
    );
    refused(
        &[("run.seeds", json!("all"))],
        "run.seeds: \"all\" is not accepted; write a number of seeds, or a list of seeds",
    );
    refused(
        &[("transport.delayed_ack", json!(3))],
        "transport.delayed_ack: 3 is not accepted; \
         write true, false, or a table such as { segments = 2, timeout = \"40ms\" }",
    );
    let error = Scenario::from_document(&json!(7)).unwrap_err();
    assert_eq!(error.to_string(), "scenario: 7 is not a table of keys");
}

#[test]
fn unknown_names_list_the_valid_ones() {
    let accepted = |kind| -> String {
        let names: Vec<_> = entries(kind).unwrap().into_iter().map(|entry| entry.name).collect();
        format!("accepted: {}", names.join(", "))
    };
    for (key, place, wrong, meant, kind) in [
        ("profile", "profile", "ns-2", "ns2", "profiles"),
        ("network.topology", "network.topology.name", "stars", "star", "topologies"),
        ("network.queue", "network.queue.name", "droptail", "drop-tail", "queues"),
        ("transport.name", "transport.name", "newrenno", "newreno", "transports"),
        (
            "transport.congestion_control",
            "transport.congestion_control.name",
            "rreno",
            "reno",
            "congestion-controls",
        ),
        ("transport.recovery", "transport.recovery.name", "newrenno", "newreno", "recoveries"),
        ("workload.name", "workload.name", "barier-read", "barrier-read", "workloads"),
    ] {
        let accepted = accepted(kind);
        refused(
            &[(key, json!(wrong))],
            &format!("{place}: \"{wrong}\" is unknown; did you mean \"{meant}\"? {accepted}"),
        );
    }
    refused(
        &[("transport.name", json!("quic"))],
        &format!("transport.name: \"quic\" is unknown; {}", accepted("transports")),
    );
    refused(
        &[("background", json!([{ "name": "cbrr", "rate": "1Mbps" }]))],
        &format!(
            "background.0.name: \"cbrr\" is unknown; did you mean \"cbr\"? {}",
            accepted("workloads")
        ),
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "transport": "newrenno" }]))],
        &format!(
            "background.0.transport.name: \"newrenno\" is unknown; did you mean \"newreno\"? {}",
            accepted("transports")
        ),
    );
    refused(
        &[("background", json!([{ "rate": "1Mbps" }]))],
        "background.0.name: missing; it has no default",
    );
}

#[test]
fn a_workload_must_read_something() {
    refused(
        &[("workload.servers", json!(0))],
        "workload.servers: 0 is out of range; must be 1 to 1000000",
    );
    refused(&[("workload.sru", json!("0B"))], "workload.sru: must be at least 1 byte");
    refused(
        &[("workload", json!({ "servers": 8, "block": 7 }))],
        "workload.block: 7 bytes leave less than 1 byte to each of 8 servers; must be at least 8",
    );
    refused(
        &[("workload.blocks", json!(0))],
        "workload.blocks: 0 is out of range; must be 1 to 1000000000",
    );
    refused(
        &[("workload.duration", json!("0s"))],
        "workload.duration: must be longer than 0; write e.g. \"20s\"",
    );
    refused(
        &[("workload", json!({ "servers": 8 }))],
        "workload.sru: missing; give it or block, e.g. \"64KiB\"",
    );
    refused(&[("workload", json!({ "sru": 8 }))], "workload.servers: missing; it has no default");
    refused(
        &[("workload.request_size", json!("64KiB"))],
        "workload.request_size: a request is one packet; must be 0 to 65535 bytes",
    );
}

#[test]
fn one_of_two_exclusive_keys() {
    refused(
        &[("workload.block", json!("1MiB"))],
        "workload.block: excludes sru; give one of the two",
    );
    refused(
        &[("workload.blocks", json!(2)), ("workload.duration", json!("1s"))],
        "workload.duration: excludes blocks; give one of the two",
    );
    refused(
        &[("network.delay", json!("1us")), ("network.base_rtt", json!("100us"))],
        "network.base_rtt: excludes network.delay; give one of the two",
    );
}

#[test]
fn a_run_has_seeds_and_time() {
    refused(&[("run.seeds", json!(0))], "run.seeds: 0 is out of range; must be 1 to 1000000");
    refused(
        &[("run.seeds", json!([]))],
        "run.seeds: must not be empty; write e.g. 20 for the seeds 1 to 20",
    );
    refused(&[("run.seeds", json!([3, 4, 3]))], "run.seeds: seed 3 is in the list twice");
    refused(
        &[("run.seeds", json!([1, 1_u64 << 63]))],
        "run.seeds: seed 9223372036854775808 is too large; write at most 9223372036854775807",
    );
    refused(
        &[("run.seeds", json!(2_000_000))],
        "run.seeds: 2000000 seeds are too many; write at most 1000000",
    );
    refused(
        &[("run.time_limit", json!("0s"))],
        "run.time_limit: must be longer than 0; write e.g. \"1000s\"",
    );
}

#[test]
fn a_sweep_has_points() {
    refused(
        &[("sweep", json!({ "workload.servers": [] }))],
        "sweep.workload.servers: an empty list leaves zero points; write e.g. [2, 4, 8]",
    );
    refused(
        &[("sweep", json!({ "workload.servers": 3 }))],
        "sweep.workload.servers: 3 is not a list; write e.g. [3]",
    );
    refused(
        &[("sweep", json!([1]))],
        "sweep: [1] is not a table; write e.g. \"workload.servers\" = [2, 4, 8]",
    );
    refused(
        &[("sweep", json!({ "zip": [{}] }))],
        "sweep.zip.0: has no key to sweep, hence zero points; pair two keys",
    );
    refused(
        &[("sweep", json!({ "zip": [{ "workload.servers": [1, 2], "workload.sru": [1] }] }))],
        "sweep.zip.0.workload.sru: 1 values, but 2 for workload.servers; \
         paired lists are equally long",
    );
    let twice = json!({ "workload.servers": [1], "zip": [{ "workload.servers": [2] }] });
    refused(
        &[("sweep", twice)],
        "sweep.workload.servers: swept twice; \
         a key is either crossed or paired in one [[sweep.zip]]",
    );
    refused(
        &[("sweep", json!({ "run.seeds": [1, 2] }))],
        "sweep.run.seeds: seeds are not swept: every point runs with each of them",
    );
    refused(
        &[("sweep", json!({ "background.0.rate": ["1Mbps"] }))],
        "background.0.rate: there is no entry 0 (0 is the first) in a list of 0",
    );
}

#[test]
fn an_error_at_a_swept_point_names_its_key() {
    let mut document = super::with(&[]);
    document["sweep"] = json!({ "workload.servers": [4, 0] });
    let error = plan(&document).unwrap_err();
    assert_eq!(error.key, "workload.servers");
    assert_eq!(error.message, "0 is out of range; must be 1 to 1000000");
}
