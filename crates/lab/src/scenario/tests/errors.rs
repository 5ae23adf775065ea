//! One line each: the key, what was given, what would be accepted.

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
    refused(&[("network.bufer", json!(1))], "network.bufer: unknown key; did you mean \"buffer\"?");
    refused(
        &[("workload.severs", json!(1))],
        "workload.severs: unknown key; did you mean \"servers\"?",
    );
    refused(
        &[("transport.recovery.carefull", json!(true))],
        "transport.recovery.carefull: unknown key; did you mean \"careful\"? \
         accepted: careful, impatient, exit, restart_timer_on_entry, \
         reduce_from",
    );
    refused(
        &[("network.queue", json!({ "name": "drop-tail", "limit": 3 }))],
        "network.queue.limit: unknown key; no key is accepted here",
    );
    refused(
        &[("transport.delayed_ack.segment", json!(2))],
        "transport.delayed_ack.segment: unknown key; did you mean \"segments\"? \
         accepted: segments, timeout, quickack",
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "transport": { "msss": 9000 } }]))],
        "background.0.transport.msss: unknown key; did you mean \"mss\"?",
    );
    refused(&[("run.zzz", json!(1))], "run.zzz: unknown key; accepted: seeds, time_limit");
}

#[test]
fn a_key_in_the_wrong_table_is_sent_to_the_right_one() {
    refused(
        &[("network.rto_min", json!("1ms"))],
        "network.rto_min: unknown key here; it belongs in [transport]",
    );
    refused(&[("mss", json!(1460))], "mss: unknown key here; it belongs in [transport]");
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
    // Below a table that is told apart by its name, too.
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
        "workload.servers: \"many\" is not accepted; write a whole number from 0 to 4294967295",
    );
    refused(
        &[("workload.servers", json!(2.5))],
        "workload.servers: 2.5 is not accepted; write a whole number from 0 to 4294967295",
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
        "workload.servers: [2,4] is not accepted; write a whole number from 0 to 4294967295; \
         several values belong under [sweep], or in --set sweep.KEY=[…]",
    );
    refused(&[("network", json!("1Gbps"))], "network: \"1Gbps\" is not accepted; write a table");
    refused(&[("background", json!("cbr"))], "background: \"cbr\" is not accepted; write a list");
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
            accepted("backgrounds")
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
fn pacing_has_gains() {
    refused(
        &[("transport.pacing", json!(1.2))],
        "transport.pacing: 1.2 is not accepted; \
         write true, false, or a table such as { gain = 1.2 }",
    );
    refused(
        &[("transport.pacing", json!({ "gain": 0.0 }))],
        "transport.pacing.gain: 0 is no gain; write 0.001 to 1000000, e.g. 1.2",
    );
}

#[test]
fn a_congestion_control_s_parameters_make_sense() {
    for (name, key, value, line) in [
        ("dctcp", "alpha", json!(1.5), "1.5 is no fraction; write 0 to 1"),
        ("dctcp", "floor", json!(0), "0 segments are no window; write 1 or more"),
        (
            "d2tcp",
            "greatest_urgency",
            json!(0.1),
            "0.1 is below least_urgency (0.5); write e.g. 2.0",
        ),
        ("d2tcp", "least_urgency", json!(0.0), "0 is no exponent; write more than 0, e.g. 0.5"),
        ("l2dct", "least_weight", json!(3.0), "3 exceeds greatest_weight (2.5); write less"),
        ("l2dct", "long", json!("100KB"), "100000 is not beyond short (200000); write more"),
        ("tdctcp", "increase", json!(-0.5), "-0.5 is no growth; write 0 or more, e.g. 1.0"),
        ("tdctcp", "g", json!(0.0), "0 is no weight; write more than 0 and at most 1, e.g. 0.0625"),
        ("tcp-fitdc", "step", json!(0.0), "0 lets no window grow; write e.g. 2.0"),
        ("tcp-fitdc", "backlog", json!(-1.0), "-1 lets no window grow; write e.g. 4.0"),
        ("tcp-fitdc", "alpha", json!(1.5), "1.5 is no fraction; write 0 to 1"),
        ("swift", "target_ratio", json!(0.5), "0.5 makes no sense; write 1 or more, e.g. 1.5"),
        ("swift", "max_decrease", json!(1.0), "1 makes no sense; write 0 to less than 1, e.g. 0.5"),
        ("swift", "base_target", json!("0s"), "0 is no round trip; write e.g. \"150us\""),
        ("bbr", "startup_gain", json!(1.0), "1 makes no sense; write more than 1"),
        (
            "bbr",
            "probe_gain",
            json!(2.5),
            "2.5 makes no sense; write more than 1 and less than 2, e.g. 1.25",
        ),
        ("bbr", "full_rounds", json!(0), "0 makes no sense; write 1 or more, e.g. 3"),
    ] {
        let part = json!({ "name": name, key: value });
        refused(
            &[("transport.congestion_control", part)],
            &format!("transport.congestion_control.{key}: {line}"),
        );
    }
}

