//! Dynamic segment resizing: segments are small at first, but the window in bytes is the same.

use std::sync::{Arc, Mutex};

use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{Loss, run, scenario};

fn with(changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "buffer": "1MiB" },
        "workload": { "sru": 500_000 },
        "transport": { "mss": 1024, "initial_window": null, "remedies": ["resize"] },
    });
    crate::harness::lay(&mut document, changes);
    scenario(&document)
}

/// The increasing payload sizes of segments, in the order of their first use.
fn sizes(scenario: &Scenario) -> Vec<u16> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let look = Loss::of_nothing(0, true, move |packet| {
        let mut seen = record.lock().expect("nobody panicked");
        if packet.payload > seen.last().copied().unwrap_or(0) {
            seen.push(packet.payload);
        }
    });
    assert_eq!(run(scenario, vec![look]).row().status, "ok");
    seen.lock().expect("nobody panicked").clone()
}

#[test]
fn segments_double_from_50_bytes_to_the_mss() {
    assert_eq!(sizes(&with(&json!({}))), [50, 100, 200, 400, 800, 1024]);
    let half = json!({ "transport": { "remedies": [{ "name": "resize", "mss_dsr": 25 }] } });
    assert_eq!(sizes(&with(&half)), [25, 50, 100, 200, 400, 800, 1024]);
}

/// The connection is persistent. With `begins` = "block", every block begins with segments of 50
/// bytes, and with "connection" only the first block does.
#[test]
fn every_block_may_begin_small() {
    let smallest = |begins: &str| {
        let changes = json!({
            "workload": { "blocks": 4, "connections": "persistent" },
            "transport": {
                "receive_window": "20KiB",
                "remedies": [{ "name": "resize", "begins": begins }],
            },
        });
        // How many times the payload changed to 50 bytes, and the payload of the last segment.
        let seen = Arc::new(Mutex::new((0, 0)));
        let record = Arc::clone(&seen);
        let look = Loss::of_nothing(0, true, move |packet| {
            let (count, before) = &mut *record.lock().expect("nobody panicked");
            if packet.payload > 0 {
                *count += u32::from(packet.payload == 50 && *before != 50);
                *before = packet.payload;
            }
        });
        assert_eq!(run(&with(&changes), vec![look]).row().status, "ok");
        let (count, _) = *seen.lock().expect("nobody panicked");
        count
    };
    assert_eq!(smallest("connection"), 1);
    assert_eq!(smallest("block"), 4);
}

#[test]
fn a_loss_that_costs_large_segments_a_timeout_costs_small_ones_none() {
    // The segment that begins at byte 1000 is lost. Two large segments after it do not cause three
    // duplicate ACKs.
    let lose = |remedies: Value| {
        let changes = json!({
            "network": { "buffer": "1MiB" },
            "workload": { "sru": 10_000 },
            "transport": {
                "initial_window": null, "limited_transmit": false, "remedies": remedies,
            },
        });
        let loss = Loss::of_copies(0, 1, 1);
        run(&scenario(&changes), vec![loss]).row().timeouts
    };
    assert_eq!(lose(json!([])), 1);
    assert_eq!(lose(json!(["resize"])), 0);
}

#[test]
fn a_buffer_in_packets_is_refused() {
    let document = json!({
        "network": { "buffer": "40pkt" },
        "workload": { "servers": 2, "sru": "64KiB" },
        "transport": { "remedies": ["resize"] },
    });
    let error = Scenario::from_document(&document).expect_err("it only does harm").to_string();
    assert_eq!(
        error,
        "network.buffer: 40pkt does not work with the remedy \"resize\": small segments help where \
         a buffer is counted in bytes; write e.g. \"32KiB\""
    );
}

/// Algorithm 4 and ns-2 count segments. The first block ends with a window of n large segments. If
/// the window is kept in bytes, the second block begins with the same number of bytes in small
/// segments. If the window is kept in segments, the second block begins with n small segments.
#[test]
fn a_block_begins_with_the_number_of_segments_of_the_last_one_or_with_its_bytes() {
    let first_flight = |unit: &str| {
        let changes = json!({
            "workload": { "blocks": 2, "connections": "persistent", "sru": 40_000 },
            "transport": { "remedies": [{ "name": "resize", "unit": unit }] },
        });
        // Whether a large segment has been sent, and the number of small segments after it.
        let seen = Arc::new(Mutex::new((false, 0)));
        let record = Arc::clone(&seen);
        let look = Loss::of_nothing(0, true, move |packet| {
            let (was_large, small) = &mut *record.lock().expect("nobody panicked");
            *was_large |= packet.payload == 400;
            *small += u32::from(*was_large && packet.payload == 50);
        });
        assert_eq!(run(&with(&changes), vec![look]).row().status, "ok");
        let (_, small) = *seen.lock().expect("nobody panicked");
        small
    };
    let (bytes, segments) = (first_flight("bytes"), first_flight("segments"));
    assert_eq!(bytes, 800, "the whole SRU");
    assert!((20..200).contains(&segments), "{segments} small segments");
}

/// Half a second of the scenario of figure 4.11 in the thesis, a star with eight servers.
#[test]
fn auto_spares_timeouts_that_the_texts_parameters_do_not() {
    let timeouts = |resize: Value| {
        let document = json!({
            "profile": "ns2",
            "network": { "delay": "50us", "buffer": "32KiB" },
            "workload": {
                "servers": 8, "sru": "256KiB", "duration": "0.5s", "connections": "persistent",
                "request_jitter": "20us",
            },
            "transport": {
                "receive_window": "1000pkt", "rto_min": "200ms", "send_jitter": "8us",
                "remedies": [resize, "header-compression"],
            },
            "run": { "seeds": 1 },
        });
        let scenario = Scenario::from_document(&document).expect("a valid scenario");
        run(&scenario, vec![]).row().timeouts
    };
    let literal = |changes: Value| {
        let mut resize = json!({ "name": "resize", "unit": "bytes", "begins": "connection" });
        crate::harness::lay(&mut resize, &changes);
        timeouts(resize)
    };
    let text = literal(json!({}));
    let auto = literal(json!({ "mss_dsr": "auto", "cwnd_dsr": "auto" }));
    assert!(text >= 4 && 3 * auto <= text, "{auto} instead of {text}");
}

#[test]
fn auto_begins_with_two_and_a_half_headers() {
    let auto = json!({ "name": "resize", "mss_dsr": "auto", "cwnd_dsr": "auto" });
    let changes = json!({ "transport": { "remedies": [auto] } });
    assert_eq!(sizes(&with(&changes)), [100, 200, 400, 800, 1024]);
}
