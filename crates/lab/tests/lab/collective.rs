//! A collective operation that is defined here, and a queue from elsewhere.

use std::sync::{Arc, LazyLock};

use incast_engine::{Fault, Foreign, Span, Stream};
use incast_host::milestone::EventKind;
use incast_lab::{Control, Row, RunError, TraceRequest, run};
use incast_net::Packet;
use incast_net::queue::{DropReason, QueueConfig, QueueDiscipline, QueueView, Verdict};
use incast_scenario::Scenario;
use incast_traffic::collective::{
    Algorithm, Collective, Members, Message, Operation, Peak, flow_of,
};
use incast_traffic::{Numbers, WorkloadConfig};
use serde_json::{Value, json};

use crate::harness::lay;

const RANKS: u32 = 4;
const CHUNK: u64 = 20_000;

/// In each step, every rank sends a chunk to the next rank. After 2 · (ranks − 1) steps, all ranks
/// have the sum of all chunks (ring all-reduce).
struct Ring;

impl Algorithm for Ring {
    fn steps(&self) -> u32 {
        2 * (RANKS - 1)
    }

    fn sends(&self, _: u32) -> Vec<Message> {
        let to_next = |from| Message { from, to: (from + 1) % RANKS, bytes: CHUNK };
        (0..RANKS).map(to_next).collect()
    }
}

/// A ring all-reduce, repeated this many times.
struct RingAllReduce {
    rounds: u32,
}

impl Members for RingAllReduce {
    fn among(&self) -> Option<&Numbers> {
        static RING: LazyLock<Numbers> = LazyLock::new(|| Numbers::of((0..RANKS).collect()));
        Some(&RING)
    }

    fn rounds(&self) -> Option<u32> {
        Some(self.rounds)
    }

    fn start_spread(&self) -> Span {
        Span::ZERO
    }

    fn set(&mut self, _: Numbers, _: Option<u32>) {}
}

impl Collective for RingAllReduce {
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn peak(&self, _: u32) -> Peak {
        Peak { most: CHUNK, least: CHUNK, fan_in: 1 }
    }

    fn algorithm(&self, _: u32) -> Box<dyn Algorithm> {
        Box::new(Ring)
    }
}

fn scenario(rounds: u32, changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "clients": RANKS, "rate": "1Gbps", "delay": "5us" },
        "workload": { "name": "all-to-all", "message": CHUNK },
    });
    lay(&mut document, changes);
    let mut scenario = Scenario::from_document(&document).expect("it is a scenario");
    let ring = incast_traffic::Foreign::new("ring", Arc::new(Operation(RingAllReduce { rounds })));
    scenario.traffic.workloads[0].config = WorkloadConfig::Foreign(ring);
    scenario
}

fn rows(scenario: &Scenario) -> Vec<Row> {
    let none = TraceRequest::default();
    run(scenario, 1, &none, &Control::default()).expect("nobody cancels").rows
}

#[test]
fn a_ring_moves_each_chunk_step_by_step() {
    let row = rows(&scenario(3, &json!({}))).remove(0);
    let chunks = u64::from(3 * RANKS * 2 * (RANKS - 1));
    assert_eq!((row.status, row.blocks, row.bytes), ("ok", 3, chunks * CHUNK));
    assert_eq!((row.drops, row.timeouts), (0, 0), "no port gets more than one message at a time");
    // A step takes at least the time of its chunk on a line.
    let least = 6.0 * CHUNK as f64 * 8.0 / 1e9;
    assert!(row.completion_s.is_some_and(|it| it > least && it < 4.0 * least), "{row:?}");
}

#[test]
fn a_collective_from_elsewhere_is_traced_named_and_stopped() {
    let ring = scenario(2, &json!({}));
    assert_eq!(ring.resolved()["workload"], json!({ "name": "foreign", "entry": "ring" }));
    let request = TraceRequest::parse(["events", "queue", "cwnd"]).expect("they exist");
    let traced = run(&ring, 1, &request, &Control::default()).expect("nobody cancels");
    let events = traced.trace.events.as_ref().expect("events are traced").rows();
    let count = |kind| events.iter().filter(|row| row.kind == kind).count() as u32;
    let messages = 2 * RANKS * 2 * (RANKS - 1);
    assert_eq!((count(EventKind::Request), count(EventKind::FlowDone)), (messages, messages));
    assert_eq!((count(EventKind::BlockStart), count(EventKind::BlockDone)), (2, 2));
    assert_eq!(traced.rows[0].completions, rows(&ring)[0].completions);
    let control = Control::default();
    control.cancel();
    let stopped = run(&scenario(10_000, &json!({})), 1, &TraceRequest::default(), &control);
    assert!(matches!(stopped, Err(RunError::Cancelled(_))));
    assert_eq!(flow_of(1, 0, RANKS), 0);
}

/// Drops every hundredth packet with data.
#[derive(Default)]
struct Hundredth(u32);

impl QueueDiscipline for Hundredth {
    fn offer(&mut self, packet: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        self.0 += u32::from(packet.payload > 0);
        if packet.payload > 0 && self.0.is_multiple_of(100) {
            return Verdict::Drop(DropReason::Random);
        }
        Verdict::Admit
    }
}

#[test]
fn a_queue_from_elsewhere_is_named_in_a_scenario_and_drops() {
    let mut ring = scenario(20, &json!({}));
    let build = |(): &()| -> Box<dyn QueueDiscipline + Send> { Box::<Hundredth>::default() };
    ring.network.queue = QueueConfig::Foreign(Foreign::new("hundredth", build));
    assert_eq!(ring.network.queue.name(), "hundredth");
    let queue = ring.resolved()["network"]["queue"].clone();
    assert_eq!(queue, json!({ "name": "foreign", "entry": "hundredth" }));
    let row = rows(&ring).remove(0);
    assert_eq!((row.status, row.blocks), ("ok", 20));
    assert!(row.drops > 10);
}
