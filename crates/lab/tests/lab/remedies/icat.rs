//! `ICaT` repairs a lost retransmission and a tail that is lost several times, without a timeout.

use incast_engine::Time;
use incast_host::cause::Cause;
use incast_host::milestone::EventKind;
use serde_json::{Value, json};

use crate::harness::{Loss, MSS, Outcome, lay, of_tcp, run, scenario};

/// One server that sends `segments` segments, the first ten at once. The minimum RTO is 200 ms.
fn with(remedies: &Value, segments: u64, losses: Vec<Loss>) -> Outcome {
    let document = json!({
        "workload": { "sru": segments * MSS },
        "transport": { "remedies": remedies, "rto_min": "200ms", "initial_window": 10 },
    });
    run(&scenario(&document), losses)
}

fn icat(parameters: &Value) -> Value {
    let mut remedy = json!({ "name": "icat" });
    lay(&mut remedy, parameters);
    json!([remedy])
}

fn count(outcome: &Outcome, column: &str) -> u32 {
    outcome.row().measures[column].expect("it counts") as u32
}

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    for copies in [2, 3, 5] {
        let losses = || vec![Loss::of_copies(0, 5, copies)];
        let plain = with(&json!([]), 60, losses());
        assert_eq!(plain.expiries()[0].1, Cause::LostRetransmission, "{copies}");
        // The timestamps alone repair this loss, as the run without admission and FINs shows.
        let alone = json!({ "admission": false, "fin": "off" });
        let told = with(&icat(&alone), 60, losses());
        assert_eq!((told.expiries(), told.row().fast_retransmits), (vec![], 1), "{copies}");
        assert_eq!(count(&told, "icat.lost_again"), copies - 1);
        assert!(told.row().elapsed_s < 0.01, "{} s", told.row().elapsed_s);
        let without = json!({ "timestamps": false, "fin": "off" });
        assert_eq!(with(&icat(&without), 60, losses()).expiries().len(), plain.expiries().len());
    }
}

#[test]
fn a_lost_tail_is_repaired_without_a_timeout() {
    for (first, last) in [(9, 9), (8, 9), (7, 9), (4, 9), (0, 9)] {
        let losses = || Loss::of_segments(0, first, last);
        let plain = with(&json!([]), 10, losses());
        assert_eq!(plain.expiries().len(), 1, "{first} to {last}");
        for fin in [false, true] {
            let mut document = json!({
                "workload": { "sru": 10 * MSS },
                "transport": { "remedies": ["icat"], "rto_min": "200ms", "initial_window": 10 },
            });
            // The last segment carries the first FIN, which is lost with it.
            document["transport"]["fin"] = json!(fin);
            let told = run(&scenario(&document), losses());
            assert_eq!(told.expiries(), [], "{first} to {last}, FIN {fin}");
            assert_eq!((told.row().status, told.row().fast_retransmits), ("ok", 1));
            assert!(count(&told, "icat.fins") > 0);
        }
    }
}

/// The tail is lost, and then its retransmissions are lost. Only timestamps and FINs together
/// repair these losses.
#[test]
fn a_tail_that_is_lost_again_is_told_by_the_answers_to_later_fins() {
    for copies in 2..6 {
        let losses = || vec![Loss::of_copies(0, 9, copies)];
        let whole = with(&icat(&json!({})), 10, losses());
        assert_eq!(whole.expiries(), [], "{copies}");
        assert_eq!(count(&whole, "icat.lost_again"), copies - 1);
        for part in [json!({ "timestamps": false }), json!({ "fin": "off" })] {
            assert!(!with(&icat(&part), 10, losses()).expiries().is_empty(), "{part}");
        }
    }
}

/// If all packets are lost at once, no ACK arrives. A FIN in every round trip then detects the
/// loss, but a FIN for every ACK does not.
#[test]
fn where_every_ack_is_lost_only_time_brings_another_fin() {
    // The eight segments and the packet after them are lost.
    let losses = || vec![Loss::of_packets(0, 1, 9)];
    let expiries = |fin: &str| with(&icat(&json!({ "fin": fin })), 8, losses()).expiries().len();
    assert!(expiries("per-ack") > 0);
    assert_eq!(expiries("per-round-trip"), 0);
}

