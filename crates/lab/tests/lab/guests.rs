//! A transport of another family than TCP: a sender with a fixed window, defined here.

use std::sync::Arc;

use incast_engine::{Span, Time};
use incast_host::guest::{Call, Guest};
use incast_host::milestone::EventKind;
use incast_host::nic::NicConfig;
use incast_host::{
    BlueprintId, Counters, EndId, Event, Family, Kind, Needs, Nic, NicSite, Seat, State, Transport,
};
use incast_lab::probe::{Listener, Probe, Silent};
use incast_lab::tap::Vantage;
use incast_lab::world::World;
use incast_lab::{Control, Row, RunError, TraceRequest, run};
use incast_net::topology::{HostId, Network};
use incast_net::{Flags, Packet, Port, PortId};
use incast_remedies::schedule::FullPacket;
use incast_scenario::Scenario;
use serde_json::{Value, json};

use crate::harness::lay;

const SEGMENT: u64 = 1000;
const WINDOW: u64 = 4;

/// The parameters of blasters.
#[derive(Debug, Default)]
struct Blast {
    /// Whether packets take all paths in turn.
    spreads: bool,
    /// The card of the hosts.
    card: Option<NicConfig>,
}

impl Kind for Blast {
    fn family(&self) -> &'static str {
        "blast"
    }

    fn full_packet(&self) -> FullPacket {
        FullPacket { payload: SEGMENT as u32, header: 40 }
    }

    fn ack_size(&self) -> u32 {
        40
    }

    fn window(&self) -> u64 {
        WINDOW * SEGMENT
    }

    fn rto(&self) -> Span {
        Span::ZERO
    }

    fn needs(&self) -> Needs {
        Needs { paths: self.spreads }
    }

    fn nic(&self, site: NicSite) -> Option<Box<dyn Nic>> {
        self.card.as_ref().map(|card| card.build(&site))
    }

    fn end(&self, seat: Seat) -> Box<dyn Guest> {
        Box::new(Blaster { path: self.spreads.then_some(0), ..Blaster::new(seat.end) })
    }

    fn table(&self) -> Value {
        json!({ "name": "blast" })
    }
}

/// Keeps four packets in flight. If no ACK arrives for a millisecond, it sends everything again
/// from the last acknowledged byte.
struct Blaster {
    end: EndId,
    /// The path of the next packet, if this end chooses paths.
    path: Option<u32>,
    asks: bool,
    asked: bool,
    written: u64,
    sent: u64,
    acknowledged: u64,
    received: u64,
    notify_at: u64,
    owes_ack: bool,
    deadline: Time,
    events: Vec<Event>,
    packets: u64,
}

impl Blaster {
    fn new(end: EndId) -> Self {
        Self {
            end,
            path: None,
            asks: false,
            asked: false,
            written: 0,
            sent: 0,
            acknowledged: 0,
            received: 0,
            notify_at: u64::MAX,
            owes_ack: false,
            deadline: Time::NEVER,
            events: Vec::new(),
            packets: 0,
        }
    }
}

impl Guest for Blaster {
    fn handle_segment(&mut self, _: Time, packet: &Packet) {
        if packet.payload > 0 {
            if packet.seq == self.received {
                self.received += u64::from(packet.payload);
            }
            if self.received >= self.notify_at {
                self.notify_at = u64::MAX;
                self.events.push(Event::Received);
            }
            self.owes_ack = true;
        } else if packet.flags.contains(Flags::REQUEST) {
            if !std::mem::replace(&mut self.asked, true) {
                self.events.push(Event::Request);
            }
        } else {
            self.acknowledged = self.acknowledged.max(packet.ack);
            self.sent = self.sent.max(self.acknowledged);
        }
    }

    fn handle_timeout(&mut self, _: Time) {
        self.deadline = Time::NEVER;
        if self.end.is_server() {
            self.events.push(Event::Timeout(None));
        }
        self.sent = self.acknowledged;
        self.asks = !self.end.is_server() && self.received == 0;
    }

