//! Ends that are built, left and freed, and ends of other transports.

use std::sync::{Arc, Mutex};

use incast_engine::{Span, Time};
use incast_net::{Packet, Trigger};
use incast_remedies::schedule::FullPacket;
use incast_tcp::connection::{Polled, Predicted};

use super::{MSS, ack, at, config, hosts, micros, sent, situation};
use crate::guest::{Call, Guest};
use crate::{
    Blueprint, BlueprintId, Counters, EndId, Event, Family, Hosts, Kind, Opener, Seat, Transport,
};

#[test]
fn both_ends_of_a_flow_are_built_when_one_is_used() {
    let mut hosts = hosts(config(), 3);
    let ends = [EndId::server(1), EndId::client(1)];
    let open =
        |hosts: &mut Hosts, id| hosts.connection(id).is_some() && hosts.get_mut(id).is_some();
    assert!(ends.iter().all(|id| !open(&mut hosts, *id)));
    assert_eq!((hosts.delivered(ends[0]), hosts.trigger_of(ends[0])), (0, Trigger::Arrival));
    assert_eq!(hosts.most_open(), 0);
    hosts.opened(ends[1]);
    assert!(ends.iter().all(|id| open(&mut hosts, *id)));
    assert!([0, 2].iter().all(|flow| !open(&mut hosts, EndId::server(*flow))));
    assert_eq!((hosts.most_open(), hosts.pop_dirty()), (1, None));
    hosts.act_on(EndId::server(2));
    hosts.act_on(ends[0]).set_trigger(Trigger::Persist);
    assert_eq!((hosts.most_open(), hosts.trigger_of(ends[0])), (2, Trigger::Persist));
    let dirty = std::iter::from_fn(|| hosts.pop_dirty());
    assert_eq!(dirty.collect::<Vec<_>>(), [EndId::server(2), ends[0]], "in their order");
}

/// Opens flows, and lets their applications leave them.
fn leave(hosts: &mut Hosts, flows: std::ops::Range<u32>) {
    for flow in flows {
        hosts.opened(EndId::server(flow));
        hosts.leave(flow);
    }
}

/// Frees idle flows, while the flows below `below` have packets under way. Returns the flows that
/// are open afterwards.
fn free(hosts: &mut Hosts, flows: u32, below: u32) -> Vec<u32> {
    hosts.free_idle(|flow| flow < below);
    (0..flows).filter(|flow| hosts.connection(EndId::server(*flow)).is_some()).collect()
}

#[test]
fn idle_flows_are_freed_when_64_were_left() {
    let mut hosts = hosts(config(), 100);
    leave(&mut hosts, 0..63);
    assert_eq!(free(&mut hosts, 100, 0).len(), 63, "so many are tolerated");
    leave(&mut hosts, 63..64);
    assert!(free(&mut hosts, 100, 0).is_empty());
    assert!(hosts.connection(EndId::client(5)).is_none());
    leave(&mut hosts, 0..64);
    assert_eq!(hosts.most_open(), 64, "their places are used again");
    leave(&mut hosts, 64..66);
    assert_eq!(hosts.most_open(), 66);
    hosts.leave(99);
    assert!(hosts.connection(EndId::server(99)).is_none(), "it was never open");
}

#[test]
fn a_flow_with_packets_or_timers_or_a_new_use_stays() {
    let mut hosts = hosts(config(), 100);
    leave(&mut hosts, 0..64);
    hosts.opened(EndId::server(80));
    // These flows have unacknowledged data, a request without an answer, or a connection in use.
    hosts.act_on(EndId::server(10)).write(MSS);
    sent(&mut hosts, EndId::server(10), at(0));
    hosts.act_on(EndId::server(11)).write(MSS);
    hosts.act_on(EndId::client(12)).request(0);
    sent(&mut hosts, EndId::client(12), at(0));
    hosts.renew_connection(13, 1);
    assert_eq!(free(&mut hosts, 100, 3), [0, 1, 2, 10, 11, 12, 13, 80]);
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 1);
    // Six flows that applications have left are still open.
    hosts.deliver(at(100), &ack(10, 1 + MSS));
    leave(&mut hosts, 14..71);
    assert_eq!(free(&mut hosts, 100, 0).len(), 8 + 57, "63 are left");
    leave(&mut hosts, 71..72);
    assert_eq!(free(&mut hosts, 100, 0), [11, 12, 13, 80]);
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 1, "it is kept");
}

#[test]
fn many_that_cannot_be_freed_are_not_looked_at_again_soon() {
    let mut hosts = hosts(config(), 1000);
    leave(&mut hosts, 0..100);
    assert_eq!(free(&mut hosts, 1000, 100).len(), 100, "all have packets");
    leave(&mut hosts, 100..199);
    assert_eq!(free(&mut hosts, 1000, 0).len(), 199, "twice as many must be left");
    leave(&mut hosts, 199..200);
    assert_eq!(free(&mut hosts, 1000, 0).len(), 0);
}