/// In a round trip of 100 us, a line of 1 Gbps sends 11 packets of 1052 bytes, and the buffer holds
/// 29 packets. With windows of 4 packets, (29 + 11)/4 = 10 servers are admitted.
#[test]
fn the_client_admits_as_many_servers_as_buffer_and_line_have_windows() {
    let asked = |parameters: &Value| {
        let document = json!({
            "network": { "base_rtt": "100us", "delay": null, "buffer": "29pkt" },
            "workload": { "servers": 30, "sru": 20 * MSS },
            "transport": { "remedies": icat(parameters) },
        });
        let outcome = run(&scenario(&document), vec![]);
        assert_eq!(outcome.row().status, "ok");
        let times = |kind| -> Vec<Time> { outcome.events_of(kind).map(|row| row.time).collect() };
        let (asked, done) = (times(EventKind::Request), times(EventKind::FlowDone));
        let first = asked.iter().filter(|at| **at == Time::ZERO).count();
        // Each of the other servers receives its request when an earlier server has completed its
        // response.
        assert_eq!(asked[first..], done[..30 - first], "{parameters}");
        first
    };
    assert_eq!(asked(&json!({})), 10);
    assert_eq!(asked(&json!({ "min_window": 2 })), 20);
    assert_eq!(asked(&json!({ "min_window": 100 })), 1);
    assert_eq!(asked(&json!({ "admission": false })), 30);
}

#[test]
fn with_every_part_switched_off_it_is_plain_tcp() {
    let document = |remedies: Value| {
        json!({
            "network": { "buffer": "20pkt" },
            "workload": { "servers": 8, "sru": 30 * MSS, "blocks": 3, "request_jitter": "20us" },
            "transport": { "remedies": remedies },
        })
    };
    let off = icat(&json!({ "admission": false, "timestamps": false, "fin": "off" }));
    let rows = |remedies| {
        let mut row = run(&scenario(&document(remedies)), vec![]).row().clone();
        row.wall_s = 0.0;
        row.measures.clear();
        format!("{row:?}")
    };
    assert_eq!(rows(off), rows(json!([])));
}

/// Timestamps add 12 bytes to the header of every packet, except where the scenario sets the header
/// size.
#[test]
fn headers_have_room_for_the_timestamps() {
    let header = |transport: Value| {
        let tcp = of_tcp(&scenario(&json!({ "transport": transport }))).clone();
        (tcp.header, tcp.ack_size)
    };
    assert_eq!(header(json!({ "remedies": ["icat"] })), (52, 52));
    assert_eq!(header(json!({ "remedies": ["icat"], "header_size": 40 })), (40, 52));
    assert_eq!(header(json!({ "remedies": icat(&json!({ "timestamps": false })) })), (40, 40));
}

/// The papers' star with 128 servers. The remedy cannot repair whole windows that are lost in the
/// middle of an SRU, so these timeouts remain. The test counts the other timeouts.
#[test]
fn on_a_shallow_switch_hardly_a_timeout_is_left_but_of_whole_windows() {
    let others = |remedies: &Value| {
        let document = json!({
            "network": { "buffer": "100KiB" },
            "workload": { "servers": 128, "sru": "64KiB", "request_jitter": "20us" },
            "transport": {
                "remedies": remedies, "mss": 1460, "initial_window": 2, "rto_min": "200ms",
                "send_jitter": "8us",
            },
        });
        let row = run(&scenario(&document), vec![]).row().clone();
        row.timeouts_lack_of_dupacks + row.timeouts_lost_retransmission
    };
    let (plain, with) = (others(&json!([])), others(&json!(["icat"])));
    assert!(plain > 50 && with * 10 < plain, "{with} instead of {plain}");
}
