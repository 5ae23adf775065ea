//! Runs of transports that are not TCP. Their parts come from the lists of parts, or are defined in
//! these tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use incast_engine::{Foreign, Rate, Stream, Time};
use incast_host::{Family, Seat, Transport};
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_lab::{Control, Row, RunError, TraceRequest, run};
use incast_net::queue::{QueueConfig, QueueDiscipline, QueueView, Refusal, Verdict};
use incast_net::{Packet, Port};
use incast_scenario::Scenario;
use incast_transports::TransportConfig;
use incast_transports::credit::{Credit, Credits};
use incast_transports::paths::{Feedback, PathChooser, Paths};
use incast_transports::rate::{Acked, RateLaw, RateLaws};
use incast_transports::repair::{Answer, Repair, Repairs};
use serde_json::{Value, json};

use crate::harness::lay;

/// A read of sixteen servers over `transport`.
fn scenario(transport: &TransportConfig, changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "buffer": "32KiB" },
        "workload": { "servers": 16, "sru": "20KiB", "blocks": 4 },
        "run": { "time_limit": "10s" },
    });
    lay(&mut document, changes);
    let mut scenario = Scenario::from_document(&document).expect("it is a scenario");
    scenario.transport =
        Transport { name: transport.name().to_owned(), family: Family::Other(transport.kind()) };
    scenario
}

fn blast(changes: &Value) -> TransportConfig {
    let mut table = json!({ "name": "blast" });
    lay(&mut table, changes);
    serde_json::from_value(table).expect("it is a transport")
}

/// The changes that make the read a shuffle among four clients.
fn shuffle() -> Value {
    json!({
        "network": { "clients": 4 },
        "workload": {
            "name": "all-to-all", "message": "30KiB", "rounds": 3,
            "servers": null, "sru": null, "blocks": null,
        },
    })
}

/// Runs a scenario with and without traces, and cancels it once. Returns its row.
fn whole(scenario: &Scenario) -> Row {
    let none = TraceRequest::default();
    let silent = run(scenario, 1, &none, &Control::default()).expect("nobody cancels").rows;
    let request = TraceRequest::parse(["events", "queue", "cwnd"]).expect("they exist");
    let traced = run(scenario, 1, &request, &Control::default()).expect("nobody cancels");
    assert_eq!(traced.trace.tables().len(), 3);
    let told = |rows: &[Row]| {
        let rows = rows.iter().map(|row| Row { wall_s: 0.0, ..row.clone() });
        format!("{:?}", rows.collect::<Vec<_>>())
    };
    assert_eq!(told(&silent), told(&traced.rows), "traces change nothing");
    assert!(silent[0].cells().any(|(name, _)| name == "goodput_bps"));
    let control = Control::default();
    control.cancel();
    let mut long = scenario.clone();
    long.run.time_limit = incast_engine::Span::from_secs(1000);
    let stopped = run(&long, 1, &none, &control);
    assert!(matches!(stopped, Err(RunError::Cancelled(_))) || silent[0].packet_hops < 5000);
    silent.into_iter().next().expect("a row")
}

#[test]
fn every_part_of_every_list_finishes_a_read() {
    for repair in incast_transports::repair::ENTRIES {
        for paths in incast_transports::paths::ENTRIES {
            let changes = json!({ "repair": repair.name, "paths": paths.name });
            let network = json!({ "network": {
                "topology": { "name": "leaf-spine", "leaves": 2, "spines": 3 },
            } });
            let row = whole(&scenario(&blast(&changes), &network));
            let case = format!("{} over {}", repair.name, paths.name);
            assert_eq!(
                (row.status, row.blocks, row.bytes),
                ("ok", 4, 4 * 16 * 20 * 1024),
                "{case}"
            );
            assert!(row.drops > 0 && row.retransmitted_packets > 0, "{case}");
        }
    }
}

