//! The times at which a client opens its connections and sends its requests.

use std::collections::BTreeMap;

use incast_engine::Time;
use incast_lab::probe::{Detail, Field, Listener, Read, Setting, TraceKind, Values};
use incast_lab::{Control, TraceRequest, run};
use incast_net::{Flags, Packet, PortId};
use serde_json::{Value, json};

use crate::harness::{lay, scenario};

/// For each flow, the times at which its first SYN (false) and its first request (true) reached the
/// end of a link.
#[derive(Debug)]
struct Openings(BTreeMap<(u32, bool), Time>);

impl TraceKind for Openings {
    const NAME: &'static str = "openings";
    const TABLE: &'static str = "openings";
    const SUMMARY: &'static str = "SYNs and requests.";
    type Row = (u32, bool, f64);
    const FIELDS: &'static [Field<Self::Row>] = &[
        Field::new("flow", "1", "Number of the flow.", Read::U32(|row| row.0)),
        Field::new("asks", "1", "1 if it is a request.", Read::U32(|row| row.1.into())),
        Field::new("at", "s", "When.", Read::F64(|row| row.2)),
    ];

    fn new(_: Detail, _: &Setting) -> Self {
        Self(BTreeMap::new())
    }

    fn for_each_row(&self, mut emit: impl FnMut(&Self::Row)) {
        self.0.iter().for_each(|((flow, asks), at)| emit(&(*flow, *asks, at.as_secs_f64())));
    }
}

impl Listener for Openings {
    fn on_arrival(&mut self, now: Time, _: PortId, packet: &Packet) {
        let asks = packet.flags.contains(Flags::REQUEST);
        if asks || packet.flags.contains(Flags::SYN) && !packet.flags.contains(Flags::ACK) {
            self.0.entry((packet.route.flow(), asks)).or_insert(now);
        }
    }
}

/// Times of the SYNs and of the requests of flows 0 to 7, in microseconds.
fn times(read: &Value) -> [Vec<f64>; 2] {
    let mut changes = json!({ "workload": { "servers": 8, "sru": "2kB" } });
    lay(&mut changes["workload"], read);
    let request = TraceRequest::default().with::<Openings>(Detail::Full);
    let found = run(&scenario(&changes), 1, &request, &Control::default()).expect("nobody cancels");
    let tables = found.trace.tables();
    let [("flow", Values::U32(flows)), ("asks", Values::U32(asks)), ("at", Values::F64(at))] =
        &tables[0].columns[..]
    else {
        panic!("a table of three columns")
    };
    [0, 1].map(|kind| {
        let rows = flows.iter().zip(asks).zip(at).filter(|((_, asks), _)| **asks == kind);
        rows.enumerate()
            .map(|(number, ((flow, _), at))| {
                assert_eq!(*flow as usize, number);
                at * 1e6
            })
            .collect()
    })
}

fn most(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn by_default_a_connection_is_opened_when_its_server_is_asked() {
    let [syns, requests] = times(&json!({ "start_spread": "2ms" }));
    assert_eq!((syns.len(), requests.len()), (8, 8));
    assert!(most(&syns) - least(&syns) > 500.0, "{syns:?}");
    for (syn, request) in syns.iter().zip(&requests) {
        // The request follows the SYN after a handshake, which takes 100 us and the transmission
        // times of a few packets of 40 bytes.
        assert!((100.0..105.0).contains(&(request - syn)), "{syn} {request}");
    }
}

#[test]
fn a_spread_of_requests_leaves_the_handshakes_together() {
    let [syns, requests] = times(&json!({ "request_spread": "2ms" }));
    assert!(most(&syns) < 30.0, "{syns:?}");
    assert!(most(&requests) - least(&requests) > 500.0, "{requests:?}");
    assert!(most(&requests) < 2030.0, "{requests:?}");
    for (syn, request) in syns.iter().zip(&requests) {
        assert!(request - syn >= 100.0, "a request needs a connection: {syn} {request}");
    }
}

#[test]
fn both_spreads_add_up() {
    let [syns, requests] = times(&json!({ "start_spread": "2ms", "request_spread": "5ms" }));
    assert!(most(&syns) - least(&syns) > 500.0, "{syns:?}");
    let gaps: Vec<_> = syns.iter().zip(&requests).map(|(syn, request)| request - syn).collect();
    assert!(most(&gaps) > 1000.0, "{gaps:?}");
}

#[test]
fn handshakes_before_end_before_the_first_request() {
    let [syns, requests] =
        times(&json!({ "handshakes": "before", "request_jitter": "200us", "start_spread": "1us" }));
    assert!(most(&syns) < 30.0, "{syns:?}");
    assert!(least(&requests) >= most(&syns) + 100.0, "{syns:?} {requests:?}");
    let gaps: Vec<_> = requests.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(most(&gaps) > 100.0 && most(&gaps) < 202.0, "{gaps:?}");
}

#[test]
fn a_kept_connection_needs_one_handshake() {
    for connections in ["fresh", "persistent"] {
        for handshakes in ["with-request", "before"] {
            let changes = json!({
                "workload": {
                    "servers": 4, "active": 2, "sru": "2kB", "blocks": 20,
                    "connections": connections, "handshakes": handshakes,
                },
            });
            let found = run(&scenario(&changes), 1, &TraceRequest::default(), &Control::default())
                .expect("nobody cancels");
            let row = &found.rows[0];
            assert_eq!((row.status, row.blocks), ("ok", 20), "{connections} {handshakes}");
            // A block without a handshake lasts one round trip, a block with a handshake two round
            // trips.
            let last = row.completions[19].as_secs_f64() * 1e6;
            let trips = if connections == "fresh" { 2.0 } else { 1.0 };
            assert!((trips * 100.0..trips * 100.0 + 60.0).contains(&last), "{last} {connections}");
        }
    }
}