#[test]
fn a_recovery_s_parameters_make_sense() {
    for (key, line) in [
        ("reordering_divisor", "0 divides nothing; write e.g. 4"),
        ("probe_rtts", "0 round trips are no timeout; write e.g. 2"),
    ] {
        refused(
            &[("transport.recovery", json!({ "name": "rack-tlp", key: 0 }))],
            &format!("transport.recovery.{key}: {line}"),
        );
    }
}

#[test]
fn a_buffer_that_follows_from_the_flows_needs_their_windows() {
    refused(
        &[("network.buffer", json!({ "name": "auto", "window": 0 }))],
        "network.buffer.window: 0 is no window, and leaves no buffer; write e.g. \"64KiB\" or 10",
    );
    refused(
        &[("network.buffer", json!("auto")), ("network.buffer_cell", json!("208B"))],
        "network.buffer_cell: a buffer in packets has no bytes to count; \
         write network.buffer in bytes, e.g. \"100KiB\"",
    );
    refused(
        &[("network.buffer", json!("automatic"))],
        "network.buffer: \"automatic\" is not a size of a queue; write e.g. \"40pkt\", \
         \"100KiB\" (102400), \"100KB\" (100000), 102400, or \"auto\"",
    );
}

#[test]
fn a_burst_has_a_size() {
    refused(
        &[("transport.segmentation_offload", json!(0))],
        "transport.segmentation_offload: 0 is out of range; write 1 to 4294967295 bytes, or \"off\"",
    );
    refused(
        &[("transport.receive_offload", json!({ "size": 0 }))],
        "transport.receive_offload.size: 0 is out of range; write 1 to 4294967295 bytes",
    );
    refused(
        &[("transport.receive_offload", json!("20us"))],
        "transport.receive_offload: \"20us\" is not accepted; write true, false, or a table \
         such as { size = \"64KiB\", timeout = \"20us\" }",
    );
}

#[test]
fn counting_marks_takes_marks() {
    let dctcp = ("transport.name", json!("dctcp"));
    refused(
        &[dctcp.clone(), ("network.queue", json!("drop-tail"))],
        "network.queue: \"drop-tail\" never marks, and the transport \"dctcp\" counts marks; \
         write e.g. \"ecn-threshold\", or nothing",
    );
    refused(
        &[dctcp.clone(), ("transport.ecn", json!("off"))],
        "transport.ecn: \"off\" leaves this congestion control without marks; \
         write \"auto\" or \"on\"",
    );
    refused(
        &[dctcp, ("transport.congestion_control", json!({ "g": 0.0 }))],
        "transport.congestion_control.g: 0 is no weight; \
         write more than 0 and at most 1, e.g. 0.0625",
    );
}

#[test]
fn the_end_of_slow_start_is_a_name_or_a_table() {
    let hystart = |value| ("transport.congestion_control.hystart", value);
    refused(
        &[hystart(json!("linnux"))],
        "transport.congestion_control.hystart: \"linnux\" is unknown; \
         did you mean \"linux\"? accepted: off, rfc9406, linux",
    );
    refused(
        &[hystart(json!(4))],
        "transport.congestion_control.hystart: 4 is not accepted; \
         write off, rfc9406 or linux, or a table such as { name = \"rfc9406\" }",
    );
    refused(
        &[hystart(json!({ "name": "rfc9406", "samples": 0 }))],
        "transport.congestion_control.hystart.samples: 0 is too few; write 1 or more",
    );
}

#[test]
fn a_workload_must_read_something() {
    refused(
        &[("workload.servers", json!(0))],
        "workload.servers: 0 is not a number of servers; write 1 or more",
    );
    refused(
        &[("workload.sru", json!("0B"))],
        "workload.sru: 0 bytes are nothing to read; write 1 or more",
    );
    refused(
        &[("workload", json!({ "servers": 8, "block": 7 }))],
        "workload.block: 7 bytes leave less than 1 byte to each of 8 servers; write 8 or more",
    );
    refused(
        &[("workload.blocks", json!(0))],
        "workload.blocks: 0 blocks are nothing to read; write 1 or more",
    );
    refused(
        &[("workload.duration", json!("0s"))],
        "workload.duration: 0 is no time to read; write e.g. \"20s\"",
    );
    refused(
        &[("workload", json!({ "servers": 8 }))],
        "workload.sru: missing; give it or workload.block, e.g. \"64KiB\"",
    );
    refused(&[("workload", json!({ "sru": 8 }))], "workload.servers: missing; it has no default");
    refused(
        &[("workload.request_size", json!("64KiB"))],
        "workload.request_size: a request is one packet; write 0 to 65535 bytes",
    );
}