/// Four clients, each of which fetches a message from every other client: a host has several ends,
/// which wait for their rate, for credit and for their card.
#[test]
fn every_law_scheme_and_card_finishes_a_shuffle() {
    let cards = incast_host::nic::ENTRIES.iter().map(|card| json!(card.name));
    for nic in cards.chain([json!(null)]) {
        for rate in incast_transports::rate::ENTRIES {
            for credit in incast_transports::credit::ENTRIES {
                let changes = json!({ "rate": rate.name, "credit": credit.name, "nic": nic });
                let row = whole(&scenario(&blast(&changes), &shuffle()));
                let told = (row.status, row.blocks, row.bytes);
                assert_eq!(told, ("ok", 3, 3 * 12 * 30 * 1024), "{changes}");
            }
        }
    }
}

#[test]
fn every_transport_finishes_a_read() {
    for entry in incast_transports::ENTRIES {
        let transport = TransportConfig::named(entry.name).expect("it has defaults");
        let row = whole(&scenario(&transport, &json!({})));
        let told = (row.status, row.blocks, row.bytes);
        assert_eq!(told, ("ok", 4, 4 * 16 * 20 * 1024), "{}", entry.name);
    }
}

#[test]
fn fresh_connections_are_read_too() {
    let fresh = json!({ "workload": { "connections": "fresh" } });
    let row = whole(&scenario(&blast(&json!({})), &fresh));
    assert_eq!((row.status, row.blocks), ("ok", 4));
}

/// Without losses, selective repeat and go-back-N send the same packets.
#[test]
fn repairs_differ_only_by_what_they_send_again() {
    let of = |repair: &str, buffer: &str| {
        let network = json!({ "network": { "buffer": buffer } });
        whole(&scenario(&blast(&json!({ "repair": repair })), &network))
    };
    let [back, selective] = ["go-back-n", "selective-repeat"].map(|it| of(it, "4MiB"));
    assert_eq!((back.drops, back.completion_s), (0, selective.completion_s));
    // With a single sender, the switch drops 1 % of the packets.
    let lossy = json!({
        "network": { "buffer": "4MiB", "queue": { "name": "bernoulli", "p": 0.01 } },
        "workload": { "servers": 1, "sru": "2MiB" },
    });
    let of = |repair: &str| whole(&scenario(&blast(&json!({ "repair": repair })), &lossy));
    let [back, selective] = ["go-back-n", "selective-repeat"].map(of);
    assert!(back.retransmitted_packets > 2 * selective.retransmitted_packets);
    assert!(back.completion_s > selective.completion_s);
}

/// Halves the rate at each missing packet, and raises it with each acknowledgement.
struct Halving {
    rate: u64,
    nacks: Arc<AtomicU64>,
}

impl RateLaw for Halving {
    fn on_ack(&mut self, _: Time, acked: &Acked) {
        assert!(acked.bytes > 0);
        self.rate = (self.rate + 1_000_000).min(1_000_000_000);
    }

    fn on_nack(&mut self, _: Time) {
        self.nacks.fetch_add(1, Relaxed);
        self.rate = (self.rate / 2).max(10_000_000);
    }

    fn rate(&self) -> Option<Rate> {
        Some(Rate(self.rate))
    }

    fn window(&self) -> Option<u64> {
        Some(16 << 10)
    }
}

#[test]
fn a_rate_law_from_elsewhere_slows_a_sender_down() {
    let nacks = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&nacks);
    let law = move |_: &Seat| -> Box<dyn RateLaw> {
        Box::new(Halving { rate: 200_000_000, nacks: Arc::clone(&told) })
    };
    let mut transport = blast(&json!({ "repair": "selective-repeat" }));
    let plain = whole(&scenario(&transport, &json!({})));
    let TransportConfig::Blast(params) = &mut transport else { unreachable!("it is blast") };
    params.rate = RateLaws::Foreign(Foreign::new("halving", law));
    let slow = scenario(&transport, &json!({}));
    assert_eq!(
        slow.resolved()["transport"]["rate"],
        json!({ "name": "foreign", "entry": "halving" })
    );
    let row = whole(&slow);
    assert_eq!((row.status, row.blocks), ("ok", 4));
    assert!(nacks.load(Relaxed) > 0, "it hears of losses");
    assert!(row.drops * 2 < plain.drops, "{} of {}", row.drops, plain.drops);
}

