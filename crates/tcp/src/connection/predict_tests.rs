//! The fast path compared with the slow path: two connections get the same packets, and only one of
//! them predicts. Packets, events, deadlines and fields of both connections are equal in every
//! configuration.

use std::collections::VecDeque;
use std::sync::Arc;

use incast_engine::{Span, Stream, Time};
use incast_net::{Packet, RouteId, Trigger};
use proptest::prelude::*;
use proptest::sample::select;

use self::configs::{configs, named, plain};
use super::super::{Connection, Event, FIRST_BYTE, Predicted, Role};
use crate::config::{Config, EcnPackets, Sack};
use crate::recovery::Recovery;

#[path = "predict_configs.rs"]
mod configs;

/// Every field of the connection. New fields are compared automatically.
fn state(connection: &Connection) -> String {
    let Connection {
        owed,
        state,
        events,
        extras,
        closing,
        needs,
        segment_size,
        burst,
        template,
        written,
        peer_window,
        config: _,
        timer,
        wheel: _,
        host,
        inbound,
        acks,
        pacer,
        undo,
        delivery,
        prr,
        limited_bytes,
        block,
        ecn,
        board,
        counters,
        rtt,
        congestion,
        recovery,
        idle,
        timed,
        random,
        hooks,
        report,
        window_probes,
        timed_out_at,
        deferral,
        opening,
    } = connection;
    assert!(hooks.senders().is_empty() && hooks.receivers().is_empty(), "hooks cannot be compared");
    let parts = [
        format!("{owed:?} {state:?} {events:?} {extras:?} {closing} {needs:?} {segment_size}"),
        format!("{burst} {:?} {written} {peer_window} {timer:?} {host:?}", template.flags),
        format!("{inbound:?}\n{acks:?}\n{pacer:?} {undo:?} {delivery:?} {prr:?} {limited_bytes}"),
        format!("{block:?} {ecn:?}\n{board:?}\n{counters:?}\n{rtt:?}\n{congestion:?}"),
        format!("{}\n{idle:?} {timed:?} {random:?} {report:?}", recovery_state(recovery)),
        format!("{window_probes} {timed_out_at:?} {deferral:?} {opening:?}"),
    ];
    parts.join("\n")
}

fn recovery_state(recovery: &Recovery) -> String {
    match recovery {
        Recovery::Tahoe(it) => format!("{it:?}"),
        Recovery::Reno(it) => format!("{it:?}"),
        Recovery::NewReno(it) => format!("{it:?}"),
        Recovery::Efr(it) => format!("{it:?}"),
        Recovery::Sack(it) => format!("{it:?}"),
        Recovery::Sack1(it) => format!("{it:?}"),
        Recovery::RackTlp(it) => format!("{it:?}"),
        Recovery::Custom(_) => unreachable!("the tests take registered recoveries"),
    }
}

/// The connection's events, and then the packets that leave.
fn serve(connection: &mut Connection, now: Time) -> (Vec<Event>, Vec<Packet>) {
    let events = std::iter::from_fn(|| connection.poll_event()).collect();
    (events, std::iter::from_fn(|| connection.poll_transmit(now)).collect())
}

/// Two copies of the same end. `short` uses the fast path if possible, and `long` always uses the
/// slow path.
struct End {
    short: Connection,
    long: Connection,
    trigger: Option<Trigger>,
    predicted: u32,
}

impl End {
    fn new(config: &Arc<Config>, role: Role) -> Self {
        let new = || {
            let route = RouteId::new(0, role == Role::Acceptor);
            Connection::new(config.clone(), role, route, 0, Stream::named(1, "end", 0))
        };
        // The opener is the client. All packets of the client have this trigger.
        let trigger = (role == Role::Opener).then_some(Trigger::Arrival);
        Self { short: new(), long: new(), trigger, predicted: 0 }
    }

    /// Calls `act` with both connections, and returns the packets.
    fn act(&mut self, now: Time, act: impl Fn(&mut Connection)) -> Vec<Packet> {
        act(&mut self.short);
        act(&mut self.long);
        let served = serve(&mut self.short, now);
        self.compare(now, served)
    }

