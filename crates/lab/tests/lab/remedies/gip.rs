//! The remedy modelled on GIP: no timeouts at the head of a block, and few timeouts at its tail.

use incast_host::cause::Cause;
use incast_lab::Row;
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{Loss, lay, run, scenario};

/// A star with a buffer of 68 packets and persistent connections. Random delays of sending prevent
/// phase effects.
fn star(changes: &Value) -> Row {
    let mut document = json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": "100KiB" },
        "workload": {
            "name": "barrier-read", "servers": 8, "sru": "64KiB", "blocks": 10,
            "connections": "persistent", "request_jitter": "20us",
        },
        "transport": { "mss": 1460, "send_jitter": "8us", "rto_min": "200ms" },
    });
    lay(&mut document, changes);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

fn with(remedies: &Value, servers: u32) -> Row {
    star(&json!({ "workload": { "servers": servers }, "transport": { "remedies": remedies } }))
}

/// There is no timeout at the head of a block as long as the buffer holds twice the initial windows
/// of all servers. The factor is two because the first servers have doubled their windows before
/// the last servers begin.
#[test]
fn no_timeout_at_a_blocks_head() {
    for servers in [4, 8, 16] {
        let row = with(&json!(["gip"]), servers);
        assert_eq!((row.timeouts_block_head, row.blocks), (0, 10), "{servers} servers");
    }
    let plain: u64 = [4, 8, 16].map(|n| with(&json!([]), n).timeouts_block_head).iter().sum();
    assert!(plain > 0, "nothing to prevent");
}

/// The restart prevents timeouts at heads, and the copies prevent timeouts at tails.
#[test]
fn each_half_has_its_place() {
    let sixteen = |params: Value| {
        let mut gip = json!({ "name": "gip" });
        lay(&mut gip, &params);
        with(&json!([gip]), 16)
    };
    let copies = |row: &Row| row.measures["gip.copies"].expect("counted") as u64;
    let neither = sixteen(json!({ "restart": false, "copies": 0 }));
    let no_restart = sixteen(json!({ "restart": false }));
    let no_copies = sixteen(json!({ "copies": 0 }));
    let whole = sixteen(json!({}));
    for (row, heads, tails) in [
        (&neither, true, true),
        (&no_restart, true, false),
        (&no_copies, false, true),
        (&whole, false, false),
    ] {
        assert_eq!((row.timeouts_block_head > 0, row.timeouts_tail > 0), (heads, tails));
    }
    assert_eq!(whole.timeouts, 0);
    assert_eq!((copies(&neither), copies(&no_copies)), (0, 0));
    for row in [&no_restart, &whole] {
        // The servers send 160 units, with three copies of the last segment of each unit. Copies
        // are omitted if the segment was acknowledged before.
        let copies = copies(row);
        assert!((450..=480).contains(&copies), "{copies}");
    }
    // Without timeouts, each retransmission is either the repair of a dropped segment or a copy.
    assert_eq!(whole.retransmitted_packets, copies(&whole) + whole.drops);
    assert!(whole.drops < no_restart.drops / 2, "{} of {}", whole.drops, no_restart.drops);
}

/// The last segment or the segment before it is lost. A copy of the last segment repairs the loss,
/// or causes the duplicate ACKs that repair it.
#[test]
fn a_loss_at_the_tail_costs_no_timeout() {
    let lose = |remedies: Value, segment: u64| {
        let changes = json!({ "transport": { "remedies": remedies, "limited_transmit": false } });
        run(&scenario(&changes), Loss::of_segments(0, segment, segment))
    };
    for (segment, cause) in [(8, Cause::Tail), (9, Cause::FullWindow)] {
        let plain = lose(json!([]), segment);
        assert_eq!(plain.expiries(), [(0, cause, false, 1)], "segment {segment}");
        let gip = lose(json!(["gip"]), segment);
        assert_eq!(gip.expiries(), [], "segment {segment}");
        assert!(gip.row().elapsed_s < 0.01, "{} s", gip.row().elapsed_s);
    }
    assert_eq!(lose(json!(["gip"]), 9).row().fast_retransmits, 0);
    assert_eq!(lose(json!(["gip"]), 8).row().fast_retransmits, 1);
}

/// All copies of the first block's last segment may arrive after the block is complete. Their
/// duplicate ACKs then arrive at the head of the next block. Three duplicate ACKs start an
/// unnecessary retransmission; two do not.
#[test]
fn three_copies_may_be_one_too_many() {
    let of = |copies: u32| {
        let changes = json!({
            "workload": { "blocks": 2, "connections": "persistent" },
            "transport": { "remedies": [{ "name": "gip", "copies": copies }] },
        });
        let row = run(&scenario(&changes), Vec::new()).row().clone();
        let sent = row.measures["gip.copies"].expect("counted");
        assert_eq!((row.drops, row.timeouts), (0, 0));
        assert!(sent > 0.0 && sent <= f64::from(2 * copies), "{sent}");
        (row.fast_retransmits, row.retransmitted_packets as f64 - sent)
    };
    assert_eq!(of(2), (0, 0.0));
    assert!(of(3).0 > 0);
}