/// Sends at a tenth of the rate of the line.
struct Tenth(Rate);

impl RateLaw for Tenth {
    fn rate(&self) -> Option<Rate> {
        Some(self.0)
    }
}

/// A paced end may send before its card lets it. It then waits for its turn, without a deadline in
/// the past.
#[test]
fn paced_ends_take_turns_at_a_card() {
    let law = |seat: &Seat| -> Box<dyn RateLaw> { Box::new(Tenth(Rate(seat.rate.0 / 10))) };
    for nic in [json!(null), json!("round-robin")] {
        let mut transport = blast(&json!({ "nic": nic }));
        let TransportConfig::Blast(params) = &mut transport else { unreachable!("it is blast") };
        params.rate = RateLaws::Foreign(Foreign::new("tenth", law));
        let row = whole(&scenario(&transport, &shuffle()));
        assert_eq!((row.status, row.blocks, row.bytes), ("ok", 3, 3 * 12 * 30 * 1024), "{nic}");
    }
}

/// Leaves a path on which a packet was lost or marked, and counts the feedback of each kind.
struct Avoiding {
    path: u32,
    heard: Arc<[AtomicU64; 4]>,
}

impl PathChooser for Avoiding {
    fn next(&mut self, _: &mut Stream) -> u32 {
        self.path
    }

    fn heard(&mut self, path: u32, feedback: Feedback) {
        self.heard[feedback as usize].fetch_add(1, Relaxed);
        if feedback != Feedback::Good && path == self.path {
            self.path += 1;
        }
    }
}

#[test]
fn a_path_chooser_from_elsewhere_hears_what_became_of_packets() {
    let heard: Arc<[AtomicU64; 4]> = Arc::default();
    let told = Arc::clone(&heard);
    let chooser = move |_: &Seat| -> Box<dyn PathChooser> {
        Box::new(Avoiding { path: 0, heard: Arc::clone(&told) })
    };
    let mut transport = blast(&json!({ "repair": "selective-repeat" }));
    let TransportConfig::Blast(params) = &mut transport else { unreachable!("it is blast") };
    params.paths = Paths::Foreign(Foreign::new("avoiding", chooser));
    let changes = json!({ "network": {
        "topology": { "name": "leaf-spine", "leaves": 2, "spines": 4 },
        "queue": { "name": "ecn-threshold", "threshold": "10KiB" },
    } });
    let row = whole(&scenario(&transport, &changes));
    assert_eq!((row.status, row.blocks), ("ok", 4));
    let heard = [0, 1, 2, 3].map(|of: usize| heard[of].load(Relaxed));
    let [good, marked, trimmed, lost] = heard;
    assert!(good > 0 && marked > 0 && lost > 0, "{heard:?}");
    assert_eq!(trimmed, 0, "nothing trims here");
}

/// Allows the sender 4 KiB beyond the bytes that have arrived.
#[derive(Default)]
struct Stingy {
    arrived: u64,
    allowed: u64,
}

impl Credit for Stingy {
    fn grant(&mut self, _: Time, bytes: u64) -> Option<u64> {
        self.arrived += bytes;
        Some(self.arrived + (4 << 10))
    }

    fn take(&mut self, bytes: u64) {
        self.allowed = self.allowed.max(bytes);
    }

    fn limit(&self) -> Option<u64> {
        Some(self.allowed.max(4 << 10))
    }
}

#[test]
fn a_credit_scheme_from_elsewhere_limits_the_sender() {
    let mut transport = blast(&json!({}));
    let scheme = |_: &Seat| -> Box<dyn Credit> { Box::<Stingy>::default() };
    let TransportConfig::Blast(params) = &mut transport else { unreachable!("it is blast") };
    params.credit = Credits::Foreign(Foreign::new("stingy", scheme));
    // The buffer holds 4 KiB from each of the sixteen servers, and their headers.
    let row = whole(&scenario(&transport, &json!({ "network": { "buffer": "80KiB" } })));
    assert_eq!((row.status, row.blocks, row.drops), ("ok", 4, 0));
    let free = whole(&scenario(&blast(&json!({})), &json!({ "network": { "buffer": "80KiB" } })));
    assert!(free.drops > 0);
}

