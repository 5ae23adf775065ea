//! RAPID: no loss causes a timeout if the buffer holds four packets of every server.

use incast_lab::Row;
use incast_scenario::Scenario;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{lay, run};
use crate::laws;

/// A star with a timer of 200 ms.
fn star(changes: &Value) -> Row {
    let mut document = json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": "60pkt" },
        "workload": {
            "name": "barrier-read", "servers": 20, "sru": "256KiB", "request_jitter": "20us",
        },
        "transport": { "name": "rapid", "mss": 1460, "rto_min": "200ms" },
        "run": { "time_limit": "1000000s" },
    });
    lay(&mut document, changes);
    let scenario = Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, Vec::new());
    assert_eq!(outcome.row().status, "ok");
    outcome.row().clone()
}

/// Random reads. The buffer holds four packets of every server: the three packets that follow a
/// loss, and the retransmission.
fn reads() -> impl Strategy<Value = Value> {
    let network = (
        prop::sample::select(vec!["100Mbps", "1Gbps", "10Gbps"]),
        prop::sample::select(vec!["5us", "25us", "100us"]),
        0_u32..30,
    );
    let workload = (
        2_u32..=24,
        3000_u64..100_000,
        1_u32..=3,
        prop::sample::select(vec!["fresh", "persistent"]),
        prop::sample::select(vec!["0us", "20us", "200us"]),
    );
    let transport =
        (prop::sample::select(vec![1000, 1460]), prop::sample::select(vec![1, 2, 3, 4, 10]));
    (network, workload, transport).prop_map(|(network, workload, transport)| {
        let (rate, delay, more) = network;
        let (servers, sru, blocks, connections, jitter) = workload;
        let (mss, initial_window) = transport;
        json!({
            "network": { "rate": rate, "delay": delay, "buffer": format!("{}pkt", 4 * servers + more) },
            "workload": {
                "servers": servers,
                "sru": sru,
                "blocks": blocks,
                "connections": connections,
                "request_jitter": jitter,
            },
            "transport": { "mss": mss, "initial_window": initial_window },
        })
    })
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn no_loss_costs_a_timeout_while_there_is_room_for_everybody(read in reads()) {
        let row = star(&read);
        prop_assert_eq!(row.timeouts, 0, "{:?}", row);
    }
}

/// A buffer of three packets per server may be enough. With a smaller buffer, no packets follow a
/// lost packet, and full windows are lost, as they are without RAPID. Handshakes and
/// retransmissions are not lost in either case.
#[test]
fn sixty_packets_do_for_twenty_servers_and_not_for_forty() {
    let ten_blocks = |transport: &str, servers: u32| {
        star(&json!({
            "workload": { "servers": servers, "sru": "64KiB", "blocks": 10 },
            "transport": { "name": transport, "send_jitter": "8us" },
        }))
    };
    let twenty = ten_blocks("rapid", 20);
    assert!(twenty.drops > 100 && twenty.fast_retransmits > 100, "{twenty:?}");
    assert_eq!(twenty.timeouts, 0);
    let newreno = ten_blocks("newreno", 20);
    assert!(newreno.timeouts_full_window > 0 && newreno.timeouts > 10, "{newreno:?}");
    let forty = ten_blocks("rapid", 40);
    assert!(forty.timeouts > 0);
    assert_eq!((forty.timeouts_handshake, forty.timeouts_lost_retransmission), (0, 0));
}

/// With few servers, one early drop per window prevents an overflow. With more servers, the buffer
/// overflows and drops arriving packets, including retransmissions.
#[test]
fn dropping_early_holds_for_fewer_servers() {
    let early = |servers: u32| {
        star(&json!({
            "workload": { "servers": servers },
            "transport": { "name": { "name": "rapid", "early": true } },
        }))
    };
    let few = early(6);
    assert!(few.drops > 0);
    assert_eq!(few.timeouts, 0, "{few:?}");
    assert!(early(20).timeouts > 0);
}

/// Ten segments are sent at once, and the queue is beyond the threshold when the last segments
/// arrive.
#[test]
fn labels_keep_the_end_of_a_response_from_being_dropped_early() {
    let tails = |label_last: bool| {
        star(&json!({
            "network": { "buffer": "1000pkt" },
            "workload": { "servers": 8, "sru": 10 * 1460 },
            "transport": {
                "name": { "name": "rapid", "early": true, "threshold": "50pkt", "label_last": label_last },
                "initial_window": 10,
            },
        }))
        .timeouts_tail
    };
    assert!(tails(false) > 0);
    assert_eq!(tails(true), 0);
}