    fn receive(&mut self, now: Time, packet: &Packet) -> Vec<Packet> {
        let trigger = self.trigger.unwrap_or(packet.flags.trigger());
        let served = if let Some(packets) = self.predict(now, packet, trigger) {
            (Vec::new(), packets)
        } else {
            self.short.handle_segment(now, packet);
            self.short.set_trigger(trigger);
            serve(&mut self.short, now)
        };
        self.long.handle_segment(now, packet);
        self.long.set_trigger(trigger);
        self.compare(now, served)
    }

    fn predict(&mut self, now: Time, packet: &Packet, trigger: Trigger) -> Option<Vec<Packet>> {
        let mut packet = *packet;
        let packets = match self.short.predict(now, &mut packet, trigger) {
            Predicted::Nothing => return None,
            Predicted::Answered => vec![packet],
            Predicted::Received => Vec::new(),
            Predicted::Acked(limit) => {
                let short = &mut self.short;
                let next = || {
                    let mut out = Packet::default();
                    let sends = short.sends_predicted(limit);
                    if sends {
                        short.send_predicted(now, &mut out);
                    }
                    sends.then_some(out)
                };
                let mut packets: Vec<Packet> = std::iter::from_fn(next).collect();
                if short.nears_end() {
                    packets.extend(std::iter::from_fn(|| short.poll_transmit(now)));
                }
                packets
            }
        };
        self.predicted += 1;
        Some(packets)
    }

    fn compare(&mut self, now: Time, served: (Vec<Event>, Vec<Packet>)) -> Vec<Packet> {
        assert_eq!(served, serve(&mut self.long, now));
        assert_eq!(state(&self.short), state(&self.long));
        assert_eq!(self.short.poll_timeout(), self.long.poll_timeout());
        assert_eq!(serve(&mut self.short, now), Default::default(), "nothing was forgotten");
        assert_eq!(state(&self.short), state(&self.long));
        served.1
    }
}

/// A client at index 0, a server at 1, and the packets in flight to each.
struct Scene {
    now: Time,
    ends: [End; 2],
    inboxes: [VecDeque<Packet>; 2],
}

#[derive(Clone, Debug)]
enum Step {
    /// Up to this many packets arrive, alternating between the directions.
    Arrive(u8),
    /// The first packet to an end is lost.
    Lose(usize),
    /// The first packet to an end arrives twice.
    Repeat(usize),
    /// The first packet to an end arrives after the second.
    Swap(usize),
    /// A switch marks the first packet to an end.
    Mark(usize),
    Write(usize, u64),
    Request(u16),
    NotifyAfter(u64),
    Buffer(usize, u64),
    Pass(u64),
    /// The next deadline expires.
    Wake,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = || select(vec![1_usize, 1, 1, 0]);
    let step = prop_oneof![
        12 => (1_u8..40).prop_map(Step::Arrive),
        2 => (0_usize..2).prop_map(Step::Lose),
        1 => (0_usize..2).prop_map(Step::Repeat),
        1 => (0_usize..2).prop_map(Step::Swap),
        2 => (0_usize..2).prop_map(Step::Mark),
        4 => (end(), 1_u64..60_000).prop_map(|(end, bytes)| Step::Write(end, bytes)),
        1 => select(vec![0_u16, 40, 100]).prop_map(Step::Request),
        1 => (0_u64..40_000).prop_map(Step::NotifyAfter),
        1 => (end(), select(vec![0_u64, 500, 3000, 60_000])).prop_map(|(end, it)| Step::Buffer(end, it)),
        2 => (1_u64..2000).prop_map(Step::Pass),
        2 => Just(Step::Wake),
    ];
    prop::collection::vec(step, 1..60)
}

impl Scene {
    fn new(config: Config) -> Self {
        let config = Arc::new(config);
        let ends = [End::new(&config, Role::Opener), End::new(&config, Role::Acceptor)];
        let mut scene = Self { now: Time::ZERO, ends, inboxes: Default::default() };
        scene.act(0, Connection::open);
        scene.act(1, |connection| connection.write(100_000));
        scene
    }

