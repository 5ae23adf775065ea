//! ICTCP: windows that suit the link, and the number of senders at which even the smallest windows
//! overflow the buffer.

use std::sync::{Arc, Mutex};

use incast_host::EndId;
use serde_json::json;

use crate::harness::{Loss, MSS, run, scenario};

/// Bytes received by each of `servers` flows in 50 ms, and the last window of each, bytes.
fn shares(servers: u32) -> (Vec<u64>, Vec<u64>) {
    let changes = json!({
        "network": { "buffer": "40pkt" },
        "workload": { "servers": servers, "sru": "100MB" },
        "transport": { "name": "ictcp", "initial_window": 2 },
        "run": { "time_limit": "50ms" },
    });
    let windows = Arc::new(Mutex::new(vec![0; servers as usize]));
    let looks = (0..servers).map(|flow| {
        let windows = Arc::clone(&windows);
        Loss::of_nothing(flow, false, move |packet| {
            windows.lock().expect("nobody panicked")[flow as usize] = u64::from(packet.window);
        })
    });
    let outcome = run(&scenario(&changes), looks.collect());
    assert_eq!((outcome.row().drops, outcome.row().timeouts), (0, 0));
    let received =
        |flow| outcome.core.hosts.connection(EndId::client(flow)).expect("TCP").received().next();
    let received = (0..servers).map(received).collect();
    (received, windows.lock().expect("nobody panicked").clone())
}

#[test]
fn two_connections_share_fairly_and_their_windows_fit_the_link() {
    let (received, windows) = shares(2);
    let (less, more) = (received[0].min(received[1]) as f64, received[0].max(received[1]) as f64);
    assert!(less / more > 0.9, "{received:?}");
    // In 50 ms, a link of 1 Gb/s carries 6.25 MB.
    assert!(less + more > 0.85 * 6.25e6, "{received:?}");
    // The link carries 14.6 kB in a round trip of 117 us, and α leaves a tenth of this capacity
    // unused.
    let sum: u64 = windows.iter().sum();
    assert!((11..=18).contains(&(sum / MSS)), "{windows:?}");
}

#[test]
fn eight_connections_stay_near_the_floor() {
    let (received, windows) = shares(8);
    let total: u64 = received.iter().sum();
    assert!(total as f64 > 0.85 * 6.25e6, "{received:?}");
    assert!(windows.iter().all(|window| (2..=4).contains(&(window / MSS))), "{windows:?}");
}

/// From n = B/2 + 2 senders on, two segments from each sender overflow a buffer of B packets
/// ("about 20 for 40 packets" in the paper on connection serialisation, §5.1). ICTCP has no smaller
/// window.
#[test]
fn it_collapses_where_two_segments_each_overflow_the_buffer() {
    let drops = |servers: u64| {
        let changes = json!({
            "network": { "buffer": "40pkt" },
            "workload": { "servers": servers, "sru": 20 * MSS, "request_size": 1 },
            "transport": {
                "name": "ictcp", "initial_window": 2, "handshake": "none", "ack_size": 1,
            },
        });
        run(&scenario(&changes), vec![]).row().drops
    };
    assert_eq!(drops(16), 0);
    assert_eq!(drops(21), 0);
    assert!(drops(22) > 0);
}

/// If senders begin with three segments, 45 packets overflow a buffer of 40 packets. If they begin
/// with one segment, ICTCP still allows two segments, its smallest window.
#[test]
fn it_begins_with_the_senders_initial_window() {
    let drops = |remedy: serde_json::Value| {
        let changes = json!({
            "network": { "buffer": "40pkt" },
            "workload": { "servers": 15, "sru": 20 * MSS, "request_size": 1 },
            "transport": {
                "name": "newreno", "initial_window": 3, "handshake": "none", "ack_size": 1,
                "remedies": [remedy],
            },
        });
        run(&scenario(&changes), vec![]).row().drops
    };
    let begins =
        |first: serde_json::Value| drops(json!({ "name": "ictcp", "initial_window": first }));
    assert_eq!(begins(json!(2)), 0);
    assert!(begins(json!("auto")) > 0);
    assert_eq!(begins(json!("auto")), begins(json!(3)));
    assert_eq!(drops(json!("ictcp")), begins(json!("auto")));
}

/// With a common quota, the increases of all five windows together are limited to the link's
/// remaining capacity. If each window is compared with this capacity separately, all windows
/// increase, and the queue is longer.
#[test]
fn without_a_common_quota_windows_grow_together() {
    let queue = |quota: &str| {
        let changes = json!({
            "network": { "buffer": "1MiB" },
            "workload": { "servers": 5, "sru": "1MB" },
            "transport": { "name": { "name": "ictcp", "quota": quota }, "initial_window": 2 },
        });
        run(&scenario(&changes), vec![]).row().queue_mean_bytes
    };
    let (shared, each) = (queue("shared"), queue("each"));
    assert!(each > 4.0 * shared && shared > 0.0, "{each} and {shared} bytes");
}
