//! The largest synchronised burst without an overflow of the buffer, for every transport.
//!
//! n senders of w segments on equal links send w·n packets while the port sends w packets, so (n -
//! 1)·w packets wait at the peak. A buffer of B packets is enough up to n = ⌊B/w⌋ + 1, or ⌊(B -
//! 1)/w⌋ + 1 if the packet in service occupies the buffer.

use incast_lab::{Control, Row, TraceRequest};
use incast_scenario::Scenario;
use incast_scenario::entries;
use serde_json::{Value, json};

use crate::harness::lay;

/// Minimum number of segments that a transport with a window of `window` segments sends back to
/// back. `None` if there is no such minimum, because the transport may spread the segments of its
/// window over time.
fn burst(transport: &str, window: u64) -> Option<u64> {
    match transport {
        // "swift" sends segments at intervals of a round trip / window, from a random start. With
        // the other two, packets have unequal sizes, so their distances change on the way.
        "swift" | "header-compression" | "resize" => None,
        // Pacing begins with the first segment.
        "bbr" => Some(1),
        _ => Some(window),
    }
}

/// A read of `segments` segments from each server. Requests are simultaneous: the connections
/// already exist, there is no jitter, and a request of one byte is sent in eight nanoseconds.
fn read(transport: &str, servers: u64, buffer: u64, segments: u64, changes: &Value) -> Row {
    let mut document = json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": format!("{buffer}pkt") },
        "workload": {
            "name": "barrier-read", "servers": servers, "sru": segments * 1460, "request_size": 1,
        },
        "transport": { "name": transport, "handshake": "none", "ack_size": 1 },
    });
    lay(&mut document, changes);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let run = incast_lab::run(&scenario, 1, &TraceRequest::default(), &Control::default());
    let row = run.unwrap_or_else(|error| panic!("{error}")).rows.swap_remove(0);
    assert_eq!(row.status, "ok", "{transport}, {servers} servers");
    row
}

/// Packets that [`read`] loses if each server sends four windows of `window` segments each.
fn lost(transport: &str, servers: u64, buffer: u64, window: u64, in_service: bool) -> u64 {
    let changes = json!({
        "network": { "buffer_counts_in_service": in_service },
        "transport": { "initial_window": window, "receive_window": window },
    });
    read(transport, servers, buffer, 4 * window, &changes).drops
}

/// All transports of TCP that scenarios can name, except remedies, because remedies change which packets
/// are sent.
fn transports() -> Vec<String> {
    let entries = |kind| entries(kind).expect("it is a kind").into_iter();
    let remedies: Vec<_> = entries("remedies").map(|entry| entry.name).collect();
    let tcp = entries("transports").filter(|entry| entry.family == Some("tcp"));
    tcp.map(|entry| entry.name).filter(|name| !remedies.contains(name)).collect()
}

#[test]
fn a_burst_fits_up_to_the_buffer_over_the_window_and_one() {
    for transport in transports() {
        for (buffer, window) in [(32, 2), (40, 2), (33, 2), (16, 1), (64, 10), (50, 3)] {
            let Some(burst) = burst(&transport, window) else { continue };
            for in_service in [false, true] {
                let places = buffer - u64::from(in_service);
                let lost = |servers| lost(&transport, servers, buffer, window, in_service);
                let case = format!("{transport}, B = {buffer}, w = {window}, {in_service}");
                let (safe, over) = (places / window + 1, places / burst + 2);
                assert_eq!(lost(safe), 0, "{safe} servers, {case}");
                assert!(lost(over) > 0, "{over} servers, {case}");
            }
        }
    }
}

/// A buffer of 32 packets has room for seventeen servers that send two segments each, but not for
/// eighteen.
#[test]
fn two_segments_each_and_32_places_are_enough_for_17_servers() {
    assert_eq!(lost("newreno", 17, 32, 2, false), 0);
    assert_eq!(lost("newreno", 18, 32, 2, false), 2);
}

/// After a round-trip sample (here from the handshake), Swift can send with a window below one
/// segment. Before the first sample, Swift sends its segments at once.
#[test]
fn swift_passes_the_limit() {
    for servers in [18, 33, 34, 64, 128] {
        let transport = |handshake| {
            let held = json!({ "transport": { "handshake": handshake, "receive_window": 2 } });
            read("swift", servers, 32, 8, &held).drops
        };
        assert_eq!(transport("three-way"), 0, "{servers} servers");
        assert_eq!(transport("none") > 0, servers > 33, "{servers} servers");
    }
}
