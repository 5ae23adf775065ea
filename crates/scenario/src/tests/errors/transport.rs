//! Errors in a transport.

use serde_json::json;

use super::refused;

#[test]
fn pacing_has_gains() {
    refused(
        &[("transport.pacing", json!(1.2))],
        "transport.pacing: 1.2 is not accepted; \
         write true, false, or a table such as { gain = 1.2 }",
    );
    refused(
        &[("transport.pacing", json!({ "gain": 0.0 }))],
        "transport.pacing.gain: 0 is out of range; must be 0.001 to 1000000",
    );
}

#[test]
fn a_congestion_control_s_parameters_make_sense() {
    for (name, key, value, line) in [
        ("dctcp", "alpha", json!(1.5), "1.5 is out of range; must be 0 to 1"),
        ("dctcp", "floor", json!(0), "0 is out of range; must be 1 to 1000000000"),
        (
            "d2tcp",
            "greatest_urgency",
            json!(0.1),
            "0.1 is below least_urgency (0.5); write e.g. 2.0",
        ),
        (
            "d2tcp",
            "least_urgency",
            json!(0.0),
            "0 is out of range; must be above 0 and at most 1000000000",
        ),
        ("l2dct", "least_weight", json!(3.0), "3 exceeds greatest_weight (2.5); write less"),
        ("l2dct", "long", json!("100KB"), "100000 must be more than short (200000)"),
        ("tdctcp", "increase", json!(-0.5), "-0.5 is out of range; must be 0 to 1000000000"),
        ("tdctcp", "g", json!(0.0), "0 is out of range; must be above 0 and at most 1"),
        (
            "tcp-fitdc",
            "step",
            json!(0.0),
            "0 is out of range; must be above 0 and at most 1000000000",
        ),
        (
            "tcp-fitdc",
            "backlog",
            json!(-1.0),
            "-1 is out of range; must be above 0 and at most 1000000000",
        ),
        ("tcp-fitdc", "alpha", json!(1.5), "1.5 is out of range; must be 0 to 1"),
        ("swift", "target_ratio", json!(0.5), "0.5 is out of range; must be 1 to 1000000000"),
        ("swift", "max_decrease", json!(1.0), "1 is out of range; must be at least 0 and below 1"),
        ("swift", "base_target", json!("0s"), "must be longer than 0; write e.g. \"150us\""),
        (
            "bbr",
            "startup_gain",
            json!(1.0),
            "1 is out of range; must be above 1 and at most 1000000000",
        ),
        ("bbr", "probe_gain", json!(2.5), "2.5 is out of range; must be above 1 and below 2"),
        ("bbr", "full_rounds", json!(0), "0 is out of range; must be 1 to 1000000000"),
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
        ("reordering_divisor", "0 is out of range; must be 1 to 1000000000"),
        ("probe_rtts", "0 is out of range; must be 1 to 1000000000"),
    ] {
        refused(
            &[("transport.recovery", json!({ "name": "rack-tlp", key: 0 }))],
            &format!("transport.recovery.{key}: {line}"),
        );
    }
}

#[test]
fn a_burst_has_a_size() {
    refused(
        &[("transport.segmentation_offload", json!(0))],
        "transport.segmentation_offload: 0 is out of range; must be 1 to 4294967295 bytes, or \"off\"",
    );
    refused(
        &[("transport.receive_offload", json!({ "size": 0 }))],
        "transport.receive_offload.size: 0 is out of range; must be 1 to 4294967295 bytes",
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
         write e.g. \"ecn-threshold\", or leave the key out",
    );
    refused(
        &[dctcp.clone(), ("transport.ecn", json!("off"))],
        "transport.ecn: \"off\" excludes marks, which this congestion control needs; \
         write \"auto\" or \"on\"",
    );
    refused(
        &[dctcp, ("transport.congestion_control", json!({ "g": 0.0 }))],
        "transport.congestion_control.g: 0 is out of range; must be above 0 and at most 1",
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
        "transport.congestion_control.hystart.samples: 0 is out of range; must be 1 to \
         1000000000",
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
        refused(&zero, &format!("transport.{key}: must be longer than 0; write e.g. \"1s\""));
    }
    refused(
        &[("transport.rto_min", json!("0s")), ("transport.rto_granularity", json!("0s"))],
        "transport.rto_min: must be longer than 0 if rto_granularity is 0; write e.g. \"200us\"",
    );
    refused(
        &[("profile", json!("ns2")), ("transport.rto_granularity", json!("0s"))],
        "transport.rto_granularity: must be more than 0 with rto_style = \"ns2\"; \
         write e.g. \"10us\"",
    );
    refused(
        &[("transport.timer_tick", json!("10000s"))],
        "transport.timer_tick: must be at most 1 s, as no kernel has longer ticks",
    );
    refused(
        &[("transport.rto_jitter", json!(-0.5))],
        "transport.rto_jitter: -0.5 is out of range; must be 0 to 1000000000",
    );
    refused(
        &[("transport.timestamps", json!(true)), ("transport.timestamp_granularity", json!("0s"))],
        "transport.timestamp_granularity: must be longer than 0; write e.g. \"1ms\"",
    );
    refused(
        &[("transport.dupack_threshold", json!(0))],
        "transport.dupack_threshold: 0 is out of range; must be 1 to 1000000000",
    );
    refused(
        &[("transport.delayed_ack.segments", json!(0))],
        "transport.delayed_ack.segments: 0 is out of range; must be 1 to 1000000000",
    );
    refused(
        &[("transport.receive_window", json!("4GiB"))],
        "transport.receive_window: 4294967296 bytes are out of range; \
         write segments, e.g. 10, or \"1B\" to \"4294967295B\"",
    );
    refused(
        &[("transport.initial_window", json!(0))],
        "transport.initial_window: 0 bytes are out of range; \
         write segments, e.g. 10, or \"1B\" to \"4294967295B\"",
    );
}
