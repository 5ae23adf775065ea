//! A small world whose switch drops exactly the packets that a test selects.

use std::collections::BTreeMap;

use incast_engine::Stream;
use incast_host::cause::Cause;
use incast_host::milestone::{EventKind, EventRow};
use incast_lab::core::Core;
use incast_lab::probe::Setting;
use incast_lab::probe::{Trace, TraceRequest};
use incast_lab::world::World;
use incast_lab::{Control, Row};
use incast_net::queue::{DropReason, QueueDiscipline, QueueView, Verdict};
use incast_net::{Flags, Packet, PortId, RouteId};
use incast_scenario::Scenario;
use incast_tcp::Config;
use serde_json::{Value, json};

/// Payload of a full segment in the small world.
pub const MSS: u64 = 1000;

/// Merges the tables of `over` into those of `base`; `null` removes a key.
pub fn lay(base: &mut Value, over: &Value) {
    let (Value::Object(base), Value::Object(over)) = (&mut *base, over) else {
        base.clone_from(over);
        return;
    };
    for (key, value) in over {
        if value.is_null() {
            base.remove(key);
        } else {
            lay(base.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}

/// The scenario of the small world with `changes`: one server, ten segments, no losses except those
/// of the test, and a timer much longer than a round trip.
pub fn scenario(changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": "1000pkt" },
        "workload": { "name": "barrier-read", "servers": 1, "sru": 10 * MSS },
        "transport": { "mss": MSS, "initial_window": 4, "rto_min": "10ms" },
    });
    lay(&mut document, changes);
    Scenario::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

/// The configuration of a scenario's TCP.
pub fn of_tcp(scenario: &Scenario) -> &Config {
    &scenario.transport.tcp().expect("it is TCP").config
}

/// A selection of packets that the switch drops.
pub struct Loss {
    route: RouteId,
    matches: Box<dyn Fn(&Packet) -> bool + Send>,
    /// The first and the last of the matching packets to drop, counted from 1.
    which: (u32, u32),
    seen: u32,
}

impl Loss {
    fn new(
        flow: u32,
        forward: bool,
        matches: impl Fn(&Packet) -> bool + Send + 'static,
        which: (u32, u32),
    ) -> Self {
        Self { route: RouteId::new(flow, forward), matches: Box::new(matches), which, seen: 0 }
    }

    /// Drops nothing; calls `look` for every packet of a flow in one direction, at the port towards
    /// the receiving host.
    pub fn of_nothing(flow: u32, forward: bool, look: impl Fn(&Packet) + Send + 'static) -> Self {
        let matches = move |packet: &Packet| {
            look(packet);
            false
        };
        Self::new(flow, forward, matches, (1, 1))
    }

    /// Drops the first transmission of segments `first..=last` (from 0) of a flow.
    pub fn of_segments(flow: u32, first: u64, last: u64) -> Vec<Self> {
        (first..=last).map(|segment| Self::of_copies(flow, segment, 1)).collect()
    }

    /// Drops packets number `first..=last` (from 1) of a server, not counting its SYN or SYN-ACK.
    pub fn of_packets(flow: u32, first: u32, last: u32) -> Self {
        Self::new(flow, true, |packet| !packet.flags.contains(Flags::SYN), (first, last))
    }

    /// Drops the first `copies` transmissions of one segment.
    pub fn of_copies(flow: u32, segment: u64, copies: u32) -> Self {
        let seq = 1 + segment * MSS;
        let matches = move |packet: &Packet| {
            packet.payload > 0 && packet.seq <= seq && seq < packet.seq + u64::from(packet.payload)
        };
        Self::new(flow, true, matches, (1, copies))
    }

    /// Drops ACKs number `first..=last` (from 1) of a flow, not counting the ACK of the handshake.
    pub fn of_acks(flow: u32, first: u32, last: u32) -> Self {
        Self::new(
            flow,
            false,
            |packet| packet.flags.control() == Flags::ACK && packet.ack > 1,
            (first, last),
        )
    }

    /// Drops the first SYN.
    pub fn of_syn(flow: u32, forward: bool) -> Self {
        Self::new(flow, forward, |packet| packet.flags.control() == Flags::SYN, (1, 1))
    }

    /// Drops the first SYN-ACK.
    pub fn of_syn_ack(flow: u32, forward: bool) -> Self {
        Self::new(
            flow,
            forward,
            |packet| packet.flags.control() == Flags::SYN.with(Flags::ACK),
            (1, 1),
        )
    }

    /// Drops the first pure ACK, of data or of a SYN.
    pub fn of_bare_ack(flow: u32, forward: bool) -> Self {
        Self::new(
            flow,
            forward,
            |packet| packet.flags.control() == Flags::ACK && packet.payload == 0,
            (1, 1),
        )
    }

    /// Drops transmissions `first..=last` (from 1) of the client's request number `ordinal` (from
    /// 1).
    pub fn of_request(flow: u32, ordinal: u64, first: u32, last: u32) -> Self {
        let is_request =
            move |packet: &Packet| packet.flags.contains(Flags::REQUEST) && packet.seq == ordinal;
        Self::new(flow, false, is_request, (first, last))
    }

    fn hits(&mut self, packet: &Packet) -> bool {
        if packet.route != self.route || !(self.matches)(packet) {
            return false;
        }
        self.seen += 1;
        (self.which.0..=self.which.1).contains(&self.seen)
    }
}

/// Drops the packets of its list.
struct Lossy(Vec<Loss>);

impl QueueDiscipline for Lossy {
    fn offer(&mut self, packet: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        // Every entry counts the packets that match it, even if another entry drops them.
        let hits = self.0.iter_mut().map(|loss| loss.hits(packet)).filter(|hit| *hit).count();
        if hits > 0 { Verdict::Drop(DropReason::Random) } else { Verdict::Admit }
    }
}

/// The results of a run.
pub struct Outcome {
    pub rows: Vec<Row>,
    pub core: Core<Trace>,
}

/// A timeout: its flow, its cause, whether it was at the head of the block, and the number of lost
/// segments in the window.
pub type Expiry = (u32, Cause, bool, u32);

impl Outcome {
    /// The workload's row.
    pub fn row(&self) -> &Row {
        &self.rows[0]
    }

    pub fn events(&self) -> &[EventRow] {
        self.core.wires.probe.events.as_ref().expect("events are traced").rows()
    }

    pub fn events_of(&self, kind: EventKind) -> impl Iterator<Item = &EventRow> {
        self.events().iter().filter(move |row| row.kind == kind)
    }

    pub fn expiries(&self) -> Vec<Expiry> {
        self.events_of(EventKind::Timeout)
            .map(|row| {
                let (Some(flow), Some(cause), Some(head)) = (row.flow, row.cause, row.block_head)
                else {
                    panic!("a timeout without flow, cause or place: {row:?}");
                };
                (flow, cause, head, row.lost_in_window)
            })
            .collect()
    }
}

/// Runs a scenario whose switch drops `losses`.
pub fn run(scenario: &Scenario, losses: Vec<Loss>) -> Outcome {
    let request = TraceRequest::parse(["events"]).expect("it exists");
    let probe = |setting: &Setting| Trace::new(&request, setting);
    let mut world = World::new(scenario, 1, probe);
    let network = &mut world.core_mut().wires.network;
    let mut by_port: BTreeMap<PortId, Vec<Loss>> = BTreeMap::new();
    for loss in losses {
        let last = *network.route(loss.route).last().expect("a route has ports");
        by_port.entry(last).or_default().push(loss);
    }
    for (port, losses) in by_port {
        network.port_mut(port).set_discipline(Box::new(Lossy(losses)));
    }
    let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
    Outcome { rows, core }
}