#[test]
fn an_eighth_of_the_open_flows_may_be_left() {
    let mut hosts = hosts(config(), 2000);
    for flow in 0..880 {
        hosts.opened(EndId::server(flow));
    }
    leave(&mut hosts, 1000..1064);
    // After that, 880 flows are open; an eighth of them, 110 flows, may be flows that applications
    // have left.
    assert_eq!(free(&mut hosts, 2000, 0).len(), 880);
    leave(&mut hosts, 1000..1109);
    assert_eq!(free(&mut hosts, 2000, 0).len(), 880 + 109);
    leave(&mut hosts, 1109..1110);
    assert_eq!(free(&mut hosts, 2000, 0).len(), 880);
}

/// A kind whose ends record the calls that they get.
#[derive(Clone, Debug, Default)]
struct Other {
    told: Arc<Mutex<Vec<String>>>,
    due: Option<Time>,
}

impl Kind for Other {
    fn family(&self) -> &'static str {
        "other"
    }

    fn full_packet(&self) -> FullPacket {
        FullPacket { payload: 700, header: 30 }
    }

    fn ack_size(&self) -> u32 {
        50
    }

    fn window(&self) -> u64 {
        9000
    }

    fn rto(&self) -> Span {
        Span::ZERO
    }

    fn end(&self, seat: Seat) -> Box<dyn Guest> {
        let Seat { end, incarnation, base_rtt, .. } = seat;
        let rtt = base_rtt.as_picos() / 1_000_000;
        self.tell(format!("end {} of connection {incarnation}, {rtt} us", end.0));
        Box::new(self.clone())
    }

    fn table(&self) -> serde_json::Value {
        serde_json::json!({ "name": "other" })
    }
}

impl Other {
    fn tell(&self, what: String) {
        self.told.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

impl Guest for Other {
    fn handle_segment(&mut self, now: Time, packet: &Packet) {
        self.tell(format!("segment {} at {}", packet.seq, now.as_picos() / 1_000_000));
    }

    fn handle_timeout(&mut self, now: Time) {
        self.tell(format!("timeout at {}", now.as_picos() / 1_000_000));
    }

    fn poll_timeout(&self) -> Time {
        self.due.unwrap_or(Time::NEVER)
    }

    fn poll_transmit(&mut self, _: Time, draft: &mut Packet) -> bool {
        draft.seq = 9;
        self.told.lock().unwrap().len() < 2
    }

    fn poll_event(&mut self) -> Option<Event> {
        Some(Event::Request)
    }

    fn handle_call(&mut self, call: Call) {
        self.tell(format!("{call:?}"));
    }

    fn delivered(&self) -> u64 {
        77
    }

    fn is_quiet(&self) -> bool {
        self.told.lock().unwrap().is_empty()
    }

    fn counters(&self) -> Counters {
        Counters { data_packets: 5, ..Counters::default() }
    }
}

/// Hosts with flows of another family, whose ends have this deadline.
fn others(flows: u32, due: Option<Time>) -> (Other, Hosts) {
    let kind = Other { due, ..Other::default() };
    let family = Family::Other(Arc::new(kind.clone()));
    let transport = Transport { name: "other".to_owned(), family };
    let mut hosts = Hosts::new(1, true);
    hosts.add_blueprint(Blueprint::new(&transport, &situation(micros(10)), 0), flows);
    hosts.waits.add(0, flows, true, micros(10));
    (kind, hosts)
}

#[test]
fn a_transport_of_another_family_is_asked_for_what_tcp_has_in_its_configuration() {
    let transport = |family| Transport { name: "it".to_owned(), family };
    let other = transport(Family::Other(Arc::new(Other::default())));
    let of = |it: &Transport| (it.family(), it.packet(), it.ack_size(), it.window());
    assert_eq!(of(&other), ("other", 730, 50, 9000));
    assert!(other.tcp().is_none() && other.remedies().is_empty());
    let tcp = super::transport(config(), Opener::Client);
    assert_eq!(of(&tcp), ("tcp", 1040, 40, 1_000_000));
}

#[test]
fn another_transport_gets_all_calls_and_has_no_connection() {
    let (kind, mut hosts) = others(1, Some(at(40)));
    let (server, client) = (EndId::server(0), EndId::client(0));
    let end = hosts.act_on(server);
    assert_eq!(kind.take(), ["end 0 of connection 0, 10 us", "end 1 of connection 0, 10 us"]);
    assert!(end.is_quiet());
    kind.tell("busy".to_owned());
    assert!(end.connection_mut().is_none() && !end.is_quiet() && end.is_established());
    let mut draft = Packet { ack: 8, ..Packet::default() };
    assert_eq!(end.poll_transmit_into(at(0), &mut draft), Polled::Packet);
    assert_eq!(draft, Packet { seq: 9, ..Packet::default() }, "nothing of an earlier draft");
    end.open();
    end.write(3);
    assert_eq!(end.poll_transmit_into(at(0), &mut draft), Polled::Nothing);
    end.close();
    end.request(4);
    end.notify_at(5);
    end.set_receive_buffer(6);
    end.set_trigger(Trigger::Timeout);
    assert_eq!((end.trigger(), end.departs_at()), (Trigger::Arrival, Time::NEVER));
    assert_eq!((end.poll_event(), end.poll_timeout()), (Some(Event::Request), at(40)));
    let (id, _, predicted) = hosts.predict(at(7), &mut ack(0, 1));
    assert_eq!((id, predicted), (server, Predicted::Nothing));
    assert_eq!(hosts.deliver(at(7), &Packet { seq: 8, ..ack(0, 1) }), (server, None));
    assert!(!hosts.expire(at(39), server));
    assert!(hosts.expire(at(40), server));
    assert_eq!((hosts.delivered(server), hosts.connection(client).is_none()), (77, true));
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 5);
    let calls = [
        "busy",
        "Open",
        "Write(3)",
        "Close",
        "Request(4)",
        "NotifyAt(5)",
        "ReceiveBuffer(6)",
        "segment 8 at 7",
        "timeout at 40",
    ];
    assert_eq!(kind.take(), calls);
}

#[test]
fn flows_of_another_family_are_freed_when_they_are_idle() {
    let open = |flow| move |hosts: &Hosts| hosts.get(EndId::server(flow)).is_some();
    for (due, freed) in [(None, true), (Some(at(40)), false)] {
        let (kind, mut hosts) = others(100, due);
        leave(&mut hosts, 0..64);
        kind.take();
        hosts.free_idle(|flow| flow == 7);
        assert_eq!((open(3)(&hosts), open(7)(&hosts)), (!freed, true));
        assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 64 * 5, "they are kept");
    }
}

