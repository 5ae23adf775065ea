//! A kind of trace that is defined outside the crate, completely in this file.

use std::collections::BTreeMap;

use incast_engine::Time;
use incast_lab::probe::{
    Detail, Field, Kind, Listener, Names, Read, Setting, Table, TraceKind, Values,
};
use incast_lab::{Control, TraceRequest, run, run_and_spill};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use serde_json::json;

use crate::harness::{MSS, scenario};

/// Counts the packets that each port drops.
#[derive(Debug)]
struct Drops(BTreeMap<PortId, u32>);

impl TraceKind for Drops {
    const NAME: &'static str = "drops";
    const TABLE: &'static str = "drops";
    const SUMMARY: &'static str = "Drops by port.";
    type Row = (PortId, u32);
    const FIELDS: &'static [Field<Self::Row>] = &[
        Field::new("port", "1", "Number of the port.", Read::I64(|row| row.0.0.into())),
        Field::new("drops", "1", "Packets dropped.", Read::U32(|row| row.1)),
        Field::new("what", "", "Whether it is many.", Read::Text(|row| many(row.1))),
    ];

    fn new(_: Detail, _: &Setting) -> Self {
        Self(BTreeMap::new())
    }

    fn take_final(&mut self, _: &Network) -> Option<Self> {
        (!self.0.is_empty()).then(|| Self(std::mem::take(&mut self.0)))
    }

    fn for_each_row(&self, mut emit: impl FnMut(&Self::Row)) {
        self.0.iter().for_each(|(port, drops)| emit(&(*port, *drops)));
    }
}

impl Listener for Drops {
    fn on_drop(&mut self, _: Time, port: PortId, _: &Packet) {
        *self.0.entry(port).or_default() += 1;
    }
}

fn many(drops: u32) -> &'static str {
    if drops > 10 { "many" } else { "few" }
}

#[test]
fn a_kind_from_outside_is_recorded_beside_the_others_and_becomes_a_table() {
    let changes = json!({
        "network": { "buffer": "32pkt" },
        "workload": { "servers": 8, "sru": 256 * MSS },
    });
    let scenario = scenario(&changes);
    let request = TraceRequest::parse(["queue"]).expect("it exists");
    let both = request.with::<Drops>(Detail::Full);
    let found = run(&scenario, 1, &both, &Control::default()).expect("nobody cancels");
    let [queues, drops] = &found.trace.tables()[..] else { panic!("two kinds are recorded") };
    assert_eq!(drops.name, "drops");
    let [("port", Values::I64(ports)), ("drops", Values::U32(counts)), ("what", told)] =
        &drops.columns[..]
    else {
        panic!("{drops:?}");
    };
    assert_eq!((ports.len(), counts.len()), (1, 1), "the port to the client only");
    assert!(found.rows[0].drops > 10);
    assert_eq!(u64::from(counts[0]), found.rows[0].drops);
    assert_eq!(*told, Values::Text(Names { names: vec!["many".into()], codes: vec![0] }));
    let (_, Values::U32(by_bin)) =
        queues.columns.iter().find(|(name, _)| *name == "drops").expect("it has this column")
    else {
        panic!("a count")
    };
    assert_eq!(by_bin.iter().sum::<u32>(), counts[0]);
}

#[test]
fn a_kind_from_outside_is_described_like_the_others_and_changes_no_row() {
    let kind = Kind::of::<Drops>();
    let columns = (kind.columns)();
    assert_eq!((kind.name, kind.summary), ("drops", "Drops by port."));
    assert_eq!(columns.iter().map(|it| it.name).collect::<Vec<_>>(), ["port", "drops", "what"]);
    assert_eq!((columns[1].unit, columns[1].description), ("1", "Packets dropped."));

    let scenario = scenario(&json!({ "network": { "buffer": "4pkt" } }));
    let rows = |request: &TraceRequest| {
        let rows = run(&scenario, 1, request, &Control::default()).expect("nobody cancels").rows;
        crate::laws::timeless(&rows)
    };
    let alone = TraceRequest::default().with::<Drops>(Detail::Binned);
    assert!(!alone.is_empty());
    assert_eq!(rows(&alone), rows(&TraceRequest::default()));
}

#[test]
fn what_a_kind_gives_away_during_the_run_goes_to_the_sink_and_the_rest_into_the_result() {
    let scenario = scenario(&json!({
        "network": { "buffer": "8pkt" },
        "workload": { "servers": 8, "sru": 256 * MSS },
    }));
    let request = TraceRequest::default().with::<Drops>(Detail::Full);
    let drops = |table: &Table| match &table.columns[1] {
        ("drops", Values::U32(counts)) => counts.iter().sum::<u32>(),
        other => panic!("{other:?}"),
    };
    let (send, parts) = std::sync::mpsc::channel();
    let sink = Box::new(move |part| send.send(part).expect("the test listens"));
    let found = run_and_spill(&scenario, 1, &request, &Control::default(), sink);
    let found = found.expect("nobody cancels");
    let early: Vec<u32> = parts.try_iter().map(|part| drops(&part)).collect();
    assert!(early.len() > 1, "more than once");
    let rest: u32 = found.trace.tables().iter().map(drops).sum();
    assert_eq!(u64::from(early.iter().sum::<u32>() + rest), found.rows[0].drops);
}
