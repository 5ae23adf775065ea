//! A transport other than TCP: a sender with a fixed window, defined here.

use incast_engine::{Span, Time};
use incast_host::EndId;
use incast_host::guest::{Call, Guest};
use incast_lab::Control;
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_net::{Flags, Packet};
use incast_scenario::Scenario;
use incast_tcp::Event;
use incast_tcp::connection::Counters;
use serde_json::json;

const SEGMENT: u64 = 1000;
const WINDOW: u64 = 4;

/// Keeps four packets in flight. If no ACK arrives for a millisecond, it sends everything again
/// from the last acknowledged byte.
struct Blaster {
    end: EndId,
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
        self.sent = self.acknowledged;
        self.asks = !self.end.is_server() && self.received == 0;
    }

    fn poll_timeout(&self) -> Time {
        self.deadline
    }

    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool {
        let packet = Packet { route: self.end.route(), header: 40, ..Packet::default() };
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

    fn counters(&self) -> Counters {
        Counters { data_packets: self.packets, ..Counters::default() }
    }
}

/// A read over another transport needs no change of the workload, the network and the rows.
#[test]
fn a_fixed_window_blaster_reads_a_block() {
    for buffer in ["1MiB", "10KB"] {
        let scenario = Scenario::from_document(&json!({
            "network": { "buffer": buffer },
            "workload": { "servers": 8, "sru": 50_000, "connections": "persistent", "blocks": 1 },
            "run": { "time_limit": "10s" },
        }))
        .expect("it is a scenario");
        let mut world = World::new(&scenario, 1, |_| Silent);
        for flow in 0..8 {
            for end in [EndId::server(flow), EndId::client(flow)] {
                world.core_mut().hosts.install(end, Box::new(Blaster::new(end)));
            }
        }
        let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
        let row = &rows[0];
        assert_eq!((row.status, row.blocks, row.bytes), ("ok", 1, 8 * 50_000));
        assert_eq!(row.timeouts, 0, "timeouts are those of TCP");
        assert!(row.packets_sent >= 8 * 50);
        assert_eq!(row.drops > 0, buffer == "10KB", "{buffer}");
        assert_eq!(row.packets_sent > 8 * 50, row.drops > 0, "what is dropped is sent again");
        assert!((0..8).all(|flow| core.hosts.delivered(EndId::client(flow)) == 50_000));
    }
}