/// Each connection of the flow is of the same family. Packets of an earlier connection are ignored.
#[test]
fn the_next_connection_of_a_flow_has_the_same_family() {
    let (kind, mut hosts) = others(1, None);
    let server = EndId::server(0);
    hosts.opened(server);
    kind.take();
    hosts.renew_connection(0, 3);
    assert_eq!(kind.take(), ["end 0 of connection 3, 10 us", "end 1 of connection 3, 10 us"]);
    hosts.deliver(at(7), &ack(0, 1));
    assert_eq!(kind.take(), [""; 0]);
    hosts.deliver(at(7), &Packet { epoch: 3, ..ack(0, 1) });
    assert_eq!(kind.take(), ["segment 0 at 7"]);
    let mut draft = Packet::default();
    hosts.end_mut(server).poll_transmit_into(at(0), &mut draft);
    assert_eq!(draft.epoch, 3);
    assert_eq!(hosts.counters(BlueprintId(0)).data_packets, 10, "those of both connections");
}

#[test]
fn a_connection_gets_the_calls_of_its_application() {
    let tcp = incast_tcp::Config { fin: true, ..config() };
    let mut hosts = hosts(tcp, 1);
    let (server, client) = (EndId::server(0), EndId::client(0));
    let asking = hosts.act_on(client);
    assert!(asking.is_quiet() && asking.poll_timeout() == Time::NEVER);
    asking.request(60);
    asking.notify_at(MSS);
    asking.set_receive_buffer(5000);
    assert!(!asking.is_quiet());
    assert!(asking.connection_mut().is_some());
    let requests = sent(&mut hosts, client, at(0));
    assert_eq!((requests.len(), requests[0].size(), requests[0].window), (1, 60, 5000));
    hosts.deliver(at(1), &requests[0]);
    assert_eq!(hosts.poll_event(server), Some(Event::Request));
    assert_eq!(hosts.poll_event(server), None);
    let answering = hosts.act_on(server);
    answering.write(MSS);
    answering.close();
    let packets = sent(&mut hosts, server, at(1));
    assert_eq!(packets.iter().map(|it| u64::from(it.payload)).sum::<u64>(), MSS);
    assert!(packets.iter().any(|it| it.flags.contains(incast_net::Flags::FIN)));
    for packet in &packets {
        hosts.deliver(at(2), packet);
    }
    assert_eq!(hosts.poll_event(client), Some(Event::Received));
    assert_eq!((hosts.delivered(client), hosts.delivered(server)), (MSS + 1, 0), "a FIN counts");
}
