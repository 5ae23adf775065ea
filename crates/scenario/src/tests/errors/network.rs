//! Errors in links, buffers and disciplines.

use serde_json::{Value, json};

use super::super::load;
use super::refused;

#[test]
fn a_buffer_that_follows_from_the_flows_needs_their_windows() {
    refused(
        &[("network.buffer", json!({ "name": "auto", "window": 0 }))],
        "network.buffer.window: must be above 0, or there is no buffer; write e.g. \"64KiB\" or 10",
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
fn a_buffer_holds_at_least_one_packet() {
    refused(
        &[("network.buffer", json!(1499))],
        "network.buffer: 1499B cannot hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    refused(
        &[("network.buffer", json!("0pkt"))],
        "network.buffer: 0pkt cannot hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    load(&[("network.buffer", json!(1500))]);
    load(&[("network.buffer", json!("1pkt"))]);
}

#[test]
fn a_discipline_s_parameters_make_sense() {
    refused(
        &[("network.queue", json!({ "name": "bernoulli", "p": 1.5 }))],
        "network.queue.p: 1.5 is out of range; must be 0 to 1",
    );
    refused(
        &[("network.queue", json!({ "name": "red", "max_th": "2pkt" }))],
        "network.queue.max_th: 2pkt is less than min_th (5pkt); write at least that",
    );
    refused(
        &[("network.queue", json!({ "name": "ecn-threshold", "threshold": 0.7 }))],
        "network.queue.threshold: 0.7 is not a queue length: a share of the buffer is written \
         \"70%\"; write e.g. \"20pkt\", \"30KB\" (30000), 30000, or \"70%\" of the buffer",
    );
    refused(
        &[("network.queue", json!({ "name": "codel", "target": "1s" }))],
        "network.queue.target: must be at most interval, and should be 5 to 10 % of it, e.g. \"50us\"",
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
    load(&buffer(json!({ "name": "shared", "total": "4MB", "limit": "4MB" })));
    refused(
        &buffer(json!({ "name": "dynamic", "total": "4MB", "limit": "1MB" })),
        "network.buffer.limit: unknown key; accepted: total, alpha",
    );
    refused(
        &buffer(json!({ "name": "dynamic", "total": 1000 })),
        "network.buffer: 1000B cannot hold one full packet of 1500 bytes; \
         write at least that, or \"1pkt\"",
    );
    let dynamic = json!({ "name": "dynamic", "total": "4MB" });
    refused(
        &[("network.buffer", dynamic), ("network.queue", json!("label-threshold"))],
        "network.queue.threshold: 70% has no meaning, because the ports share a buffer without \
         limits of their own; write bytes or packets, e.g. \"70KiB\"",
    );
}

#[test]
fn cells_are_bytes_of_a_buffer_in_bytes() {
    refused(
        &[("network.buffer_cell", json!(0))],
        "network.buffer_cell: 0 is out of range; must be 1 to 65535 bytes",
    );
    refused(
        &[("network.buffer_cell", json!("208B")), ("network.buffer", json!("40pkt"))],
        "network.buffer_cell: a buffer in packets has no bytes to count; \
         write network.buffer in bytes, e.g. \"100KiB\"",
    );
    refused(
        &[("network.buffer_cell", json!("208B")), ("network.buffer", json!("1500B"))],
        "network.buffer: 1500B cannot hold one full packet, which occupies 1664 bytes; \
         write at least that",
    );
}

#[test]
fn links_reorder_with_a_probability() {
    refused(
        &[("network.reorder", json!({ "p": 2, "delay": "1ms" }))],
        "network.reorder.p: 2 is out of range; must be 0 to 1",
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
        "network.layer2_overhead: 4294967296 bytes are too many; write at most 65535",
    );
    refused(
        &[("transport.mss", json!("64KiB"))],
        "transport.mss: 65536 is out of range; must be 1 to 65535 bytes",
    );
    refused(
        &[("transport.ack_size", json!(0))],
        "transport.ack_size: 0 is out of range; must be 1 to 255 bytes",
    );
    refused(
        &[("background", json!([{ "name": "cbr", "rate": "1Mbps", "packet_size": 0 }]))],
        "background.0.packet_size: 0 is out of range; must be 1 to 65535 bytes",
    );
    refused(
        &[("background", json!([{ "name": "long-flow", "count": 0 }]))],
        "background.0.count: 0 is out of range; must be 1 to 1000000",
    );
}
