//! The effects of the switch on a synchronised read.

use incast_host::milestone::EventKind;
use incast_lab::{Control, Row, TraceRequest};
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{MSS, lay, run, scenario};

/// A read with enough simultaneous packets to overflow any buffer in these tests.
fn burst(changes: &Value) -> Scenario {
    let mut document = json!({
        "workload": { "servers": 32, "sru": 40 * MSS },
        "transport": { "initial_window": 20 },
    });
    lay(&mut document, changes);
    scenario(&document)
}

fn row(scenario: &Scenario) -> Row {
    let outcome = run(scenario, Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

/// Choudhury & Hahne 1998: one busy port uses alpha / (1 + alpha) of the buffer.
#[test]
fn the_client_s_port_takes_its_share_of_a_pool() {
    let packet = MSS + 40;
    for (alpha, up, down) in [("2^-3", 1, 8), ("1/2", 1, 2), ("2^0", 1, 1), ("4", 4, 1)] {
        let total = 200 * packet;
        let buffer = json!({ "name": "dynamic", "total": total, "alpha": alpha });
        let row = row(&burst(&json!({ "network": { "buffer": buffer } })));
        let share = total * up / (up + down);
        let off = row.queue_max_bytes.abs_diff(share);
        assert!(off <= packet, "alpha {alpha}: {} of {share}", row.queue_max_bytes);
        assert!(row.drops > 0);
    }
}

#[test]
fn a_shared_buffer_is_as_good_as_its_limit_for_a_port_alone() {
    let buffer = json!({ "name": "shared", "total": "1000pkt", "limit": "25pkt" });
    let shared = row(&burst(&json!({ "network": { "buffer": buffer } })));
    let own = row(&burst(&json!({ "network": { "buffer": "25pkt" } })));
    assert_eq!(
        format!("{:?}", Row { wall_s: 0.0, ..shared }),
        format!("{:?}", Row { wall_s: 0.0, ..own })
    );
}

#[test]
fn packets_occupy_whole_cells() {
    let most = |cell: &str| {
        let network = json!({ "buffer": 2080 * 10, "buffer_cell": cell });
        row(&burst(&json!({ "network": network }))).queue_max_packets
    };
    // A packet of 1040 bytes occupies exactly five cells of 208 bytes, or two cells of 1000 bytes.
    assert_eq!((most("1B"), most("208B"), most("1000B")), (20, 20, 10));
}

#[test]
fn codel_drops_what_has_waited_for_too_long_and_the_events_say_so() {
    let codel = json!({ "name": "codel", "target": "100us", "interval": "1ms" });
    let network = json!({ "buffer": "20000pkt", "queue": codel });
    let changes = json!({ "network": network, "workload": { "sru": 400 * MSS } });
    let outcome = run(&burst(&changes), Vec::new());
    let drops = outcome.row().drops;
    assert!(drops > 10, "{drops}");
    assert_eq!(outcome.events_of(EventKind::Drop).count() as u64, drops);
    let without = row(&burst(&json!({ "network": { "queue": "drop-tail", "buffer": "20000pkt" },
                                      "workload": { "sru": 400 * MSS } })));
    assert_eq!(without.drops, 0);
    assert!(outcome.row().queue_mean_bytes < without.queue_mean_bytes / 2.0);
}

#[test]
fn overtaking_looks_like_loss_where_nothing_is_lost() {
    let reorder = json!({ "p": 0.02, "delay": "300us", "links": "client" });
    let changes = json!({ "network": { "reorder": reorder }, "workload": { "servers": 1, "sru": 400 * MSS } });
    let row = row(&burst(&changes));
    assert_eq!(row.drops, 0);
    assert!(row.fast_retransmits > 0 && row.retransmitted_packets > 0);
}

/// The results of a collapse do not depend on whether every port has departure events.
#[test]
fn departures_as_events_change_no_row() {
    for profile in ["lab", "ns2", "rfc"] {
        let document = json!({
            "profile": profile,
            "network": { "buffer": "20pkt", "queue": { "name": "red", "weight": 0.1 } },
            "workload": { "servers": 24, "sru": "64KiB", "blocks": 2, "request_jitter": "5us" },
        });
        let mut scenario = Scenario::from_document(&document).expect("it is right");
        let mut rows = || {
            let run = incast_lab::run(&scenario, 1, &TraceRequest::default(), &Control::default());
            let mut row = run.expect("nobody cancels").rows.remove(0);
            assert!(row.drops > 0 && row.status == "ok");
            row.wall_s = 0.0;
            scenario.network.departure_events = true;
            format!("{row:?}")
        };
        assert_eq!(rows(), rows(), "{profile}");
    }
}

/// If N windows of w packets are sent at once, (N - 1)w packets wait, and none is lost. The buffer
/// that the rule computes holds all N·w packets, which are w more than necessary.
#[test]
fn a_buffer_for_all_windows_loses_nothing() {
    let of = |buffer: Value| {
        let changes = json!({
            "network": { "buffer": buffer },
            "workload": { "servers": 12, "sru": 20 * MSS },
            "transport": { "handshake": "none" },
        });
        let row = row(&burst(&changes));
        (row.drops, row.queue_max_packets)
    };
    assert_eq!(of(json!("auto")), (0, 11 * 20));
    assert_eq!(of(json!("220pkt")), (0, 220));
    let (drops, longest) = of(json!("219pkt"));
    assert!(drops > 0 && longest == 219);
}

/// Khalid et al. 2021 §5, stage iii: periodic packets do not wait behind bursts, and bursts do not
/// fill the whole buffer.
#[test]
fn segregation_protects_periodic_traffic_from_bursts() {
    // The number of packets that the periodic flow loses.
    let losses = |queue: Value| {
        let changes = json!({
            "network": { "buffer": "64pkt", "queue": queue },
            "workload": { "sru": 200 * MSS, "blocks": 3, "request_jitter": "20us" },
            "background": [{ "name": "cbr", "rate": "100Mbps" }],
        });
        let outcome = run(&burst(&changes), Vec::new());
        let (read, periodic) = (&outcome.rows[0], &outcome.rows[1]);
        assert!(read.status == "ok" && periodic.bytes > 1000 * MSS);
        outcome.events_of(EventKind::Drop).filter(|row| row.flow == Some(32)).count()
    };
    let (without, with) = (losses(json!("drop-tail")), losses(json!("segregation")));
    assert!(5 * with < without, "{with} of {without}");
    // Separate queues alone are not enough: the bursts must not fill the whole buffer.
    let no_room = losses(json!({ "name": "segregation", "burst_limit": "100%" }));
    assert!(2 * no_room > without, "{no_room} of {without}");
}
