//! Request batching: a group of servers whose windows fit into the buffer loses no packet.

use incast_engine::Time;
use incast_host::milestone::EventKind;
use serde_json::{Value, json};

use crate::harness::{MSS, lay, run, scenario};

/// A star with batching, whose port has a buffer of `places` packets.
fn batched(places: u64, parameters: &Value, changes: &Value) -> incast_scenario::Scenario {
    let mut remedy = json!({ "name": "batching" });
    lay(&mut remedy, parameters);
    let mut document = json!({
        "network": { "buffer": format!("{places}pkt") },
        "workload": { "servers": 30, "sru": 20 * MSS },
        "transport": { "remedies": [remedy] },
    });
    lay(&mut document, changes);
    scenario(&document)
}

/// If n servers send w packets at once, (n - 1)·w packets wait. With a buffer of B packets, ⌊B/w⌋ +
/// 1 servers lose no packet, and with one more server the port drops packets.
#[test]
fn the_bound_of_the_first_burst_is_where_loss_begins() {
    for (places, window) in [(40, 4), (68, 8), (30, 10), (24, 3), (13, 5)] {
        let most = places / window + 1;
        let first_burst = |n: u64| {
            let parameters = json!({ "n": n, "window": window });
            let burst = json!({ "transport": { "initial_window": window } });
            let outcome = run(&batched(places, &parameters, &burst), vec![]);
            (outcome.row().drops, outcome.row().queue_max_packets)
        };
        assert_eq!(first_burst(most), (0, (most - 1) * window), "{places} places, {window}");
        let (drops, _) = first_burst(most + 1);
        assert!(drops > 0, "{places} places, {window}: {} servers fit, too", most + 1);
    }
}

/// `auto` guarantees n·w ≤ B for all windows and request times.
#[test]
fn auto_never_loses_a_packet() {
    let mut saved = 0;
    for places in [5, 16, 40, 68] {
        for window in [json!(null), json!(1), json!(2), json!(5)] {
            for (connections, jitter, sru) in
                [("fresh", "0us", 5), ("persistent", "0us", 20), ("fresh", "20us", 3)]
            {
                let changes = json!({ "workload": {
                    "connections": connections, "request_jitter": jitter, "sru": sru * MSS,
                    "blocks": 3,
                }});
                let outcome = run(&batched(places, &json!({ "window": window }), &changes), vec![]);
                let row = outcome.row();
                let case = format!("{places} places, {window}, {changes}");
                assert_eq!((row.status, row.blocks), ("ok", 3), "{case}");
                // A group has at least one server, even if the SRU of this server does not fit into
                // the buffer.
                let fits = sru <= places || window != json!(null);
                assert_eq!((row.drops, row.timeouts), (0, 0), "{case}");
                let bound = if fits { places } else { sru };
                assert!(row.queue_max_packets <= bound, "{case}");
                let mut plain = changes.clone();
                lay(&mut plain, &json!({ "transport": { "remedies": [] } }));
                saved += run(&batched(places, &json!({}), &plain), vec![]).row().drops;
            }
        }
    }
    assert!(saved > 1000, "without it {saved} packets would be lost");
}

/// 10 servers form groups of 4. A group gets its requests after all servers of the previous group
/// have answered.
#[test]
fn groups_do_not_overlap() {
    let changes = json!({ "workload": { "servers": 10 } });
    let outcome = run(&batched(1000, &json!({ "n": 4 }), &changes), vec![]);
    let times = |kind| -> Vec<Time> { outcome.events_of(kind).map(|row| row.time).collect() };
    let (asked, done) = (times(EventKind::Request), times(EventKind::FlowDone));
    assert_eq!(asked[..4], [Time::ZERO; 4]);
    assert_eq!(asked[4..8], [done[3]; 4]);
    assert_eq!(asked[8..], [done[7]; 2]);
    assert_eq!(done.len(), 10);
}

/// If each server that completes is replaced at once by the next server, the link stays busy, and
/// the bound also holds.
#[test]
fn the_bound_holds_for_places_that_are_given_away_one_by_one() {
    let elapsed = |refill: &str| {
        let parameters = json!({ "window": 4, "refill": refill });
        let outcome = run(&batched(40, &parameters, &json!({})), vec![]);
        let row = outcome.row();
        assert_eq!((row.drops, row.status), (0, "ok"), "{refill}");
        assert!(row.queue_max_packets <= 40, "{refill}");
        row.elapsed_s
    };
    assert!(elapsed("each") < 0.99 * elapsed("group"));
}