    fn poll_timeout(&self) -> Time {
        self.deadline
    }

    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool {
        let packet = Packet { route: self.end.route(), header: 40, ..*draft };
        if std::mem::take(&mut self.asks) {
            *draft = Packet { flags: Flags::REQUEST, ..packet };
            self.deadline = now + Span::from_millis(1);
        } else if std::mem::take(&mut self.owes_ack) {
            *draft = Packet { flags: Flags::ACK, ack: self.received, ..packet };
        } else if self.sent < self.written.min(self.acknowledged + WINDOW * SEGMENT) {
            let payload = SEGMENT.min(self.written - self.sent);
            *draft = Packet { seq: self.sent, payload: payload as u16, ..packet };
            self.sent += payload;
            self.packets += 1;
            self.deadline = now + Span::from_millis(1);
        } else {
            if self.acknowledged == self.written && self.end.is_server() {
                self.deadline = Time::NEVER;
            }
            return false;
        }
        if let Some(path) = &mut self.path {
            *draft = draft.with_path(*path);
            *path += 1;
        }
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn handle_call(&mut self, call: Call) {
        match call {
            Call::Write(bytes) => self.written += bytes,
            Call::Request(_) => self.asks = true,
            Call::NotifyAt(bytes) => self.notify_at = bytes,
            Call::Open | Call::Close | Call::ReceiveBuffer(_) => {}
        }
    }

    fn delivered(&self) -> u64 {
        self.received
    }

    fn is_quiet(&self) -> bool {
        !self.asks && !self.owes_ack && self.acknowledged == self.written
    }

    fn counters(&self) -> Counters {
        Counters { data_packets: self.packets, ..Counters::default() }
    }

    fn state(&self) -> State {
        let flight = self.sent - self.acknowledged;
        State { seq: self.acknowledged, cwnd: WINDOW * SEGMENT, flight, ..State::default() }
    }
}

/// A read of eight servers by blasters.
fn scenario(changes: &Value) -> Scenario {
    by(Blast::default(), changes)
}

fn by(blast: Blast, changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "buffer": "1MiB" },
        "workload": { "servers": 8, "sru": 50_000, "connections": "persistent", "blocks": 1 },
        "run": { "time_limit": "10s" },
    });
    lay(&mut document, changes);
    let mut scenario = Scenario::from_document(&document).expect("it is a scenario");
    scenario.transport =
        Transport { name: "blast".to_owned(), family: Family::Other(Arc::new(blast)) };
    scenario
}

/// A read over another transport needs no change of the workload, of the network or of the rows.
#[test]
fn a_fixed_window_blaster_reads_a_block() {
    for buffer in ["1MiB", "10KB"] {
        let scenario = scenario(&json!({ "network": { "buffer": buffer } }));
        let world = World::new(&scenario, 1, |_| Silent);
        let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
        let row = &rows[0];
        assert_eq!((row.status, row.blocks, row.bytes), ("ok", 1, 8 * 50_000));
        assert!(row.packets_sent >= 8 * 50);
        assert_eq!(row.drops > 0, buffer == "10KB", "{buffer}");
        assert_eq!(row.packets_sent > 8 * 50, row.drops > 0, "what is dropped is sent again");
        assert_eq!(row.timeouts > 0, row.drops > 0, "timeouts without a cause are counted");
        assert_eq!(row.timeouts_full_window + row.timeouts_tail + row.timeouts_handshake, 0);
        assert!((0..8).all(|flow| core.hosts.delivered(EndId::client(flow)) == 50_000));
    }
}