#[test]
fn one_of_two_exclusive_keys() {
    refused(
        &[("workload.block", json!("1MiB"))],
        "workload.block: excludes workload.sru; give one of the two",
    );
    refused(
        &[("workload.blocks", json!(2)), ("workload.duration", json!("1s"))],
        "workload.duration: excludes workload.blocks; give one of the two",
    );
    refused(
        &[("network.delay", json!("1us")), ("network.base_rtt", json!("100us"))],
        "network.base_rtt: excludes network.delay; give one of the two",
    );
}

#[test]
fn a_buffer_holds_at_least_one_packet() {
    refused(
        &[("network.buffer", json!(1499))],
        "network.buffer: 1499B do not hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    refused(
        &[("network.buffer", json!("0pkt"))],
        "network.buffer: 0pkt do not hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    super::load(&[("network.buffer", json!(1500))]);
    super::load(&[("network.buffer", json!("1pkt"))]);
}

#[test]
fn a_discipline_s_parameters_make_sense() {
    refused(
        &[("network.queue", json!({ "name": "bernoulli", "p": 1.5 }))],
        "network.queue.p: 1.5 is not a probability; write 0 to 1, e.g. 0.01",
    );
    refused(
        &[("network.queue", json!({ "name": "red", "max_th": "2pkt" }))],
        "network.queue.max_th: 2pkt is less than min_th, 5pkt; write at least that",
    );
    refused(
        &[("network.queue", json!({ "name": "ecn-threshold", "threshold": 0.7 }))],
        "network.queue.threshold: 0.7 is not a length of a queue: a share of the buffer is written \
         \"70%\"; write e.g. \"20pkt\", \"30KB\" (30000), 30000, or \"70%\" of the buffer",
    );
    refused(
        &[("network.queue", json!({ "name": "codel", "target": "1s" }))],
        "network.queue.target: exceeds interval; write 5 to 10 % of it, e.g. \"50us\"",
    );
}

#[test]
fn a_shared_buffer_says_what_is_shared() {
    let buffer = |table: Value| [("network.buffer", table)];
    refused(
        &buffer(json!({ "name": "dinamic", "total": "4MB" })),
        "network.buffer.name: \"dinamic\" is unknown; did you mean \"dynamic\"? \
         accepted: static, auto, shared, dynamic",
    );
    refused(
        &buffer(json!({ "name": "dynamic" })),
        "network.buffer.total: missing; it has no default",
    );
    refused(
        &buffer(json!({ "name": "dynamic", "total": "4MB", "alpha": 0 })),
        "network.buffer.alpha: \"0\" is not a ratio above 0 for a threshold; \
         write e.g. 1, 0.5, \"1/8\" or \"2^-3\"",
    );
    refused(
        &buffer(json!({ "name": "shared", "total": "4MB", "limit": "5MB" })),
        "network.buffer.limit: 5000000B exceeds total, 4000000B; write less",
    );
    refused(
        &buffer(json!({ "name": "dynamic", "total": "4MB", "limit": "1MB" })),
        "network.buffer.limit: unknown key; accepted: total, alpha",
    );
    refused(
        &buffer(json!({ "name": "dynamic", "total": 1000 })),
        "network.buffer: 1000B do not hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    let dynamic = json!({ "name": "dynamic", "total": "4MB" });
    refused(
        &[("network.buffer", dynamic), ("network.queue", json!("label-threshold"))],
        "network.queue.threshold: 70% of what? the ports share a buffer without limits of their \
         own; write bytes or packets, e.g. \"70KiB\"",
    );
}

#[test]
fn cells_are_bytes_of_a_buffer_in_bytes() {
    refused(
        &[("network.buffer_cell", json!(0))],
        "network.buffer_cell: 0 is out of range; write 1 to 65535 bytes",
    );
    refused(
        &[("network.buffer_cell", json!("208B")), ("network.buffer", json!("40pkt"))],
        "network.buffer_cell: a buffer in packets has no bytes to count; \
         write network.buffer in bytes, e.g. \"100KiB\"",
    );
    refused(
        &[("network.buffer_cell", json!("208B")), ("network.buffer", json!("1500B"))],
        "network.buffer: 1500B do not hold one full packet, which occupies 1664 bytes; \
         write at least that",
    );
}

#[test]
fn links_reorder_with_a_probability() {
    refused(
        &[("network.reorder", json!({ "p": 2, "delay": "1ms" }))],
        "network.reorder.p: 2 is not a probability; write 0 to 1, e.g. 0.01",
    );
    refused(
        &[("network.reorder", json!({ "p": 0.1 }))],
        "network.reorder.delay: missing; it has no default",
    );
    refused(
        &[("network.reorder", json!({ "p": 0.1, "delay": "1ms", "links": "some" }))],
        "network.reorder.links: \"some\" is unknown; accepted: all, client, servers, core",
    );
}

#[test]
fn links_need_a_rate_and_packets_a_size() {
    refused(
        &[("network.rate", json!("0Gbps"))],
        "network.rate: a link needs a rate above 0, e.g. \"1Gbps\"",
    );
    refused(
        &[("network.server_rate", json!("0bps"))],
        "network.server_rate: a link needs a rate above 0, e.g. \"1Gbps\"",
    );
    refused(
        &[("network.layer2_overhead", json!("4GiB"))],
        "network.layer2_overhead: 4294967296 bytes are too many; write less than 4GiB",
    );
    refused(
        &[("transport.mss", json!("64KiB"))],
        "transport.mss: 65536 is out of range; write 1 to 65535 bytes",
    );
    refused(
        &[("transport.ack_size", json!(0))],
        "transport.ack_size: 0 is out of range; write 1 to 255 bytes",
    );
    refused(
        &[("background", json!([{ "name": "cbr", "rate": "1Mbps", "packet_size": 0 }]))],
        "background.0.packet_size: 0 is out of range; write 1 to 65535 bytes",
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "count": 0 }]))],
        "background.0.count: 0 is not a number of hosts; write 1 or more",
    );
}

