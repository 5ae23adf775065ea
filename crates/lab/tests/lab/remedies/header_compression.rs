//! Header compression: the share of the line rate that carries payload.

use incast_host::cause::Cause;
use serde_json::{Value, json};

use crate::harness::{Loss, run, scenario};

/// Goodput in bit/s with segments of 50 bytes on a link of 1 Gb/s.
fn goodput(remedies: &[Value]) -> f64 {
    let small = json!({ "name": "resize", "cwnd_dsr": 1_000_000, "initial_window": 400 });
    let remedies: Vec<_> = [small].iter().chain(remedies).cloned().collect();
    let changes = json!({
        "network": { "buffer": "1MiB" },
        "workload": { "sru": 3_000_000 },
        "transport": { "initial_window": null, "remedies": remedies },
    });
    run(&scenario(&changes), vec![]).row().goodput_bps
}

/// The goodput is 50/(50+40) of the line rate without compression and 50/(50+4) with compression,
/// minus the share of the line that slow start leaves unused.
#[test]
fn small_segments_fill_the_line_with_compressed_headers() {
    let plain = goodput(&[]) / 1e9;
    assert!((0.53..0.5556).contains(&plain), "{plain}");
    let compressed = goodput(&[json!({ "name": "header-compression" })]) / 1e9;
    assert!((0.88..0.9260).contains(&compressed), "{compressed}");
}

/// With decompression errors, the segments after a lost segment are also lost. They cause no
/// duplicate ACKs, so a timeout repairs the loss instead of a fast retransmit.
#[test]
fn with_errors_a_single_loss_becomes_a_timeout() {
    let lose = |errors: &str| {
        let remedy = json!({ "name": "header-compression", "errors": errors });
        let changes = json!({ "transport": { "remedies": [remedy], "initial_window": 10 } });
        run(&scenario(&changes), Loss::of_segments(0, 2, 2))
    };
    assert_eq!(lose("ideal").expiries(), []);
    let outcome = lose("rfc1144");
    assert_eq!(outcome.row().status, "ok");
    // For the oracle, a segment that the host could not decompress is lost like a segment that was
    // dropped on the line.
    assert_eq!(outcome.expiries(), [(0, Cause::FullWindow, true, 8)]);
}