/// With fresh connections, the ends of all blocks are blasters, and their counters are summed.
#[test]
fn a_guest_stays_a_guest_over_blocks() {
    let scenario = scenario(&json!({ "workload": { "connections": "fresh", "blocks": 3 } }));
    let world = World::new(&scenario, 1, |_| Silent);
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    let row = &rows[0];
    assert_eq!((row.status, row.blocks, row.packets_sent), ("ok", 3, 3 * 8 * 50));
    assert_eq!(core.hosts.counters(BlueprintId(0)).data_packets, 3 * 8 * 50);
    for flow in 0..8 {
        assert!(core.hosts.connection(EndId::server(flow)).is_none(), "{flow}");
    }
}

/// Traces and rows contain the values that the family has, and a run can be cancelled.
#[test]
fn a_guest_is_traced_and_stopped_like_tcp() {
    let scenario = scenario(&json!({ "network": { "buffer": "10KB" } }));
    let request = TraceRequest::parse(["events", "queue", "cwnd"]).expect("they exist");
    let done = run(&scenario, 1, &request, &Control::default()).expect("nobody cancels");
    let events = done.trace.events.as_ref().expect("events are traced").rows();
    let count = |kind| events.iter().filter(|row| row.kind == kind).count() as u64;
    assert_eq!((count(EventKind::Request), count(EventKind::FlowDone)), (8, 8));
    assert_eq!(count(EventKind::Timeout), done.rows[0].timeouts);
    let tables: Vec<_> = done.trace.tables().into_iter().map(|table| table.name).collect();
    assert_eq!(tables.len(), 3, "{tables:?}");
    let silent = run(&scenario, 1, &TraceRequest::default(), &Control::default());
    let silent = silent.expect("nobody cancels").rows;
    assert_eq!(silent[0].completions, done.rows[0].completions);
    let control = Control::default();
    control.cancel();
    let many = self::scenario(&json!({ "workload": { "connections": "fresh", "blocks": 1000 } }));
    let stopped = run(&many, 1, &TraceRequest::default(), &control);
    assert!(matches!(stopped, Err(RunError::Cancelled(_))));
}

/// A resolved scenario has the table that the kind writes.
#[test]
fn a_resolved_scenario_names_the_kind() {
    assert_eq!(scenario(&json!({})).resolved()["transport"], json!({ "name": "blast" }));
    assert_eq!(scenario(&json!({})).transport.family(), "blast");
}

/// Functions that need TCP refuse another family. The error is one line that names the accepted
/// transports.
#[test]
fn what_is_for_tcp_refuses_a_guest() {
    let scenario = scenario(&json!({}));
    assert_eq!(scenario.family(), "blast");
    let refused = Vantage::Client(0).check(&scenario).expect_err("it is no TCP");
    assert_eq!(
        refused,
        "transport.name: \"blast\" is of the family \"blast\", and a capture is for TCP; write \
         e.g. \"newreno\""
    );
    let read = json!({ "workload": { "servers": 1, "sru": 1 } });
    let tcp = Scenario::from_document(&read).expect("the defaults");
    assert_eq!((tcp.family(), tcp.check_tcp("a capture")), ("tcp", Ok(())));
}

/// Runs a server that sends to a client over four spines. Returns the row, the number of packets on
/// each link from the server's leaf to a spine, and the number of packets on each link from the
/// client's leaf to a spine.
fn over_spines(spreads: bool) -> (Row, [Vec<u64>; 2]) {
    let scenario = by(
        Blast { spreads, ..Blast::default() },
        &json!({
            "network": { "topology": { "name": "leaf-spine", "leaves": 2, "spines": 4 } },
            "workload": { "servers": 1, "sru": 400 * SEGMENT },
        }),
    );
    let world = World::new(&scenario, 1, |_| Silent);
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    let network = &core.wires.network;
    assert!(network.ports().iter().all(Port::is_conserving));
    // The ports of the two hosts come first. For each leaf and each spine, the port from the leaf
    // to the spine follows, and then the port from the spine to the leaf. The client is at the
    // first leaf, the server at the second leaf.
    let delivered = |port: usize| network.ports()[port].counters().delivered;
    let links = [8, 0].map(|first| (0..4).map(|spine| delivered(4 + first + 2 * spine)).collect());
    (rows.into_iter().next().expect("a row"), links)
}