    fn send(&mut self, from: usize, packets: Vec<Packet>) {
        self.inboxes[1 - from].extend(packets);
    }

    fn act(&mut self, end: usize, act: impl Fn(&mut Connection)) {
        let packets = self.ends[end].act(self.now, act);
        self.send(end, packets);
    }

    fn arrive(&mut self, to: usize) {
        if let Some(packet) = self.inboxes[to].pop_front() {
            self.now += Span::from_micros(3);
            let packets = self.ends[to].receive(self.now, &packet);
            self.send(to, packets);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Arrive(count) => (0..count).for_each(|index| self.arrive(usize::from(index) % 2)),
            Step::Lose(to) => drop(self.inboxes[to].pop_front()),
            Step::Repeat(to) => {
                let first = self.inboxes[to].front().copied();
                self.inboxes[to].extend(first);
            }
            Step::Swap(to) if self.inboxes[to].len() > 1 => self.inboxes[to].swap(0, 1),
            Step::Swap(_) => {}
            Step::Mark(to) => {
                if let Some(packet) = self.inboxes[to].front_mut() {
                    packet.mark();
                }
            }
            Step::Write(end, bytes) => self.act(end, |connection| connection.write(bytes)),
            Step::Request(size) => self.act(0, |connection| connection.request(size)),
            Step::NotifyAfter(bytes) => self.act(0, |connection| {
                connection.notify_at(connection.received().next() - FIRST_BYTE + bytes);
            }),
            Step::Buffer(end, bytes) => {
                self.act(end, |connection| connection.set_receive_buffer(bytes));
            }
            Step::Pass(micros) => {
                let until = self.now + Span::from_micros(micros);
                self.wake_until(until);
                self.now = until;
            }
            Step::Wake => {
                let next = self.ends.iter().map(|end| end.long.poll_timeout()).min();
                self.wake_until(next.filter(|at| *at != Time::NEVER).unwrap_or(self.now));
            }
        }
    }

    /// The deadlines up to `until` expire, at most 100 of them, because some timers are always set
    /// again.
    fn wake_until(&mut self, until: Time) {
        for _ in 0..100 {
            let due = |end: &usize| self.ends[*end].long.poll_timeout();
            let Some(end) = [0, 1].into_iter().min_by_key(due).filter(|end| due(end) <= until)
            else {
                return;
            };
            self.now = self.now.max(due(&end));
            let now = self.now;
            self.act(end, |connection| connection.handle_timeout(now));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn header_prediction_does_what_the_long_way_does(config in configs(), steps in steps()) {
        let mut scene = Scene::new(config);
        for step in &steps {
            scene.step(step);
        }
    }
}

/// In a transfer without losses, both ends predict all packets except at the beginning and the end.
#[test]
fn almost_every_packet_is_predicted_where_nothing_is_lost() {
    for (recovery, control) in [("newreno", "reno"), ("sack", "reno"), ("sack", "dctcp")] {
        let mut scene = Scene::new(Config {
            ecn: (control == "dctcp").then_some(EcnPackets::Data),
            sack: (recovery == "sack").then_some(Sack { dsack: true, takes_room: false }),
            recovery: named(recovery),
            congestion_control: named(control),
            ..plain()
        });
        (0..300).for_each(|index| scene.arrive(index % 2));
        let predicted = scene.ends.each_ref().map(|end| end.predicted);
        assert_eq!(predicted, [100, 99], "{recovery} {control}");
    }
}

/// With RFC 3168, the echo of a mark halves the window, so the ACK is not predicted. DCTCP only
/// counts such an ACK.
#[test]
fn an_ack_with_an_echo_is_predicted_if_marks_are_counted() {
    for (control, predicted) in [("reno", 1), ("dctcp", 2)] {
        let mut scene = Scene::new(Config {
            ecn: Some(EcnPackets::Data),
            congestion_control: named(control),
            ..plain()
        });
        // The first segment arrives unmarked, and the second is marked.
        scene.arrive(0);
        scene.step(&Step::Mark(0));
        scene.arrive(0);
        (0..2).for_each(|_| scene.arrive(1));
        assert_eq!(scene.ends[1].predicted, predicted, "{control}");
    }
}