#[test]
fn timers_and_windows_make_sense() {
    refused(
        &[("transport.rto_min", json!("61s"))],
        "transport.rto_min: exceeds rto_max; write less, or raise rto_max",
    );
    for key in ["rto_max", "rto_initial", "syn_rto", "rto_after_syn_loss"] {
        let zero =
            [(&*format!("transport.{key}"), json!("0s")), ("transport.rto_min", json!("0s"))];
        refused(&zero, &format!("transport.{key}: 0 is no timeout; write e.g. \"1s\""));
    }
    refused(
        &[("transport.rto_min", json!("0s")), ("transport.rto_granularity", json!("0s"))],
        "transport.rto_min: 0 is no timeout while rto_granularity is 0, too; write e.g. \"200us\"",
    );
    refused(
        &[("profile", json!("ns2")), ("transport.rto_granularity", json!("0s"))],
        "transport.rto_granularity: 0 is no tick to count samples in; \
         write e.g. \"10us\", or another rto_style",
    );
    refused(
        &[("transport.rto_jitter", json!(-0.5))],
        "transport.rto_jitter: -0.5 is not a ratio of at least 0; write e.g. 0.5",
    );
    refused(
        &[("transport.timestamps", json!(true)), ("transport.timestamp_granularity", json!("0s"))],
        "transport.timestamp_granularity: 0 is no tick; write e.g. \"1ms\"",
    );
    refused(
        &[("transport.dupack_threshold", json!(0))],
        "transport.dupack_threshold: 0 duplicate ACKs mean nothing; write 1 or more",
    );
    refused(
        &[("transport.delayed_ack.segments", json!(0))],
        "transport.delayed_ack.segments: 0 segments cannot be waited for; write 1 or more",
    );
    refused(
        &[("transport.receive_window", json!("4GiB"))],
        "transport.receive_window: 4294967296 is out of range; write 1 to 4294967295 bytes",
    );
    refused(
        &[("transport.initial_window", json!(0))],
        "transport.initial_window: 0 is out of range; write 1 to 4294967295 bytes",
    );
}

#[test]
fn a_run_has_seeds_and_time() {
    let no_seed = "run.seeds: no seed, no run; write e.g. 20 for the seeds 1 to 20";
    refused(&[("run.seeds", json!(0))], no_seed);
    refused(&[("run.seeds", json!([]))], no_seed);
    refused(&[("run.seeds", json!([3, 4, 3]))], "run.seeds: seed 3 stands in the list twice");
    refused(&[("run.seeds", json!(2_000_000))], "run.seeds: 2000000 seeds are more than 1000000");
    refused(
        &[("run.time_limit", json!("0s"))],
        "run.time_limit: 0 is no time to run; write e.g. \"1000s\"",
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
        "sweep.zip.0: no key to sweep, hence zero points; pair two keys",
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
    assert_eq!(error.message, "0 is not a number of servers; write 1 or more");
}