#[test]
fn a_sender_spreads_the_packets_of_one_flow_evenly_over_all_spines() {
    let (fixed, links) = over_spines(false);
    for link in links {
        assert_eq!(link.iter().filter(|packets| **packets > 0).count(), 1, "{link:?}");
    }
    let (sprayed, links) = over_spines(true);
    assert_eq!((sprayed.status, sprayed.drops, sprayed.packets_sent), ("ok", 0, 400));
    for link in &links {
        let (least, most) = (link.iter().min(), link.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{links:?}");
        // At the end of the run, the last ACKs are still in the network.
        assert!(link.iter().sum::<u64>() > 380, "{links:?}");
    }
    // All paths have the same delay, and the server's line is no faster than the other links.
    assert_eq!(sprayed.completion_s, fixed.completion_s);
}

/// Watches the port of the first client: the flows of its data packets in order, and the largest
/// number of packets that wait.
#[derive(Default)]
struct Watch {
    flows: Vec<u32>,
    waiting: u32,
}

impl Listener for Watch {
    fn after_offer(&mut self, _: Time, port: PortId, packet: &Packet, network: &Network) {
        if port == Network::uplink(HostId(0)) {
            self.waiting = self.waiting.max(network.port(port).view().packets);
            if packet.payload > 0 {
                self.flows.push(packet.route.flow());
            }
        }
    }
}

impl Probe for Watch {}

/// Three clients read from each other, so that two flows share each client's port.
/// The card that serves its ends in turn.
fn round_robin() -> NicConfig {
    serde_json::from_value(json!("round-robin")).expect("it is in the list")
}

fn shuffle(card: Option<NicConfig>) -> (Row, Watch) {
    let scenario = by(
        Blast { card, ..Blast::default() },
        &json!({
            "network": { "clients": 3 },
            "workload": {
                "name": "all-to-all", "message": 40 * SEGMENT,
                "servers": null, "sru": null, "connections": null, "blocks": null,
            },
        }),
    );
    let world = World::new(&scenario, 1, |_| Watch::default());
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    assert!(core.wires.network.ports().iter().all(Port::is_conserving));
    (rows.into_iter().next().expect("a row"), core.wires.probe)
}

#[test]
fn a_card_lets_ends_take_turns_and_nothing_waits_behind_another() {
    let runs = |watch: &Watch| watch.flows.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let (row, plain) = shuffle(None);
    assert_eq!((row.status, plain.flows.len()), ("ok", 80));
    assert!(plain.waiting > 3, "packets wait in the host's port");
    let (row, carded) = shuffle(Some(round_robin()));
    assert_eq!((row.status, row.packets_sent, carded.flows.len()), ("ok", 6 * 40, 80));
    assert_eq!(carded.waiting, 0, "they wait in the ends");
    assert!(runs(&carded) < runs(&plain), "{:?}", carded.flows);
}

/// The rows of a run with cards are the same with and without probes.
#[test]
fn a_run_with_cards_does_not_depend_on_probes() {
    let changes = json!({ "network": { "buffer": "10KB" }, "workload": { "servers": 4 } });
    let blast = || Blast { card: Some(round_robin()), ..Blast::default() };
    let silent = World::new(&by(blast(), &changes), 1, |_| Silent);
    let watched = World::new(&by(blast(), &changes), 1, |_| Watch::default());
    let silent = silent.run(&Control::default()).expect("nobody cancels").0;
    let watched = watched.run(&Control::default()).expect("nobody cancels").0;
    let told = |rows: Vec<Row>| {
        let rows = rows.into_iter().map(|row| Row { wall_s: 0.0, ..row });
        format!("{:?}", rows.collect::<Vec<_>>())
    };
    assert!(silent[0].drops > 0);
    assert_eq!(told(silent), told(watched));
}