/// A go-back-N that never asks for missing data, and counts its timeouts.
struct Counting {
    inner: Box<dyn Repair>,
    timeouts: Arc<AtomicU64>,
}

impl Repair for Counting {
    fn on_data(&mut self, bytes: std::ops::Range<u64>) -> Answer {
        // Without such a request, the sender repairs every loss by its timer.
        Answer { lacks: None, ..self.inner.on_data(bytes) }
    }

    fn on_trimmed(&mut self, bytes: std::ops::Range<u64>) -> Answer {
        self.inner.on_trimmed(bytes)
    }

    fn on_ack(&mut self, next: u64) {
        self.inner.on_ack(next);
    }

    fn on_nack(&mut self, lacks: std::ops::Range<u64>, max: u64) {
        self.inner.on_nack(lacks, max);
    }

    fn on_timeout(&mut self, una: u64, max: u64) {
        self.timeouts.fetch_add(1, Relaxed);
        self.inner.on_timeout(una, max);
    }

    fn resend(&mut self, most: u64) -> Option<std::ops::Range<u64>> {
        self.inner.resend(most)
    }

    fn has_work(&self) -> bool {
        self.inner.has_work()
    }
}

#[test]
fn a_repair_from_elsewhere_is_used_by_both_ends() {
    let timeouts = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&timeouts);
    let repair = move |seat: &Seat| -> Box<dyn Repair> {
        let inner = Repairs::default().build(seat);
        Box::new(Counting { inner, timeouts: Arc::clone(&told) })
    };
    let mut transport = blast(&json!({}));
    let TransportConfig::Blast(params) = &mut transport else { unreachable!("it is blast") };
    params.repair = Repairs::Foreign(Foreign::new("counting", repair));
    let scenario = scenario(&transport, &json!({}));
    let none = TraceRequest::default();
    let row = run(&scenario, 1, &none, &Control::default()).expect("nobody cancels").rows.remove(0);
    assert_eq!((row.status, row.blocks), ("ok", 4));
    assert!(row.timeouts > 0, "nobody asks for what is lost");
    assert_eq!((row.timeouts, row.fast_retransmits), (timeouts.load(Relaxed), 0));
}

/// Trims packets that do not fit, and sends headers first.
struct Trims;

impl QueueDiscipline for Trims {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn trims(&self) -> bool {
        true
    }

    fn refused(&mut self, _: &Packet, _: &QueueView) -> Refusal {
        Refusal::Trim
    }

    fn classes(&self) -> usize {
        2
    }

    fn class(&self, packet: &Packet) -> usize {
        usize::from(packet.payload > 0)
    }
}

/// In every buffer, of packets or of bytes, a packet that does not fit is trimmed to its header.
/// No packet is dropped, and the sender learns of the trimmed packets without a timeout.
#[test]
fn a_trim_works_in_every_buffer() {
    for buffer in ["64pkt", "96000B", "93440B"] {
        let transport = blast(&json!({ "repair": "selective-repeat", "rto": "100ms" }));
        let mut scenario = scenario(&transport, &json!({ "network": { "buffer": buffer } }));
        let queue = |(): &()| -> Box<dyn QueueDiscipline + Send> { Box::new(Trims) };
        scenario.network.queue = QueueConfig::Foreign(Foreign::new("trims", queue));
        let world = World::new(&scenario, 1, |_| Silent);
        let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
        let trimmed: u64 = core.wires.network.ports().iter().map(|it| it.counters().trimmed).sum();
        assert!(trimmed > 100, "{buffer}: {trimmed}");
        assert!(core.wires.network.ports().iter().all(Port::is_conserving), "{buffer}");
        let row = &rows[0];
        assert_eq!((row.status, row.blocks, row.drops, row.timeouts), ("ok", 4, 0, 0), "{buffer}");
    }
}
