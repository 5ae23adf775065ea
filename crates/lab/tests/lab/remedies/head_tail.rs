//! The remedy "head-tail": the repair of a loss depends on its position in the message.

use incast_host::cause::Cause;
use incast_lab::Row;
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::{Loss, MSS, Outcome, run, scenario};

/// The numbers of five kinds of repairs in a run: at heads, inside messages, at tails, of lost
/// retransmissions, and by early timeouts.
fn repairs(row: &Row) -> [u64; 5] {
    ["heads", "inside", "tails", "again", "early_timeouts"]
        .map(|name| row.measures[format!("head-tail.{name}").as_str()].expect("counted") as u64)
}

/// One server sends `segments` segments, and `losses` are lost.
fn lose(segments: u64, remedies: &Value, losses: Vec<Loss>) -> Outcome {
    let changes = json!({
        "workload": { "sru": segments * MSS },
        "transport": { "remedies": remedies, "rto_min": "200ms" },
    });
    run(&scenario(&changes), losses)
}

/// Checks that a loss causes a timeout without the remedy. With the remedy, only early timeouts may
/// occur, and the read must take less than a tenth of the time. Returns the repairs.
fn spared(segments: u64, losses: impl Fn() -> Vec<Loss>) -> [u64; 5] {
    let plain = lose(segments, &json!([]), losses());
    assert!(plain.row().timeouts > 0 && plain.row().elapsed_s > 0.2, "nothing to repair");
    let repaired = lose(segments, &json!(["head-tail"]), losses());
    let row = repaired.row();
    let repairs = repairs(row);
    assert_eq!(repairs[4], row.timeouts, "a timer expired");
    assert!(row.elapsed_s < 0.02, "{} s", row.elapsed_s);
    repairs
}

#[test]
fn a_lost_head_takes_a_copy() {
    let [heads, _, _, _, early] = spared(10, || Loss::of_segments(0, 0, 3));
    assert!(heads > 0);
    assert_eq!(early, 0);
}

#[test]
fn a_lost_window_inside_begins_anew() {
    let window = || Loss::of_segments(0, 4, 11);
    let [heads, inside, _, _, early] = spared(40, window);
    assert_eq!((heads, early), (0, 1));
    assert!(inside > 0);
    let outcome = lose(40, &json!(["head-tail"]), window());
    let causes: Vec<_> = outcome.expiries().iter().map(|it| (it.1, it.2)).collect();
    assert_eq!(causes, [(Cause::FullWindow, false)]);
}

#[test]
fn a_lost_tail_takes_a_probe() {
    for first in [7, 8, 9] {
        let [_, _, tails, _, early] = spared(10, || Loss::of_segments(0, first, 9));
        assert!(tails > 0, "from segment {first} on");
        assert_eq!(early, 0, "from segment {first} on");
    }
}

/// Only the last segment arrives after the lost segment. Its duplicate ACK is enough for a
/// retransmission without delay.
#[test]
fn the_last_but_one_takes_a_single_duplicate() {
    let outcome = lose(10, &json!(["head-tail"]), Loss::of_segments(0, 8, 8));
    let row = outcome.row();
    assert_eq!((row.timeouts, row.fast_retransmits), (0, 1));
    assert_eq!(repairs(row), [0; 5]);
}

#[test]
fn a_lost_retransmission_is_sent_again() {
    let [_, _, _, again, early] = spared(40, || vec![Loss::of_copies(0, 4, 2)]);
    assert!(again > 0);
    assert_eq!(early, 0);
}

/// The star of the papers on which plain TCP has a timeout in nearly every block.
#[test]
fn no_timer_expires_on_the_star() {
    for (connections, servers) in [("persistent", 16), ("persistent", 48), ("fresh", 32)] {
        let of = |remedies: Value| {
            let document = json!({
                "network": { "rate": "1Gbps", "delay": "25us", "buffer": "100KiB" },
                "workload": {
                    "name": "barrier-read", "servers": servers, "sru": "64KiB", "blocks": 5,
                    "connections": connections, "request_jitter": "20us",
                },
                "transport": {
                    "mss": 1460, "send_jitter": "8us", "rto_min": "200ms", "remedies": remedies,
                },
            });
            let scenario =
                Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
            run(&scenario, Vec::new()).row().clone()
        };
        let (plain, row) = (of(json!([])), of(json!(["head-tail"])));
        assert!(plain.timeouts > 0 && plain.elapsed_s > 0.2, "{connections}, {servers} servers");
        assert_eq!(repairs(&row)[4], row.timeouts, "{connections}, {servers} servers");
        // At line rate, the data that one server sends for five blocks take 2.7 ms.
        let line = 0.0027 * f64::from(servers);
        assert!(row.elapsed_s < 1.5 * line, "{} s, {connections}, {servers}", row.elapsed_s);
    }
}
